/** What to do for one Cluster: its execution namespace and its taints or, during deletion, the removal of both. Pure. */
import { formatTime } from '../../../base/clock.ts'
import { describeTaints, withoutTaints, withTaints } from '../../../kinds/karmada/cluster-taints.ts'
import type { Cluster, Taint } from '../../../kinds/karmada/index.ts'
import { executionNamespace } from '../../../kinds/karmada/names.ts'
import { CLUSTERS } from '../../../kinds/karmada/resources.ts'
import { CLUSTER_FINALIZER, CLUSTER_READY, NOT_READY_TAINT, SYSTEM_LABEL, UNREACHABLE_TAINT } from '../../../kinds/karmada/well-known.ts'
import { NAMESPACES } from '../../../kinds/kubernetes/resources.ts'
import { type Condition, findCondition, setCondition } from '../../../kube/conditions.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Action, type EventIntent, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { hasFinalizer, removeFinalizer } from '../../../runtime/finalizer.ts'

export interface ObservedCluster {
  cluster: Cluster | undefined
  /** Its execution namespace. */
  space: KubeObject | undefined
  /** Whether a binding still names it; computed only during deletion. */
  isTargeted: boolean
  nowMs: number
}

/** Says what the deletion of a Cluster waits for. */
const TERMINATING = 'Terminating'
const NOT_READY: Taint = { key: NOT_READY_TAINT, effect: 'NoSchedule' }
const UNREACHABLE: Taint = { key: UNREACHABLE_TAINT, effect: 'NoSchedule' }

export function plan(observed: ObservedCluster): Plan {
  const { cluster } = observed
  if (cluster === undefined) return NOTHING_TO_DO
  return { actions: cluster.metadata.deletionTimestamp === undefined ? kept(observed, cluster) : removed(observed, cluster) }
}

/** Nothing is created for a cluster before the finalizer that ensures its removal is there. */
function kept({ space, nowMs }: ObservedCluster, cluster: Cluster): Action[] {
  const { name = '' } = cluster.metadata
  const actions = marks(cluster, nowMs)
  if (space !== undefined) return actions
  const spaceName = executionNamespace(name)
  const message = `Created execution space(${spaceName}) for cluster(${name}).`
  return [
    ...actions,
    {
      do: 'create',
      resource: NAMESPACES,
      object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: spaceName, labels: { [SYSTEM_LABEL]: 'true' } } },
      events: { of: cluster, type: 'Normal', reason: 'CreateExecutionSpaceSucceed', message },
      eventOnFailure: (why) => warning(cluster, 'CreateExecutionSpaceFailed', why),
    },
  ]
}

/** Finalizer and taints are written together, because both are derived from the same state. */
function marks(cluster: Cluster, nowMs: number): Action[] {
  const isMarked = hasFinalizer(cluster, CLUSTER_FINALIZER)
  const before = cluster.spec.taints ?? []
  const taints = taintsFor(cluster, formatTime(nowMs))
  if (isMarked && taints === before) return []
  const metadata = isMarked ? {} : { metadata: { finalizers: [...(cluster.metadata.finalizers ?? []), CLUSTER_FINALIZER] } }
  if (taints === before) return [{ do: 'patch', resource: CLUSTERS, of: cluster, patch: metadata }]
  const message = `Taint cluster succeed: ${describeTaints(taints)}.`
  return [
    {
      do: 'patch',
      resource: CLUSTERS,
      of: cluster,
      patch: { ...metadata, spec: { taints } },
      events: { of: cluster, type: 'Normal', reason: 'TaintClusterSucceed', message },
      eventOnFailure: (why) => warning(cluster, 'TaintClusterFailed', why),
    },
  ]
}

/** Only NoSchedule: this alone evicts nothing from a failing cluster. */
export function taintsFor(cluster: Pick<Cluster, 'spec' | 'status'>, now: string): readonly Taint[] {
  const taints = cluster.spec.taints ?? []
  switch (findCondition(cluster.status?.conditions, CLUSTER_READY)?.status) {
    case 'True':
      return withoutTaints(taints, [NOT_READY, UNREACHABLE])
    case 'Unknown':
      return withTaints(withoutTaints(taints, [NOT_READY]), [UNREACHABLE], now)
    default:
      return withTaints(withoutTaints(taints, [UNREACHABLE]), [NOT_READY], now)
  }
}

/**
 * First the bindings move away, so that workloads run elsewhere before they end here; then the Works are deleted with their
 * namespace.
 */
function removed({ space, isTargeted, nowMs }: ObservedCluster, cluster: Cluster): Action[] {
  if (!hasFinalizer(cluster, CLUSTER_FINALIZER)) return []
  if (isTargeted) {
    const message = 'bindings still name this cluster; it goes when the scheduler has moved them to others'
    return waiting(cluster, { reason: 'WaitingForBindings', message }, nowMs)
  }
  if (space === undefined) return [removeFinalizer(CLUSTERS, cluster, CLUSTER_FINALIZER)]
  const { name = '' } = cluster.metadata
  const why = `Works are left in ${space.metadata.name}; it goes when their objects are removed from the cluster`
  const says = waiting(cluster, { reason: 'WaitingForWorks', message: why }, nowMs)
  if (space.metadata.deletionTimestamp !== undefined) return says
  return [
    {
      do: 'delete',
      resource: NAMESPACES,
      of: space,
      events: {
        of: cluster,
        type: 'Normal',
        reason: 'RemoveExecutionSpaceSucceed',
        message: `Removed execution space for cluster(${name}).`,
      },
      eventOnFailure: (failure) => warning(cluster, 'RemoveExecutionSpaceFailed', failure),
    },
    ...says,
  ]
}

function waiting(cluster: Cluster, why: Pick<Condition, 'reason' | 'message'>, nowMs: number): Action[] {
  const known = findCondition(cluster.status?.conditions, TERMINATING)
  if (known?.status === 'True' && known.reason === why.reason) return []
  const conditions = setCondition(cluster.status?.conditions, { type: TERMINATING, status: 'True', ...why }, formatTime(nowMs))
  return [{ do: 'patch', resource: CLUSTERS, of: cluster, patch: { status: { conditions } }, subresource: 'status' }]
}

const warning = (of: Cluster, reason: string, message: string): EventIntent => ({ of, type: 'Warning', reason, message })
