/** What became of the Job of an operation, and of the newest Job of a CronJob. Pure. */
import type { CronJob, Job } from '../../kinds/kubernetes/types.ts'
import { formatDuration } from '../../kube/go-duration.ts'

export interface End {
  type: 'Complete' | 'Failed'
  reason: string
  message: string
  /** metav1.Time. */
  at: string
  /** In Go's words: `1m3s`. */
  duration: string
}

/** By its finished condition, wherever that is in the list: before it there can be others, such as SuccessCriteriaMet. */
export function endOf({ metadata, status }: Job): End | undefined {
  const found = (status?.conditions ?? []).find(({ type, status: is }) => is === 'True' && (type === 'Complete' || type === 'Failed'))
  if (found === undefined) return undefined
  const at = found.lastTransitionTime ?? status?.completionTime ?? metadata.creationTimestamp ?? ''
  return {
    type: found.type === 'Complete' ? 'Complete' : 'Failed',
    reason: found.reason ?? '',
    message: found.message ?? '',
    at,
    duration: durationBetween(metadata.creationTimestamp ?? at, at),
  }
}

const NANOSECONDS = 1_000_000n

/** Whole seconds; clocks that differ give no negative time. */
export function durationBetween(from: string, to: string): string {
  const ms = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000) * 1000)
  return formatDuration(BigInt(Number.isNaN(ms) ? 0 : ms) * NANOSECONDS)
}

/**
 * The run that counts: the newest, unless it is older than what the CronJob started last, whose Job is then still to come.
 * Undefined: it has not run yet.
 */
export function newestRun({ status }: CronJob, jobs: readonly Job[]): Job | undefined {
  const timeOf = ({ metadata }: Job): number => Date.parse(metadata.creationTimestamp ?? '') || 0
  const newest = [...jobs].sort((a, b) => timeOf(b) - timeOf(a) || ((a.metadata.name ?? '' < (b.metadata.name ?? '')) ? 1 : -1))[0]
  if (newest === undefined) return undefined
  const last = Date.parse(status?.lastScheduleTime ?? '') || 0
  return timeOf(newest) >= last ? newest : undefined
}
