/** Every area of stories; one line each. */
import type { FleetArea } from '../story.ts'
import { propagationPolicy } from './propagation-policy.ts'

export const AREAS: readonly FleetArea[] = [propagationPolicy]
