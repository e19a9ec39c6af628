/**
 * Starts a Job whenever a CronJob's schedule says so, and keeps the last few that are over. Sole writer of: a CronJob's
 * status, and the existence of its Jobs. Every start has one name, so a start that was repeated meets the first. Runs again
 * when the CronJob or one of its Jobs changes and when the next start is due. Deletion: garbage collection takes the Jobs.
 */
import { CRON_JOBS, JOBS } from '../../../client/builtin-resources.ts'
import type { CronJob } from '../../../kinds/kubernetes/types.ts'
import { parseGroupVersion } from '../../../kube/meta.ts'
import { defineController, via } from '../../../runtime/controller.ts'
import { byController, controlledBy } from '../pod/indexes.ts'
import { controllerOf } from '../pod/ownership.ts'
import { type Observed, plan } from './plan.ts'

export const cronJobController = defineController<Observed, CronJob>({
  name: 'minicluster.workloads.cron-job',
  component: 'cronjob-controller',
  for: CRON_JOBS,
  watches: [
    via(JOBS, (job) => {
      const controller = controllerOf(job)
      const isOurs = controller?.kind === CRON_JOBS.kind && parseGroupVersion(controller.apiVersion).group === CRON_JOBS.group
      return isOurs ? [{ namespace: job.metadata.namespace ?? '', name: controller.name }] : []
    }),
  ],
  indexes: [byController(JOBS)],
  writes: [
    { resource: CRON_JOBS, subresource: 'status', verbs: ['patch'] },
    { resource: JOBS, verbs: ['create', 'delete'] },
  ],
  concurrency: 4,
  observe: (ref, cron, read) => ({
    cron,
    jobs: cron === undefined ? [] : controlledBy(read, JOBS, cron.metadata.uid),
    nowMs: read.nowMs(),
    isTaken: (name) => read.get(JOBS, ref.namespace, name) !== undefined,
  }),
  plan,
})
