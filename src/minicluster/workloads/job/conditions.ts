/** A Job's conditions about its end: decided (SuccessCriteriaMet, FailureTarget), and finished (Complete, Failed). */
import type { Job, JobCondition } from '../../../kinds/kubernetes/types.ts'
import { findCondition } from '../../../kube/conditions.ts'

export interface Outcome {
  type: 'SuccessCriteriaMet' | 'FailureTarget'
  reason: string
  message: string
}

type TypedCondition = JobCondition & { type: string }

export const conditionsOf = (job: Job): TypedCondition[] =>
  (job.status?.conditions ?? []).filter((condition): condition is TypedCondition => condition.type !== undefined)

function conditionThat(job: Job, type: string): TypedCondition | undefined {
  const condition = findCondition(conditionsOf(job), type)
  return condition?.status === 'True' ? condition : undefined
}

/** The condition that says that the Job has finished, if it has. */
export const finishedCondition = (job: Job): JobCondition | undefined =>
  conditionsOf(job).find(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True')

/** The outcome already recorded in the status. */
export function recordedOutcome(job: Job): Outcome | undefined {
  for (const type of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    const condition = conditionThat(job, type)
    if (condition !== undefined) return { type, reason: condition.reason ?? '', message: condition.message ?? '' }
  }
  return undefined
}
