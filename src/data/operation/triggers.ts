/** What makes an operation be looked at again: look-ups, never scans. Pure. */
import { deepEqual } from '../../base/json.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { OPERATIONS, type Operation, type OperationName, operationText, predecessorOf, targetOf } from '../../kinds/fluid/operation.ts'
import { operationNames } from '../../kinds/fluid/operation-names.ts'
import type { OperationKind } from '../../kinds/fluid/operation-parts.ts'
import { DATASETS } from '../../kinds/fluid/resources.ts'
import { CRON_JOBS, JOBS, PODS } from '../../kinds/kubernetes/resources.ts'
import type { CronJob, Job, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfRef, type ObjectRef, refOf } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import { type Index, indexOf, type Reader, via, type Watch } from '../../runtime/controller.ts'

const OF_DATASET = 'operations-of'
const RUNS_AFTER = 'operations-after'
const RUNS_OF = 'runs-of'
const PODS_OF_JOB = 'pods-of-job'

/** Of operations of all kinds: whom they run after. */
export const SUCCESSOR_INDEXES: readonly Index[] = OPERATIONS.map((resource) =>
  indexOf(resource, RUNS_AFTER, (operation) => {
    const before = predecessorOf(operation)
    return before === undefined ? [] : [operationText(before)]
  }),
)

/** Those that run after an operation, of one kind or of all. */
export const successorsOf = (
  before: OperationName,
  read: Pick<Reader, 'byIndex'>,
  kinds: readonly Resource<Operation>[] = OPERATIONS,
): Operation[] => kinds.flatMap((resource) => read.byIndex(resource, RUNS_AFTER, operationText(before)))

/** The Jobs that a CronJob has made. */
export const runsOf = ({ metadata: { uid = '' } }: CronJob, read: Pick<Reader, 'byIndex'>): Job[] => read.byIndex(JOBS, RUNS_OF, uid)

/** The pods that a Job has made. */
export const podsOf = ({ metadata: { uid = '' } }: Job, read: Pick<Reader, 'byIndex'>): Pod[] => read.byIndex(PODS, PODS_OF_JOB, uid)

const controllerOf = ({ metadata }: KubeObject) => metadata.ownerReferences?.find(({ controller }) => controller === true)
const jobOf = (pod: Pod) => {
  const owner = controllerOf(pod)
  return owner?.kind === JOBS.kind ? owner : undefined
}

export const operationIndexes = (resource: Resource<Operation>): readonly Index[] => [
  indexOf(resource, OF_DATASET, (operation) => {
    const target = targetOf(operation)
    return target === undefined ? [] : [keyOfRef(target)]
  }),
  indexOf(JOBS, RUNS_OF, (job) => {
    const owner = controllerOf(job)
    return owner?.kind === CRON_JOBS.kind ? [owner.uid] : []
  }),
  indexOf(PODS, PODS_OF_JOB, (pod) => {
    const owner = jobOf(pod)
    return owner === undefined ? [] : [owner.uid]
  }),
  ...SUCCESSOR_INDEXES,
]

export const operationWatches = (resource: Resource<Operation>): readonly Watch[] => [
  via(DATASETS, (dataset, read) => read.byIndex(resource, OF_DATASET, keyOfRef(refOf(dataset))).map(refOf), {
    isRelevantUpdate: (old, dataset) => !deepEqual(readOf(old), readOf(dataset)),
  }),
  via(JOBS, (job) => [...namedAfter(resource.kind, job), ...runOf(resource.kind, job)], {
    isRelevantUpdate: (old, job) => !deepEqual(old.status, job.status) || isGone(old) !== isGone(job),
  }),
  via(CRON_JOBS, (cronJob) => namedAfter(resource.kind, cronJob)),
  via(PODS, (pod, read) => ofPod(resource.kind, pod, read), { isRelevantUpdate: (old, pod) => !deepEqual(runningOf(old), runningOf(pod)) }),
  // Who waits for it may have seen its end.
  ...OPERATIONS.map((of) =>
    via(of, (successor) => namesOf(resource.kind, predecessorOf(successor)), {
      isRelevantUpdate: (old, next) => !deepEqual(waitOf(old), waitOf(next)),
    }),
  ),
]

const isGone = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined
const readOf = (dataset: Dataset) => [
  dataset.metadata.uid,
  isGone(dataset),
  dataset.status?.phase,
  dataset.status?.runtimes,
  dataset.spec?.mounts,
]
const waitOf = (operation: Operation) => [predecessorOf(operation), operation.status, isGone(operation)]
const namesOf = (kind: string, name: OperationName | undefined): ObjectRef[] =>
  name?.kind === kind ? [{ namespace: name.namespace, name: name.name }] : []

/** By its name: also a stranger's that is in the way. */
function namedAfter(kind: string, { metadata: { namespace = '', name = '' } }: KubeObject): ObjectRef[] {
  const end = operationNames(kind as OperationKind, '').workload
  return name.endsWith(end) && name.length > end.length ? [{ namespace, name: name.slice(0, -end.length) }] : []
}

const runOf = (kind: string, job: Job): ObjectRef[] => {
  const owner = controllerOf(job)
  return owner?.kind === CRON_JOBS.kind ? namedAfter(kind, { ...job, metadata: { ...job.metadata, name: owner.name } }) : []
}

function ofPod(kind: string, pod: Pod, read: Reader): ObjectRef[] {
  const name = jobOf(pod)?.name
  const job = name === undefined ? undefined : read.get(JOBS, pod.metadata.namespace ?? '', name)
  return job === undefined ? [] : [...namedAfter(kind, job), ...runOf(kind, job)]
}

/** What an operation reads of its pods: whether they are simulated, and where a running one can be asked. */
const runningOf = (pod: Pod) => [
  pod.metadata.annotations,
  isGone(pod),
  pod.status?.phase,
  pod.status?.podIP,
  pod.status?.containerStatuses?.map(({ state }) => state?.running?.startedAt),
]

/** Its own status is written by nobody else but the flow, which changes whether it waits. */
export const isRelevantUpdate = (old: Operation, operation: Operation): boolean =>
  !deepEqual(
    [old.spec, old.status, old.metadata.finalizers, old.metadata.ownerReferences, isGone(old), old.metadata.uid],
    [
      operation.spec,
      operation.status,
      operation.metadata.finalizers,
      operation.metadata.ownerReferences,
      isGone(operation),
      operation.metadata.uid,
    ],
  )
