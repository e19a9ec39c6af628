import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectGone, expectThere } from '../../faultsim/expect/index.ts'
import { story } from '../../faultsim/story.ts'
import { survives } from '../../faultsim/survives.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { type Dataset, type DatasetSpec, fluidKinds } from '../../kinds/fluid/index.ts'
import { CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { defineModule } from '../../runtime/module/module.ts'
import { neverMadeAgain } from '../seeded/invariants.ts'
import { otherModules } from '../testing.ts'
import { volumeController } from './controller.ts'
import { mountInfo, volumeOf } from './desired.ts'
import { type Observed, plan } from './plan.ts'
import { takenBy } from './taken.ts'

const dataForTests = defineModule<Record<string, never>, object>({
  name: 'data-for-tests',
  roles: ['member'],
  upstreamLeases: [],
  kinds: { member: fluidKinds },
  defaults: {},
  services: () => ({}),
  controllers: () => [volumeController()],
})
const modules = [...otherModules, dataForTests]
const member = { members: 1, modules }

const API_VERSION = 'data.fluid.io/v1alpha1'
const aDataset = (spec: DatasetSpec = {}, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: API_VERSION,
  kind: 'Dataset',
  metadata: { namespace: 'default', name: 'demo', annotations },
  spec,
})
const aRuntime = (annotations: Record<string, string> = {}, more: object = {}): KubeObject => ({
  apiVersion: API_VERSION,
  kind: 'CacheRuntime',
  metadata: { namespace: 'default', name: 'demo', annotations },
  spec: { runtimeClassName: 'builtin', ...more },
})
const phase = (cluster: WorldCluster, text: string): Promise<unknown> =>
  cluster.patch(DATASETS, 'default/demo', { status: { phase: text, conditions: [] } }, 'status')
const bound = async (cluster: WorldCluster, dataset = aDataset(), runtime = aRuntime()): Promise<void> => {
  await cluster.create(dataset)
  await cluster.create(runtime)
  await phase(cluster, 'Bound')
}
const volumeIn = async (cluster: WorldCluster): Promise<PersistentVolume> => expectThere(cluster, PERSISTENT_VOLUMES, 'default-demo')
const claimIn = async (cluster: WorldCluster): Promise<PersistentVolumeClaim> =>
  expectThere(cluster, PERSISTENT_VOLUME_CLAIMS, 'default/demo')

const NOTHING_SEEN: Observed = {
  ...{ key: { namespace: 'default', name: 'demo' }, dataset: undefined, source: undefined, isStale: false },
  ...{ volume: undefined, claim: undefined, isHeld: false, nowMs: 0 },
}

describe('the volume of a dataset', () => {
  story(
    'is there when the dataset is bound, with the attributes that drivers read, and is bound to its claim',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aDataset())
      await cluster.create(aRuntime())
      await phase(cluster, 'NotBound')
      await world.settle()
      await expectGone(cluster, PERSISTENT_VOLUMES, 'default-demo')
      await phase(cluster, 'Bound')
      await world.settle()
      const [volume, claim] = [await volumeIn(cluster), await claimIn(cluster)]
      for (const { metadata } of [volume, claim]) {
        assert.deepEqual(metadata.labels, { 'fluid.io/s-default-demo': 'true', 'fluid.io/dataset-id': 'default-demo' })
        assert.equal(metadata.annotations?.CreatedBy, 'fluid')
      }
      assert.deepEqual(volume.spec?.csi, {
        driver: 'fuse.csi.fluid.io',
        volumeHandle: 'default-demo',
        volumeAttributes: {
          fluid_path: '/runtime-mnt/cache/default/demo/cache-fuse',
          mount_type: 'cache',
          runtime_namespace: 'default',
          runtime_name: 'demo',
          mount_pod_node_selector_key: 'fluid.io/f-default-demo',
        },
      })
      assert.deepEqual([volume.spec?.accessModes, volume.spec?.capacity], [['ReadOnlyMany'], { storage: '100Pi' }])
      assert.deepEqual([volume.status?.phase, claim.status?.phase], ['Bound', 'Bound'])
    },
    member,
  )

  story(
    'is what the dataset and the runtime ask for, and keeps what cannot change',
    async (world) => {
      const { member: cluster } = world
      const list = JSON.stringify([
        { selector: { kind: 'PersistentVolume' }, labels: { 'fluid.io/node-publish-method': 'symlink' } },
        { selector: { kind: 'PersistentVolumeClaim' }, annotations: { note: 'mine' } },
        'what is this',
      ])
      const dataset = aDataset({ accessModes: ['ReadWriteMany'] }, { 'pvc.fluid.io/resources.requests.storage': '1Gi' })
      await bound(cluster, dataset, aRuntime({ 'data.fluid.io/metadataList': list }, { client: { nodeSelector: { disk: 'ssd' } } }))
      await world.settle()
      const [volume, claim] = [await volumeIn(cluster), await claimIn(cluster)]
      assert.deepEqual([volume.spec?.accessModes, claim.spec?.resources?.requests], [['ReadWriteMany'], { storage: '1Gi' }])
      assert.equal(volume.spec?.csi?.volumeAttributes?.node_publish_method, 'symlink')
      assert.equal(claim.metadata.annotations?.note, 'mine')
      assert.deepEqual(volume.spec?.nodeAffinity?.required?.nodeSelectorTerms, [
        { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] },
      ])
      await cluster.patch(DATASETS, 'default/demo', { spec: { accessModes: ['ReadOnlyMany'] } })
      await cluster.patch(CACHE_RUNTIMES, 'default/demo', { metadata: { annotations: { 'data.fluid.io/metadataList': 'not JSON' } } })
      await world.settle()
      assert.deepEqual((await claimIn(cluster)).spec?.accessModes, ['ReadWriteMany'])
      assert.equal((await claimIn(cluster)).metadata.annotations?.note, undefined)
    },
    member,
  )

  story(
    'goes with the runtime, the claim first, and comes with the next one',
    async (world) => {
      const { member: cluster } = world
      await bound(cluster)
      await world.settle()
      const { metadata } = await volumeIn(cluster)
      await phase(cluster, 'NotBound')
      await world.settle()
      await expectGone(cluster, PERSISTENT_VOLUME_CLAIMS, 'default/demo')
      await expectGone(cluster, PERSISTENT_VOLUMES, 'default-demo')
      await phase(cluster, 'Bound')
      await world.settle()
      assert.notEqual((await volumeIn(cluster)).metadata.uid, metadata.uid)
    },
    member,
  )

  story(
    'is not left behind by a dataset that is deleted, and pods that use the claim hold both',
    async (world) => {
      const { member: cluster } = world
      await bound(cluster)
      await cluster.create(aReader())
      await world.settle()
      await cluster.delete(DATASETS, 'default/demo')
      await world.settle()
      assert.ok((await claimIn(cluster)).metadata.deletionTimestamp !== undefined)
      assert.equal((await volumeIn(cluster)).metadata.deletionTimestamp, undefined)
      await cluster.delete(PODS, 'default/reader', { gracePeriodSeconds: 0 })
      await world.settle()
      await expectGone(cluster, PERSISTENT_VOLUME_CLAIMS, 'default/demo')
      await expectGone(cluster, PERSISTENT_VOLUMES, 'default-demo')
    },
    { ...member, nodes: 1 },
  )

  story(
    'is held by a pod that has ended for half a minute only, and by one that has not as long as it takes',
    async (world) => {
      const { member: cluster } = world
      await bound(cluster)
      await cluster.create(aReader())
      await world.settle()
      await cluster.delete(DATASETS, 'default/demo')
      await world.settle()
      await world.advance(60_000)
      assert.ok((await claimIn(cluster)).metadata.deletionTimestamp !== undefined)
      await cluster.create(aReader('late'))
      await cluster.patch(PODS, 'default/reader', { status: { phase: 'Succeeded' } }, 'status')
      await cluster.patch(PODS, 'default/late', { status: { phase: 'Failed' } }, 'status')
      await world.settle()
      await expectGone(cluster, PERSISTENT_VOLUME_CLAIMS, 'default/demo')
      await expectGone(cluster, PERSISTENT_VOLUMES, 'default-demo')
      assert.equal((await expectThere(cluster, PODS, 'default/reader')).metadata.deletionTimestamp, undefined)
    },
    { ...member, nodes: 1 },
  )

  story(
    'comes again for pods that wait for it, which do not hold the one that goes',
    async (world) => {
      const { member: cluster } = world
      await bound(cluster)
      await cluster.create(aReader())
      await world.settle()
      const { uid } = (await claimIn(cluster)).metadata
      await phase(cluster, 'NotBound')
      await cluster.create(aReader('late'))
      await phase(cluster, 'Bound')
      await world.advance(60_000)
      assert.equal((await claimIn(cluster)).metadata.uid, uid)
      assert.equal(nodeOf(await expectThere(cluster, PODS, 'default/late')), undefined)
      await cluster.patch(PODS, 'default/reader', { status: { phase: 'Succeeded' } }, 'status')
      await world.advance(60_000)
      assert.notEqual((await claimIn(cluster)).metadata.uid, uid)
      assert.notEqual(nodeOf(await expectThere(cluster, PODS, 'default/late')), undefined)
    },
    { ...member, nodes: 1 },
  )

  it('whose claim only pods that have ended hold waits for them no longer than that', () => {
    const claim: PersistentVolumeClaim = {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
      metadata: {
        ...{ namespace: 'default', name: 'demo', deletionTimestamp: '2026-01-01T00:00:00Z' },
        ...{ labels: { 'fluid.io/dataset-id': 'x' }, annotations: { CreatedBy: 'fluid' } },
        finalizers: ['example.com/other', 'kubernetes.io/pvc-protection'],
      },
    }
    const seen = { ...NOTHING_SEEN, claim }
    const at = (second: number): number => Date.parse(`2026-01-01T00:00:${second}Z`)
    assert.deepEqual(plan({ ...seen, nowMs: at(10) }), { actions: [], requeueAfterMs: 20_000 })
    assert.deepEqual(plan({ ...seen, isHeld: true, nowMs: at(59) }), { actions: [] })
    const [action] = plan({ ...seen, nowMs: at(30) }).actions
    assert.deepEqual(action?.do === 'patch' ? action.patch : action, { metadata: { finalizers: ['example.com/other'] } })
  })

  story(
    'takes nothing from a user who has a claim or a volume of that name',
    async (world) => {
      const { member: cluster } = world
      const claim = {
        ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace: 'default', name: 'demo' } },
        spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } },
      }
      await cluster.create(claim)
      const before = await claimIn(cluster)
      await bound(cluster)
      await world.settle()
      assert.equal((await claimIn(cluster)).metadata.resourceVersion, before.metadata.resourceVersion)
      await expectGone(cluster, PERSISTENT_VOLUMES, 'default-demo')
      await cluster.delete(DATASETS, 'default/demo')
      await world.settle()
      assert.equal((await claimIn(cluster)).metadata.uid, before.metadata.uid)
    },
    member,
  )

  it('is not made before it is known what the file system is called, and kept when that is forgotten', () => {
    const dataset = aDataset() as Dataset
    const source = { dataset, runtime: aRuntime(), mount: { path: '/runtime-mnt/thin/default/demo/thin-fuse', type: undefined } }
    assert.deepEqual(plan({ ...NOTHING_SEEN, dataset, source }).actions, [])
    const made = volumeOf({ ...source, mount: { ...source.mount, type: 'nfs' } })
    const volume = { ...made, metadata: { ...made.metadata, managedFields: [{ manager: 'data.volume' }] } } as PersistentVolume
    const { actions } = plan({ ...NOTHING_SEEN, dataset, source, volume })
    const [kept] = actions.flatMap((action) => (action.do === 'apply' ? [action.object as PersistentVolume] : []))
    assert.deepEqual([kept?.spec?.csi, actions.length], [volume.spec?.csi, 2])
  })

  it('is created where there is none and never applied, in case a user comes first', () => {
    const dataset = { ...aDataset(), metadata: { namespace: 'default', name: 'demo', uid: 'd' } } as Dataset
    const source = { dataset, runtime: aRuntime(), mount: mountInfo('cache', dataset.metadata) }
    const none = { ...NOTHING_SEEN, dataset, source }
    const does = (observed: typeof none): string[] =>
      plan(observed).actions.map((action) => (action.do === 'create' ? `create, new: ${action.mustBeNew}` : action.do))
    assert.deepEqual(does(none), ['create, new: true', 'create, new: true'])
    assert.deepEqual(does({ ...none, isStale: true }), [], 'from an old cache')
  })

  story(
    'is made once what a user has under its name is gone',
    async (world) => {
      const { member: cluster } = world
      const claim = {
        ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace: 'default', name: 'demo' } },
        spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } },
      }
      const volume = {
        ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'default-demo' } },
        spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/srv' } },
      }
      await cluster.create(claim)
      await cluster.create(volume)
      await bound(cluster)
      await world.settle()
      await cluster.delete(PERSISTENT_VOLUME_CLAIMS, 'default/demo')
      await world.settle()
      await expectGone(cluster, PERSISTENT_VOLUME_CLAIMS, 'default/demo')
      await cluster.delete(PERSISTENT_VOLUMES, 'default-demo')
      await world.settle()
      assert.equal((await claimIn(cluster)).metadata.annotations?.CreatedBy, 'fluid')
    },
    member,
  )

  it('of two datasets whose names lead to one name of a volume belongs to the first', () => {
    const dataset = (namespace: string, name: string): Dataset => ({
      apiVersion: API_VERSION,
      kind: 'Dataset',
      metadata: { namespace, name, uid: 'u' },
    })
    const [one, other] = [dataset('a-b', 'c'), dataset('a', 'b-c')].map((of) =>
      volumeOf({ dataset: of, runtime: aRuntime(), mount: mountInfo('cache', of.metadata) }),
    )
    assert.equal(one?.metadata.name, other?.metadata.name)
    const key = { namespace: 'a', name: 'b-c' }
    const source = { dataset: dataset('a', 'b-c'), runtime: aRuntime(), mount: { path: '/x', type: 'cache' } }
    const seen = {
      ...NOTHING_SEEN,
      key,
      dataset: source.dataset,
      source,
      isStale: false,
      volume: one,
      claim: undefined,
      isHeld: false,
      nowMs: 0,
    }
    assert.deepEqual(plan(seen).actions, [])
    assert.equal(takenBy(seen), 'a PersistentVolume a-b-c exists that was not made for this dataset: give the dataset another name')
    assert.deepEqual(plan({ ...NOTHING_SEEN, key, volume: one }).actions, [])
  })
})

const nodeOf = ({ spec }: Pod): string | undefined => spec?.nodeName
const aReader = (name = 'reader'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name },
  spec: {
    containers: [{ name: 'reader', image: 'reader' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'demo' } }],
  },
})

survives(volumeController(), {
  modules,
  members: 1,
  steps: [
    (cluster) => cluster.create(aDataset()),
    (cluster) => cluster.create(aRuntime()),
    (cluster) => phase(cluster, 'Bound'),
    (cluster) => cluster.patch(CACHE_RUNTIMES, 'default/demo', { metadata: { annotations: { 'data.fluid.io/metadataList': '[]' } } }),
    (cluster) => phase(cluster, 'NotBound'),
    (cluster) => phase(cluster, 'Bound'),
    (cluster) => cluster.delete(DATASETS, 'default/demo'),
  ],
  invariants: [neverMadeAgain],
  async atRest(cluster) {
    await expectGone(cluster, PERSISTENT_VOLUME_CLAIMS, 'default/demo')
    await expectGone(cluster, PERSISTENT_VOLUMES, 'default-demo')
  },
})
