/** What the chapter observes in its member, through watches: the dataset, its runtime, and the Jobs and pods of both namespaces. */
import { startInformer } from '../../client/cache/informer.ts'
import type { CacheRuntime, Dataset } from '../../kinds/fluid/index.ts'
import { CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { LABELS } from '../../kinds/fluid/well-known.ts'
import { JOBS, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Job, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import type { StoryEnv, Viewer } from '../../runtime/seams/story.ts'
import { DATASET, GUESTS, NAMESPACE, STORY_LABEL, STORY_NAME } from './manifests.ts'

export interface DataSnapshot {
  dataset: Dataset | undefined
  runtime: CacheRuntime | undefined
  jobs: readonly Job[]
  /** Pods of the Jobs and of the cache. */
  pods: readonly Pod[]
}

export async function observeData({ members, clock, random, signal }: StoryEnv): Promise<Viewer<DataSnapshot>> {
  const client = members[0]?.client
  if (client === undefined) throw new Error('the chapter needs a member')
  const endings: AbortController[] = []
  const endAll = (): void => {
    for (const one of endings) one.abort()
  }
  signal.addEventListener('abort', endAll, { once: true })
  const follow = (resource: Resource, namespace = NAMESPACE) => {
    const ending = new AbortController()
    endings.push(ending)
    return startInformer({ client, clock, random, resource, signal: ending.signal, namespace })
  }
  const [datasets, runtimes, jobs, pods] = [follow(DATASETS), follow(CACHE_RUNTIMES), follow(JOBS), follow(PODS)]
  const [guestJobs, guestPods] = [follow(JOBS, GUESTS), follow(PODS, GUESTS)]
  const informers = [datasets, runtimes, jobs, pods, guestJobs, guestPods]
  await Promise.all(informers.map((informer) => informer.synced()))
  return {
    look: () => ({
      dataset: datasets.get(NAMESPACE, DATASET) as Dataset | undefined,
      runtime: runtimes.get(NAMESPACE, DATASET) as CacheRuntime | undefined,
      jobs: ([...jobs.list(), ...guestJobs.list()] as Job[]).filter(isOfStory),
      pods: ([...pods.list(), ...guestPods.list()] as Pod[]).filter((pod) => isOfStory(pod) || isOfCache(pod)),
    }),
    onChange(handler) {
      const stops = informers.map((informer) => informer.subscribe(handler))
      return () => {
        for (const stop of stops) stop()
      }
    },
  }
}

const isOfStory = ({ metadata }: Pick<KubeObject, 'metadata'>): boolean => metadata.labels?.[STORY_LABEL] === STORY_NAME
const isOfCache = ({ metadata }: Pick<Pod, 'metadata'>): boolean => metadata.labels?.[LABELS.cacheRuntimeName] === DATASET

export const hasSucceeded = ({ jobs }: DataSnapshot, name: string): boolean =>
  jobs.some(
    ({ metadata, status }) =>
      metadata.name === name && (status?.conditions ?? []).some((one) => one.type === 'Complete' && one.status === 'True'),
  )

export const podOfJob = ({ pods }: DataSnapshot, job: string): Pod | undefined =>
  pods.find(({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-name'] === job)

export const workersOf = ({ pods }: DataSnapshot): readonly Pod[] =>
  pods.filter(({ metadata }) => metadata.labels?.[LABELS.cacheRuntimeComponent] === `${DATASET}-worker`)

export const isPodReady = ({ status }: Pod): boolean =>
  (status?.conditions ?? []).some(({ type, status: holds }) => type === 'Ready' && holds === 'True')

/** What hinders a Job, as far as its pod says. */
export function complaintOf(snapshot: DataSnapshot, job: string): string {
  const pod = podOfJob(snapshot, job)
  if (pod === undefined) return `${job} has no pod`
  const waiting = pod.status?.containerStatuses?.[0]?.state?.waiting
  const unmet = (pod.status?.conditions ?? []).find(({ status, message }) => status === 'False' && message !== undefined)
  return `pod ${pod.metadata.name} is ${pod.status?.phase ?? 'new'}: ${waiting?.message ?? unmet?.message ?? 'it does not say why'}`
}

/** What the dataset waits for, in its own words. */
export function datasetComplaint({ dataset }: DataSnapshot): string {
  const message = dataset?.status?.conditions?.find(({ type, status }) => type === 'NotReady' && status === 'True')?.message
  return `dataset ${DATASET} is ${dataset?.status?.phase ?? 'new'}${message === undefined ? '' : `: ${message}`}`
}
