/** The status of a Job after the next write, and the smallest merge patch that gets it there. */
import { formatTime } from '../../../base/clock.ts'
import { deepEqual } from '../../../base/json.ts'
import type { Job, JobCondition, JobStatus } from '../../../kinds/kubernetes/types.ts'
import { conditionsOf, type Outcome } from './conditions.ts'
import { countIndexes, formatIntervals } from './intervals.ts'
import { isIndexed } from './job-pod.ts'
import type { Records } from './record.ts'
import type { Tally } from './tally.ts'

export interface StatusInput {
  tally: Tally
  records: Records
  active: number
  ready: number
  terminating: number
  conditions: readonly JobCondition[]
  startTime: string | undefined
  completionTime?: string
}

export function nextStatus(input: StatusInput): JobStatus {
  const { tally, records } = input
  const { job } = tally
  const { succeeded, failed } = records.uncounted
  return {
    active: positive(input.active),
    completedIndexes: isIndexed(job) ? formatIntervals(tally.succeededIndexes) || undefined : undefined,
    completionTime: input.completionTime ?? job.status?.completionTime,
    conditions: input.conditions.length === 0 ? undefined : [...input.conditions],
    failed: positive(records.failed),
    failedIndexes: tally.failedIndexes === undefined ? undefined : formatIntervals(tally.failedIndexes),
    ready: input.ready,
    startTime: input.startTime,
    succeeded: positive(isIndexed(job) ? countIndexes(tally.succeededIndexes) : records.succeeded),
    terminating: input.terminating,
    uncountedTerminatedPods: {
      ...(succeeded.length > 0 ? { succeeded } : {}),
      ...(failed.length > 0 ? { failed } : {}),
    },
  }
}

/** Zero is omitted, as in Go. */
const positive = (count: number): number | undefined => (count > 0 ? count : undefined)

/** Undefined when nothing differs. Removed fields are null. */
export function statusPatch(job: Job, next: JobStatus): Record<string, unknown> | undefined {
  const live = (job.status ?? {}) as Record<string, unknown>
  const patch: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(next)) if (!deepEqual(live[key], value)) patch[key] = value ?? null
  if (patch.uncountedTerminatedPods !== undefined) {
    const { succeeded = null, failed = null } = next.uncountedTerminatedPods ?? {}
    patch.uncountedTerminatedPods = { succeeded, failed }
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

export function conditionOf(type: string, of: { status?: string; reason: string; message: string }, nowMs: number): JobCondition {
  const now = formatTime(nowMs)
  return { type, status: of.status ?? 'True', lastProbeTime: now, lastTransitionTime: now, reason: of.reason, message: of.message }
}

/** The condition that ends the Job. */
export const finalCondition = (outcome: Outcome, nowMs: number): JobCondition =>
  conditionOf(outcome.type === 'FailureTarget' ? 'Failed' : 'Complete', outcome, nowMs)

/** The Suspended condition as it should be; undefined when it is so already. A Job that was never suspended needs none. */
export function suspension(job: Job, nowMs: number): JobCondition | undefined {
  const known = conditionsOf(job).find(({ type }) => type === 'Suspended')
  if (job.spec?.suspend === true)
    return known?.status === 'True' ? undefined : conditionOf('Suspended', { reason: 'JobSuspended', message: 'Job suspended' }, nowMs)
  if (known === undefined || known.status === 'False') return undefined
  return conditionOf('Suspended', { status: 'False', reason: 'JobResumed', message: 'Job resumed' }, nowMs)
}

export const withCondition = (conditions: readonly JobCondition[], next: JobCondition): JobCondition[] =>
  conditions.some(({ type }) => type === next.type)
    ? conditions.map((condition) => (condition.type === next.type ? next : condition))
    : [...conditions, next]
