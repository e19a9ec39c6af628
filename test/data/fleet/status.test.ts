/** What the hub shows of a dataset that policies carry to members: the sum where amounts add up, and the worst where they do not. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { CACHE_RUNTIMES, DATASETS } from '../../../src/kinds/fluid/resources.ts'
import { CLUSTER_OVERRIDE_POLICIES, CLUSTER_PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import {
  aDataset,
  aRuntime,
  askedAgain,
  carrying,
  carryingDatasets,
  create,
  phasesOf,
  reporting,
  saidBy,
  statusIn,
  story,
} from './scene.ts'

const API_VERSION = 'data.fluid.io/v1alpha1'

describe('the hub shows of a dataset', () => {
  story('the sum of what its members cache, and the size of one', async (scene) => {
    const { hub, members } = scene
    reporting(members[1], { cached: '512.00MiB', cachedPercentage: '25.0%' })
    await create(scene, carryingDatasets(), aDataset(), aRuntime())
    await askedAgain(scene)
    assert.deepEqual(await phasesOf(scene), ['Bound', 'Bound', 'Bound'])
    const { ufsTotal, fileNum, cacheStates, runtimes, mounts } = await statusIn(hub)
    assert.deepEqual([ufsTotal, fileNum], ['2.00GiB', '17'])
    assert.deepEqual(cacheStates, { cached: '1.50GiB', cacheCapacity: '8.00GiB', cachedPercentage: '25.0%' })
    assert.deepEqual(
      runtimes?.map(({ name, type }) => [name, type]),
      [['images', 'cache']],
    )
    assert.equal(mounts?.[0]?.mountPoint, 's3://one')
    assert.equal(await saidBy(hub, 'Ready'), 'True DatasetReady: The ddc runtime is ready.')
    for (const [member, cached] of [
      [members[0], '1.00GiB'],
      [members[1], '512.00MiB'],
    ] as const)
      assert.equal((await statusIn(member)).cacheStates?.cached, cached, member.name)
  })

  story('new figures of a member, and less when a member loses it', async (scene) => {
    const { world, hub, members } = scene
    await create(scene, carryingDatasets(), aDataset(), aRuntime())
    await askedAgain(scene)
    assert.equal((await statusIn(hub)).cacheStates?.cached, '2.00GiB')
    reporting(members[1], { cached: '2.00GiB', cachedPercentage: '100.0%' })
    await askedAgain(scene)
    assert.deepEqual((await statusIn(hub)).cacheStates, { cached: '3.00GiB', cacheCapacity: '8.00GiB', cachedPercentage: '50.0%' })
    await hub.patch(CLUSTER_PROPAGATION_POLICIES, 'datasets', { spec: { placement: { clusterAffinity: { clusterNames: ['member2'] } } } })
    await world.settle()
    assert.deepEqual(await phasesOf(scene), ['Bound', '', 'Bound'])
    const { cacheStates } = await statusIn(hub)
    assert.deepEqual([cacheStates?.cached, cacheStates?.cacheCapacity], ['2.00GiB', '4.00GiB'])
    assert.deepEqual([await members[0].get(CACHE_RUNTIMES, 'data/images')], [undefined])
  })

  story('that it is not bound as long as it is not in one member, and which that is', async (scene) => {
    const { world, hub } = scene
    const runtimes = (...clusters: string[]) => carrying('runtimes', [{ apiVersion: API_VERSION, kind: 'CacheRuntime' }], clusters)
    await create(
      scene,
      carrying('only-datasets', [{ apiVersion: API_VERSION, kind: 'Dataset' }]),
      runtimes('member1'),
      aDataset(),
      aRuntime(),
    )
    await askedAgain(scene)
    assert.deepEqual(await phasesOf(scene), ['NotBound', 'Bound', 'NotBound'])
    assert.equal(await saidBy(hub, 'Ready'), 'False NotEverywhere: not ready in member2')
    assert.match(await saidBy(hub, 'NotReady'), /^True DatasetFailedToSetup: member2: .*runtime/)
    await hub.patch(CLUSTER_PROPAGATION_POLICIES, 'runtimes', { spec: runtimes('member1', 'member2').spec })
    await world.settle()
    assert.deepEqual(await phasesOf(scene), ['Bound', 'Bound', 'Bound'])
    assert.equal(await saidBy(hub, 'NotReady'), '')
  })

  story('that it failed where it failed in one member', async (scene) => {
    const { world, hub, members } = scene
    await create(scene, carryingDatasets(), aDataset(), aRuntime())
    await askedAgain(scene)
    const rules = [{ targetCluster: { clusterNames: ['member2'] }, overriders: { plaintext: [OTHER_CLASS] } }]
    const resourceSelectors = [{ apiVersion: API_VERSION, kind: 'CacheRuntime' }]
    const policy = { apiVersion: 'policy.karmada.io/v1alpha1', kind: 'ClusterOverridePolicy', metadata: { name: 'other-class' } }
    await create(scene, { ...policy, spec: { resourceSelectors, overrideRules: rules } })
    assert.deepEqual(await phasesOf(scene), ['Failed', 'Bound', 'Failed'])
    assert.match(await saidBy(hub, 'Ready'), /^False DatasetFailed: member2: /)
    await hub.delete(CLUSTER_OVERRIDE_POLICIES, 'other-class')
    await world.settle()
    assert.deepEqual(await phasesOf(scene), ['Bound', 'Bound', 'Bound'])
    assert.equal((await members[1].get(DATASETS, 'data/images'))?.metadata.labels?.['fluid.io/dataset-id'], 'data-images')
  })

  story('what it showed while the members ran without the hub, as soon as it is back', async (scene) => {
    const { world, hub, members } = scene
    await create(scene, carryingDatasets(), aDataset(), aRuntime())
    await askedAgain(scene)
    await hub.stopControllers()
    reporting(members[0], { cached: '2.00GiB', cachedPercentage: '100.0%' })
    await askedAgain(scene)
    assert.equal((await statusIn(hub)).cacheStates?.cached, '2.00GiB', 'as it was when the hub stopped')
    await world.inside(() => hub.startControllers())
    await world.settle()
    assert.equal((await statusIn(hub)).cacheStates?.cached, '3.00GiB')
  })
})

const OTHER_CLASS = { path: '/spec/runtimeClassName', operator: 'replace', value: 'nowhere' }
