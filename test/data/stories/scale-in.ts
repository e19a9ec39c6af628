/** Fewer workers, where clients may run anywhere: those that hold the least leave, one after another, and nothing else changes. */
import assert from 'node:assert/strict'
import { conditionsOf } from '../../../src/faultsim/expect/index.ts'
import { ALLUXIO_RUNTIMES, CACHE_RUNTIMES, DATASETS, JINDO_RUNTIMES, JUICEFS_RUNTIMES } from '../../../src/kinds/fluid/resources.ts'
import { PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import {
  areRecorded,
  cacheLabels,
  contentsOf,
  datasetOf,
  eventsOf,
  isBound,
  isEmptied,
  phaseOf,
  runtimeOf,
  there,
} from '../expectations.ts'
import { aDataset, aRuntimeOf, RUNS } from '../manifests.ts'
import { aCache, areReady, BYTES, chosenIn, LED, nodeOf, PLAIN, readingOn, scaleTo, workersOf } from '../scaling.ts'
import { isRunning } from '../sharing.ts'
import type { DataArea, DataStory, DataTestbed } from '../story.ts'
import { noteWritesOf } from '../written.ts'

const scaledIn = async (testbed: DataTestbed): Promise<(string | undefined)[]> => {
  const said = conditionsOf(await runtimeOf(testbed)).get('WorkersScaledIn')
  return [said?.status, said?.reason, said?.message]
}

const annotate = (testbed: DataTestbed, annotations: Record<string, string>): Promise<unknown> =>
  testbed.patch(CACHE_RUNTIMES, 'demo', { metadata: { annotations } })

const HANDING_OVER = { lastsMs: 600_000 }

interface Translated {
  resource: Resource
  worker: string
}

const TRANSLATED: readonly Translated[] = [
  { resource: ALLUXIO_RUNTIMES, worker: 'demo-worker' },
  { resource: JUICEFS_RUNTIMES, worker: 'demo-worker' },
  { resource: JINDO_RUNTIMES, worker: 'demo-jindofs-worker' },
]

const translated = ({ resource, worker }: Translated): DataStory => ({
  name: `${resource.kind} that builtin serves: spec.replicas alone is lowered, and the worker that holds the least hands over`,
  async run(testbed) {
    const cache = aCache(testbed.member, { [`${worker}-0`]: 5, [`${worker}-1`]: 50 })
    await testbed.create(aDataset(testbed, { tolerations: [...RUNS.tolerations] }))
    await testbed.create(aRuntimeOf(resource.kind, { replicas: 2 }))
    await isBound(testbed)
    const statusOf = async () => (await there(testbed, resource as Resource<KubeObject>, 'demo')).status as Record<string, unknown>
    await testbed.until('two workers', async () => (await statusOf()).workerNumberReady === 2)
    await testbed.patch(resource, 'demo', { spec: { replicas: 1 } })
    await testbed.until('one worker', async () => (await workersOf(testbed, worker)).length === 1)
    await testbed.settle()
    assert.deepEqual([cache.ran, await workersOf(testbed, worker)], [[`leave ${worker}-0`], [`${worker}-1`]])
    const { desiredWorkerNumberScheduled, currentWorkerNumberScheduled, workerNumberReady, workerPhase } = await statusOf()
    assert.deepEqual([desiredWorkerNumberScheduled, currentWorkerNumberScheduled, workerNumberReady, workerPhase], [1, 1, 1, 'Ready'])
    await areRecorded(testbed, 'Succeed', ['Runtime scaled in'])
    assert.deepEqual(cache.bytes, new Map([[`${worker}-1`, 55]]))
  },
})

export const scaleIn: DataArea = {
  name: 'scale-in',
  stories: [
    {
      name: 'where a cache does not say what each worker holds, the highest ordinals leave, it says so, and their nodes are free',
      isSample: true,
      begin: PLAIN,
      async run(testbed) {
        const nodes = await Promise.all(['demo-worker-0', 'demo-worker-1', 'demo-worker-2'].map((worker) => nodeOf(testbed, worker)))
        const [stays = '', ...leave] = nodes
        await scaleTo(testbed, 1)
        await areReady(testbed, 1)
        await testbed.until('nodes free', async () =>
          (await Promise.all(leave.map((node) => cacheLabels(testbed, node)))).every((labels) => Object.keys(labels).length === 0),
        )
        assert.deepEqual([await workersOf(testbed), await chosenIn(testbed)], [['demo-worker-0'], [1, []]])
        assert.equal((await cacheLabels(testbed, stays))[`fluid.io/s-${testbed.namespace}-demo`], 'true')
        const why =
          'the cache does not say what each worker holds, so it is the one with the highest ordinal of those that may leave and have the fewest readers'
        await areRecorded(testbed, 'WorkerLeaves', [
          `Worker demo-worker-2 on node ${nodes[2]} leaves: ${why}`,
          `Worker demo-worker-1 on node ${nodes[1]} leaves: ${why}`,
        ])
        assert.equal(await phaseOf(testbed), 'Bound')
      },
    },
    {
      name: 'who holds the least leaves first, and who is next is asked when it has handed over and is gone',
      begin: LED,
      async run(testbed) {
        // What the first hands over makes another one the next.
        const cache = aCache(testbed.member, BYTES)
        await scaleTo(testbed, 1)
        await areReady(testbed, 1)
        assert.deepEqual(cache.ran, ['leave demo-worker-1', 'leave demo-worker-0'])
        assert.deepEqual([...cache.bytes], [['demo-worker-2', 52]])
        assert.deepEqual(await chosenIn(testbed), [1, ['0-1']])
        assert.deepEqual(
          (await eventsOf(testbed, 'WorkerLeaves')).map((text) => /: (.*)/.exec(text)?.[1]),
          [10, 22].map((moved) => `it was led out; ${moved} bytes were handed over, 0 found no room, 0 were left`),
        )
      },
    },
    {
      name: 'numbers go down one by one and never below what is asked; conditions, events and the capacity are right at its end',
      begin: LED,
      async run(testbed) {
        aCache(testbed.member, BYTES)
        const written = noteWritesOf(testbed.member.store, CACHE_RUNTIMES)
        const sets = noteWritesOf(testbed.member.store, PODS)
        await scaleTo(testbed, 1)
        await areReady(testbed, 1)
        await testbed.settle()
        const numbers = written().map(({ status }) => status?.worker?.desiredReplicas)
        assert.deepEqual([...new Set(numbers)], [3, 2, 1])
        assert.ok(
          sets().every(({ status }) => status?.phase === 'Running'),
          'no pod is started for it',
        )
        assert.deepEqual(await scaledIn(testbed), ['True', 'Workers scaled in', 'Workers scaled in from 2 replicas to 1 replicas.'])
        await areRecorded(testbed, 'Succeed', ['Runtime scaled in', 'Runtime scaled in'])
        const { cacheStates, phase } = (await datasetOf(testbed)).status
        assert.deepEqual([cacheStates?.cacheCapacity, cacheStates?.cached, phase], ['100B', '52B', 'Bound'])
      },
    },
    {
      name: 'handing over has its time, which the runtime says; what did not move is reported',
      begin: LED,
      async run(testbed) {
        const cache = aCache(testbed.member, BYTES)
        cache.leave = { stdout: '{"state":"leaving","moved":3,"dropped":2,"left":5}\n', ...HANDING_OVER }
        await annotate(testbed, { 'sluice.dev/handover-seconds': '30' })
        const node = await nodeOf(testbed, 'demo-worker-1')
        await scaleTo(testbed, 2)
        await testbed.pass(25)
        assert.equal((await workersOf(testbed)).length, 3)
        await areReady(testbed, 2)
        await areRecorded(testbed, 'WorkerLeaves', [
          `Worker demo-worker-1 on node ${node} leaves: it was led out; 3 bytes were handed over, 2 found no room, 5 were left (its time was over)`,
        ])
      },
    },
    {
      name: 'a number that is changed meanwhile counts at once: who was leaving stays, and serves again',
      begin: LED,
      async run(testbed) {
        const cache = aCache(testbed.member, BYTES)
        cache.leave = HANDING_OVER
        await scaleTo(testbed, 1)
        await testbed.pass(5)
        await scaleTo(testbed, 3)
        await testbed.settle()
        assert.deepEqual(cache.ran, ['leave demo-worker-1', 'stay demo-worker-1'])
        assert.deepEqual([(await workersOf(testbed)).length, await chosenIn(testbed)], [3, [3, []]])
        assert.deepEqual(await eventsOf(testbed, 'WorkerLeaves'), [])
        cache.leave = { lastsMs: 20_000 }
        await scaleTo(testbed, 2)
        await testbed.pass(5)
        delete cache.leave
        await scaleTo(testbed, 0)
        await testbed.until('none', async () => (await workersOf(testbed)).length === 0)
        assert.equal(await phaseOf(testbed), 'Bound')
      },
    },
    {
      name: 'readers are served on by others: the worker on their node leaves all the same',
      begin: LED,
      async run(testbed) {
        aCache(testbed.member, BYTES)
        const { metadata } = await readingOn(testbed, await nodeOf(testbed, 'demo-worker-1'))
        await scaleTo(testbed, 2)
        await areReady(testbed, 2)
        assert.deepEqual(await workersOf(testbed), ['demo-worker-0', 'demo-worker-2'])
        assert.equal((await isRunning(testbed)).metadata.uid, metadata.uid)
        assert.deepEqual(await eventsOf(testbed, 'RuntimeScaleInFailed'), [])
      },
    },
    {
      name: 'the scale subresource says how many there are and finds them, before and after',
      begin: PLAIN,
      async run(testbed) {
        const scaled = (await scaleTo(testbed, 2)) as KubeObject & { spec?: object; status?: { replicas?: number; selector?: string } }
        assert.deepEqual([scaled.kind, scaled.spec, scaled.status?.replicas], ['Scale', { replicas: 2 }, 3])
        await areReady(testbed, 2)
        const found = await testbed.list(PODS, { labelSelector: scaled.status?.selector ?? 'none' })
        assert.deepEqual(found.map(({ metadata }) => metadata.name).sort(), ['demo-worker-0', 'demo-worker-1'])
        assert.equal((await runtimeOf(testbed)).spec?.worker?.replicas, 2)
      },
    },
    ...TRANSLATED.map(translated),
    {
      name: 'all workers leave: the dataset stays bound, its readers run on, and the next worker serves them',
      begin: LED,
      async run(testbed) {
        const cache = aCache(testbed.member, BYTES)
        await readingOn(testbed, testbed.nodes[0])
        await scaleTo(testbed, 0)
        await testbed.until('none', async () => (await workersOf(testbed)).length === 0)
        await testbed.settle()
        assert.deepEqual(cache.ran, ['leave demo-worker-1', 'leave demo-worker-0'], 'the last has nobody to hand over to')
        for (const node of testbed.nodes) assert.deepEqual(await cacheLabels(testbed, node), {})
        await isRunning(testbed)
        await scaleTo(testbed, 1)
        await areReady(testbed, 1)
        assert.deepEqual(await chosenIn(testbed), [1, []])
        await isBound(testbed)
      },
    },
    {
      name: 'a dataset that is deleted while a worker hands over leaves nothing',
      begin: LED,
      async run(testbed) {
        aCache(testbed.member, BYTES).leave = HANDING_OVER
        await scaleTo(testbed, 1)
        await testbed.pass(5)
        await testbed.delete(DATASETS, 'demo')
        await isEmptied(
          testbed,
          (await contentsOf(testbed)).filter((one) => ['ConfigMap kube-root-ca.crt', 'Service kubernetes'].includes(one)),
        )
      },
    },
    {
      name: 'a cache that does not answer keeps nobody for ever: the highest ordinal leaves, and the event says why',
      begin: LED,
      async run(testbed) {
        aCache(testbed.member, BYTES).report = { exitCode: 1, stderr: 'out of memory' }
        await annotate(testbed, { 'sluice.dev/handover-seconds': '0' })
        await scaleTo(testbed, 2)
        await areReady(testbed, 2)
        assert.deepEqual(await workersOf(testbed), ['demo-worker-0', 'demo-worker-1'])
        assert.match((await eventsOf(testbed, 'WorkerLeaves')).join(), /the cache does not say what each worker holds/)
      },
    },
    {
      name: 'workers that never found a node leave first, and nobody is asked about them',
      begin: LED,
      async run(testbed) {
        const cache = aCache(testbed.member, BYTES)
        await scaleTo(testbed, 5)
        await testbed.until('five pods', async () => (await workersOf(testbed)).length === 5)
        await testbed.settle()
        await scaleTo(testbed, 3)
        await areReady(testbed, 3)
        assert.deepEqual([cache.ran, await workersOf(testbed)], [[], ['demo-worker-0', 'demo-worker-1', 'demo-worker-2']])
        assert.match(
          (await eventsOf(testbed, 'WorkerLeaves')).join(),
          /^Worker demo-worker-4 leaves: it has no node yet,Worker demo-worker-3/,
        )
      },
    },
    {
      name: 'a master that is replaced while a worker hands over: the same worker goes on, and nobody else leaves',
      begin: LED,
      async run(testbed) {
        const cache = aCache(testbed.member, BYTES)
        cache.leave = HANDING_OVER
        await scaleTo(testbed, 2)
        await testbed.pass(5)
        await testbed.delete(PODS, 'demo-master-0')
        testbed.member.crashControllers()
        delete cache.leave
        await areReady(testbed, 2)
        await testbed.settle()
        assert.deepEqual(new Set(cache.ran), new Set(['leave demo-worker-1']))
        assert.deepEqual(await workersOf(testbed), ['demo-worker-0', 'demo-worker-2'])
      },
    },
  ],
}
