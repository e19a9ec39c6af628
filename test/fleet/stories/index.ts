/** Every area of stories; one line each. */
import type { FleetArea } from '../story.ts'
import { clusterOverridePolicy } from './cluster-override-policy.ts'
import { clusterPropagationPolicy } from './cluster-propagation-policy.ts'
import { deletionProtection } from './deletion-protection.ts'
import { dependencies } from './dependencies.ts'
import { lazyActivation } from './lazy-activation.ts'
import { namespaces } from './namespaces.ts'
import { objectsInMembers } from './objects-in-members.ts'
import { overridePolicy } from './override-policy.ts'
import { permanentIds } from './permanent-ids.ts'
import { preemption } from './preemption.ts'
import { propagatedKinds } from './propagated-kinds.ts'
import { propagationPolicy } from './propagation-policy.ts'
import { schedulePriority } from './schedule-priority.ts'
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
  lazyActivation,
  dependencies,
  objectsInMembers,
  permanentIds,
  namespaces,
  deletionProtection,
  schedulePriority,
]
