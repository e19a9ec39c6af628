/**
 * Runs a Job's pods until enough of them have succeeded or too many have failed. Sole writer of: a Job's status, its pods'
 * existence and the finalizer `batch.kubernetes.io/job-tracking` on them, which keeps each pod until its end is on record.
 * Runs again when the Job or one of its pods changes, when a backoff or a deadline is over. Deletion: pods of a Job that is
 * gone, being deleted or finished lose the finalizer, and garbage collection takes them. Jobs with another manager are ignored.
 */

import type { Client } from '../../../client/client.ts'
import { ifFound } from '../../../client/errors.ts'
import { JOBS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Job, Pod } from '../../../kinds/kubernetes/types.ts'
import { parseGroupVersion } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import { defineController, indexOf, type PassReader, via } from '../../../runtime/controller.ts'
import {
  byController,
  bySelector,
  controlledBy,
  controllersOf,
  orphansIn,
  readSelector,
  type Selecting,
} from '../../../runtime/workloads/pod/indexes.ts'
import { type ClaimInput, claimObjects, controllerOf, mayAdopt, wouldAdopt } from '../../../runtime/workloads/pod/ownership.ts'
import { finishedCondition } from './conditions.ts'
import { isTracked } from './job-pod.ts'
import { isManagedElsewhere, type Observed, plan } from './plan.ts'

const SELECTING: Selecting<Job> = { resource: JOBS, selectorOf: (job) => readSelector(job.spec?.selector) }
const TRACKED = 'tracked'

export const jobController = defineController<Observed, Job>({
  name: 'minicluster.workloads.job',
  component: 'job-controller',
  for: JOBS,
  watches: [via(PODS, (pod, read) => [...controllersOf(read, SELECTING, pod), ...trackedFor(pod)])],
  indexes: [
    byController(PODS),
    bySelector(SELECTING),
    indexOf(PODS, TRACKED, (pod) => trackedFor(pod).map(({ namespace, name }) => `${namespace}/${name}`)),
  ],
  writes: [
    { resource: JOBS, subresource: 'status', verbs: ['patch'] },
    { resource: PODS, verbs: ['create', 'patch', 'delete'] },
  ],
  reads: [{ resource: JOBS, verbs: ['get'] }],
  concurrency: 4,
  async observe(ref, job, read, client) {
    const input: ClaimInput<Pod> | undefined = job === undefined ? undefined : claimInput(job, read)
    const isAdopting = input !== undefined && job !== undefined && isOurs(job) && wouldAdopt(input)
    const claim =
      input === undefined
        ? { claimed: [], adopt: [], release: [] }
        : claimObjects({ ...input, mayAdopt: isAdopting && job !== undefined ? await mayAdopt(client, JOBS, job) : true })
    const strays = straysOf(ref, { job, read, adopted: new Set(claim.adopt) })
    return {
      job,
      claim,
      strays: job === undefined && strays.length > 0 && !(await isGone(client, ref)) ? [] : strays,
      hasFailed: read.lastFailure() !== undefined,
      nowMs: read.nowMs(),
      isTaken: (name) => read.get(PODS, ref.namespace, name) !== undefined,
    }
  },
  plan,
})

const isOurs = (job: Job): boolean => !isManagedElsewhere(job) && finishedCondition(job) === undefined

function claimInput(job: Job, read: PassReader): ClaimInput<Pod> {
  const { uid, namespace = '' } = job.metadata
  return {
    owner: job,
    selector: SELECTING.selectorOf(job),
    candidates: [...controlledBy(read, PODS, uid), ...orphansIn(read, PODS, namespace)],
  }
}

/** The Job responsible for a pod's finalizer, whether it still exists or not. */
function trackedFor(pod: Pod): ObjectRef[] {
  if (!isTracked(pod)) return []
  const { namespace = '', name = '', labels = {} } = pod.metadata
  const controller = controllerOf(pod)
  if (controller !== undefined) {
    const isJob = controller.kind === JOBS.kind && parseGroupVersion(controller.apiVersion).group === JOBS.group
    return isJob ? [{ namespace, name: controller.name }] : []
  }
  const label = 'batch.kubernetes.io/job-name'
  return [{ namespace, name: Object.hasOwn(labels, label) ? (labels[label] ?? name) : name }]
}

function straysOf(ref: ObjectRef, of: { job: Job | undefined; read: PassReader; adopted: ReadonlySet<Pod> }): Pod[] {
  const { job, read, adopted } = of
  return read.byIndex(PODS, TRACKED, `${ref.namespace}/${ref.name}`).filter((pod) => {
    if (adopted.has(pod)) return false
    if (job === undefined || controllerOf(pod)?.uid !== job.metadata.uid) return true
    return finishedCondition(job) !== undefined && !isManagedElsewhere(job)
  })
}

/** Only the server can say that a Job is gone: the cache may simply not have it yet. */
async function isGone(client: Client, ref: ObjectRef): Promise<boolean> {
  return (await ifFound(client.get(JOBS, ref))) === undefined
}
