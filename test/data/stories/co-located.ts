/** Fewer workers, where clients run beside workers only: nobody who reads loses the worker of their node. */
import assert from 'node:assert/strict'
import { ALLUXIO_RUNTIMES, CACHE_RUNTIMES, DATASETS } from '../../../src/kinds/fluid/resources.ts'
import { DAEMON_SETS, JOBS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../../src/kinds/kubernetes/resources.ts'
import { areRecorded, eventsOf, isBound, isGone, nodesUnder, runtimeOf, there } from '../expectations.ts'
import { aClass, aDataset, another, aReader, aRuntime, aRuntimeOf, RUNS } from '../manifests.ts'
import {
  aCache,
  areReady,
  BESIDE,
  BYTES,
  CO_LOCATED,
  chosenIn,
  HELD_END,
  heldIn,
  isHeld,
  LED_BESIDE,
  nodeOf,
  readingOn,
  scaleTo,
  workersOf,
} from '../scaling.ts'
import { end, guestsOf, isUnschedulable, volumeOf } from '../sharing.ts'
import type { DataArea, DataTestbed } from '../story.ts'

const termsOf = async (testbed: DataTestbed): Promise<unknown> => (await volumeOf(testbed)).spec?.nodeAffinity?.required?.nodeSelectorTerms

const besideWorkersOf = ({ namespace }: DataTestbed) => [
  {
    matchExpressions: [
      { key: `fluid.io/s-${namespace}-demo`, operator: 'In', values: ['true'] },
      { key: `sluice.dev/l-${namespace}-demo`, operator: 'DoesNotExist' },
    ],
  },
]

const on = (node: string) => ({ nodeSelector: { 'kubernetes.io/hostname': node } })

/** `demo-worker-1 on node n (pod reader)`. */
const beside = async (testbed: DataTestbed, worker: string, who: string): Promise<string> =>
  `${worker} on node ${await nodeOf(testbed, worker)} (${who})`

export const coLocated: DataArea = {
  name: 'scale-in beside readers',
  stories: [
    {
      name: 'volumes lead to nodes with workers alone, also those of references: no reader comes anywhere else',
      isSample: true,
      begin: BESIDE,
      async run(testbed) {
        const guests = guestsOf(testbed)
        for (const place of [testbed, guests]) assert.deepEqual(await termsOf(place), besideWorkersOf(testbed))
        const left = await nodeOf(testbed, 'demo-worker-2')
        await scaleTo(testbed, 2)
        await areReady(testbed, 2)
        for (const place of [testbed, guests]) {
          await place.create(aReader(place, { spec: on(left) }))
          assert.match(await isUnschedulable(place, 'reader'), /node/)
        }
        for (const place of [testbed, guests]) await readingOn(place, await nodeOf(testbed, 'demo-worker-0'), 'beside')
      },
    },
    {
      name: 'a reader of another namespace keeps the worker of its node: another one leaves, and its ordinal is used again later',
      isSample: true,
      begin: BESIDE,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await readingOn(guests, await nodeOf(testbed, 'demo-worker-2'))
        await scaleTo(testbed, 2)
        await areReady(testbed, 2)
        assert.deepEqual(
          [await workersOf(testbed), await chosenIn(testbed)],
          [
            ['demo-worker-0', 'demo-worker-2'],
            [2, [1]],
          ],
        )
        await scaleTo(testbed, 3)
        await areReady(testbed, 3)
        assert.deepEqual(await chosenIn(testbed), [3, []])
        assert.deepEqual(await workersOf(testbed), ['demo-worker-0', 'demo-worker-1', 'demo-worker-2'])
      },
    },
    {
      name: 'as many leave as may; who is held and by whom is an event and a condition, and it ends by itself when a reader does',
      isSample: true,
      begin: BESIDE,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await readingOn(testbed, await nodeOf(testbed, 'demo-worker-0'))
        await readingOn(guests, await nodeOf(testbed, 'demo-worker-1'))
        await scaleTo(testbed, 1)
        const [own, other] = [
          await beside(testbed, 'demo-worker-0', 'pod reader'),
          await beside(testbed, 'demo-worker-1', `1 pod of namespace ${guests.namespace}`),
        ]
        const why = `1 worker that is to leave stays, because pods read beside every worker: ${own}, ${other}. ${HELD_END}`
        await isHeld(testbed, why)
        await areReady(testbed, 2)
        await areRecorded(testbed, 'RuntimeScaleInFailed', [why])
        const { phase, desiredReplicas } = (await runtimeOf(testbed)).status.worker ?? {}
        assert.deepEqual([await workersOf(testbed), phase, desiredReplicas], [['demo-worker-0', 'demo-worker-1'], 'Ready', 2])
        await end(guests)
        await areReady(testbed, 1)
        await testbed.until('nothing is held', async () => (await heldIn(testbed)) === undefined)
        assert.deepEqual(await workersOf(testbed), ['demo-worker-0'])
        assert.equal((await eventsOf(testbed, 'RuntimeScaleInFailed')).length, 1)
      },
    },
    {
      name: 'a reader of another namespace that comes while its worker hands over wins: that one stays, and another leaves',
      begin: LED_BESIDE,
      async run(testbed) {
        const cache = aCache(testbed.member, BYTES)
        cache.leave = { lastsMs: 600_000 }
        await scaleTo(testbed, 2)
        await testbed.pass(5)
        assert.deepEqual(cache.ran, ['leave demo-worker-1'])
        delete cache.leave
        // No scheduler sends it there: its node was chosen before.
        const guests = guestsOf(testbed)
        await guests.create(aReader(guests, { spec: { nodeName: await nodeOf(testbed, 'demo-worker-1') } }))
        await areReady(testbed, 2)
        assert.deepEqual(cache.ran, ['leave demo-worker-1', 'stay demo-worker-1', 'leave demo-worker-0'])
        assert.deepEqual(await workersOf(testbed), ['demo-worker-1', 'demo-worker-2'])
      },
    },
    {
      name: 'an unused client goes with its worker, and comes back with the next reader of another node only',
      begin: LED_BESIDE,
      async run(testbed) {
        aCache(testbed.member, BYTES)
        const [leaves, stays] = [await nodeOf(testbed, 'demo-worker-1'), await nodeOf(testbed, 'demo-worker-2')]
        await readingOn(testbed, leaves)
        await readingOn(guestsOf(testbed), stays)
        await testbed.settle()
        assert.deepEqual((await nodesUnder(testbed, 'demo-client')).sort(), [leaves, stays].sort())
        await end(testbed)
        await testbed.settle()
        assert.equal((await nodesUnder(testbed, 'demo-client')).length, 2, 'its runtime keeps it')
        await scaleTo(testbed, 2)
        await areReady(testbed, 2)
        await testbed.settle()
        assert.deepEqual(await nodesUnder(testbed, 'demo-client'), [stays])
      },
    },
    {
      name: 'pods that have ended, that found no node, or read something else hold nobody; a Job’s pod does until it is done',
      begin: LED_BESIDE,
      async run(testbed) {
        aCache(testbed.member, BYTES)
        const node = await nodeOf(testbed, 'demo-worker-1')
        const spare = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [testbed.spareNode] }] }]
        await another(testbed, 'other', { dataset: { nodeAffinity: { required: { nodeSelectorTerms: spare } } } })
        await isBound(testbed, 'other')
        await testbed.create(aReader(testbed, { name: 'elsewhere', claims: ['other'], spec: on(node) }))
        await testbed.create(aReader(testbed, { name: 'nowhere', spec: { nodeSelector: { no: 'node' } } }))
        const { spec } = aReader(testbed, { spec: { ...on(node), restartPolicy: 'Never' } })
        await testbed.create({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'done' }, spec: { template: { spec } } })
        await testbed.until('the Job is done', async () => (await testbed.get(JOBS, 'done'))?.status?.succeeded === 1)
        await scaleTo(testbed, 2)
        await areReady(testbed, 2)
        assert.deepEqual(await workersOf(testbed), ['demo-worker-0', 'demo-worker-2'])
        await testbed.delete(DATASETS, 'other')
        await testbed.settle()
      },
    },
    {
      name: 'a number that is changed while workers are held: nothing is held any more, and nobody left',
      begin: LED_BESIDE,
      async run(testbed) {
        const cache = aCache(testbed.member, BYTES)
        for (const i of [0, 1, 2]) await readingOn(testbed, await nodeOf(testbed, `demo-worker-${i}`), `reader-${i}`)
        await scaleTo(testbed, 1)
        await testbed.until('held', async () => (await heldIn(testbed))?.startsWith('2 workers that are to leave stay') === true)
        await scaleTo(testbed, 2)
        await testbed.until('fewer are held', async () => (await heldIn(testbed))?.startsWith('1 worker that is to leave stays') === true)
        await scaleTo(testbed, 3)
        await testbed.until('none is held', async () => (await heldIn(testbed)) === undefined)
        await testbed.settle()
        assert.deepEqual([cache.ran, (await workersOf(testbed)).length], [[], 3])
        assert.equal((await eventsOf(testbed, 'RuntimeScaleInFailed')).length, 1, 'once for as long as it lasts')
      },
    },
    {
      name: 'spec.fuse.global of an AlluxioRuntime says the same as the annotation: a reader holds the worker of its node',
      async run(testbed) {
        aCache(testbed.member, { 'demo-worker-0': 5, 'demo-worker-1': 50 })
        await testbed.create(aDataset(testbed, { tolerations: [...RUNS.tolerations] }))
        await testbed.create(aRuntimeOf('AlluxioRuntime', { replicas: 2, fuse: { global: false } }))
        await isBound(testbed)
        await testbed.until('two workers', async () => (await workersOf(testbed)).length === 2)
        await testbed.settle()
        assert.deepEqual(await termsOf(testbed), besideWorkersOf(testbed))
        await readingOn(testbed, await nodeOf(testbed, 'demo-worker-0'))
        await testbed.patch(ALLUXIO_RUNTIMES, 'demo', { spec: { replicas: 1 } })
        await testbed.until('one worker', async () => (await workersOf(testbed)).length === 1)
        await testbed.settle()
        assert.deepEqual(await workersOf(testbed), ['demo-worker-0'])
        const { template } = (await there(testbed, DAEMON_SETS, 'demo-fuse')).spec ?? {}
        assert.equal(template?.spec?.nodeSelector?.[`fluid.io/s-${testbed.namespace}-demo`], 'true')
      },
    },
    {
      name: 'the volume that is there decides the mode: a runtime that says another one keeps to it until its volume is made anew',
      async run(testbed) {
        await testbed.create(aClass(testbed))
        await testbed.create(aDataset(testbed))
        await testbed.create(aRuntime(testbed, { worker: { replicas: 2 } }))
        await isBound(testbed)
        await areReady(testbed, 2)
        await testbed.patch(CACHE_RUNTIMES, 'demo', { metadata: { annotations: CO_LOCATED } })
        for (const i of [0, 1]) await readingOn(testbed, await nodeOf(testbed, `demo-worker-${i}`), `reader-${i}`)
        await scaleTo(testbed, 1)
        await areReady(testbed, 1)
        assert.deepEqual([await termsOf(testbed), await heldIn(testbed)], [undefined, undefined])
        for (const i of [0, 1]) await end(testbed, `reader-${i}`)
        await testbed.delete(PERSISTENT_VOLUME_CLAIMS, 'demo')
        await testbed.until(
          'another volume',
          async () => (await testbed.get(PERSISTENT_VOLUMES, `${testbed.namespace}-demo`))?.spec?.nodeAffinity !== undefined,
        )
        await isBound(testbed)
        const [worker = ''] = await workersOf(testbed)
        await readingOn(testbed, await nodeOf(testbed, worker))
        await scaleTo(testbed, 0)
        await testbed.until('held', async () => (await heldIn(testbed)) !== undefined)
        await testbed.delete(DATASETS, 'demo')
        await end(testbed)
        await isGone(testbed, DATASETS, 'demo')
      },
    },
  ],
}
