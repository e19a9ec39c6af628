import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectGone, expectThere } from '../../../faultsim/expect/index.ts'
import { story } from '../../../faultsim/story.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import { mirrorName } from '../../../kinds/fluid/reference.ts'
import { CACHE_RUNTIMES, DATASETS, THIN_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import { ReferenceGrant } from '../../../kinds/gateway/reference-grant.ts'
import { DAEMON_SETS, EVENTS, NAMESPACES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../../kinds/kubernetes/resources.ts'
import { findCondition } from '../../../kube/conditions.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import {
  aGrant,
  anOriginal,
  aReader,
  aReference,
  aRuntime,
  aThinRuntime,
  createNamespaces,
  createOriginal,
  datasetIn,
  member,
  messageIn,
  ORIGINAL,
  phaseIn,
  REFERENCE,
  type Seen,
} from '../testing.ts'

const GONE = { gracePeriodSeconds: 0 }
const FORCED = { metadata: { finalizers: [] } }

describe('a dataset that refers to another one', () => {
  story(
    'is as that one is, with a runtime of its own, and shows nothing of its credentials',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aReference())
      await world.settle()
      const [original, reference] = [await datasetIn(cluster, ORIGINAL), await datasetIn(cluster)]
      assert.deepEqual(original.status.datasetRef, [REFERENCE])
      assert.equal(reference.status.phase, 'Bound')
      assert.deepEqual(reference.status.runtimes, [
        { name: 'images', namespace: 'web', category: 'Accelerate', type: 'thin', masterReplicas: 0 },
      ])
      for (const field of ['ufsTotal', 'fileNum', 'cacheStates'] as const)
        assert.deepEqual(reference.status[field], original.status[field], field)
      assert.equal(reference.status.datasetRef, undefined)
      assert.deepEqual(reference.status.mounts, [{ mountPoint: 'https://example.com/images', name: 'all', path: '/' }])
      assert.doesNotMatch(JSON.stringify(reference), /open-sesame|hunter2/)
      const { metadata, spec } = await expectThere(cluster, THIN_RUNTIMES, REFERENCE)
      assert.deepEqual(spec ?? {}, {})
      assert.deepEqual(
        metadata.ownerReferences?.map(({ kind, uid, controller }) => [kind, uid, controller]),
        [['Dataset', reference.metadata.uid, true]],
      )
    },
    member(),
  )

  story(
    'follows each change of that one by watching it, with one write',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aReference())
      await world.settle()
      const operations = { operationRef: { DataLoad: 'load' } }
      await cluster.patch(DATASETS, ORIGINAL, { status: operations }, 'status')
      await world.settle()
      assert.equal((await datasetIn(cluster)).status.operationRef, undefined, 'names of operations stay where they are')
      cluster.takeControllerWrites()
      await cluster.patch(DATASETS, ORIGINAL, { metadata: { annotations: { note: 'nothing that matters' } } })
      await world.settle()
      assert.deepEqual(cluster.takeControllerWrites(), [])
      await cluster.delete(CACHE_RUNTIMES, ORIGINAL)
      await world.settle()
      assert.match((await messageIn(cluster, 'NotReady')) ?? '', /^mounting dataset is not bound to a runtime yet: Dataset data\/images/)
      assert.equal(await phaseIn(cluster), 'NotBound')
      await expectGone(cluster, PERSISTENT_VOLUMES, 'web-images')
      await cluster.create(aRuntime())
      await world.settle()
      assert.equal(await phaseIn(cluster), 'Bound')
      await expectThere(cluster, PERSISTENT_VOLUMES, 'web-images')
    },
    member(),
  )

  story(
    'takes a ThinRuntime that its user made, and waits for one that is on its way out',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      const own = await cluster.create(aThinRuntime())
      await cluster.patch(THIN_RUNTIMES, REFERENCE, { metadata: { finalizers: ['example.com/wait'] } })
      await cluster.create(aReference())
      await world.settle()
      assert.equal(await phaseIn(cluster), 'Bound')
      const taken = await expectThere(cluster, THIN_RUNTIMES, REFERENCE)
      assert.equal(taken.metadata.uid, own.metadata.uid)
      await cluster.delete(THIN_RUNTIMES, REFERENCE)
      await world.settle()
      assert.equal(await messageIn(cluster, 'NotReady'), 'waits until ThinRuntime images is gone, which is being deleted')
      await cluster.patch(THIN_RUNTIMES, REFERENCE, FORCED)
      await world.settle()
      assert.notEqual((await expectThere(cluster, THIN_RUNTIMES, REFERENCE)).metadata.uid, own.metadata.uid)
      assert.equal(await phaseIn(cluster), 'Bound')
    },
    member(),
  )

  story(
    'is deleted when no pod uses it, and before the one that it refers to',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aReference())
      await world.settle()
      await cluster.create(aReader())
      await world.settle()
      await cluster.delete(DATASETS, ORIGINAL)
      await cluster.delete(DATASETS, REFERENCE)
      await world.settle()
      assert.match((await messageIn(cluster, 'DeletionHeld')) ?? '', /because Pod reader in Namespace web is using it$/)
      assert.match((await messageIn(cluster, 'DeletionHeld', ORIGINAL)) ?? '', /there are datasets \[web\/images\] mounted to it/)
      await cluster.delete(PODS, 'web/reader', GONE)
      await world.settle()
      for (const where of [ORIGINAL, REFERENCE]) await expectGone(cluster, DATASETS, where)
      await expectGone(cluster, THIN_RUNTIMES, REFERENCE)
      await expectGone(cluster, PERSISTENT_VOLUME_CLAIMS, REFERENCE)
      await expectGone(cluster, PERSISTENT_VOLUMES, 'web-images')
    },
    member(),
  )

  story(
    'has failed when the namespace of that one goes, which nothing holds',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aGrant())
      await cluster.create(aReference())
      await world.settle()
      await cluster.delete(NAMESPACES, 'data')
      await world.settle()
      await expectGone(cluster, DATASETS, ORIGINAL)
      assert.equal(await phaseIn(cluster), 'Failed')
      assert.match(
        (await messageIn(cluster, 'NotReady')) ?? '',
        /^namespace data, which has Dataset data\/images, is being deleted or gone/,
      )
      const events = (await cluster.list(EVENTS)).filter(({ reason }) => reason === 'OriginalLost')
      assert.equal(events.length, 1)
    },
    member('grant'),
  )

  story(
    'has failed when that one is gone all the same, and works again with the next one',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aReference())
      await world.settle()
      await cluster.delete(DATASETS, ORIGINAL)
      await world.settle()
      await cluster.patch(DATASETS, ORIGINAL, FORCED)
      await world.settle()
      assert.equal(await phaseIn(cluster), 'Failed')
      assert.match((await messageIn(cluster, 'NotReady')) ?? '', /^Dataset data\/images, to which this one refers, is gone/)
      await createOriginal(cluster)
      await world.settle()
      assert.equal(await phaseIn(cluster), 'Bound')
    },
    member(),
  )

  story(
    'shares its cache with others, each with its own part',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster, ['data', 'web', 'lab'])
      await createOriginal(cluster)
      await cluster.create(aReference('web/cats', `dataset://${ORIGINAL}/cats`))
      await cluster.create(aReference('lab/dogs', `dataset://${ORIGINAL}/dogs/2024`))
      await cluster.create(aReference('data/all'))
      await world.settle()
      assert.deepEqual((await datasetIn(cluster, ORIGINAL)).status.datasetRef, ['data/all', 'lab/dogs', 'web/cats'])
      for (const [volume, subPath] of [
        ['web-cats', 'cats'],
        ['lab-dogs', 'dogs/2024'],
        ['data-all', undefined],
      ] as const) {
        const { spec } = await expectThere(cluster, PERSISTENT_VOLUMES, volume)
        const { volumeAttributes } = (spec as { csi: { volumeAttributes: Record<string, string> } }).csi
        assert.deepEqual([volumeAttributes.fluid_sub_path, volumeAttributes.runtime_namespace], [subPath, 'data'])
      }
      await cluster.delete(DATASETS, 'lab/dogs')
      await world.settle()
      assert.deepEqual((await datasetIn(cluster, ORIGINAL)).status.datasetRef, ['data/all', 'web/cats'])
    },
    member(),
  )
})

describe('what cannot be followed says so', () => {
  story(
    'a reference to a reference, whichever came first',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aReference('web/more', `dataset://${REFERENCE}`))
      await cluster.create(aReference())
      await world.settle()
      assert.match(
        (await messageIn(cluster, 'NotReady', 'web/more')) ?? '',
        /itself refers to another dataset, and references do not chain/,
      )
      await expectGone(cluster, PERSISTENT_VOLUMES, 'web-more')
      assert.equal((await datasetIn(cluster)).status.datasetRef, undefined)
    },
    member(),
  )

  story(
    'a runtime with a cache, and a reference that comes after one: both are refused',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aReference())
      await assert.rejects(cluster.create(aRuntime(REFERENCE)), /can only use thin runtime/)
      await cluster.create(aRuntime('web/more'))
      await assert.rejects(cluster.create(aReference('web/more')), /can only use thin runtime: delete CacheRuntime "more" first/)
    },
    member(),
  )
})

describe('consent to be referred to', () => {
  const text = async (cluster: Parameters<typeof messageIn>[0]) => messageIn(cluster, 'NotReady')

  story(
    'is asked of the owner, in words that do not tell whether the dataset exists',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await cluster.create(aReference())
      await world.settle()
      const without = await text(cluster)
      assert.match(without ?? '', /ask whoever owns namespace data for the dataset, and for a ReferenceGrant there from kind Dataset/)
      await createOriginal(cluster)
      await world.settle()
      assert.equal(await text(cluster), without)
      const { status } = await datasetIn(cluster)
      assert.deepEqual([status.phase, status.mounts, status.runtimes], ['NotBound', undefined, undefined])
      assert.equal((await datasetIn(cluster, ORIGINAL)).status.datasetRef, undefined)
      await expectGone(cluster, PERSISTENT_VOLUMES, 'web-images')
      await expectGone(cluster, PERSISTENT_VOLUME_CLAIMS, REFERENCE)
      await cluster.delete(DATASETS, ORIGINAL)
      await world.settle()
      await expectGone(cluster, DATASETS, ORIGINAL)
      assert.equal(await text(cluster), without)
    },
    member('grant'),
  )

  story(
    'may be given later, for one dataset or all; a grant for others closes what was open',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster, ['data', 'web', 'lab'])
      await createOriginal(cluster)
      await cluster.create(aReference())
      await world.settle()
      assert.equal(await phaseIn(cluster), 'Bound')
      await cluster.create(aGrant('lab'))
      await world.settle()
      assert.equal(await phaseIn(cluster), 'NotBound')
      await cluster.create(aGrant('web', 'images'))
      await world.settle()
      assert.equal(await phaseIn(cluster), 'Bound')
    },
    member(),
  )

  story(
    'can be withdrawn: both datasets say so, pods that run keep their claim, and the original may go',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aGrant())
      await cluster.create(aReference())
      await world.settle()
      await cluster.create(aReader())
      await world.settle()
      await cluster.delete(ReferenceGrant.resource, 'data/for-web')
      await world.settle()
      const [original, reference] = [await datasetIn(cluster, ORIGINAL), await datasetIn(cluster)]
      assert.equal(reference.status.phase, 'NotBound')
      assert.match(findCondition(reference.status.conditions, 'ConsentWithdrawn')?.message ?? '', /pods that run keep their files/)
      assert.match(findCondition(original.status.conditions, 'ConsentWithdrawn')?.message ?? '', /^consent was withdrawn from web\/images:/)
      assert.equal(original.status.datasetRef, undefined)
      await expectThere(cluster, PERSISTENT_VOLUMES, 'web-images')
      assert.ok((await expectThere(cluster, PERSISTENT_VOLUME_CLAIMS, REFERENCE)).metadata.deletionTimestamp !== undefined)
      await cluster.delete(DATASETS, ORIGINAL)
      await world.settle()
      await expectGone(cluster, DATASETS, ORIGINAL)
      await cluster.delete(PODS, 'web/reader', GONE)
      await world.settle()
      await expectGone(cluster, PERSISTENT_VOLUMES, 'web-images')
    },
    member('grant'),
  )
})

describe('the order in which things come', () => {
  type Thing = readonly [string, () => KubeObject]
  const things: readonly Thing[] = [
    ['original', () => anOriginal()],
    ['runtime', () => aRuntime()],
    ['reference', () => aReference()],
    ['grant', () => aGrant()],
  ]
  const thinRuntime: Thing = ['thin runtime', () => aThinRuntime()]

  story(
    'does not matter: every one of the 24 ends in the same state, wherever the ThinRuntime of a user comes in',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster, ['data', 'web'])
      const ends = new Map<string, string>()
      for (const [i, four] of permutations(things).entries()) {
        const order = four.toSpliced(i % (things.length + 1), 0, thinRuntime)
        for (const [what, make] of order) {
          // Where the reference came first, there is one by now, as everybody else would find.
          const isMade = what === 'thin runtime' && (await cluster.get(THIN_RUNTIMES, REFERENCE)) !== undefined
          if (!isMade) await cluster.create(make())
          await world.settle()
        }
        const end = JSON.stringify(await stateOf(cluster))
        ends.set(end, order.map(([name]) => name).join(', '))
        assert.equal(ends.size, 1, [...ends].map(([state, first]) => `${first}:\n${state}`).join('\n'))
        for (const where of [REFERENCE, ORIGINAL]) await cluster.delete(DATASETS, where)
        await cluster.delete(ReferenceGrant.resource, 'data/for-web')
        await world.settle()
        for (const where of [REFERENCE, ORIGINAL]) await expectGone(cluster, DATASETS, where)
      }
    },
    member('grant'),
  )

  function permutations<T>(all: readonly T[]): T[][] {
    if (all.length === 0) return [[]]
    return all.flatMap((first, i) => permutations([...all.slice(0, i), ...all.slice(i + 1)]).map((rest) => [first, ...rest]))
  }

  /** Without times, and without what tells who made the ThinRuntime. */
  async function stateOf(cluster: WorldCluster) {
    const says = ({ status }: Seen) => [
      status.phase,
      status.datasetRef,
      status.conditions.map(({ type, status: is, message }) => [type, is, message]),
    ]
    const specs = [
      await cluster.get(PERSISTENT_VOLUMES, 'web-images'),
      await cluster.get(DAEMON_SETS, `web/${mirrorName('images-client', { namespace: 'data', name: 'images' })}`),
      await cluster.get(THIN_RUNTIMES, REFERENCE),
    ].map((object) => [
      object?.metadata.labels,
      object?.metadata.finalizers,
      JSON.stringify(object?.spec ?? {}).replaceAll(/"(uid|resourceVersion)":"[^"]*"/g, ''),
    ])
    return [says(await datasetIn(cluster, ORIGINAL)), says(await datasetIn(cluster)), specs]
  }
})
