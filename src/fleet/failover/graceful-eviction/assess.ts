/** Which eviction tasks are done. Pure. */
import { formatTime } from '../../../base/clock.ts'
import type { Binding, GracefulEvictionTask } from '../../../kinds/karmada/index.ts'

export interface Assessment {
  kept: readonly GracefulEvictionTask[]
  /** Clusters whose copy may go. */
  done: readonly string[]
  /** When the next task times out; undefined when none does. */
  nextMs: number | undefined
}

/** `copies` are clusters that still have a Work of the binding. */
export function assess(binding: Binding, at: { nowMs: number; timeoutSeconds: number; copies: ReadonlySet<string> }): Assessment {
  const { gracefulEvictionTasks: tasks = [] } = binding.spec
  const isHealthy = isHealthyElsewhere(binding)
  const kept: GracefulEvictionTask[] = []
  const done: string[] = []
  let nextMs: number | undefined
  for (const task of tasks) {
    const { suppressDeletion, creationTimestamp, fromCluster } = task
    if (creationTimestamp === undefined || creationTimestamp === null) {
      kept.push({ ...task, creationTimestamp: formatTime(at.nowMs) })
      continue
    }
    const endMs = Date.parse(creationTimestamp) + (task.gracePeriodSeconds ?? at.timeoutSeconds) * 1000
    const mayGo = typeof suppressDeletion === 'boolean' ? !suppressDeletion : !(at.nowMs <= endMs) || isHealthy
    // The task is what holds the others back: were it forgotten because a cluster does not answer, there would be two copies.
    if (mayGo && isPurged(binding, task, at.copies)) {
      done.push(fromCluster)
      continue
    }
    kept.push(task)
    if (suppressDeletion !== true && !mayGo) nextMs = Math.min(nextMs ?? endMs, endMs)
  }
  return { kept, done, nextMs }
}

/** Whether nothing is left that has to be gone first: when a Work goes, the binding is queued again. */
const isPurged = ({ spec }: Binding, { fromCluster, purgeMode }: GracefulEvictionTask, copies: ReadonlySet<string>): boolean =>
  purgeMode !== 'Directly' || !copies.has(fromCluster) || spec.clusters?.some(({ name }) => name === fromCluster) === true

/**
 * Every copy that was decided on is healthy. What the scheduler has not seen yet says nothing, and where there is no other copy
 * at all, there is nothing to wait for but the end of the grace: the last one is not ended for want of a place.
 */
function isHealthyElsewhere({ metadata, spec, status }: Binding): boolean {
  const { clusters = [] } = spec
  if (clusters.length === 0 || status?.schedulerObservedGeneration !== metadata.generation) return false
  const health = new Map(status?.aggregatedStatus?.map((item) => [item.clusterName, item.health]))
  return clusters.every(({ name }) => health.get(name) === 'Healthy')
}
