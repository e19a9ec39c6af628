/**
 * The steps of the second namespace: it refers to the dataset and reads from the same cache; later that cache is scaled in while a pod
 * there reads on and on, and who comes then reads from what is left.
 */
import { CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { JOBS, NAMESPACES } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { refOf } from '../../kube/object-reference.ts'
import type { StoryStep } from '../../runtime/seams/story.ts'
import { apply } from './apply.ts'
import { type Asking, type Figures, fetchedSince, figuresOf, leavingOf } from './cache.ts'
import {
  DATASET,
  GUEST_READER,
  GUESTS,
  guests,
  LAST_READER,
  LASTING_READER,
  lastingReader,
  MAKER,
  NAMESPACE,
  reader,
  reference,
} from './manifests.ts'
import { readStep, sumsOf } from './read-step.ts'
import { complaintOf, type DataSnapshot, isPodReady, podOfJob, workersOf } from './snapshot.ts'

type Step = StoryStep<DataSnapshot>

export const sharedStep = (asking: Asking): Step =>
  guestStep(asking, GUEST_READER, {
    async before() {
      await apply(asking.client, NAMESPACES, guests())
      await apply(asking.client, DATASETS, reference())
    },
    says: `namespace ${GUESTS} mounts dataset://${NAMESPACE}/${DATASET}: its Job ${GUEST_READER} has read the same bytes`,
  })

export const scaledInSteps = (asking: Asking): Step[] => [
  ...withoutNotice(asking),
  guestStep(asking, LAST_READER, {
    says: `Job ${LAST_READER} of namespace ${GUESTS} has read the same bytes from the worker that is left`,
  }),
]

function guestStep(asking: Asking, name: string, { before, says }: { before?(): Promise<void>; says: string }): Step {
  let figures: Figures = { served: 0, source: 0 }
  return readStep(asking.client, {
    job: reader(name, GUESTS),
    async before() {
      await before?.()
      figures = await figuresOf(asking)
    },
    says: () => says,
    more: async () => [await fetchedSince(asking, figures)],
  })
}

function withoutNotice({ client }: Asking): Step[] {
  let maker: Pod | undefined
  let lasting: Pod | undefined
  let timesRead = 0
  return [
    {
      name: 'a reader stays',
      act: () => apply(client, JOBS, lastingReader()),
      sees(snapshot) {
        maker = podOfJob(snapshot, MAKER)
        lasting = podOfJob(snapshot, LASTING_READER)
        if (lasting === undefined || !isPodReady(lasting) || readyWorkers(snapshot) < 2) return undefined
        return { who: 'pods', says: `Job ${LASTING_READER} of namespace ${GUESTS} reads on and on; both workers are ready again` }
      },
      missing: (snapshot) => (readyWorkers(snapshot) < 2 ? 'a worker is not ready' : complaintOf(snapshot, LASTING_READER)),
    },
    {
      name: 'the cache is scaled in',
      async act() {
        const runtime = { namespace: NAMESPACE, name: DATASET }
        await client.patch(CACHE_RUNTIMES, runtime, { type: 'merge', body: { spec: { replicas: 1 } }, subresource: 'scale' })
      },
      sees: (snapshot) =>
        isScaledIn(snapshot)
          ? { who: 'cache', says: 'is scaled in from two workers to one: the other hands over what it holds, then it leaves' }
          : undefined,
      missing: (snapshot) => `${workersOf(snapshot).length} workers are there`,
      beneath: async () => [(await leavingOf(client)) ?? 'no event says which worker left'],
    },
    {
      name: 'the reader has missed nothing',
      async act() {
        timesRead = (await sumsOf(client, maker, lasting)).length
        await client.delete(JOBS, refOf(lastingReader()), { propagationPolicy: 'Background' })
      },
      sees: (snapshot) =>
        podOfJob(snapshot, LASTING_READER) === undefined
          ? { who: 'pods', says: `Job ${LASTING_READER} has read it ${timesRead} times by now, always the same bytes` }
          : undefined,
      missing: () => `${LASTING_READER} does not end`,
    },
  ]
}

const readyWorkers = (snapshot: DataSnapshot): number => workersOf(snapshot).filter(isPodReady).length

const isScaledIn = (snapshot: DataSnapshot): boolean =>
  workersOf(snapshot).length === 1 && snapshot.runtime?.status?.worker?.readyReplicas === 1
