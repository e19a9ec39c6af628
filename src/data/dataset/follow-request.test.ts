import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectThere } from '../../faultsim/expect/index.ts'
import { story } from '../../faultsim/story.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import type { CacheRuntime } from '../../kinds/fluid/index.ts'
import { CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { aDataset, answering, aRuntime, createPod, MOUNTS, member, messageIn, phaseIn, phases, saysIn } from './testing.ts'

describe('a runtime that was asked for by annotations', () => {
  const CLASS = 'sluice.dev/runtime'
  const QUOTA = 'sluice.dev/cache-quota'
  const annotate = (cluster: WorldCluster, annotations: Record<string, string | null>) =>
    cluster.patch(DATASETS, 'default/demo', { metadata: { annotations } })
  const specIn = async (cluster: WorldCluster) => {
    const { spec }: CacheRuntime = await expectThere(cluster, CACHE_RUNTIMES, 'default/demo')
    return [spec?.runtimeClassName, spec?.worker?.tieredStore?.levels?.[0]?.emptyDir?.quota, spec?.options?.preload]
  }

  story(
    'follows them, before its dataset is bound and afterwards, also when nothing was remembered',
    async (world) => {
      const { member: cluster } = world
      answering(cluster)
      await cluster.create(aDataset({ mounts: MOUNTS }, { [CLASS]: 'unknown' }))
      await world.settle()
      assert.match((await messageIn(cluster, 'NotReady')) ?? '', /^there is no class unknown/)
      const { metadata } = await expectThere(cluster, CACHE_RUNTIMES, 'default/demo')
      assert.deepEqual(
        metadata.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`),
        ['Dataset demo'],
      )
      await annotate(cluster, { [CLASS]: 'sample' })
      await world.settle()
      assert.deepEqual(await specIn(cluster), ['sample', '1Gi', undefined])
      for (const type of ['master', 'worker'] as const) await createPod(cluster, type)
      await phases(cluster, 'Ready', 'Ready')
      await world.settle()
      assert.equal(await phaseIn(cluster), 'Bound')
      await world.restartControllers()
      await annotate(cluster, { [QUOTA]: '3072Mi', 'sluice.dev/preload': 'true' })
      await world.settle()
      assert.deepEqual(await specIn(cluster), ['sample', '3Gi', 'true'])
      await annotate(cluster, { 'sluice.dev/preload': null })
      await world.settle()
      assert.deepEqual(await specIn(cluster), ['sample', '3Gi', undefined])
      assert.equal(await saysIn(cluster), 'Ready=True')
      await annotate(cluster, { [QUOTA]: 'much' })
      await world.settle()
      assert.match(
        (await messageIn(cluster, 'RequestIgnored')) ?? '',
        /"much" is no size above 0 .*; until then CacheRuntime demo stays as it is$/,
      )
      await annotate(cluster, { [CLASS]: null })
      await world.settle()
      assert.deepEqual([await specIn(cluster), await saysIn(cluster)], [['sample', '3Gi', undefined], 'Ready=True'])
    },
    member,
  )

  story(
    'is left alone when somebody has changed it, and the dataset says so as soon as annotations ask for something else',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aDataset({ mounts: MOUNTS }, { [CLASS]: 'sample' }))
      await world.settle()
      await cluster.patch(CACHE_RUNTIMES, 'default/demo', { spec: { worker: { replicas: 2 } } })
      await world.settle()
      assert.equal(await messageIn(cluster, 'RequestIgnored'), undefined)
      await annotate(cluster, { [QUOTA]: '2Gi' })
      await world.settle()
      assert.deepEqual(await specIn(cluster), ['sample', '1Gi', undefined])
      assert.match(
        (await messageIn(cluster, 'RequestIgnored')) ?? '',
        /any more, because somebody else has changed it: change it itself, or delete it/,
      )
      await cluster.delete(CACHE_RUNTIMES, 'default/demo')
      await world.settle()
      assert.deepEqual(await specIn(cluster), ['sample', '2Gi', undefined])
      assert.equal(await messageIn(cluster, 'RequestIgnored'), undefined)
    },
    member,
  )

  story(
    'is none that somebody wrote, also with a mark that cannot be read',
    async (world) => {
      const { member: cluster } = world
      const runtime = aRuntime()
      await cluster.create({ ...runtime, metadata: { ...runtime.metadata, annotations: { 'sluice.dev/requested': '{' } } })
      await cluster.create(aDataset({ mounts: MOUNTS }, { [CLASS]: 'builtin' }))
      await world.settle()
      assert.deepEqual(await specIn(cluster), ['sample', undefined, undefined])
      assert.equal(
        await messageIn(cluster, 'RequestIgnored'),
        'annotation sluice.dev/runtime has no effect, because CacheRuntime demo was not made by it: remove the annotation, or delete the CacheRuntime',
      )
    },
    member,
  )
})
