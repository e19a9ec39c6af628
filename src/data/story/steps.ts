/**
 * The steps: a Job writes files, a dataset of them is bound and fills its cache, a pod reads it and gets the same bytes; then a worker of
 * the cache is killed, and the next reader does not notice.
 */
import type { Client } from '../../client/client.ts'
import { ifFound } from '../../client/errors.ts'
import { readAll } from '../../client/transport.ts'
import { CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { JOBS, PERSISTENT_VOLUME_CLAIMS, PODS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { refOf } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import { type StoryEnv, StoryRefused, type StoryStep } from '../../runtime/seams/story.ts'
import { bar } from '../bar.ts'
import {
  DATASET,
  dataset,
  FIRST_READER,
  MAKER,
  maker,
  NAMESPACE,
  reader,
  runtime,
  SECOND_READER,
  SOURCE,
  STORY_LABEL,
  STORY_NAME,
  source,
} from './manifests.ts'
import { complaintOf, type DataSnapshot, datasetComplaint, hasSucceeded, isPodReady, podOfJob, workersOf } from './snapshot.ts'

type Step = StoryStep<DataSnapshot>

const MANAGER = 'sluice-story'

export function dataStory({ members }: Pick<StoryEnv, 'members'>): Step[] {
  const [member] = members
  if (member === undefined) return []
  const { name, client } = member
  return [
    {
      name: 'there is data',
      async act() {
        await clear(client)
        await apply(client, PERSISTENT_VOLUME_CLAIMS, source())
        await apply(client, JOBS, maker())
      },
      sees: (snapshot) =>
        hasSucceeded(snapshot, MAKER)
          ? { who: 'data', says: `Job ${MAKER} of ${name} has written four files to claim ${SOURCE}` }
          : undefined,
      missing: (snapshot) => complaintOf(snapshot, MAKER),
    },
    {
      name: 'the dataset is bound',
      async act() {
        await apply(client, DATASETS, dataset())
        await apply(client, CACHE_RUNTIMES, runtime())
      },
      sees(snapshot) {
        const { phase, ufsTotal = '' } = snapshot.dataset?.status ?? {}
        if (phase !== 'Bound' || !/^[0-9]/.test(ufsTotal)) return undefined
        return { who: 'you', says: `create Dataset ${DATASET} of that claim, and a cache of two workers: it is Bound, ${ufsTotal}` }
      },
      missing: datasetComplaint,
    },
    {
      name: 'the cache fills',
      sees(snapshot) {
        const { dataset: live } = snapshot
        // One that never ran would hold nothing that could be missed.
        if (workersOf(snapshot).filter(isPodReady).length < 2) return undefined
        const { cached = '', cachedPercentage = '' } = live?.status?.cacheStates ?? {}
        const share = Number.parseFloat(cachedPercentage)
        return share >= 100 ? { who: 'cache', says: `${bar(share)} ${cachedPercentage} cached (${cached})` } : undefined
      },
      missing: ({ dataset: live }) => `only ${live?.status?.cacheStates?.cachedPercentage ?? 'nothing'} is cached`,
    },
    readStep(client, FIRST_READER, () => `pod of Job ${FIRST_READER} mounts claim ${DATASET}, and has read the same bytes`),
    ...withoutWorker(client),
  ]
}

/** A worker is killed; the pod comes back with an empty cache of its own, and nobody notices. */
function withoutWorker(client: Client): Step[] {
  let killed = ''
  return [
    {
      name: 'a worker is gone',
      async act() {
        const worker = `${DATASET}-worker-0`
        const found = await client.get(PODS, { namespace: NAMESPACE, name: worker })
        killed = found.metadata.uid ?? ''
        await client.delete(PODS, { namespace: NAMESPACE, name: worker }, { gracePeriodSeconds: 0 })
      },
      sees: (snapshot) =>
        workersOf(snapshot).some(({ metadata }) => metadata.uid === killed)
          ? undefined
          : { who: 'cache', says: `pod ${DATASET}-worker-0 is killed, with all that it held` },
      missing: () => 'the worker is still there',
    },
    readStep(client, SECOND_READER, (snapshot) => {
      const ready = workersOf(snapshot).filter(isPodReady).length
      return `Job ${SECOND_READER} has read the same bytes meanwhile; ${ready} of 2 workers are ready`
    }),
  ]
}

function readStep(client: Client, name: string, says: (snapshot: DataSnapshot) => string): Step {
  return {
    name: `${name} reads the same bytes`,
    act: () => apply(client, JOBS, reader(name)),
    sees: (snapshot) => (hasSucceeded(snapshot, name) ? { who: 'pods', says: says(snapshot) } : undefined),
    missing: (snapshot) => complaintOf(snapshot, name),
    async beneath(snapshot) {
      const [made, read] = await Promise.all([MAKER, name].map((job) => logOf(client, snapshot, job)))
      if (made === undefined || made === '' || made !== read)
        throw new StoryRefused(`${name} has read ${read}, and ${MAKER} has written ${made}`)
      return [`sha256 ${made.split(' ')[0]}`]
    },
  }
}

async function logOf(client: Client, snapshot: DataSnapshot, job: string): Promise<string> {
  const name = podOfJob(snapshot, job)?.metadata.name ?? ''
  return (await readAll(await client.log({ namespace: NAMESPACE, name }))).toString('utf8').trim()
}

async function apply(client: Client, resource: Resource, object: KubeObject): Promise<void> {
  await client.apply(resource, object, { fieldManager: MANAGER, force: true })
}

/** Removes what an earlier telling left, readers first. What is somebody else's is not touched: then the story is not told. */
async function clear(client: Client): Promise<void> {
  const wanted: [Resource, KubeObject][] = [
    ...[maker(), reader(FIRST_READER), reader(SECOND_READER)].map((job): [Resource, KubeObject] => [JOBS, job]),
    [DATASETS, dataset()],
    [CACHE_RUNTIMES, runtime()],
    [PERSISTENT_VOLUME_CLAIMS, source()],
  ]
  const found: [Resource, KubeObject][] = []
  for (const [resource, object] of wanted) {
    const live = await ifFound(client.get(resource, refOf(object)))
    if (live === undefined) continue
    if (live.metadata.labels?.[STORY_LABEL] !== STORY_NAME) throw refusal(`${live.kind} ${live.metadata.name}`)
    found.push([resource, live])
  }
  for (const [resource, live] of found) await ifFound(client.delete(resource, refOf(live), { propagationPolicy: 'Foreground' }))
  if (found.length > 0) throw refusal('what an earlier telling left, which is being removed now,')
}

const refusal = (what: string): StoryRefused =>
  new StoryRefused(
    `the story cannot be told here: ${what} is in its way. Tell it on a new directory: sluice up --story ${STORY_NAME} --data-dir NEW`,
  )
