/** Every area of stories; one line each. */
import type { FleetArea } from '../story.ts'
import { applicationFailover } from './application-failover.ts'
import { capacity } from './capacity.ts'
import { clusterAffinities } from './cluster-affinities.ts'
import { clusterFailover } from './cluster-failover.ts'
import { clusterOverridePolicy } from './cluster-override-policy.ts'
import { clusterPropagationPolicy } from './cluster-propagation-policy.ts'
import { clusterTaintPolicy } from './cluster-taint-policy.ts'
import { deletionProtection } from './deletion-protection.ts'
import { dependencies } from './dependencies.ts'
import { drift } from './drift.ts'
import { fieldSelector } from './field-selector.ts'
import { interpreterCustomization } from './interpreter-customization.ts'
import { interpreterWebhook } from './interpreter-webhook.ts'
import { lazyActivation } from './lazy-activation.ts'
import { migration } from './migration.ts'
import { multiComponent } from './multi-component.ts'
import { namespaces } from './namespaces.ts'
import { objectsInMembers } from './objects-in-members.ts'
import { overridePolicy } from './override-policy.ts'
import { permanentIds } from './permanent-ids.ts'
import { preemption } from './preemption.ts'
import { propagatedKinds } from './propagated-kinds.ts'
import { propagationPolicy } from './propagation-policy.ts'
import { reach } from './reach.ts'
import { rescheduling } from './rescheduling.ts'
import { schedulePriority } from './schedule-priority.ts'
import { scheduling } from './scheduling.ts'
import { spreadByRegion } from './spread-by-region.ts'
import { status } from './status.ts'
import { suspension } from './suspension.ts'
import { taintToleration } from './taint-toleration.ts'

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
  scheduling,
  clusterAffinities,
  fieldSelector,
  taintToleration,
  spreadByRegion,
  capacity,
  rescheduling,
  multiComponent,
  interpreterCustomization,
  interpreterWebhook,
  clusterTaintPolicy,
  clusterFailover,
  applicationFailover,
  reach,
  status,
  migration,
  drift,
]
