/** More workers: nobody who is there moves, and it is said once. */
import assert from 'node:assert/strict'
import { conditionsOf } from '../../../src/faultsim/expect/index.ts'
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIMES } from '../../../src/kinds/fluid/resources.ts'
import { PODS } from '../../../src/kinds/kubernetes/resources.ts'
import {
  areRecorded,
  cacheLabels,
  conditionTexts,
  isBound,
  nodesUnder,
  phaseOf,
  podsOf,
  runtimeOf,
  there,
  uidsOf,
} from '../expectations.ts'
import { another, serve } from '../manifests.ts'
import type { DataArea, DataTestbed } from '../story.ts'
import { noteWritesOf } from '../written.ts'

const scaleTo = (testbed: DataTestbed, replicas: number): Promise<unknown> =>
  testbed.patch(CACHE_RUNTIMES, 'demo', { spec: { worker: { replicas } } })

const areReady = (testbed: DataTestbed, count: number): Promise<void> =>
  testbed.until(`${count} workers ready`, async () => (await runtimeOf(testbed)).status.worker?.readyReplicas === count)

export const scaling: DataArea = {
  name: 'scale-out',
  stories: [
    {
      name: 'from one worker to three: the first stays what it is, and it is said once',
      isSample: true,
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        const before = await uidsOf(testbed, 'demo-worker')
        await scaleTo(testbed, 3)
        await areReady(testbed, 3)
        await testbed.settle()
        const after = await uidsOf(testbed, 'demo-worker')
        assert.deepEqual(Object.keys(after), ['demo-worker-0', 'demo-worker-1', 'demo-worker-2'])
        assert.equal(after['demo-worker-0'], before['demo-worker-0'])
        assert.deepEqual((await nodesUnder(testbed, 'demo-worker')).sort(), testbed.nodes)
        const said = conditionsOf(await runtimeOf(testbed)).get('WorkersScaledOut')
        assert.deepEqual(
          [said?.status, said?.reason, said?.message],
          ['True', 'Workers scaled out', 'Workers scaled out from 1 replicas to 3 replicas.'],
        )
        await areRecorded(testbed, 'Succeed', ['Runtime scaled out'])
        assert.equal(await phaseOf(testbed), 'Bound')
        for (const node of testbed.nodes) assert.equal((await cacheLabels(testbed, node))['fluid.io/dataset-num'], '1')
      },
    },
    {
      name: 'ordinals that were left out are used again, in the same write, and nothing else moves',
      async run(testbed) {
        await serve(testbed, { runtime: { worker: { replicas: 2 } } })
        await isBound(testbed)
        await testbed.patch(ADVANCED_STATEFUL_SETS, 'demo-worker', { spec: { reserveOrdinals: [0] } })
        await testbed.until('ordinals 1 and 2', async () => {
          const pods = await podsOf(testbed, 'demo-worker')
          return pods.map(({ metadata }) => metadata.name).join() === 'demo-worker-1,demo-worker-2'
        })
        await testbed.settle()
        const before = await uidsOf(testbed, 'demo-worker')
        const written = noteWritesOf(testbed.member.store, ADVANCED_STATEFUL_SETS)
        await scaleTo(testbed, 3)
        await areReady(testbed, 3)
        await testbed.settle()
        const specs = written()
          .filter(({ metadata }) => metadata.name === 'demo-worker')
          .map(({ spec }) => [spec.replicas, spec.reserveOrdinals ?? []])
        assert.deepEqual([...new Set(specs.map((spec) => JSON.stringify(spec)))], ['[3,[]]'], 'no write shows the one without the other')
        const after = await uidsOf(testbed, 'demo-worker')
        assert.deepEqual(after, { ...before, 'demo-worker-0': after['demo-worker-0'] })
        assert.notEqual(after['demo-worker-0'], undefined)
      },
    },
    {
      name: 'reserved ordinals stay reserved while the number does not change',
      async run(testbed) {
        await serve(testbed, { runtime: { worker: { replicas: 2 } } })
        await isBound(testbed)
        await testbed.patch(ADVANCED_STATEFUL_SETS, 'demo-worker', { spec: { reserveOrdinals: [1] } })
        await testbed.settle()
        await testbed.restart()
        assert.deepEqual((await there(testbed, ADVANCED_STATEFUL_SETS, 'demo-worker')).spec.reserveOrdinals, [1])
        assert.deepEqual(Object.keys(await uidsOf(testbed, 'demo-worker')), ['demo-worker-0', 'demo-worker-2'])
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True'])
      },
    },
    {
      name: 'kubectl scale is understood, and finds the workers by the selector',
      async run(testbed) {
        await serve(testbed, { runtime: { worker: { replicas: 1 } } })
        await isBound(testbed)
        await testbed.patch(CACHE_RUNTIMES, 'demo', { spec: { replicas: 2 } }, { subresource: 'scale' })
        await areReady(testbed, 2)
        const { spec, status } = await runtimeOf(testbed)
        assert.equal(spec?.worker?.replicas, 2)
        assert.equal((await testbed.list(PODS, { labelSelector: status.selector })).length, 2)
      },
    },
    {
      name: 'more workers than nodes: those that are there serve, and the runtime says why there are not more',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        await scaleTo(testbed, 5)
        await testbed.settle()
        const { status } = await runtimeOf(testbed)
        const { phase, readyReplicas, desiredReplicas, reason } = status.worker ?? {}
        assert.deepEqual([phase, readyReplicas, desiredReplicas, reason], ['PartialReady', 3, 5, 'Unschedulable'])
        assert.equal(conditionsOf(await runtimeOf(testbed)).get('WorkersReady')?.message, 'The workers are partially ready.')
        assert.equal(await phaseOf(testbed), 'Bound')
        await scaleTo(testbed, 3)
        await testbed.settle()
        assert.equal((await runtimeOf(testbed)).status.worker?.phase, 'Ready')
      },
    },
    {
      name: 'a crash in the middle says it once and ends the same',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        await scaleTo(testbed, 3)
        testbed.member.crashControllers()
        await areReady(testbed, 3)
        await testbed.restart()
        await areRecorded(testbed, 'Succeed', ['Runtime scaled out'])
      },
    },
    {
      name: 'no workers at all, and then one: the dataset is bound before and after',
      async run(testbed) {
        await serve(testbed, { runtime: { worker: { replicas: 0 } } })
        await isBound(testbed)
        assert.deepEqual(await podsOf(testbed, 'demo-worker'), [])
        for (const node of testbed.nodes) assert.deepEqual(await cacheLabels(testbed, node), {})
        await scaleTo(testbed, 1)
        await areReady(testbed, 1)
        await isBound(testbed)
      },
    },
    {
      name: 'a pod that is marked for deletion comes back under its name, and chooses nobody',
      async run(testbed) {
        await serve(testbed, { runtime: { worker: { replicas: 2 } } })
        await isBound(testbed)
        const before = await uidsOf(testbed, 'demo-worker')
        await testbed.patch(PODS, 'demo-worker-0', { metadata: { labels: { 'workload.fluid.io/specified-delete': 'true' } } })
        await testbed.until('another pod', async () => {
          const now = await uidsOf(testbed, 'demo-worker')
          return now['demo-worker-0'] !== undefined && now['demo-worker-0'] !== before['demo-worker-0']
        })
        await areReady(testbed, 2)
        const after = await uidsOf(testbed, 'demo-worker')
        assert.deepEqual([Object.keys(after).length, after['demo-worker-1']], [2, before['demo-worker-1']])
      },
    },
    {
      name: 'workers of one dataset come and go without those of another',
      async run(testbed) {
        await serve(testbed, { dataset: { placement: 'Shared' } })
        await another(testbed, 'other', { dataset: { placement: 'Shared' }, runtime: { worker: { replicas: 2 } } })
        for (const name of ['demo', 'other']) await isBound(testbed, name)
        const before = await uidsOf(testbed, 'other-worker')
        await scaleTo(testbed, 3)
        await areReady(testbed, 3)
        await testbed.settle()
        assert.deepEqual(await uidsOf(testbed, 'other-worker'), before)
      },
    },
  ],
}
