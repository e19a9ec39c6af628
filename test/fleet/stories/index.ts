/** Every area of stories; one line each. */
import type { FleetArea } from '../story.ts'
import { clusterOverridePolicy } from './cluster-override-policy.ts'
import { clusterPropagationPolicy } from './cluster-propagation-policy.ts'
import { overridePolicy } from './override-policy.ts'
import { preemption } from './preemption.ts'
import { propagatedKinds } from './propagated-kinds.ts'
import { propagationPolicy } from './propagation-policy.ts'
import { suspension } from './suspension.ts'

// biome-ignore format: one line each
export const AREAS: readonly FleetArea[] = [
  propagatedKinds,
  propagationPolicy,
  suspension,
  clusterPropagationPolicy,
  overridePolicy,
  clusterOverridePolicy,
  preemption,
]
