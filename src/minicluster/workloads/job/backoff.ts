/**
 * How long a Job waits before it replaces a failed pod: 10 s, doubled with every failure in a row, at most 10 minutes. All
 * of it is derived from the pods themselves, so a restart of the controller neither forgets nor extends a wait.
 */
import type { Job, Pod } from '../../../kinds/kubernetes/types.ts'
import { finishedMs, indexFailuresBefore, isPodFailed } from './job-pod.ts'

const FIRST_MS = 10_000
const MAX_MS = 600_000

function remainingMs(failures: number, lastFailureMs: number, nowMs: number): number {
  if (failures <= 0) return 0
  const wholeMs = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures - 1, 30))
  return Math.max(0, wholeMs - (nowMs - lastFailureMs))
}

/** For the Job as a whole: failures since its last success. */
export function backoffMs(job: Job, pods: readonly Pod[], nowMs: number): number {
  const lastSuccess = latest(pods.filter((pod) => pod.status?.phase === 'Succeeded').map(finishedMs))
  const failures = pods
    .filter((pod) => isPodFailed(pod, job))
    .map(finishedMs)
    .filter((ms) => ms > lastSuccess)
  return remainingMs(failures.length, latest(failures), nowMs)
}

/** For one index, by the pod that failed last in it. */
export function indexBackoffMs(lastFailed: Pod | undefined, nowMs: number): number {
  if (lastFailed === undefined) return 0
  const { counted, ignored } = indexFailuresBefore(lastFailed)
  return remainingMs(counted + ignored + 1, finishedMs(lastFailed), nowMs)
}

const latest = (times: readonly number[]): number => times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
