/**
 * What it means to drive a binding away from a cluster: the cluster leaves spec.clusters and becomes a task that remembers why,
 * in one write, because the two are one decision. Pure; the words of the events are here as well.
 */
import { formatTime } from '../../base/clock.ts'
import { PURGE_MODE_ALIASES } from '../../kinds/karmada/failover.ts'
import type { Binding, GracefulEvictionTask, PurgeMode } from '../../kinds/karmada/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Action, EventIntent, KeyedEvent } from '../../runtime/controller.ts'

/** One path for both kinds of binding: names of controllers differ, nothing else. */
export const controllerName = (base: string, { namespaced }: Resource): string => (namespaced ? base : `${base}.cluster-scoped`)

export type Eviction = Omit<GracefulEvictionTask, 'fromCluster' | 'replicas' | 'creationTimestamp'>

/** Old names of purge modes mean what they meant. */
export const purgeModeOf = (mode: string): PurgeMode =>
  Object.hasOwn(PURGE_MODE_ALIASES, mode) ? (PURGE_MODE_ALIASES[mode] as PurgeMode) : (mode as PurgeMode)

/** Clusters that the binding is not (or no longer) on are passed over; without a task where there is nothing to remember. */
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

/** The template of a binding, as far as an event needs it. */
export function templateOf({ spec: { resource } }: Binding): KubeObject {
  const { apiVersion, kind, namespace, name, uid } = resource
  return { apiVersion, kind, metadata: { namespace, name, uid } }
}

/** The binding stays until its state is known: that is said once, and the status that brings it enqueues the binding. */
export const heldBack = (binding: Binding, cluster: string, why: string): KeyedEvent => {
  const event = evictionEvent(binding, cluster, 'failed')
  return { ...event, message: `${event.message} ${why}`, key: `${cluster} ${why}` }
}
