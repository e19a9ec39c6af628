/**
 * The progress of a Job: its pods classified, and how many have succeeded and failed. Every pod counts once: those that
 * hold the tracking finalizer and are not on record are new, those on record (`uncountedTerminatedPods`) count until their
 * finalizer is gone, and after that they are included in the counters of the status.
 */
import type { Job, Pod } from '../../../kinds/kubernetes/types.ts'
import { isPodActive, isPodReady, isPodTerminating } from '../../../runtime/workloads/pod/state.ts'
import { recordedOutcome } from './conditions.ts'
import { countIndexes, hasIndex, type Intervals, intervalsOf, parseIntervals, union } from './intervals.ts'
import { completionIndexOf, finishedMs, indexFailuresBefore, isIndexed, isPodFailed, isTracked, judgeFailure } from './job-pod.ts'

export interface Tally {
  job: Job
  pods: readonly Pod[]
  active: readonly Pod[]
  ready: number
  terminating: number
  succeeded: number
  failed: number
  /** Of Indexed Jobs. */
  succeededIndexes: Intervals
  /** Succeeded according to the status alone. */
  recordedIndexes: Intervals
  /** Of Jobs with a backoff limit per index. */
  failedIndexes: Intervals | undefined
  /** Failed pods whose replacement will continue their count: each keeps its finalizer until then. */
  heldByIndex: ReadonlyMap<number, Pod>
}

export function tallyOf(job: Job, pods: readonly Pod[]): Tally {
  const active = pods.filter(isPodActive)
  const uncounted = job.status?.uncountedTerminatedPods
  const [recordedSucceeded, recordedFailed] = [new Set(uncounted?.succeeded), new Set(uncounted?.failed)]
  const fresh = pods.filter((pod) => isTracked(pod) && hasValidIndex(job, pod))
  // One that was recorded as failed when its deletion began may still succeed: it stays a failure.
  const ended = fresh.filter((pod) => pod.status?.phase === 'Succeeded' && !recordedFailed.has(pod.metadata.uid ?? ''))
  const newSucceeded = ended.filter((pod) => !recordedSucceeded.has(pod.metadata.uid ?? ''))
  const newFailed = fresh.filter((pod) => isPodFailed(pod, job) && !recordedFailed.has(pod.metadata.uid ?? ''))
  const counts = newFailed.filter((pod) => judgeFailure(job, pod).counts).length
  const completions = job.spec?.completions ?? 0
  const recordedIndexes = isIndexed(job) ? parseIntervals(job.status?.completedIndexes, completions) : []
  const succeededIndexes = isIndexed(job) ? union(recordedIndexes, indexesOf(ended)) : []
  const failedIndexes = isIndexed(job) && job.spec?.backoffLimitPerIndex !== undefined ? failedIndexesOf(job, fresh) : undefined
  return {
    job,
    pods,
    active,
    ready: active.filter(isPodReady).length,
    terminating: pods.filter(isPodTerminating).length,
    succeeded: isIndexed(job)
      ? countIndexes(succeededIndexes)
      : (job.status?.succeeded ?? 0) + newSucceeded.length + recordedSucceeded.size,
    failed: (job.status?.failed ?? 0) + counts + recordedFailed.size,
    succeededIndexes,
    recordedIndexes,
    failedIndexes,
    heldByIndex: failedIndexes === undefined ? new Map() : heldPods(job, { fresh, active, over: union(succeededIndexes, failedIndexes) }),
  }
}

/** Pods of an Indexed Job without a valid index do not count. */
export function hasValidIndex(job: Job, pod: Pod): boolean {
  if (!isIndexed(job)) return true
  const index = completionIndexOf(pod)
  return index !== undefined && index < (job.spec?.completions ?? 0)
}

export const indexesOf = (pods: readonly Pod[]): Intervals => intervalsOf(new Set(pods.flatMap((pod) => completionIndexOf(pod) ?? [])))

function failedIndexesOf(job: Job, fresh: readonly Pod[]): Intervals {
  const limit = job.spec?.backoffLimitPerIndex ?? 0
  // Pods that are deleted because the Job has finished do not fail their index.
  const isOver = recordedOutcome(job) !== undefined
  const failed = fresh.filter((pod) => {
    if (isOver ? pod.status?.phase !== 'Failed' : !isPodFailed(pod, job)) return false
    const { counts, action } = judgeFailure(job, pod)
    return action === 'FailIndex' || (counts && indexFailuresBefore(pod).counted >= limit)
  })
  return union(parseIntervals(job.status?.failedIndexes, job.spec?.completions ?? 0), indexesOf(failed))
}

/** Of each index that is neither finished nor being worked on, the pod that failed last. */
function heldPods(job: Job, of: { fresh: readonly Pod[]; active: readonly Pod[]; over: Intervals }): Map<number, Pod> {
  const busy = union(of.over, indexesOf(of.active))
  const held = new Map<number, Pod>()
  const attempts = (pod: Pod): number => {
    const { counted, ignored } = indexFailuresBefore(pod)
    return counted + ignored
  }
  for (const pod of of.fresh) {
    const index = completionIndexOf(pod)
    if (index === undefined || !isPodFailed(pod, job) || hasIndex(busy, index)) continue
    const known = held.get(index)
    if (known === undefined || (attempts(known) <= attempts(pod) && finishedMs(pod) >= finishedMs(known))) held.set(index, pod)
  }
  return held
}
