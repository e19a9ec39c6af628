/**
 * Deletes Jobs that finished `spec.ttlSecondsAfterFinished` ago, with their pods (in the foreground). Writes nothing
 * else. Runs again when a Job changes and when its TTL expires; before it deletes, it asks the server whether the Job still
 * says so, because the TTL may have been extended.
 */

import { ifFound } from '../../../client/errors.ts'
import { JOBS } from '../../../kinds/kubernetes/resources.ts'
import type { Job } from '../../../kinds/kubernetes/types.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import { defineController, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { finishedCondition } from '../job/conditions.ts'

export interface Observed {
  /** From the cache, or from the server once its TTL seems to have expired. */
  job: Job | undefined
  nowMs: number
}

export const ttlAfterFinished = defineController<Observed, Job>({
  name: 'minicluster.workloads.ttl-after-finished',
  for: JOBS,
  writes: [{ resource: JOBS, verbs: ['delete'] }],
  reads: [{ resource: JOBS, verbs: ['get'] }],
  concurrency: 4,
  async observe(ref, job, read, client) {
    const nowMs = read.nowMs()
    const left = job === undefined ? undefined : timeLeftMs(job, nowMs)
    if (left === undefined || left > 0) return { job, nowMs }
    return { job: await ifFound(client.get(JOBS, ref)), nowMs }
  },
  plan,
})

export function plan({ job, nowMs }: Observed): Plan {
  const left = job === undefined ? undefined : timeLeftMs(job, nowMs)
  if (job === undefined || left === undefined) return NOTHING_TO_DO
  if (left > 0) return { actions: [], requeueAfterMs: left }
  return { actions: [{ do: 'delete', resource: JOBS, of: job, propagation: 'Foreground' }] }
}

/** Undefined for Jobs that have not finished, have no TTL, or are being deleted. */
function timeLeftMs(job: Job, nowMs: number): number | undefined {
  const { ttlSecondsAfterFinished } = job.spec ?? {}
  if (ttlSecondsAfterFinished === undefined || job.metadata.deletionTimestamp !== undefined) return undefined
  const finishedMs = timeToMs(finishedCondition(job)?.lastTransitionTime)
  return finishedMs === undefined ? undefined : finishedMs + ttlSecondsAfterFinished * 1000 - nowMs
}
