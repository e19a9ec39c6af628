/**
 * Whether and how a Job ends: an earlier decision stands; then the ways to fail, in Kubernetes' order; then the
 * success policy. That all completions are reached is decided by the plan, which knows what it is about to do with the pods.
 */
import type { Job } from '../../../kinds/kubernetes/types.ts'
import { type Outcome, recordedOutcome } from './conditions.ts'
import { countIndexes, countShared, type Intervals, parseIntervals } from './intervals.ts'
import { isIndexed, isPodFailed, judgeFailure } from './job-pod.ts'
import type { Tally } from './tally.ts'

export const COMPLETIONS_REACHED: Outcome = {
  type: 'SuccessCriteriaMet',
  reason: 'CompletionsReached',
  message: 'Reached expected number of succeeded pods',
}

const failure = (reason: string, message: string): Outcome => ({ type: 'FailureTarget', reason, message })

export function outcomeOf(tally: Tally, times: { startMs: number | undefined; nowMs: number }): Outcome | undefined {
  const { job } = tally
  return recordedOutcome(job) ?? policyFailure(tally) ?? limitFailure(tally, times) ?? indexFailure(tally) ?? policySuccess(tally)
}

function policyFailure({ job, pods }: Tally): Outcome | undefined {
  if (job.spec?.podFailurePolicy === undefined) return undefined
  for (const pod of pods) {
    if (!isPodFailed(pod, job)) continue
    const { failJob } = judgeFailure(job, pod)
    if (failJob !== undefined) return failure('PodFailurePolicy', failJob)
  }
  return undefined
}

function limitFailure(tally: Tally, times: { startMs: number | undefined; nowMs: number }): Outcome | undefined {
  const { job, failed } = tally
  if (failed > backoffLimitOf(job) || hasRestartedTooOften(tally))
    return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
  const left = deadlineInMs(job, times)
  return left !== undefined && left <= 0 ? failure('DeadlineExceeded', 'Job was active longer than specified deadline') : undefined
}

const MAX_INT32 = 2 ** 31 - 1
const backoffLimitOf = (job: Job): number => job.spec?.backoffLimit ?? (job.spec?.backoffLimitPerIndex === undefined ? 6 : MAX_INT32)

/** Restarts within pods count as failures where containers are restarted in place. */
function hasRestartedTooOften({ job, pods }: Tally): boolean {
  if (job.spec?.template?.spec?.restartPolicy !== 'OnFailure') return false
  let restarts = 0
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue
    for (const { restartCount = 0 } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
      restarts += restartCount
  }
  const limit = backoffLimitOf(job)
  return limit === 0 ? restarts > 0 : restarts >= limit
}

/** How long the Job may still be active; undefined without a deadline, and while it is suspended. */
export function deadlineInMs(job: Job, { startMs, nowMs }: { startMs: number | undefined; nowMs: number }): number | undefined {
  const { activeDeadlineSeconds, suspend } = job.spec ?? {}
  if (activeDeadlineSeconds === undefined || startMs === undefined || suspend === true) return undefined
  return activeDeadlineSeconds * 1000 - (nowMs - startMs)
}

function indexFailure({ job, failedIndexes, succeededIndexes }: Tally): Outcome | undefined {
  if (failedIndexes === undefined) return undefined
  const failed = countIndexes(failedIndexes)
  const { maxFailedIndexes, completions = 0 } = job.spec ?? {}
  if (maxFailedIndexes !== undefined && failed > maxFailedIndexes)
    return failure('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes')
  if (failed > 0 && failed + countIndexes(succeededIndexes) >= completions) return failure('FailedIndexes', 'Job has failed indexes')
  return undefined
}

function policySuccess({ job, succeededIndexes }: Tally): Outcome | undefined {
  if (!isIndexed(job) || succeededIndexes.length === 0) return undefined
  const completions = job.spec?.completions ?? 0
  const met = (job.spec?.successPolicy?.rules ?? []).findIndex(({ succeededIndexes: text, succeededCount }) => {
    if (text === undefined) return succeededCount !== undefined && countIndexes(succeededIndexes) >= succeededCount
    return satisfies(succeededIndexes, { required: parseIntervals(text, completions), succeededCount })
  })
  if (met < 0) return undefined
  return { type: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message: `Matched rules at index ${met}` }
}

function satisfies(succeeded: Intervals, { required, succeededCount }: { required: Intervals; succeededCount?: number }): boolean {
  if (required.length === 0) return false
  const shared = countShared(required, succeeded)
  return shared === countIndexes(required) || (succeededCount !== undefined && shared >= succeededCount)
}
