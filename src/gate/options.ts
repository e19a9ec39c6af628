/** The options of the gate, and the flags that set them. */

import type { Flag } from '../runtime/module/flags.ts'
import { type ConsentOptions, consentFlag } from '../runtime/reference-consent.ts'

export type GateOptions = ConsentOptions

export const GATE_FLAGS: readonly Flag<GateOptions>[] = [consentFlag()]
