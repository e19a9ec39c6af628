/**
 * How the end of pods is recorded so that none is counted twice or lost, wherever the controller is interrupted: first the
 * uid is added to `status.uncountedTerminatedPods`, then the pod's finalizer is removed, then the uid is removed and the
 * counter incremented in one write. (Succeeded pods of Indexed Jobs need no list: their index is the record.)
 */
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import { hasIndex } from './intervals.ts'
import { completionIndexOf, isIndexed, isPodFailed, isTracked, judgeFailure } from './job-pod.ts'
import { hasValidIndex, type Tally } from './tally.ts'

/** Pods on the lists at once: keeps the status small. */
const MAX_UNCOUNTED = 500

export interface Records {
  succeeded: number
  failed: number
  uncounted: { succeeded: string[]; failed: string[] }
  /** Pods whose finalizer may be removed once the status is written. */
  release: readonly Pod[]
}

export function recordsOf(tally: Tally, { isEnding, isSuccess }: { isEnding: boolean; isSuccess: boolean }): Records {
  const { job, pods } = tally
  const holders = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid))
  const before = job.status?.uncountedTerminatedPods ?? {}
  const keep = (uids: readonly string[] | undefined): string[] => [...new Set(uids ?? [])].filter((uid) => holders.has(uid))
  const uncounted = { succeeded: keep(before.succeeded), failed: keep(before.failed) }
  const gone = (uids: readonly string[] | undefined): number => [...new Set(uids ?? [])].filter((uid) => !holders.has(uid)).length
  const release: Pod[] = []
  let recordedIndexes = 0
  for (const pod of inOrderOfIndex(tally)) {
    if (!isTracked(pod) || !mayRelease(tally, pod, isEnding)) continue
    if (recordedIndexes + uncounted.succeeded.length + uncounted.failed.length >= MAX_UNCOUNTED) break
    release.push(pod)
    const list = listOf(tally, pod, isEnding ? (isSuccess ? 'succeeding' : 'failing') : 'running')
    if (list === 'index') recordedIndexes++
    else if (list !== undefined && !uncounted[list].includes(pod.metadata.uid ?? '')) uncounted[list].push(pod.metadata.uid ?? '')
  }
  return {
    succeeded: (job.status?.succeeded ?? 0) + gone(before.succeeded),
    failed: (job.status?.failed ?? 0) + gone(before.failed),
    uncounted,
    release,
  }
}

const inOrderOfIndex = ({ job, pods }: Tally): readonly Pod[] =>
  isIndexed(job) ? [...pods].sort((a, b) => (completionIndexOf(a) ?? -1) - (completionIndexOf(b) ?? -1)) : pods

function mayRelease({ job, heldByIndex }: Tally, pod: Pod, isEnding: boolean): boolean {
  if (job.metadata.deletionTimestamp !== undefined || isEnding || pod.status?.phase === 'Succeeded') return true
  if (!isPodFailed(pod, job)) return false
  const index = completionIndexOf(pod)
  return index === undefined || heldByIndex.get(index)?.metadata.uid !== pod.metadata.uid
}

/**
 * The list the pod is recorded in; undefined when it counts for nothing. When a Job fails, pods that still run have failed
 * too; when it has succeeded early, pods deleted because of that have not.
 */
function listOf(tally: Tally, pod: Pod, end: 'running' | 'failing' | 'succeeding'): 'succeeded' | 'failed' | 'index' | undefined {
  const { job, recordedIndexes } = tally
  const wasFailed = job.status?.uncountedTerminatedPods?.failed?.includes(pod.metadata.uid ?? '') ?? false
  if (pod.status?.phase === 'Succeeded' && !wasFailed) {
    if (!isIndexed(job)) return 'succeeded'
    return hasValidIndex(job, pod) && !hasIndex(recordedIndexes, completionIndexOf(pod) ?? -1) ? 'index' : undefined
  }
  const hasFailed = end === 'succeeding' ? pod.status?.phase === 'Failed' : isPodFailed(pod, job)
  if (!hasFailed && end !== 'failing') return undefined
  return hasValidIndex(job, pod) && judgeFailure(job, pod).counts ? 'failed' : undefined
}
