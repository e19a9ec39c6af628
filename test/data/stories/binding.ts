/** A dataset and the runtime of its name find each other, whatever comes first, and nothing else does. */
import assert from 'node:assert/strict'
import { CACHE_RUNTIMES, DATASETS } from '../../../src/kinds/fluid/resources.ts'
import { NODES, PERSISTENT_VOLUME_CLAIMS } from '../../../src/kinds/kubernetes/resources.ts'
import { answering } from '../commands.ts'
import {
  areRecorded,
  cacheLabels,
  contentsOf,
  datasetOf,
  isBound,
  isEmptied,
  isGone,
  isServedAs,
  nodesUnder,
  runtimeOf,
  there,
  waitsBecause,
} from '../expectations.ts'
import { aClass, aDataset, aRuntime, aRuntimeOf, MOUNTS, RUNS, serve } from '../manifests.ts'
import type { DataArea, DataStory, DataTestbed } from '../story.ts'

const MAKERS = {
  class: aClass,
  dataset: (testbed: DataTestbed) => aDataset(testbed),
  runtime: (testbed: DataTestbed) => aRuntime(testbed),
} as const
type What = keyof typeof MAKERS

const ORDERS: readonly (readonly [What, What, What])[] = [
  ['class', 'dataset', 'runtime'],
  ['class', 'runtime', 'dataset'],
  ['dataset', 'class', 'runtime'],
  ['dataset', 'runtime', 'class'],
  ['runtime', 'class', 'dataset'],
  ['runtime', 'dataset', 'class'],
]

/** What is the same in whatever order things came. */
async function outcome(testbed: DataTestbed): Promise<unknown> {
  const { metadata, status } = await isBound(testbed)
  const runtime = await runtimeOf(testbed)
  const { setupDuration: _, conditions, ...rest } = runtime.status
  return {
    dataset: [
      metadata.finalizers,
      metadata.labels,
      { ...status, conditions: status.conditions.map(({ type, message }) => [type, message]) },
    ],
    runtime: [
      runtime.metadata.finalizers,
      runtime.metadata.labels,
      rest,
      conditions?.map(({ type, status: is, message }) => [type, is, message]),
    ],
    workers: (await nodesUnder(testbed, 'demo-worker')).length,
  }
}

async function isAsExpected(testbed: DataTestbed): Promise<void> {
  const { namespace } = testbed
  const { dataset, runtime, workers } = (await outcome(testbed)) as { dataset: unknown[]; runtime: unknown[]; workers: number }
  const id = { 'fluid.io/dataset-id': `${namespace}-demo` }
  const none = 'N/A'
  assert.deepEqual(dataset, [
    ['fluid-dataset-controller-finalizer'],
    id,
    {
      phase: 'Bound',
      mounts: MOUNTS,
      runtimes: [{ name: 'demo', namespace, category: 'Accelerate', type: 'cache', masterReplicas: 1 }],
      ufsTotal: none,
      fileNum: none,
      cacheStates: {
        ...{ cached: none, cachedPercentage: none, cacheCapacity: none, cacheHitRatio: none, localHitRatio: none, remoteHitRatio: none },
        ...{ cacheThroughputRatio: none, localThroughputRatio: none, remoteThroughputRatio: none },
      },
      conditions: [['Ready', 'The ddc runtime is ready.']],
    },
  ])
  const [finalizers, labels, status, conditions] = runtime
  assert.deepEqual([finalizers, labels, workers], [['cache-runtime-controller-finalizer'], id, 1])
  const one = { phase: 'Ready', desiredReplicas: 1, currentReplicas: 1, readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 0 }
  const nothing = {
    phase: 'NotReady',
    desiredReplicas: 0,
    currentReplicas: 0,
    readyReplicas: 0,
    availableReplicas: 0,
    unavailableReplicas: 0,
  }
  const { master, worker, client, valueFile, selector } = status as Record<string, unknown>
  assert.deepEqual({ master, worker, client }, { master: one, worker: one, client: nothing })
  assert.equal(valueFile, 'fluid-runtime-config-demo')
  assert.equal(selector, 'cacheruntime.fluid.io/component-name=demo-worker,cacheruntime.fluid.io/name=demo')
  assert.deepEqual(conditions, [
    ['Served', 'True', 'the engine cache serves it'],
    ['MasterInitialized', 'True', 'The master is initialized.'],
    ['MasterReady', 'True', 'The master is ready.'],
    ['WorkersInitialized', 'True', 'The workers are initialized.'],
    ['WorkersReady', 'True', 'The workers are ready.'],
    ['FusesInitialized', 'True', 'The fuse is initialized.'],
    ['FusesReady', 'True', 'The fuses are ready.'],
  ])
}

const inOrder = (order: readonly What[]): DataStory => ({
  name: `${order.join(', ')}: comes to the same`,
  // Of those on real servers, one in which each waits for the next.
  ...(order[2] === 'class' ? { isSample: true } : {}),
  async run(testbed: DataTestbed) {
    for (const what of order) {
      await testbed.create(MAKERS[what](testbed))
      await testbed.settle()
    }
    await isAsExpected(testbed)
  },
})

const REFUSED_NAME =
  /Invalid value: "9lives": cannot be the name of a Dataset, because services and labels are named after it: begin with a lower case letter/
const SECOND = /CacheRuntime "demo" exists in this namespace, and a dataset has one runtime: delete it first, or choose another name/

export const binding: DataArea = {
  name: 'binding',
  stories: [
    ...ORDERS.map(inOrder),
    {
      name: 'all at once: comes to the same',
      async run(testbed) {
        await testbed.restart(() => serve(testbed))
        await isAsExpected(testbed)
      },
    },
    {
      name: 'nodes last: comes to the same, and until then the dataset says that its worker has none',
      async run(testbed) {
        for (const node of testbed.nodes) await testbed.patch(NODES, node, { spec: { unschedulable: true } })
        await serve(testbed)
        await waitsBecause(testbed, /^worker demo-worker-0 finds no node: 0\/4 nodes are available: .*3 node\(s\) were unschedulable/)
        for (const node of testbed.nodes) await testbed.patch(NODES, node, { spec: { unschedulable: null } })
        await isAsExpected(testbed)
      },
    },
    {
      name: 'a runtime of another name is not its runtime: both say what is missing',
      isSample: true,
      async run(testbed) {
        await testbed.create(aClass(testbed))
        await testbed.create(aDataset(testbed))
        await testbed.create(aRuntime(testbed, {}, { name: 'other' }))
        await waitsBecause(
          testbed,
          new RegExp(`^no runtime is named demo: create one of that name in namespace ${testbed.namespace}, or annotate this dataset with`),
        )
        await isServedAs(testbed, CACHE_RUNTIMES, /^False NoDataset: there is no Dataset other in namespace .*: create it$/, 'other')
        await areRecorded(
          testbed,
          'ErrorProcessRuntime',
          [`there is no Dataset other in namespace ${testbed.namespace}, which this runtime would serve: create it`],
          'other',
        )
        await testbed.create(aRuntime(testbed))
        await isBound(testbed)
        assert.equal(await testbed.get(DATASETS, 'other'), undefined)
      },
    },
    {
      name: 'a runtime in another namespace is not its runtime',
      async run(testbed) {
        const elsewhere = testbed.unique('elsewhere')
        await testbed.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: elsewhere } })
        await testbed.create(aClass(testbed))
        await testbed.create(aDataset(testbed))
        const runtime = aRuntime(testbed)
        await testbed.create({ ...runtime, metadata: { ...runtime.metadata, namespace: elsewhere } })
        await waitsBecause(testbed, /^no runtime is named demo: /)
        const stranger = await testbed.get(CACHE_RUNTIMES, 'demo', { namespace: elsewhere })
        assert.equal(stranger?.metadata.ownerReferences, undefined, 'it belongs to nobody')
        await testbed.create(aRuntime(testbed))
        await isBound(testbed)
      },
    },
    {
      name: 'a second runtime of the name is refused, and taken when the first is gone',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        await assert.rejects(testbed.create(aRuntimeOf('AlluxioRuntime')), SECOND)
        await testbed.delete(CACHE_RUNTIMES, 'demo')
        await isGone(testbed, CACHE_RUNTIMES, 'demo')
        await waitsBecause(testbed, /^no runtime is named demo: /)
        answering(testbed.member)
        await testbed.create(aRuntimeOf('AlluxioRuntime'))
        await testbed.patch(DATASETS, 'demo', { spec: { tolerations: RUNS.tolerations } })
        const { status } = await isBound(testbed)
        assert.deepEqual(
          status.runtimes?.map(({ type }) => type),
          ['alluxio'],
        )
      },
    },
    {
      name: 'two runtimes of one name: the second is refused in words that say what to do',
      isSample: true,
      async run(testbed) {
        await testbed.create(aRuntime(testbed))
        // Where admission is a webhook it knows of the first one a moment later, as the controllers do.
        await isServedAs(testbed, CACHE_RUNTIMES, /^False NoDataset: /)
        await assert.rejects(testbed.create(aRuntimeOf('VineyardRuntime')), SECOND)
        await assert.rejects(testbed.create(aRuntimeOf('JindoRuntime')), SECOND)
        await assert.rejects(testbed.create(aDataset(testbed, {}, { name: '9lives' })), REFUSED_NAME)
        assert.deepEqual(await testbed.list(DATASETS), [])
      },
    },
    {
      name: 'a class that does not exist is named, and its arrival is enough',
      async run(testbed) {
        await testbed.create(aDataset(testbed))
        await testbed.create(aRuntime(testbed))
        await waitsBecause(testbed, /^failed to get CacheRuntimeClass sample-story: create it, or name one that kubectl get/)
        await isServedAs(testbed, CACHE_RUNTIMES, /^False NoSuchClass: /)
        await testbed.create(aClass(testbed))
        await isBound(testbed)
        await isServedAs(testbed, CACHE_RUNTIMES, /^True Served: /)
      },
    },
    {
      name: 'a runtime that goes alone leaves the dataset as if it had never been bound; a new one binds it again',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        await testbed.delete(CACHE_RUNTIMES, 'demo')
        await isGone(testbed, CACHE_RUNTIMES, 'demo')
        await waitsBecause(testbed, /^no runtime is named demo: /)
        await isGone(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')
        await testbed.settle()
        const { status } = await datasetOf(testbed)
        const { conditions, ...rest } = status
        assert.deepEqual(rest, { phase: 'NotBound', mounts: MOUNTS, ufsTotal: '', fileNum: '', cacheStates: {}, runtimes: [] })
        assert.deepEqual(
          conditions.map(({ type }) => type),
          ['NotReady'],
        )
        await testbed.create(aRuntime(testbed))
        await isAsExpected(testbed)
      },
    },
    {
      name: 'a name that is too long for the keys of labels: the UID stands for it',
      async run(testbed) {
        const name = `d${'x'.repeat(44)}`
        await testbed.create(aClass(testbed))
        const before = await contentsOf(testbed)
        await testbed.create(aDataset(testbed, {}, { name }))
        await testbed.create(aRuntime(testbed, {}, { name }))
        const { metadata } = await isBound(testbed, name)
        assert.equal(metadata.labels?.['fluid.io/dataset-id'], `${testbed.namespace}-${name}`)
        const [node = ''] = await nodesUnder(testbed, `${name}-worker`)
        assert.equal((await cacheLabels(testbed, node))[`fluid.io/s-${metadata.uid}`], 'true')
        assert.equal((await there(testbed, PERSISTENT_VOLUME_CLAIMS, name)).metadata.labels?.[`fluid.io/s-${metadata.uid}`], 'true')
        await testbed.delete(DATASETS, name)
        await isEmptied(testbed, before)
      },
    },
    {
      name: 'a name that is too long for its pods: the runtime is refused with the length that works',
      async run(testbed) {
        const name = `d${'x'.repeat(60)}`
        await testbed.create(aClass(testbed))
        await testbed.create(aDataset(testbed, {}, { name }))
        await assert.rejects(
          testbed.create(aRuntime(testbed, {}, { name })),
          /labels of its pods are made of it: use at most 45 characters/,
        )
      },
    },
    {
      name: 'pods that no server takes: the dataset repeats what the server says, and goes without a trace',
      async run(testbed) {
        await testbed.create(aClass(testbed))
        const before = await contentsOf(testbed)
        await testbed.create(aDataset(testbed))
        await testbed.create(aRuntime(testbed, { podMetadata: { labels: { team: 'two words' } } }))
        await waitsBecause(testbed, /^the server does not accept an object of this runtime: .*two words/)
        await isServedAs(testbed, CACHE_RUNTIMES, /^False NotAccepted: /)
        await testbed.delete(DATASETS, 'demo')
        await isEmptied(testbed, before)
        // It was tried again meanwhile, and the log says so.
        const { complaints } = testbed.member
        assert.ok(complaints.splice(0).every((complaint) => complaint.includes('two words')))
      },
    },
    {
      name: 'a restart in the middle comes to the same',
      async run(testbed) {
        await testbed.create(aClass(testbed))
        await testbed.create(aDataset(testbed))
        await testbed.restart(async () => void (await testbed.create(aRuntime(testbed))))
        testbed.member.crashControllers()
        await isAsExpected(testbed)
      },
    },
  ],
}
