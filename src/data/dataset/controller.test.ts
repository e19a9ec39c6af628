import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectGone, expectThere } from '../../faultsim/expect/index.ts'
import { story } from '../../faultsim/story.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { EVENTS, PERSISTENT_VOLUME_CLAIMS, PODS } from '../../kinds/kubernetes/resources.ts'
import { datasetLabels, SIDECAR_LABELS } from '../sidecar/labels.ts'
import {
  aDataset,
  answering,
  aPod,
  aReader,
  aRuntime,
  aRuntimeOf,
  createPod,
  datasetIn,
  deletePod,
  FIGURES,
  MOUNTS,
  member,
  messageIn,
  phaseIn,
  phases,
  ranIn,
  saysIn,
  serve,
} from './testing.ts'

const eventsIn = async (cluster: WorldCluster, reason: string): Promise<string[]> =>
  (await cluster.list(EVENTS)).filter((event) => event.reason === reason).map((event) => String(event.message))

const capacityIn = async (cluster: WorldCluster): Promise<string | undefined> =>
  (await datasetIn(cluster)).status.cacheStates?.cacheCapacity

describe('a dataset', () => {
  story(
    'says for as long as it is so that somebody else has a claim of its name, and gets its own when that is gone',
    async (world) => {
      const { member: cluster } = world
      answering(cluster)
      const claim = {
        ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace: 'default', name: 'demo' } },
        spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } },
      }
      await cluster.create(claim)
      await serve(cluster)
      await world.settle()
      assert.equal(await phaseIn(cluster), 'Bound')
      assert.match((await messageIn(cluster, 'NameTaken')) ?? '', /^a PersistentVolumeClaim demo exists that was not made for this dataset/)
      assert.equal((await eventsIn(cluster, 'ErrorProcessRuntime')).length, 1)
      await cluster.delete(PERSISTENT_VOLUME_CLAIMS, 'default/demo')
      await world.settle()
      assert.equal(await messageIn(cluster, 'NameTaken'), undefined)
      assert.equal((await expectThere(cluster, PERSISTENT_VOLUME_CLAIMS, 'default/demo')).metadata.annotations?.CreatedBy, 'fluid')
    },
    member,
  )

  story(
    'is bound when its runtime is ready and its sources are mounted',
    async (world) => {
      const { member: cluster } = world
      answering(cluster)
      await cluster.create(aDataset())
      await world.settle()
      const { metadata, status } = await datasetIn(cluster)
      assert.deepEqual(metadata.finalizers, ['fluid-dataset-controller-finalizer'])
      assert.equal(metadata.labels?.['fluid.io/dataset-id'], 'default-demo')
      assert.deepEqual([status.phase, Object.keys(status).sort()], ['NotBound', ['conditions', 'phase']])
      assert.match((await messageIn(cluster, 'NotReady')) ?? '', /^no runtime is named demo: create one of that name in namespace default/)
      await cluster.create(aRuntime())
      await world.settle()
      assert.equal(await messageIn(cluster, 'NotReady'), 'waits for the masters: 0 of 1 pods of demo-master are ready')
      await createPod(cluster, 'master')
      await phases(cluster, 'Ready', 'NotReady')
      await world.settle()
      assert.equal(await messageIn(cluster, 'NotReady'), 'waits for the workers: 0 of 1 pods of demo-worker are ready')
      assert.equal(ranIn(cluster, 'mount'), 0)
      await createPod(cluster, 'worker')
      await phases(cluster, 'Ready', 'Ready')
      await world.settle()
      const bound = await datasetIn(cluster)
      assert.equal(bound.status.phase, 'Bound')
      assert.deepEqual(bound.status.mounts, MOUNTS)
      assert.deepEqual(bound.status.runtimes, [
        { name: 'demo', namespace: 'default', category: 'Accelerate', type: 'cache', masterReplicas: 1 },
      ])
      const [ready] = bound.status.conditions
      assert.deepEqual(
        [bound.status.conditions.length, ready?.type, ready?.status, ready?.reason, ready?.message],
        [1, 'Ready', 'True', 'DatasetReady', 'The ddc runtime is ready.'],
      )
      const { ufsTotal, fileNum, ...cacheStates } = FIGURES
      assert.deepEqual([bound.status.ufsTotal, bound.status.fileNum, bound.status.cacheStates], [ufsTotal, fileNum, cacheStates])
      assert.equal(ranIn(cluster, 'mount'), 1)
    },
    member,
  )

  story(
    'says what its runtime lacks, and what to do',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aRuntimeOf('VineyardRuntime'))
      await cluster.create(aDataset())
      await world.settle()
      assert.match(
        (await messageIn(cluster, 'NotReady')) ?? '',
        /^no engine serves runtimes of kind VineyardRuntime: delete it, and create a CacheRuntime demo/,
      )
      await cluster.create(aRuntime({ runtimeClassName: 'unknown' }))
      await world.settle()
      assert.match(
        (await messageIn(cluster, 'NotReady')) ?? '',
        /^CacheRuntime demo, VineyardRuntime demo have the name .* delete all but one$/,
      )
      const vineyard = { ...CACHE_RUNTIMES, kind: 'VineyardRuntime', plural: 'vineyardruntimes' }
      await cluster.delete(vineyard, 'default/demo')
      await world.settle()
      assert.equal(await messageIn(cluster, 'NotReady'), 'there is no class unknown: create it, or name another')
      await cluster.patch(CACHE_RUNTIMES, 'default/demo', { spec: { runtimeClassName: 'sample' } })
      const served = { type: 'Served', status: 'False', reason: 'X', message: 'the mount hdfs://x cannot be read: use s3' }
      await cluster.patch(CACHE_RUNTIMES, 'default/demo', { status: { conditions: [served] } }, 'status')
      await world.settle()
      assert.equal(await messageIn(cluster, 'NotReady'), 'the mount hdfs://x cannot be read: use s3')
      assert.equal(await phaseIn(cluster), 'NotBound')
    },
    member,
  )

  story(
    'runs nothing in pods that others have made under its names, and believes nothing of what they say',
    async (world) => {
      const { member: cluster } = world
      answering(cluster)
      await cluster.create(aDataset())
      await cluster.create(aRuntime())
      for (const type of ['master', 'worker'] as const) {
        const { ownerReferences: _, ...metadata } = aPod(type).metadata
        const annotations = { ...metadata.annotations, 'sluice.dev/simulated-because': 'it lies' }
        await cluster.create({ ...aPod(type), metadata: { ...metadata, annotations } })
      }
      await phases(cluster, 'Ready', 'Ready')
      await world.settle()
      assert.deepEqual([ranIn(cluster, 'mount'), ranIn(cluster, 'report')], [0, 0])
      assert.equal(await phaseIn(cluster), 'NotBound')
      assert.equal(await messageIn(cluster, 'NotReady'), 'waits for container main of pod demo-master-0 to mount the sources')
      assert.equal(await messageIn(cluster, 'Simulated'), undefined)
    },
    member,
  )

  story(
    'says that Exclusive placement leaves no node',
    async (world) => {
      const { member: cluster } = world
      const term = {
        labelSelector: { matchExpressions: [{ key: 'fluid.io/dataset', operator: 'Exists' }] },
        topologyKey: 'kubernetes.io/hostname',
      }
      const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
      const other = aPod('worker')
      const metadata = { namespace: 'default', name: 'other', labels: { 'fluid.io/dataset': 'default-other' } }
      await cluster.create({ ...other, metadata })
      await world.settle()
      await cluster.create(aDataset())
      await cluster.create(aRuntime())
      await createPod(cluster, 'worker', { spec: { affinity } })
      await phases(cluster, 'Ready', 'NotReady')
      await world.settle()
      const message = (await messageIn(cluster, 'NotReady')) ?? ''
      assert.match(message, /^worker demo-worker-0 finds no node, because .*`placement: Shared`.*--process-nodes/)
      await cluster.patch(DATASETS, 'default/demo', { spec: { placement: 'Shared' } })
      await world.settle()
      assert.match((await messageIn(cluster, 'NotReady')) ?? '', /^worker demo-worker-0 finds no node: 0\/1 nodes are available/)
    },
    member,
  )

  story(
    'says why its sources cannot be mounted, once, and is bound when they can',
    async (world) => {
      const { member: cluster } = world
      answering(cluster, { mount: { stderr: `no such bucket\u0007\n${'x'.repeat(5000)}`, exitCode: 4 } })
      await serve(cluster)
      await world.settle()
      const message = (await messageIn(cluster, 'NotReady')) ?? ''
      assert.match(message, /^the sources cannot be mounted: exit code 4: no such bucket x+…$/)
      assert.ok(message.length <= 512)
      assert.equal(await phaseIn(cluster), 'NotBound')
      assert.deepEqual(await eventsIn(cluster, 'RuntimeMountUfsFailed'), ['Failed to execute mount ufs command'])
      const { resourceVersion } = (await datasetIn(cluster)).metadata
      await world.advance(300_000)
      assert.equal((await datasetIn(cluster)).metadata.resourceVersion, resourceVersion, 'each attempt is written')
      answering(cluster, {}, ['/other'])
      await world.advance(120_000)
      assert.equal(await messageIn(cluster, 'NotReady'), 'the sources cannot be mounted: mount point /one is not yet mounted')
      answering(cluster)
      await world.advance(120_000)
      assert.deepEqual([await phaseIn(cluster), await saysIn(cluster)], ['Bound', 'Ready=True'])
      cluster.complaints.length = 0
    },
    member,
  )

  story(
    'fails when its workers are gone, and comes back with them',
    async (world) => {
      const { member: cluster } = world
      answering(cluster)
      await serve(cluster)
      await world.settle()
      await phases(cluster, 'NotReady', 'NotReady')
      await world.settle()
      assert.equal(await phaseIn(cluster), 'Bound', 'pods that are merely not ready do not matter')
      await deletePod(cluster, 'demo-worker-0')
      await world.settle()
      assert.deepEqual([await phaseIn(cluster), await saysIn(cluster)], ['Failed', 'Ready=False, NotReady=True'])
      assert.match((await messageIn(cluster, 'NotReady')) ?? '', /^the worker "demo-worker" is not healthy/)
      assert.equal((await datasetIn(cluster)).status.ufsTotal, FIGURES.ufsTotal)
      await createPod(cluster, 'worker')
      await world.settle()
      assert.equal(await phaseIn(cluster), 'Failed')
      await phases(cluster, 'Ready', 'PartialReady')
      await world.settle()
      assert.deepEqual([await phaseIn(cluster), await saysIn(cluster)], ['Bound', 'Ready=True'])
      await cluster.patch(CACHE_RUNTIMES, 'default/demo', { status: { worker: null } }, 'status')
      await world.settle()
      assert.match((await messageIn(cluster, 'NotReady')) ?? '', /^the worker "demo-worker" is missing/)
      await phases(cluster, 'Ready', 'Ready')
      await world.settle()
      assert.equal(await phaseIn(cluster), 'Bound')
    },
    member,
  )

  story(
    'mounts what changed, options too, and what was changed back; and again when the master is another one',
    async (world) => {
      const { member: cluster } = world
      answering(cluster)
      await serve(cluster)
      await world.settle()
      const change = async (mounts: object[], paths: string[]): Promise<void> => {
        answering(cluster, {}, paths)
        await cluster.patch(DATASETS, 'default/demo', { spec: { mounts } })
        await world.settle()
      }
      const two = { mountPoint: 's3://two', name: 'two', path: '/two', options: { region: 'x' } }
      answering(cluster, { mount: { stderr: 'busy', exitCode: 1 } })
      await cluster.patch(DATASETS, 'default/demo', { spec: { mounts: [...MOUNTS, two] } })
      await world.settle()
      assert.deepEqual([await phaseIn(cluster), await saysIn(cluster)], ['Updating', 'Ready=True, Updating=True'])
      assert.equal(await messageIn(cluster, 'Updating'), 'the sources cannot be mounted: exit code 1: busy')
      assert.deepEqual((await datasetIn(cluster)).status.mounts, MOUNTS)
      answering(cluster, {}, ['/one', '/two'])
      await world.advance(120_000)
      assert.deepEqual([await phaseIn(cluster), await saysIn(cluster)], ['Bound', 'Ready=True'])
      assert.equal(await messageIn(cluster, 'Ready'), 'The ddc runtime has updated completely.')
      cluster.complaints.length = 0
      const mounts = async () => (await datasetIn(cluster)).status.mounts
      for (const options of [{ region: 'y' }, { region: 'x' }]) {
        const before = ranIn(cluster, 'mount')
        await change([...MOUNTS, { ...two, options }], ['/one', '/two'])
        assert.deepEqual([await mounts(), ranIn(cluster, 'mount')], [[...MOUNTS, { ...two, options }], before + 1])
      }
      await deletePod(cluster, 'demo-master-0')
      await createPod(cluster, 'master')
      const before = ranIn(cluster, 'mount')
      await world.settle()
      assert.deepEqual([await phaseIn(cluster), ranIn(cluster, 'mount')], ['Bound', before + 1])
    },
    member,
  )

  story(
    'is as if it had never been bound when its runtime goes, and keeps what others need',
    async (world) => {
      const { member: cluster } = world
      answering(cluster)
      await serve(cluster)
      await world.settle()
      const kept = { operationRef: { DataLoad: 'load' } }
      await cluster.patch(DATASETS, 'default/demo', { status: { ...kept, hcfs: { endpoint: 'x://y' } } }, 'status')
      await cluster.delete(CACHE_RUNTIMES, 'default/demo')
      await world.settle()
      const { conditions, ...status } = (await datasetIn(cluster)).status
      assert.deepEqual(status, { phase: 'NotBound', mounts: MOUNTS, ufsTotal: '', fileNum: '', cacheStates: {}, runtimes: [], ...kept })
      assert.deepEqual(
        conditions.map(({ type }) => type),
        ['NotReady'],
      )
      await cluster.create(aRuntime())
      await phases(cluster, 'Ready', 'Ready')
      await world.settle()
      assert.equal(await phaseIn(cluster), 'Bound')
    },
    member,
  )

  story(
    'stays with the runtime that it is bound to, and names a second one',
    async (world) => {
      const { member: cluster } = world
      answering(cluster)
      await serve(cluster)
      await world.settle()
      await cluster.create(aRuntimeOf('AlluxioRuntime'))
      await world.settle()
      assert.equal(await phaseIn(cluster), 'Bound')
      assert.equal(
        await messageIn(cluster, 'SecondRuntime'),
        'AlluxioRuntime demo has the name of this dataset, too, which uses its CacheRuntime: delete it',
      )
      await cluster.delete(CACHE_RUNTIMES, 'default/demo')
      await world.settle()
      assert.match((await messageIn(cluster, 'NotReady')) ?? '', /^no engine serves runtimes of kind AlluxioRuntime/)
      assert.deepEqual((await datasetIn(cluster)).status.runtimes, [])
    },
    member,
  )

  story(
    'that is simulated is bound, says so, and has no figures',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aDataset())
      await cluster.create(aRuntime())
      for (const type of ['master', 'worker'] as const)
        await createPod(cluster, type, { annotations: { 'sluice.dev/simulated-because': 'it names no command' } })
      await phases(cluster, 'Ready', 'Ready')
      await world.settle()
      const { status } = await datasetIn(cluster)
      assert.deepEqual([status.phase, await saysIn(cluster)], ['Bound', 'Ready=True, Simulated=True'])
      assert.deepEqual([status.ufsTotal, status.fileNum, status.cacheStates?.cached], ['N/A', 'N/A', 'N/A'])
      assert.equal(new Set(Object.values(status.cacheStates ?? {})).size, 1)
      assert.deepEqual(cluster.commands.calls, [])
    },
    member,
  )

  story(
    'of a cache without commands is bound at once',
    async (world) => {
      const { member: cluster } = world
      await serve(cluster, aDataset(), aRuntime({ runtimeClassName: 'plain' }))
      await world.settle()
      assert.deepEqual([await phaseIn(cluster), (await datasetIn(cluster)).status.ufsTotal], ['Bound', 'N/A'])
      await cluster.patch(DATASETS, 'default/demo', { spec: { mounts: [{ mountPoint: 's3://new', name: 'new' }] } })
      await world.settle()
      const { status } = await datasetIn(cluster)
      assert.deepEqual([status.phase, status.mounts], ['Bound', [{ mountPoint: 's3://new', name: 'new' }]])
    },
    member,
  )

  story(
    'gets the runtime that its annotation asks for',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aDataset({}, { 'sluice.dev/runtime': 'builtin', 'sluice.dev/cache-quota': 'much' }))
      await world.settle()
      await expectGone(cluster, CACHE_RUNTIMES, 'default/demo')
      assert.match((await messageIn(cluster, 'NotReady')) ?? '', /^annotation sluice\.dev\/cache-quota "much" is no size above 0/)
      await cluster.patch(DATASETS, 'default/demo', { metadata: { annotations: { 'sluice.dev/cache-quota': null } } })
      await world.settle()
      const { spec } = await expectThere(cluster, CACHE_RUNTIMES, 'default/demo')
      assert.deepEqual(spec, {
        runtimeClassName: 'builtin',
        worker: { replicas: 1, tieredStore: { levels: [{ emptyDir: { quota: '1Gi' } }] } },
      })
    },
    member,
  )
})

describe('the report of a cache', () => {
  story(
    'is asked for often while it changes and seldom when it does not, and is written when it changed',
    async (world) => {
      const { member: cluster } = world
      answering(cluster, { report: { stdout: JSON.stringify({ ...FIGURES, ufsTotal: '[Calculating]', fileNum: '[Calculating]' }) } })
      await serve(cluster)
      await world.settle()
      assert.equal((await datasetIn(cluster)).status.ufsTotal, '[Calculating]')
      answering(cluster)
      await world.advance(11_000)
      assert.equal((await datasetIn(cluster)).status.ufsTotal, '2.00GiB')
      await world.advance(600_000)
      const [ran, { metadata }] = [ranIn(cluster, 'report'), await datasetIn(cluster)]
      await world.advance(600_000)
      assert.equal(ranIn(cluster, 'report') - ran, 10)
      assert.equal((await datasetIn(cluster)).metadata.resourceVersion, metadata.resourceVersion)
      answering(cluster, { report: { stdout: JSON.stringify({ ...FIGURES, cached: '2.00GiB' }) } })
      await world.advance(61_000)
      assert.equal((await datasetIn(cluster)).status.cacheStates?.cached, '2.00GiB')
    },
    member,
  )

  story(
    'that says why a source cannot be listed is told of by the dataset, until it can',
    async (world) => {
      const { member: cluster } = world
      answering(cluster, { report: { stdout: JSON.stringify({ ...FIGURES, problem: '/one: S3 refuses access' }) } })
      await serve(cluster)
      await world.settle()
      assert.equal(await saysIn(cluster), 'Ready=True, SourcesListed=False')
      assert.match((await messageIn(cluster, 'SourcesListed')) ?? '', /^a source cannot be listed now.*: \/one: S3 refuses access$/)
      const { metadata } = await datasetIn(cluster)
      await world.restartControllers()
      await world.advance(120_000)
      assert.equal((await datasetIn(cluster)).metadata.resourceVersion, metadata.resourceVersion)
      answering(cluster)
      await world.advance(61_000)
      assert.equal(await saysIn(cluster), 'Ready=True')
    },
    member,
  )

  story(
    'is asked for at once when a worker has gone or come',
    async (world) => {
      const { member: cluster } = world
      answering(cluster)
      await serve(cluster)
      await world.advance(300_000)
      const before = ranIn(cluster, 'report')
      answering(cluster, { report: { stdout: JSON.stringify({ ...FIGURES, cacheCapacity: '8.00GiB' }) } })
      const set = await expectThere(cluster, ADVANCED_STATEFUL_SETS, 'default/demo-worker')
      const second = aPod('worker', { setUid: set.metadata.uid })
      await cluster.create({ ...second, metadata: { ...second.metadata, name: 'demo-worker-1' } })
      await world.advance(1000)
      assert.deepEqual([ranIn(cluster, 'report'), await capacityIn(cluster)], [before + 1, '8.00GiB'])
      await world.advance(300_000)
      const later = ranIn(cluster, 'report')
      answering(cluster)
      await deletePod(cluster, 'demo-worker-1')
      await world.advance(1000)
      assert.deepEqual([ranIn(cluster, 'report'), await capacityIn(cluster)], [later + 1, FIGURES.cacheCapacity])
    },
    member,
  )

  story(
    'that does not come leaves the last figures, and the dataset says so after a minute',
    async (world) => {
      const { member: cluster } = world
      answering(cluster)
      await serve(cluster)
      await world.settle()
      answering(cluster, { report: { stderr: 'no master', exitCode: 1 } })
      await world.advance(50_000)
      assert.equal(await saysIn(cluster), 'Ready=True')
      await world.advance(60_000)
      assert.equal(await saysIn(cluster), 'Ready=True, Reported=False')
      assert.match((await messageIn(cluster, 'Reported')) ?? '', /what is shown is old: exit code 1: no master$/)
      const { metadata, status } = await datasetIn(cluster)
      assert.equal(status.ufsTotal, FIGURES.ufsTotal)
      await world.advance(600_000)
      await world.restartControllers()
      await world.advance(600_000)
      assert.equal((await datasetIn(cluster)).metadata.resourceVersion, metadata.resourceVersion)
      answering(cluster)
      await world.advance(61_000)
      assert.equal(await saysIn(cluster), 'Ready=True')
    },
    member,
  )
})

describe('the deletion of a dataset', () => {
  story(
    'is held by pods that use it, said once, and goes on when they are done',
    async (world) => {
      const { member: cluster } = world
      answering(cluster)
      await serve(cluster)
      await world.settle()
      for (const name of ['reader', 'second']) await cluster.create(aReader(name))
      await world.settle()
      await cluster.delete(DATASETS, 'default/demo')
      await world.settle()
      const held = 'Failed to delete dataset because err: can not delete dataset because Pod'
      assert.equal(await messageIn(cluster, 'DeletionHeld'), `${held} reader in Namespace default is using it`)
      assert.equal(await phaseIn(cluster), 'Bound')
      await deletePod(cluster, 'reader')
      await world.settle()
      assert.equal(await messageIn(cluster, 'DeletionHeld'), `${held} second in Namespace default is using it`)
      assert.equal((await eventsIn(cluster, 'ErrorDeleteDataset')).length, 1)
      await cluster.patch(PODS, 'default/second', { status: { phase: 'Succeeded' } }, 'status')
      await world.settle()
      await expectGone(cluster, DATASETS, 'default/demo')
    },
    member,
  )

  story(
    'is held by pods that read it by a sidecar, and by no label of another namespace',
    async (world) => {
      const { member: cluster } = world
      answering(cluster)
      await serve(cluster)
      await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
      await world.settle()
      const sidecar = datasetLabels('fluid-fuse-0', { namespace: 'default', name: 'demo' })
      const labels = { [SIDECAR_LABELS.done]: 'true', ...sidecar }
      for (const namespace of ['default', 'other']) {
        const { spec, ...reader } = aReader('reader')
        await cluster.create({ ...reader, metadata: { namespace, name: 'reader', labels }, spec: { ...(spec as object), volumes: [] } })
      }
      await world.settle()
      await cluster.delete(DATASETS, 'default/demo')
      await world.settle()
      assert.match((await messageIn(cluster, 'DeletionHeld')) ?? '', /because Pod reader in Namespace default is using it$/)
      await deletePod(cluster, 'reader')
      await world.settle()
      await expectGone(cluster, DATASETS, 'default/demo')
    },
    member,
  )

  story(
    'is held by datasets that refer to it, whatever its list says, as long as they exist',
    async (world) => {
      const { member: cluster } = world
      const other = aDataset({ mounts: [{ mountPoint: 'dataset://default/demo' }] })
      await cluster.create({ ...other, metadata: { namespace: 'default', name: 'other' } })
      await cluster.create(aDataset())
      await world.settle()
      await cluster.patch(DATASETS, 'default/demo', { status: { datasetRef: ['gone/x'] } }, 'status')
      await cluster.delete(DATASETS, 'default/demo')
      await world.settle()
      assert.equal(
        await messageIn(cluster, 'DeletionHeld'),
        'Failed to delete dataset because there are datasets [default/other] mounted to it: delete them first',
      )
      assert.deepEqual((await datasetIn(cluster)).status.datasetRef, ['default/other'])
      await cluster.delete(DATASETS, 'default/other')
      await world.settle()
      await expectGone(cluster, DATASETS, 'default/demo')
    },
    member,
  )
})
