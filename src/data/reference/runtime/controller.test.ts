import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { conditionsOf, expectGone, expectThere } from '../../../faultsim/expect/index.ts'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import type { Dataset, RuntimeStatus } from '../../../kinds/fluid/index.ts'
import { CACHE_RUNTIMES, DATASETS, THIN_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import { PODS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import {
  aDataset,
  aReader,
  aReference,
  aThinRuntime,
  createNamespaces,
  createOriginal,
  member,
  modulesWith,
  ORIGINAL,
  phaseIn,
  REFERENCE,
} from '../testing.ts'
import { type Observed, plan, referenceRuntimeController } from './controller.ts'
import { wantedStatus } from './status.ts'

const runtimeIn = (cluster: WorldCluster): Promise<KubeObject> => expectThere(cluster, THIN_RUNTIMES, REFERENCE)
const servedIn = async (cluster: WorldCluster): Promise<string> => {
  const { status, reason, message } = conditionsOf(await runtimeIn(cluster)).get('Served') ?? {}
  return `${status} ${reason}: ${message}`
}
const statusIn = async (cluster: WorldCluster): Promise<Partial<RuntimeStatus>> =>
  ((await runtimeIn(cluster)).status ?? {}) as Partial<RuntimeStatus>

describe('a ThinRuntime without a profile', () => {
  story(
    'is as the runtime of the dataset that its own one refers to',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await cluster.create(aThinRuntime())
      await world.settle()
      assert.match(await servedIn(cluster), /^False NoDataset: there is no Dataset images in namespace web/)
      await cluster.create(aReference())
      await world.settle()
      assert.match(await servedIn(cluster), /^False NotBound: Dataset images is not bound/)
      await createOriginal(cluster)
      await world.settle()
      assert.equal(await servedIn(cluster), 'True Served: the runtime of Dataset data/images serves it')
      const { masterPhase, workerPhase, workerNumberReady, selector, mounts } = await statusIn(cluster)
      assert.deepEqual([masterPhase, workerPhase, workerNumberReady], ['Ready', 'Ready', 1])
      assert.match(selector ?? '', /images-worker/)
      assert.deepEqual(mounts, [{ mountPoint: 'dataset://data/images' }])
      await cluster.patch(CACHE_RUNTIMES, ORIGINAL, { spec: { worker: { replicas: 2 } } })
      await world.settle()
      assert.equal((await statusIn(cluster)).desiredWorkerNumberScheduled, 2)
    },
    member(),
  )

  story(
    'of a dataset with sources of its own says what is missing',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await cluster.create(aDataset(REFERENCE, { mounts: [{ mountPoint: 's3://lake' }] }))
      await cluster.create(aThinRuntime())
      await world.settle()
      assert.match(await servedIn(cluster), /^False NoProfile: .* Dataset images has no mount dataset:/)
      assert.equal(await phaseIn(cluster), 'NotBound')
    },
    member(),
  )

  story(
    'stays while pods use the volume, and comes back for its dataset',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aReference())
      await world.settle()
      const { metadata } = await runtimeIn(cluster)
      await cluster.create(aReader())
      await world.settle()
      await cluster.delete(THIN_RUNTIMES, REFERENCE)
      await world.settle()
      assert.match(await servedIn(cluster), /^False Deleted: .* waits until PersistentVolumeClaim images is gone/)
      await cluster.delete(PODS, 'web/reader', { gracePeriodSeconds: 0 })
      await world.settle()
      assert.notEqual((await runtimeIn(cluster)).metadata.uid, metadata.uid)
      assert.equal(await phaseIn(cluster), 'Bound')
    },
    member(),
  )
})

describe('the status of a ThinRuntime without a profile', () => {
  const served = { status: 'True', reason: 'Served', message: 'yes' } as const
  const of = (kind: string, status: unknown) =>
    wantedStatus({
      dataset: undefined,
      runtime: { apiVersion: 'v1', kind, metadata: { name: 'x' }, status } as KubeObject,
      served,
      before: undefined,
      nowMs: 0,
    })

  it('repeats no text of the other runtime', () => {
    const conditions = [
      { type: 'MasterReady', status: 'False', reason: 'own', message: 'own words' },
      { type: 'Own', status: 'True', message: 'own words' },
    ]
    const master = { phase: 'Ready', message: 'own words', reason: 'own', readyReplicas: 1 }
    for (const status of [of('CacheRuntime', { conditions, master }), of('AlluxioRuntime', { conditions, masterReason: 'own words' })])
      assert.doesNotMatch(JSON.stringify(status), /own/)
  })

  for (const [what, status] of [
    ['nothing', undefined],
    ['a text', 'x'],
    ['lists', { conditions: 'x', master: [], worker: 1, selector: {}, cacheAffinity: 'x', masterPhase: 1 }],
    ['conditions that are none', { conditions: [1, null, {}, { type: 1 }] }],
  ] as const)
    it(`can be made of ${what}`, () => {
      for (const kind of ['CacheRuntime', 'JuiceFSRuntime']) assert.equal(of(kind, status).masterNumberReady, 0)
    })
})

describe('the writes for a ThinRuntime without a profile', () => {
  const FINALIZER = 'thin-runtime-controller-finalizer'
  const runtime = (metadata: object = {}) => ({ ...aThinRuntime(), metadata: { ...aThinRuntime().metadata, uid: 'r', ...metadata } })
  const dataset = { ...aReference(), metadata: { ...aReference().metadata, uid: 'd' } } as Dataset
  const JOINED = { finalizers: [FINALIZER], labels: { 'fluid.io/dataset-id': 'web-images' }, ownerReferences: [{ uid: 'd' }] }
  const GOING = { deletionTimestamp: 'now', finalizers: [FINALIZER] }
  const seen = (more: object) =>
    ({ ...{ runtime: runtime(), dataset, source: undefined, volume: undefined, isStale: false, nowMs: 0 }, ...more }) as Observed
  const cases: [string, object, (string | undefined)[]][] = [
    ['it joins its dataset first', {}, [undefined]],
    ['nothing, while a cache is behind', { isStale: true }, []],
    ['then its status', { runtime: runtime(JOINED) }, ['status']],
    ['its status, without a dataset', { dataset: undefined }, ['status']],
    ['its status, while its volume is there', { runtime: runtime(GOING), volume: 'PersistentVolume x' }, ['status']],
    ['its finalizer, when nothing is left', { runtime: runtime(GOING) }, [undefined]],
    ['nothing, when that is gone', { runtime: runtime({ ...GOING, finalizers: [] }) }, []],
  ]
  for (const [what, more, subresources] of cases)
    it(what, () =>
      assert.deepEqual(
        plan(seen(more)).actions.map((action) => (action.do === 'patch' ? action.subresource : action.do)),
        subresources,
      ),
    )
})

describe('data.reference.runtime', () => {
  survives(referenceRuntimeController({ referenceConsent: 'open' }), {
    modules: modulesWith('open'),
    nodes: 1,
    before: [createNamespaces, createOriginal],
    steps: [
      async (cluster) => {
        await cluster.create(aThinRuntime())
        await cluster.create(aReference())
      },
      (cluster) => cluster.patch(CACHE_RUNTIMES, ORIGINAL, { spec: { worker: { replicas: 2 } } }),
      (cluster) => cluster.delete(THIN_RUNTIMES, REFERENCE),
      async (cluster) => {
        assert.match(await servedIn(cluster), /^True Served/)
        await cluster.delete(DATASETS, REFERENCE)
      },
    ],
    async atRest(cluster) {
      await expectGone(cluster, THIN_RUNTIMES, REFERENCE)
      assert.equal(await phaseIn(cluster, ORIGINAL), 'Bound')
    },
  })
})
