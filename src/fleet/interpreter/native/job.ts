/** batch/v1 Job. There is no health rule: a failed Job is finished, not unhealthy. */

import { fieldAt, numberAt, withField } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { KindRules } from '../interpreter.ts'
import { aggregateJob } from './job-status.ts'
import { answerOf, type NativeOptions, reviseField, templateDependencies } from './replicas.ts'
import { wholeStatus } from './status.ts'

const COUNTERS = ['active', 'succeeded', 'failed'] as const
const REFLECTED = [...COUNTERS, 'conditions', 'startTime', 'completionTime'] as const

export const jobRules = (options: NativeOptions): KindRules => ({
  replicas: (job) => answerOf(podsAtOnce(job), fieldAt(job, 'spec', 'template'), options),
  revise: (job, replicas) => reviseField(job, 'parallelism', replicas),
  retain: retainSelector,
  aggregate: aggregateJob,
  dependencies: (job) => templateDependencies(job),
  reflect: (job) => {
    const status = wholeStatus(job)
    if (status === undefined) return undefined
    return Object.fromEntries(REFLECTED.filter((field) => isReported(status[field])).map((field) => [field, status[field]]))
  },
})

const isReported = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== 0 && !(Array.isArray(value) && value.length === 0)

/** No more pods run in parallel than are left to complete. */
function podsAtOnce(job: KubeObject): number {
  const parallelism = numberAt(job, 'spec', 'parallelism') ?? 0
  return Math.min(parallelism, numberAt(job, 'spec', 'completions') ?? parallelism)
}

/** A member's server derived selector and labels from the uid of the Job there; they are immutable. */
function retainSelector(desired: KubeObject, observed: KubeObject): KubeObject {
  let retained = desired
  for (const path of [
    ['spec', 'selector', 'matchLabels'],
    ['spec', 'template', 'metadata', 'labels'],
  ]) {
    const labels = fieldAt(observed, ...path)
    if (labels !== undefined && labels !== null) retained = withField(retained, path, labels)
  }
  return retained
}
