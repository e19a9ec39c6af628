/** What users see of a ThinRuntime in a cluster of `up`, with the whole module at work. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aProcessPod, processNodes } from '../../../faultsim/builders/process-nodes.ts'
import { conditionsOf, expectGone, expectThere } from '../../../faultsim/expect/index.ts'
import { containerOf } from '../../../faultsim/expect/pods.ts'
import { story } from '../../../faultsim/story.ts'
import type { World, WorldCluster } from '../../../faultsim/world/index.ts'
import type { Dataset, RuntimeStatus, ThinRuntime } from '../../../kinds/fluid/index.ts'
import { ADVANCED_STATEFUL_SETS, DATASETS, THIN_RUNTIME_PROFILES, THIN_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import { CONFIG_MAPS, DAEMON_SETS, NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { ConfigMap, PersistentVolume, Pod } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { MODULES } from '../../../modules.ts'
import { aDataset, aProfile, aThinRuntime, MOUNTS } from './testing.ts'

const member = { hub: false, members: 1, nodes: 3, modules: MODULES }
const PROFILES = THIN_RUNTIME_PROFILES

const datasetIn = (cluster: WorldCluster): Promise<Dataset> => expectThere(cluster, DATASETS, 'default/demo')
const says = async (cluster: WorldCluster, type: string): Promise<string> => conditionsOf(await datasetIn(cluster)).get(type)?.message ?? ''
const statusIn = async (cluster: WorldCluster): Promise<RuntimeStatus> => {
  const runtime: ThinRuntime = await expectThere(cluster, THIN_RUNTIMES, 'default/demo')
  assert.ok(runtime.status !== undefined)
  return runtime.status
}
const configIn = async (cluster: WorldCluster): Promise<{ mounts: object[] }> => {
  const { data = {} }: ConfigMap = await expectThere(cluster, CONFIG_MAPS, 'default/demo-fuse-conf')
  return JSON.parse(data['config.json'] ?? '')
}
const fluidLabels = async (cluster: WorldCluster): Promise<string[]> =>
  (await cluster.list(NODES)).flatMap(({ metadata }) => Object.keys(metadata.labels ?? {}).filter((key) => key.includes('fluid')))

const aReader = (): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'reader' },
  spec: {
    containers: [{ name: 'reader', image: 'reader', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'demo' } }],
  },
})

async function bind(w: World): Promise<void> {
  for (const object of [aProfile(), aDataset(), aThinRuntime()]) await w.member.create(object)
  await w.settle()
  assert.equal((await datasetIn(w.member)).status?.phase, 'Bound')
}

describe('a dataset with a ThinRuntime', () => {
  story(
    'waits for the profile, is bound, and says that nothing of it is real here',
    async (w) => {
      const cluster = w.member
      await cluster.create(aDataset())
      await cluster.create(aThinRuntime({ profileName: '' }))
      await w.settle()
      assert.match(
        await says(cluster, 'NotReady'),
        /^a ThinRuntime without profileName serves a dataset that refers to another one, .*: give it one, name a ThinRuntimeProfile/,
      )
      await cluster.patch(THIN_RUNTIMES, 'default/demo', { spec: { profileName: 'nfs' } })
      await w.settle()
      assert.match(await says(cluster, 'NotReady'), /^there is no ThinRuntimeProfile nfs: create it/)
      await expectGone(cluster, DAEMON_SETS, 'default/demo-fuse')
      await cluster.create(aProfile())
      await w.settle()
      const { status } = await datasetIn(cluster)
      assert.deepEqual([status?.phase, status?.mounts, status?.ufsTotal, status?.cacheStates?.cached], ['Bound', MOUNTS, 'N/A', 'N/A'])
      assert.deepEqual(status?.runtimes, [{ name: 'demo', namespace: 'default', category: 'Accelerate', type: 'thin', masterReplicas: 0 }])
      assert.match(await says(cluster, 'Simulated'), /no byte is cached: clients of file systems \(ThinRuntime\) are not run in clusters/)
      const { fusePhase, valueFile, cacheStates, mounts, workerPhase, conditions = [] } = await statusIn(cluster)
      assert.deepEqual([fusePhase, valueFile, cacheStates?.cached, mounts, workerPhase], ['Ready', 'N/A', 'N/A', MOUNTS, ''])
      assert.deepEqual(
        conditions.map(({ type, status: is }) => `${type}=${is}`),
        ['Served=True', 'FusesInitialized=True', 'FusesReady=True'],
      )
      const volume: PersistentVolume = await expectThere(cluster, PERSISTENT_VOLUMES, 'default-demo')
      const { fluid_path, mount_type } = volume.spec?.csi?.volumeAttributes ?? {}
      assert.deepEqual([fluid_path, mount_type], ['/runtime-mnt/thin/default/demo/thin-fuse', 'nfs'])
    },
    member,
  )

  story(
    'has a fuse where it is read, follows changes of its mounts, and leaves nothing behind',
    async (w) => {
      const cluster = w.member
      await bind(w)
      assert.deepEqual(await fluidLabels(cluster), [])
      await cluster.create(aReader())
      await w.settle()
      const pods = (await cluster.list(PODS)) as Pod[]
      assert.deepEqual(pods.map(({ metadata, status }) => [metadata.labels?.role ?? metadata.name, status?.phase]).sort(), [
        ['reader', 'Running'],
        ['thin-fuse', 'Running'],
      ])
      assert.deepEqual(await fluidLabels(cluster), ['fluid.io/f-default-demo'])
      assert.equal((await statusIn(cluster)).fuseNumberReady, 1)
      const fuse = pods.find(({ metadata }) => metadata.labels?.role === 'thin-fuse')
      const mounts = [...MOUNTS, { mountPoint: 'nfs.example.com:/more', name: 'more', options: { vers: '4' } }]
      await cluster.patch(DATASETS, 'default/demo', { spec: { mounts } })
      await w.settle()
      assert.deepEqual((await configIn(cluster)).mounts, mounts)
      const { status } = await datasetIn(cluster)
      assert.deepEqual([status?.phase, status?.mounts], ['Bound', mounts])
      assert.equal(conditionsOf(await datasetIn(cluster)).get('Ready')?.status, 'True')
      assert.deepEqual((await statusIn(cluster)).mounts?.[1], { mountPoint: 'nfs.example.com:/more', name: 'more' })
      // The fuse reads its configuration again: readers keep their mounts.
      await expectThere(cluster, PODS, `default/${fuse?.metadata.name}`)
      await cluster.delete(DATASETS, 'default/demo')
      await w.settle()
      assert.match(await says(cluster, 'DeletionHeld'), /Pod reader in Namespace default is using it/)
      await cluster.delete(PODS, 'default/reader', { gracePeriodSeconds: 0 })
      await w.settle()
      for (const [resource, key] of [
        [DATASETS, 'default/demo'],
        [THIN_RUNTIMES, 'default/demo'],
        [DAEMON_SETS, 'default/demo-fuse'],
        [CONFIG_MAPS, 'default/demo-fuse-conf'],
        [PERSISTENT_VOLUME_CLAIMS, 'default/demo'],
        [PERSISTENT_VOLUMES, 'default-demo'],
      ] as const)
        await expectGone(cluster, resource, key)
      assert.deepEqual([await cluster.list(PODS), await fluidLabels(cluster)], [[], []])
    },
    member,
  )

  story(
    'has workers where they are wanted, for which nodes get no labels',
    async (w) => {
      const cluster = w.member
      await bind(w)
      const worker = { image: 'example.com/worker', enabled: true }
      await cluster.patch(THIN_RUNTIMES, 'default/demo', { spec: { worker, replicas: 2 } })
      await w.settle()
      const { workerPhase, desiredWorkerNumberScheduled, workerNumberReady, conditions = [] } = await statusIn(cluster)
      assert.deepEqual([workerPhase, desiredWorkerNumberScheduled, workerNumberReady], ['Ready', 2, 2])
      assert.ok(conditions.some(({ type, status }) => type === 'WorkersReady' && status === 'True'))
      assert.deepEqual([(await datasetIn(cluster)).status?.phase, await fluidLabels(cluster)], ['Bound', []])
      await cluster.patch(THIN_RUNTIMES, 'default/demo', { spec: { worker: { enabled: false } } })
      await w.settle()
      await expectGone(cluster, ADVANCED_STATEFUL_SETS, 'default/demo-worker')
      assert.equal((await datasetIn(cluster)).status?.phase, 'Bound')
    },
    member,
  )

  story(
    'fails without its profile, keeps its volume, and is back with the profile',
    async (w) => {
      const cluster = w.member
      await bind(w)
      const { metadata } = await expectThere(cluster, PERSISTENT_VOLUMES, 'default-demo')
      await cluster.delete(PROFILES, 'nfs')
      await w.settle()
      assert.equal((await datasetIn(cluster)).status?.phase, 'Failed')
      assert.match(await says(cluster, 'NotReady'), /^there is no ThinRuntimeProfile nfs/)
      await expectThere(cluster, DAEMON_SETS, 'default/demo-fuse')
      await cluster.create(aProfile({ fileSystemType: 'nfs4' }))
      await w.settle()
      assert.equal((await datasetIn(cluster)).status?.phase, 'Bound')
      const volume: PersistentVolume = await expectThere(cluster, PERSISTENT_VOLUMES, 'default-demo')
      assert.deepEqual([volume.metadata.uid, volume.spec?.csi?.volumeAttributes?.mount_type], [metadata.uid, 'nfs'])
    },
    member,
  )
})

describe('a pod that would read a ThinRuntime on a process node', () => {
  for (const [mode, accessModes] of [
    ['reads', ['ReadOnlyMany']],
    ['writes', ['ReadWriteMany']],
  ] as const)
    story(
      `says why it cannot start, when it ${mode}`,
      async (w) => {
        const cluster = w.member
        for (const object of [aProfile(), aDataset({ mounts: MOUNTS, accessModes: [...accessModes] }), aThinRuntime()])
          await cluster.create(object)
        await w.settle()
        const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'demo' } }]
        const volumeMounts = [{ name: 'data', mountPath: '/data' }]
        await cluster.create(aProcessPod('default/p', 'serve', { automountServiceAccountToken: false, volumes }, { volumeMounts }))
        await w.settle()
        const said = (await containerOf(w, 'main', 'default/p')).state?.waiting?.message ?? ''
        assert.match(said, /no file of dataset default\/demo comes to node member1-process-1, because the dataset is simulated: /)
        assert.match(said, /use a CacheRuntime of the same name .* sluice\.dev\/run: simulated starts without files/)
        await cluster.delete(PODS, 'default/p', { gracePeriodSeconds: 0 })
        await w.settle()
        assert.ok(cluster.complaints.every((complaint) => /is simulated/.test(complaint)))
        cluster.complaints.length = 0
      },
      { hub: false, members: 1, nodes: 1, modules: MODULES, controllers: processNodes({ serve: {} }, { volumesRoot: '/data/volumes' }) },
    )
})
