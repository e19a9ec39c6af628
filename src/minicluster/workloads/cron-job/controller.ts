/**
 * Starts a Job whenever a CronJob's schedule says so, and keeps the last few finished ones. Sole writer of: a CronJob's
 * status, and the existence of its Jobs. Every start has a fixed name, so a repeated start meets the first. Runs again
 * when the CronJob or one of its Jobs changes and when the next start is due. Deletion: garbage collection takes the Jobs.
 */

import type { Client } from '../../../client/client.ts'
import { ifFound } from '../../../client/errors.ts'
import { CRON_JOBS, JOBS } from '../../../kinds/kubernetes/resources.ts'
import type { CronJob } from '../../../kinds/kubernetes/types.ts'
import { parseGroupVersion } from '../../../kube/meta.ts'
import { refOf } from '../../../kube/object-reference.ts'
import { defineController, type Plan, via } from '../../../runtime/controller.ts'
import { byController, controlledBy } from '../../../runtime/workloads/pod/indexes.ts'
import { controllerOf } from '../../../runtime/workloads/pod/ownership.ts'
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
  reads: [{ resource: CRON_JOBS, verbs: ['get'] }],
  concurrency: 4,
  async observe(ref, cron, read, client) {
    const observed: Observed = {
      cron,
      jobs: cron === undefined ? [] : controlledBy(read, JOBS, cron.metadata.uid),
      nowMs: read.nowMs(),
      isTaken: (name) => read.get(JOBS, ref.namespace, name) !== undefined,
      isCurrent: true,
    }
    if (cron === undefined || !startsJob(plan(observed))) return observed
    return { ...observed, isCurrent: await isCurrent(client, cron) }
  },
  plan,
})

const startsJob = ({ actions }: Plan): boolean => actions.some((action) => action.do === 'create')

/**
 * Whether the server has the CronJob as we know it. A create cannot be made conditional on that, and with a stale cache a
 * start that happened long ago, and whose Job is gone, would be repeated.
 */
async function isCurrent(client: Client, cron: CronJob): Promise<boolean> {
  const live = await ifFound(client.get(CRON_JOBS, refOf(cron)))
  return live !== undefined && live.metadata.resourceVersion === cron.metadata.resourceVersion
}
