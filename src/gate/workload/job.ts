/**
 * batch/v1 Job. It succeeded when its condition says so: pods are counted before the Job is decided, so counters say nothing.
 * A failure wins: no server accepts a Job that is both.
 */
import { fieldAt } from '../../kube/fields.ts'
import { timeToMs } from '../../kube/go-time.ts'
import { queueing } from './queueing.ts'
import { isTrue, notEnded } from './reported.ts'
import type { WorkloadKind } from './workload.ts'

export const job: WorkloadKind = {
  group: 'batch',
  kind: 'Job',
  isEndless: false,
  stateOf: (status) => (isTrue(status, 'Failed') ? 'failed' : hasSucceeded(status) ? 'succeeded' : notEnded(status)),
  ...queueing({ podTemplates: (template) => [fieldAt(template, 'spec', 'template')] }),
}

/** SuccessCriteriaMet alone announces the end: pods may still run. */
const hasSucceeded = (status: unknown): boolean =>
  isTrue(status, 'Complete') || (isTrue(status, 'SuccessCriteriaMet') && timeToMs(fieldAt(status, 'completionTime')) !== undefined)
