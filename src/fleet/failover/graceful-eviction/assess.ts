/** Which eviction tasks are done. Pure. */
import { formatTime } from '../../../base/clock.ts'
import type { Binding, GracefulEvictionTask } from '../../../kinds/karmada/index.ts'

export interface Assessment {
  kept: readonly GracefulEvictionTask[]
  /** Clusters whose copy may be removed. */
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
    // The task is what holds the others back: if it were dropped because a cluster does not answer, there would be two copies.
    if (mayGo && isPurged(binding, task, at.copies)) {
      done.push(fromCluster)
      continue
    }
    kept.push(task)
    if (suppressDeletion !== true && !mayGo) nextMs = Math.min(nextMs ?? endMs, endMs)
  }
  return { kept, done, nextMs }
}

/** Whether nothing is left that has to be gone first: when a Work is gone, the binding is queued again. */
const isPurged = ({ spec }: Binding, { fromCluster, purgeMode }: GracefulEvictionTask, copies: ReadonlySet<string>): boolean =>
  purgeMode !== 'Directly' || !copies.has(fromCluster) || spec.clusters?.some(({ name }) => name === fromCluster) === true

/**
 * Every copy that was decided on is healthy. A generation that the scheduler has not seen yet does not count; and if there
 * is no other copy, only the end of the grace period ends the wait: the last copy is not removed for lack of another
 * cluster.
 */
function isHealthyElsewhere({ metadata, spec, status }: Binding): boolean {
  const { clusters = [] } = spec
  if (clusters.length === 0 || status?.schedulerObservedGeneration !== metadata.generation) return false
  const health = new Map(status?.aggregatedStatus?.map((item) => [item.clusterName, item.health]))
  return clusters.every(({ name }) => health.get(name) === 'Healthy')
}
