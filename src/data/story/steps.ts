/**
 * The steps: a Job writes files, a dataset of them is bound and fills its cache, a pod reads it and gets the same bytes, and so does one of
 * another namespace; then a worker of the cache is killed, and later one is led out, and no reader notices.
 */
import type { Client } from '../../client/client.ts'
import { CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { JOBS, PERSISTENT_VOLUME_CLAIMS, PODS } from '../../kinds/kubernetes/resources.ts'
import type { StoryEnv, StoryStep } from '../../runtime/seams/story.ts'
import { bar } from '../bar.ts'
import { apply, clear } from './apply.ts'
import { scaledInSteps, sharedStep } from './guest-steps.ts'
import { DATASET, dataset, FIRST_READER, MAKER, maker, NAMESPACE, reader, runtime, SECOND_READER, SOURCE, source } from './manifests.ts'
import { readStep } from './read-step.ts'
import { complaintOf, type DataSnapshot, datasetComplaint, hasSucceeded, isPodReady, workersOf } from './snapshot.ts'

type Step = StoryStep<DataSnapshot>

export function dataStory({ members, clock, signal }: Pick<StoryEnv, 'members' | 'clock' | 'signal'>): Step[] {
  const [member] = members
  if (member === undefined) return []
  const { name, client } = member
  const asking = { client, clock, signal }
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
        const { cacheStates: { cached = '', cachedPercentage = '' } = {}, ufsTotal = '' } = live?.status ?? {}
        const share = Number.parseFloat(cachedPercentage)
        // While workers come, blocks move to their new owners, and the copies stay as long as there is room.
        const copies = cached === ufsTotal ? '' : `, some of it twice: the workers hold ${cached}`
        return share >= 100 ? { who: 'cache', says: `${bar(share)} ${cachedPercentage} cached of ${ufsTotal}${copies}` } : undefined
      },
      missing: ({ dataset: live }) => `only ${live?.status?.cacheStates?.cachedPercentage ?? 'nothing'} is cached`,
    },
    readStep(client, {
      job: reader(FIRST_READER),
      says: () => `pod of Job ${FIRST_READER} mounts claim ${DATASET}, and has read the same bytes`,
    }),
    sharedStep(asking),
    ...withoutWorker(client),
    ...scaledInSteps(asking),
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
    readStep(client, {
      job: reader(SECOND_READER),
      says(snapshot) {
        const ready = workersOf(snapshot).filter(isPodReady).length
        return `Job ${SECOND_READER} has read the same bytes meanwhile; ${ready} of 2 workers are ready`
      },
    }),
  ]
}
