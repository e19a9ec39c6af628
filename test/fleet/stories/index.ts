/** Every area of stories; one line each. */
import type { FleetArea } from '../story.ts'
import { propagatedKinds } from './propagated-kinds.ts'
import { propagationPolicy } from './propagation-policy.ts'

export const AREAS: readonly FleetArea[] = [propagatedKinds, propagationPolicy]
