/** Which runtimes are served and by whom; those that are not say so, with what to do. */
import assert from 'node:assert/strict'
import {
  ADVANCED_STATEFUL_SETS,
  ALLUXIO_RUNTIMES,
  CACHE_RUNTIMES,
  DATA_BACKUPS,
  DATA_LOADS,
  DATA_MIGRATES,
  DATA_PROCESSES,
  DATASETS,
  EFC_RUNTIMES,
  JINDO_RUNTIMES,
  JUICEFS_RUNTIMES,
  VINEYARD_RUNTIMES,
} from '../../../src/kinds/fluid/resources.ts'
import { DAEMON_SETS, PERSISTENT_VOLUMES, SECRETS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import { answering, ranIn } from '../commands.ts'
import {
  cacheLabels,
  conditionTexts,
  eventsOf,
  isBound,
  isGone,
  isServedAs,
  messageOf,
  nodesUnder,
  servedOf,
  there,
  waitsBecause,
} from '../expectations.ts'
import { aDataset, aRuntimeOf, MOUNTS, RUNS } from '../manifests.ts'
import { runtimeConfigOf } from '../runtime-config.ts'
import type { DataArea, DataStory, EmbeddedTestbed } from '../story.ts'

const TOLERATING = { tolerations: [...RUNS.tolerations] }
const BY_BUILTIN =
  'True ServedByBuiltin: served by the builtin cache of Sluice: images, ports and options of the engine itself have no effect'

interface Translated {
  resource: Resource
  master: string
  worker: string
  client: string
  fluidPath: string
  mountType: string
}

const TRANSLATED: readonly Translated[] = [
  {
    ...{ resource: ALLUXIO_RUNTIMES, master: 'demo-master', worker: 'demo-worker', client: 'demo-fuse' },
    ...{ fluidPath: '/runtime-mnt/alluxio/default/demo/alluxio-fuse', mountType: 'fuse.alluxio-fuse' },
  },
  {
    ...{ resource: JUICEFS_RUNTIMES, master: 'demo-master', worker: 'demo-worker', client: 'demo-fuse' },
    ...{ fluidPath: '/runtime-mnt/juicefs/default/demo/juicefs-fuse', mountType: 'JuiceFS' },
  },
  {
    ...{ resource: JINDO_RUNTIMES, master: 'demo-jindofs-master', worker: 'demo-jindofs-worker', client: 'demo-jindofs-fuse' },
    ...{ fluidPath: '/runtime-mnt/jindo/default/demo/jindofs-fuse', mountType: 'fuse.jindofs-fuse' },
  },
]

async function serveAs(testbed: EmbeddedTestbed, kind: string, spec: object = {}): Promise<void> {
  answering(testbed.member)
  await testbed.create(aDataset(testbed, TOLERATING))
  await testbed.create(aRuntimeOf(kind, spec))
}

const translated = ({ resource, master, worker, client, fluidPath, mountType }: Translated): DataStory => ({
  name: `${resource.kind} keeps its names and the form of its status, and says who serves it`,
  async run(testbed) {
    const tieredstore = { levels: [{ mediumtype: 'MEM', path: '/dev/shm', quota: '2Gi', high: '0.9', low: '0.8' }] }
    await serveAs(testbed, resource.kind, { replicas: 2, tieredstore })
    const { status } = await isBound(testbed)
    const type = resource.kind.replace('Runtime', '').toLowerCase()
    assert.deepEqual(status.runtimes, [{ name: 'demo', namespace: 'default', category: 'Accelerate', type, masterReplicas: 1 }])
    for (const name of [master, worker]) await there(testbed, ADVANCED_STATEFUL_SETS, name)
    await there(testbed, DAEMON_SETS, client)
    const runtime = await there(testbed, resource as Resource<KubeObject>, 'demo')
    const { masterPhase, workerPhase, fusePhase, workerNumberReady, desiredWorkerNumberScheduled, cacheStates, mounts } =
      runtime.status as Record<string, unknown>
    assert.deepEqual(
      { masterPhase, workerPhase, fusePhase, workerNumberReady, desiredWorkerNumberScheduled },
      { masterPhase: 'Ready', workerPhase: 'Ready', fusePhase: 'Ready', workerNumberReady: 2, desiredWorkerNumberScheduled: 2 },
    )
    assert.deepEqual([cacheStates, mounts], [status.cacheStates, MOUNTS])
    assert.equal(await servedOf(testbed, resource), BY_BUILTIN)
    assert.deepEqual(runtime.metadata.finalizers, [`${type}-runtime-controller-finalizer`])
    const { csi } = (await there(testbed, PERSISTENT_VOLUMES, 'default-demo')).spec ?? {}
    assert.deepEqual([csi?.volumeAttributes?.fluid_path, csi?.volumeAttributes?.mount_type], [fluidPath, mountType])
    const [node = ''] = await nodesUnder(testbed, worker)
    const labels = await cacheLabels(testbed, node)
    assert.deepEqual([labels[`fluid.io/s-${type}-default-demo`], labels[`fluid.io/s-h-${type}-m-default-demo`]], ['true', '2GiB'])
    assert.deepEqual(ranIn(testbed.member, 'mount'), [`${master}-0`])
  },
})

const UNREAD: readonly (readonly [string, Resource])[] = [
  ['juicefs:///', ALLUXIO_RUNTIMES],
  ['hdfs://name:9000/data', ALLUXIO_RUNTIMES],
  ['oss://bucket/data', ALLUXIO_RUNTIMES],
  ['gs://bucket/data', CACHE_RUNTIMES],
]

const unread = ([mountPoint, resource]: readonly [string, Resource]): DataStory => ({
  name: `${mountPoint} cannot be read by a ${resource.kind}: NotBound with what to do, and Bound once it is mounted another way`,
  async run(testbed) {
    answering(testbed.member)
    await testbed.create(aDataset(testbed, { ...TOLERATING, mounts: [{ mountPoint, name: 'one' }] }))
    await testbed.create(aRuntimeOf(resource.kind, resource === CACHE_RUNTIMES ? { runtimeClassName: 'builtin' } : {}))
    const [scheme = ''] = mountPoint.split(':')
    const why = new RegExp(`the builtin cache cannot read ${scheme}:// \\(it reads local, pvc, http, https and s3\\): .*(mount|serve)`)
    await waitsBecause(testbed, why)
    await isServedAs(testbed, resource, new RegExp(`^False UnsupportedMount: ${why.source}`))
    await testbed.settle()
    assert.deepEqual(await testbed.list(ADVANCED_STATEFUL_SETS), [], 'nothing is made for it')
    await testbed.patch(DATASETS, 'demo', { spec: { mounts: MOUNTS } })
    await isBound(testbed)
  },
})

const unserved = (resource: Resource): DataStory => ({
  name: `${resource.kind}: it and its dataset say that nobody serves it, with what to do, and it goes without a trace`,
  async run(testbed) {
    await testbed.create(aDataset(testbed))
    await testbed.create(aRuntimeOf(resource.kind, { podMetadata: undefined }))
    const why = `no engine serves runtimes of kind ${resource.kind}: delete it, and create a CacheRuntime of the same name with runtimeClassName builtin`
    await waitsBecause(testbed, new RegExp(`^${why}`))
    assert.equal(await servedOf(testbed, resource), `False NoEngine: ${why}`)
    await testbed.settle()
    assert.deepEqual(await testbed.list(ADVANCED_STATEFUL_SETS), [])
    await testbed.delete(resource, 'demo')
    await isGone(testbed, resource, 'demo')
    await waitsBecause(testbed, /^no runtime is named demo/)
  },
})

interface Operation {
  resource: Resource
  spec: object
}

const OF_DEMO = { name: 'demo', namespace: 'default' }

const OPERATIONS: readonly Operation[] = [
  { resource: DATA_LOADS, spec: { dataset: OF_DEMO } },
  { resource: DATA_BACKUPS, spec: { dataset: 'demo', backupPath: 'pvc://backups' } },
  { resource: DATA_MIGRATES, spec: { from: { externalStorage: { uri: 's3://one' } }, to: { dataset: OF_DEMO } } },
  {
    resource: DATA_PROCESSES,
    spec: { dataset: { ...OF_DEMO, mountPath: '/data' }, processor: { script: { image: 'busybox', imageTag: '1', source: 'ls' } } },
  },
]

const unservedOperation = ({ resource, spec }: Operation): DataStory => ({
  name: `${resource.kind}: it says that nothing carries it out yet, with what to do, once`,
  async run(testbed) {
    await testbed.create({ apiVersion: 'data.fluid.io/v1alpha1', kind: resource.kind, metadata: { name: 'operation' }, spec })
    await isServedAs(testbed, resource, new RegExp(`^False NotServed: nothing carries out a ${resource.kind} yet: .+`), 'operation')
    await testbed.restart()
    await testbed.until('an event says so', async () => (await eventsOf(testbed, 'DataOperationNotSupport', 'operation')).length === 1)
    await testbed.delete(resource, 'operation')
    await isGone(testbed, resource, 'operation')
  },
})

const OTHERS: readonly Resource[] = [ALLUXIO_RUNTIMES, JUICEFS_RUNTIMES, JINDO_RUNTIMES]

export const engines: DataArea = {
  name: 'engines',
  stories: [
    ...TRANSLATED.map(translated),
    ...UNREAD.map(unread),
    unserved(EFC_RUNTIMES),
    unserved(VINEYARD_RUNTIMES),
    ...OPERATIONS.map(unservedOperation),
    {
      name: 'on Kubernetes, runtimes of other engines say that none serves them yet, and what to use instead',
      shape: 'kubernetes',
      isSample: true,
      async run(testbed) {
        for (const resource of OTHERS) {
          const name = resource.kind.toLowerCase()
          await testbed.create(aDataset(testbed, {}, { name }))
          await testbed.create(aRuntimeOf(resource.kind, {}, name))
        }
        for (const resource of OTHERS) {
          const why = `no engine serves runtimes of kind ${resource.kind} here yet: delete it, and create a CacheRuntime of the same name with runtimeClassName builtin`
          await waitsBecause(testbed, new RegExp(`^${why}`), resource.kind.toLowerCase())
          await isServedAs(testbed, resource, new RegExp(`^False NoEngine: ${why}$`), resource.kind.toLowerCase())
        }
        assert.deepEqual(await testbed.list(ADVANCED_STATEFUL_SETS), [])
      },
    },
    {
      name: 'on Kubernetes, directories of nodes are the administrator’s: refused with what to do',
      shape: 'kubernetes',
      async run(testbed) {
        const mounts = [{ mountPoint: 'local:///srv/data', name: 'dir' }]
        await assert.rejects(
          testbed.create(aDataset(testbed, { mounts })),
          /spec\.mounts\[0\]\.mountPoint: .*"\/srv\/data" is a directory of the node, and the administrator allows none here: use a claim/,
        )
        const tieredstore = { levels: [{ mediumtype: 'SSD', path: '/srv/cache', quota: '1Gi' }] }
        await assert.rejects(
          testbed.create(aRuntimeOf('AlluxioRuntime', { tieredstore })),
          /spec\.tieredstore\.levels\[0\]\.path: .*"\/srv\/cache" is a directory of the node, .*: use a claim or an emptyDir/,
        )
        assert.deepEqual(await testbed.list(DATASETS), [])
      },
    },
    {
      name: 'sluice.dev/runtime: builtin makes the runtime, with the quota that was asked for',
      async run(testbed) {
        const annotations = { 'sluice.dev/runtime': 'builtin', 'sluice.dev/cache-quota': '3Gi' }
        await testbed.create(aDataset(testbed, {}, { annotations }))
        await isBound(testbed)
        const { spec } = await there(testbed, CACHE_RUNTIMES, 'demo')
        assert.deepEqual([spec?.runtimeClassName, spec?.worker?.tieredStore?.levels], ['builtin', [{ emptyDir: { quota: '3Gi' } }]])
        const [node = ''] = await nodesUnder(testbed, 'demo-worker')
        assert.equal((await cacheLabels(testbed, node))['fluid.io/s-h-cache-d-default-demo'], '3GiB')
        await there(testbed, SECRETS, 'demo-cache-key')
      },
    },
    {
      name: 'sluice.dev/runtime: what cannot be is named with what to write',
      async run(testbed) {
        await testbed.create(aDataset(testbed, {}, { annotations: { 'sluice.dev/runtime': 'Not A Class' } }))
        await waitsBecause(
          testbed,
          /^annotation sluice\.dev\/runtime "Not A Class" cannot be the name of a CacheRuntimeClass: write builtin$/,
        )
        const annotations = { 'sluice.dev/runtime': 'builtin', 'sluice.dev/cache-quota': 'much' }
        await testbed.patch(DATASETS, 'demo', { metadata: { annotations } })
        await waitsBecause(
          testbed,
          /^annotation sluice\.dev\/cache-quota "much" is no size above 0 that can be counted: write for example 10Gi$/,
        )
        await testbed.patch(DATASETS, 'demo', { metadata: { annotations: { 'sluice.dev/cache-quota': '1Gi' } } })
        await isBound(testbed)
      },
    },
    {
      name: 'sluice.dev/runtime: a runtime that is deleted comes again as long as it is asked for',
      async run(testbed) {
        await testbed.create(aDataset(testbed, {}, { annotations: { 'sluice.dev/runtime': 'builtin' } }))
        await isBound(testbed)
        const before = await there(testbed, CACHE_RUNTIMES, 'demo')
        await testbed.delete(CACHE_RUNTIMES, 'demo')
        await testbed.until('another one', async () => {
          const now = await testbed.get(CACHE_RUNTIMES, 'demo')
          return now !== undefined && now.metadata.uid !== before.metadata.uid
        })
        await isBound(testbed)
        await testbed.patch(DATASETS, 'demo', { metadata: { annotations: { 'sluice.dev/runtime': null } } })
        await testbed.settle()
        await there(testbed, CACHE_RUNTIMES, 'demo')
      },
    },
    {
      name: 'the builtin cache on simulated nodes: Bound, Simulated, and no figures',
      async run(testbed) {
        await testbed.create(aDataset(testbed, {}, { annotations: { 'sluice.dev/runtime': 'builtin' } }))
        const { status } = await isBound(testbed)
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True', 'Simulated=True'])
        assert.match(await messageOf(testbed, 'Simulated'), /no byte is cached/)
        assert.deepEqual([status.ufsTotal, status.cacheStates?.cached], ['N/A', 'N/A'])
        const { worker } = (await there(testbed, CACHE_RUNTIMES, 'demo')).status ?? {}
        assert.deepEqual([worker?.phase, worker?.reason], ['Ready', 'Simulated'])
      },
    },
    {
      name: 'properties of an AlluxioRuntime that are options of sources reach the cache, those of the dataset win',
      async run(testbed) {
        answering(testbed.member)
        const sharedOptions = { 'aws.region': 'eu-2' }
        await testbed.create(aDataset(testbed, { ...TOLERATING, sharedOptions }))
        const properties = {
          'alluxio.underfs.s3.endpoint': 'https://s3.example.com',
          'aws.region': 'eu-1',
          'alluxio.user.file.readtype': 'CACHE',
        }
        await testbed.create(aRuntimeOf('AlluxioRuntime', { properties }))
        await isBound(testbed)
        assert.deepEqual((await runtimeConfigOf(testbed)).mounts[0]?.options, {
          'alluxio.underfs.s3.endpoint': 'https://s3.example.com',
          'aws.region': 'eu-2',
        })
      },
    },
  ],
}
