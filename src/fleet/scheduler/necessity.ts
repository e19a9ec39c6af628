/**
 * Whether a binding has to be scheduled at all. Divided workloads that run are left alone unless their placement, replicas
 * or clusters really changed; those that are the same everywhere follow every change.
 */
import { deepEqual, isJsonObject } from '../../base/json.ts'
import type { Binding, ClusterAffinityTerm, Placement } from '../../kinds/karmada/index.ts'
import {
  APPLIED_PLACEMENT,
  BINDING_MANAGED_BY_LABEL,
  CLUSTER_PROPAGATION_POLICY_ID,
  DEFAULT_SCHEDULER,
  PROPAGATION_POLICY_ID,
  SCHEDULED,
} from '../../kinds/karmada/well-known.ts'
import { isConditionTrue } from '../../kube/conditions.ts'
import { isHeldByUs, NARROWED_BY, narrowPlacement, RELEASED, releasedAllow } from '../../runtime/seams/narrowing.ts'
import type { Demand } from './demand.ts'

/** Bindings that belong to another scheduler, are suspended, or only follow another binding are not scheduled here. */
export function isOurs(binding: Binding, schedulerName: string = DEFAULT_SCHEDULER): boolean {
  const { metadata, spec } = binding
  if (metadata.deletionTimestamp !== undefined || spec?.placement === undefined || spec.suspension?.scheduling === true) return false
  const asked = spec.schedulerName === undefined || spec.schedulerName === '' ? DEFAULT_SCHEDULER : spec.schedulerName
  if (asked !== schedulerName || isOverwritten(binding)) return false
  const labels = metadata.labels ?? {}
  return [PROPAGATION_POLICY_ID, CLUSTER_PROPAGATION_POLICY_ID, BINDING_MANAGED_BY_LABEL].some(
    (key) => Object.hasOwn(labels, key) && labels[key] !== '',
  )
}

/**
 * Somebody else has lifted a hold of a narrowing, or widened the placement beyond what it allowed. The detector puts that
 * back; until then nothing is decided, or work would start where it must not, and running work would leave and come back.
 */
function isOverwritten(binding: Binding): boolean {
  if (isHeldByUs(binding)) return true
  const { annotations = {} } = binding.metadata
  const allow = annotations[NARROWED_BY] === undefined ? undefined : releasedAllow(annotations[RELEASED])
  return allow !== undefined && !deepEqual(narrowPlacement(binding.spec?.placement, allow), binding.spec?.placement)
}

/** What is the same in every cluster is scheduled again whenever something changes. */
export const isAlwaysDecided = ({ isWorkload, strategy }: Demand): boolean => !isWorkload || strategy === 'Duplicated'

export const isScheduled = ({ status }: Binding): boolean => isConditionTrue(status?.conditions, SCHEDULED)

/** `isGone`: whether a cluster is being deleted, or gone. */
export function mustDecide(binding: Binding, demand: Demand, isGone: (cluster: string) => boolean): boolean {
  return (
    isPlacementChanged(demand, binding.metadata.annotations?.[APPLIED_PLACEMENT]) ||
    areReplicasChanged(demand) ||
    demand.isFresh ||
    isAlwaysDecided(demand) ||
    demand.clusters.some(({ name }) => isGone(name)) ||
    !isScheduled(binding)
  )
}

/** Whether it is scheduled because its replicas changed, and not its placement. */
export const isScaled = (binding: Binding, demand: Demand): boolean =>
  !isPlacementChanged(demand, binding.metadata.annotations?.[APPLIED_PLACEMENT]) && areReplicasChanged(demand)

export function isPlacementChanged(
  { placement, observedTerm }: Pick<Demand, 'placement' | 'observedTerm'>,
  applied: string | undefined,
): boolean {
  if (applied === undefined || applied === '') return true
  if (applied === JSON.stringify(placement)) return false
  const before = tryParse(applied)
  if (before === undefined || deepEqual(placement, before)) return false
  const parts = ['clusterAffinity', 'clusterTolerations', 'spreadConstraints', 'replicaScheduling'] as const
  if (parts.some((part) => !deepEqual(placement[part], before[part]))) return true
  const now = termNamed(placement, observedTerm)
  const then = termNamed(before, observedTerm)
  return now === undefined || then === undefined || !deepEqual(now, then)
}

const termNamed = ({ clusterAffinities }: Placement, name: string | undefined): ClusterAffinityTerm | undefined =>
  Array.isArray(clusterAffinities) ? clusterAffinities.find(({ affinityName }) => affinityName === name) : undefined

/** A placement that cannot be parsed counts as unchanged. */
function tryParse(text: string): Placement | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? (value as Placement) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function areReplicasChanged({ placement, components, clusters, replicas }: Demand): boolean {
  if (placement.replicaScheduling === undefined) return false
  if (components.length > 0 && clusters.length === 0) return true
  if (areComponentsChanged({ components, clusters })) return true
  if (placement.replicaScheduling.replicaSchedulingType === 'Duplicated')
    return clusters.some((target) => (target.replicas ?? 0) !== replicas)
  return clusters.reduce((sum, target) => sum + (target.replicas ?? 0), 0) !== replicas
}

/** Components that were assigned to a cluster are assigned again when they change. */
const areComponentsChanged = ({ components, clusters }: Pick<Demand, 'components' | 'clusters'>): boolean =>
  clusters.some(
    (target) =>
      target.components !== undefined &&
      !deepEqual(
        target.components,
        components.map(({ name, replicas }) => ({ name, replicas })),
      ),
  )
