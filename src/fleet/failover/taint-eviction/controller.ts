/**
 * Bindings leave clusters with a NoExecute taint: at once if they do not tolerate it, after tolerationSeconds if they
 * tolerate it for a time. Writes spec.clusters and spec.gracefulEvictionTasks together, at a bounded rate over the whole
 * fleet. Runs again when a binding is scheduled anew, when the NoExecute taints of a cluster change, and when a toleration
 * ends. Nothing is undone when a cluster recovers. Deletion: nothing to undo.
 */
import { deepEqual } from '../../../base/json.ts'
import { evictionDue, NEVER, noExecuteTaints } from '../../../kinds/karmada/cluster-taints.ts'
import type { Binding, Cluster, Toleration } from '../../../kinds/karmada/index.ts'
import { CLUSTERS } from '../../../kinds/karmada/resources.ts'
import { APPLIED_PLACEMENT, EVICTION_PRODUCERS, EVICTION_REASONS } from '../../../kinds/karmada/well-known.ts'
import { refOf } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import { type Controller, defineController, indexOf, type KeyedEvent, NOTHING_TO_DO, type Plan, via } from '../../../runtime/controller.ts'
import { controllerName, type Eviction, evict, heldBack, purgeModeOf } from '../eviction.ts'
import type { EvictionRate } from '../eviction-rate.ts'
import type { FailoverOptions } from '../options.ts'
import { preservedState } from '../state-preservation.ts'
import { byDefault, tolerationsOf } from './due.ts'

interface ObservedBinding {
  binding: Binding | undefined
  /** Clusters of the binding with NoExecute taints, and when the binding has to leave them. */
  due: readonly { cluster: string; atMs: number }[]
  /** Until it is this binding's turn. */
  waitMs: number
  nowMs: number
}

const BY_TARGET = 'by-target'

const targetsOf = (binding: Binding): string[] => (binding.spec?.clusters ?? []).map(({ name }) => name)

interface TaintEvictionDeps {
  options: Pick<FailoverOptions, 'purgeMode' | 'gates' | 'tolerationSeconds'>
  rate: EvictionRate
}

export function taintEviction(resource: Resource<Binding>, { options, rate }: TaintEvictionDeps): Controller {
  const unspoken = byDefault(options.tolerationSeconds)
  return defineController<ObservedBinding, Binding>({
    name: controllerName('fleet.failover.taint-eviction', resource),
    component: 'taint-manager',
    for: resource,
    watches: [
      via(
        CLUSTERS,
        ({ metadata, spec }, read) =>
          noExecuteTaints(spec?.taints).length === 0 ? [] : read.byIndex(resource, BY_TARGET, metadata.name ?? '').map(refOf),
        { isRelevantUpdate: (old, now) => !deepEqual(noExecuteTaints(old.spec?.taints), noExecuteTaints(now.spec?.taints)) },
      ),
    ],
    indexes: [indexOf<Binding>(resource, BY_TARGET, targetsOf)],
    writes: [{ resource, verbs: ['patch'] }],
    isRelevant: (binding, read) => targetsOf(binding).some((name) => isTainted(read.get(CLUSTERS, '', name))),
    isRelevantUpdate: isRelevantBinding,
    observe(ref, binding, read) {
      const nowMs = read.nowMs()
      const key = `${resource.plural} ${ref.namespace}/${ref.name}`
      const isKept = binding !== undefined && binding.metadata.deletionTimestamp === undefined
      const tolerations = isKept ? [...tolerationsOf(binding), ...unspoken] : []
      const due = isKept ? dueOf(binding, tolerations, (name) => read.get(CLUSTERS, '', name)) : []
      const isDue = due.some(({ atMs }) => atMs <= nowMs)
      if (!isDue) rate.release(key)
      return { binding, due, waitMs: isDue ? rate.waitMs(key, nowMs) : 0, nowMs }
    },
    plan: planWith(resource, options),
  })
}

const isTainted = (cluster: Cluster | undefined): boolean => noExecuteTaints(cluster?.spec?.taints).length > 0

/** Its clusters, what it tolerates, and the state it would take along. */
function isRelevantBinding(old: Binding, now: Binding): boolean {
  if (old.metadata.generation !== now.metadata.generation || old.metadata.deletionTimestamp !== now.metadata.deletionTimestamp) return true
  if (old.metadata.annotations?.[APPLIED_PLACEMENT] !== now.metadata.annotations?.[APPLIED_PLACEMENT]) return true
  return now.spec.failover?.cluster?.statePreservation !== undefined
}

function dueOf(
  binding: Binding,
  tolerations: readonly Toleration[],
  clusterOf: (name: string) => Cluster | undefined,
): ObservedBinding['due'] {
  return targetsOf(binding).flatMap((cluster) => {
    const taints = noExecuteTaints(clusterOf(cluster)?.spec?.taints)
    return taints.length === 0 ? [] : [{ cluster, atMs: evictionDue(taints, tolerations) }]
  })
}

const planWith =
  (resource: Resource, { purgeMode: byDefault, gates }: TaintEvictionDeps['options']) =>
  ({ binding, due, waitMs, nowMs }: ObservedBinding): Plan => {
    if (binding === undefined || due.length === 0) return NOTHING_TO_DO
    const nextMs = Math.min(...due.filter(({ atMs }) => atMs > nowMs).map(({ atMs }) => atMs), NEVER)
    const later = nextMs === NEVER ? {} : { requeueAfterMs: nextMs - nowMs }
    const leaving = due.filter(({ atMs }) => atMs <= nowMs).map(({ cluster }) => cluster)
    if (leaving.length === 0) return { actions: [], ...later }
    if (waitMs > 0) return { actions: [], requeueAfterMs: Math.min(waitMs, later.requeueAfterMs ?? NEVER) }
    const failover = binding.spec.failover?.cluster
    const purgeMode = failover === undefined ? byDefault : purgeModeOf(failover.purgeMode ?? 'Gracefully')
    const evictions = new Map<string, Eviction | undefined>()
    const events: KeyedEvent[] = []
    for (const cluster of leaving) {
      // Without graceful eviction nothing is waited for: the cluster is only removed.
      if (purgeMode === 'Gracefully' && !gates.GracefulEviction) {
        evictions.set(cluster, undefined)
        continue
      }
      const state = preservedState(binding, cluster, gates.StatefulFailoverInjection ? failover?.statePreservation : undefined)
      if (state.error === undefined)
        evictions.set(cluster, {
          purgeMode,
          reason: EVICTION_REASONS.taintUntolerated,
          producer: EVICTION_PRODUCERS.taintManager,
          ...state.value,
        })
      else events.push(heldBack(binding, cluster, state.error))
    }
    return { actions: evict(resource, binding, evictions, nowMs), events, ...later }
  }
