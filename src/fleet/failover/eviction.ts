/**
 * What it means to evict a binding from a cluster: the cluster is removed from spec.clusters and becomes a task that
 * records why, in one write, because the two are one decision. Pure; the texts of the events are here as well.
 */
import { formatTime } from '../../base/clock.ts'
import { PURGE_MODE_ALIASES } from '../../kinds/karmada/failover.ts'
import type { Binding, GracefulEvictionTask, PurgeMode } from '../../kinds/karmada/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Action, EventIntent, KeyedEvent } from '../../runtime/controller.ts'

/** One implementation for both kinds of bindings: only the controllers' names differ. */
export const controllerName = (base: string, { namespaced }: Resource): string => (namespaced ? base : `${base}.cluster-scoped`)

export type Eviction = Omit<GracefulEvictionTask, 'fromCluster' | 'replicas' | 'creationTimestamp'>

/** Deprecated names of purge modes keep their meaning. */
export const purgeModeOf = (mode: string): PurgeMode =>
  Object.hasOwn(PURGE_MODE_ALIASES, mode) ? (PURGE_MODE_ALIASES[mode] as PurgeMode) : (mode as PurgeMode)

/** Clusters that the binding is not (or no longer) on are skipped; an eviction without details leaves no task. */
export function evict(resource: Resource, binding: Binding, evictions: ReadonlyMap<string, Eviction | undefined>, nowMs: number): Action[] {
  const { clusters = [], gracefulEvictionTasks: tasks = [] } = binding.spec
  const leaving = clusters.filter(({ name }) => evictions.has(name))
  if (leaving.length === 0) return []
  const isKnown = (name: string): boolean => tasks.some(({ fromCluster }) => fromCluster === name)
  const added = leaving.flatMap(({ name, replicas = 0 }): GracefulEvictionTask[] => {
    const eviction = evictions.get(name)
    if (eviction === undefined || isKnown(name)) return []
    const task = { fromCluster: name, ...eviction, creationTimestamp: formatTime(nowMs) }
    return [replicas > 0 ? { ...task, replicas } : task]
  })
  const spec = { clusters: clusters.filter(({ name }) => !evictions.has(name)), gracefulEvictionTasks: [...tasks, ...added] }
  const [first] = leaving
  return [
    {
      do: 'patch',
      resource,
      of: binding,
      patch: { spec },
      eventOnFailure: () => evictionEvent(binding, first?.name ?? '', 'failed'),
    },
  ]
}

export function evictionEvent(of: KubeObject, cluster: string, how: 'succeed' | 'failed'): EventIntent {
  const message = `Evict from cluster ${cluster} ${how}.`
  return how === 'succeed'
    ? { of, type: 'Normal', reason: 'EvictWorkloadFromClusterSucceed', message }
    : { of, type: 'Warning', reason: 'EvictWorkloadFromClusterFailed', message }
}

/** The binding stays until its state is known: recorded once; the status that contains it enqueues the binding. */
export const heldBack = (binding: Binding, cluster: string, why: string): KeyedEvent => {
  const event = evictionEvent(binding, cluster, 'failed')
  return { ...event, message: `${event.message} ${why}`, key: `${cluster} ${why}` }
}
