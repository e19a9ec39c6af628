import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectThere } from '../../faultsim/expect/index.ts'
import { story } from '../../faultsim/story.ts'
import { type Invariant, survives } from '../../faultsim/survives.ts'
import type { World, WorldCluster } from '../../faultsim/world/index.ts'
import { runtimeKinds } from '../../kinds/fluid/index.ts'
import { CACHE_RUNTIMES } from '../../kinds/fluid/resources.ts'
import { DAEMON_SETS, NODES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Resource } from '../../kube/resource.ts'
import { cacheRuntimeController } from '../runtime/cache/controller.ts'
import { readersNow } from '../runtime/readers.ts'
import { aDataset, aRuntime, bound, createClass, runtimeIn, saidOf, workersIn } from '../runtime/testing.ts'
import { datasetLabels, SIDECAR_LABELS } from '../sidecar/labels.ts'
import {
  aLeadingClass,
  answering,
  aReader,
  CACHE,
  CO_LOCATED,
  chosenIn,
  createReference,
  endReader,
  eventsOf,
  heldIn,
  member,
  modules,
  nodeOf,
  nodeTermsIn,
  ordinalsIn,
  ranIn,
  scaleTo,
  start,
} from './testing.ts'

/** What the schema demands. */
const NO_STATUS = Object.fromEntries([
  ...['valueFile', 'masterPhase', 'workerPhase', 'fusePhase'].map((field) => [field, '']),
  ...['desiredMasterNumberScheduled', 'currentMasterNumberScheduled', 'masterNumberReady', 'desiredWorkerNumberScheduled'].map((field) => [
    field,
    0,
  ]),
  ...['workerNumberReady', 'desiredFuseNumberScheduled', 'currentFuseNumberScheduled', 'fuseNumberReady'].map((field) => [field, 0]),
])

const scaled = (name: string, report: (world: World) => Promise<void>): void => story(name, report, member)

describe('workers that leave', () => {
  scaled('are those that hold the least, one after another, each after it has handed over', async (world) => {
    const cluster = await start(world)
    answering(cluster, { bytes: { 0: 5, 1: 30, 2: 20 } })
    await scaleTo(cluster, 1)
    await world.settle()
    assert.deepEqual(await ordinalsIn(cluster), [1])
    assert.deepEqual(await chosenIn(cluster), [1, [0]])
    assert.deepEqual(ranIn(cluster), ['leave demo-worker-0', 'leave demo-worker-2'])
    const events = await eventsOf(cluster, 'WorkerLeaves')
    assert.equal(events.length, 2)
    assert.match(
      events[0] ?? '',
      /^Worker demo-worker-0 on node \S+ leaves: it was led out; 8 bytes were handed over, 2 found no room, 0 were left$/,
    )
    assert.equal(
      saidOf(await runtimeIn(cluster), 'WorkersScaledIn'),
      'True Workers scaled in: Workers scaled in from 2 replicas to 1 replicas.',
    )
    assert.equal((await workersIn(cluster)).metadata.annotations?.['sluice.dev/leaving-worker'], undefined)
  })

  scaled('are reported on again after each of them, and only the last to leave needs no choice', async (world) => {
    const cluster = await start(world, { leading: 'reports' })
    answering(cluster, { bytes: { 0: 5, 1: 30, 2: 20 } })
    await scaleTo(cluster, 2)
    await world.settle()
    assert.deepEqual(await ordinalsIn(cluster), [1, 2])
    answering(cluster, { bytes: { 1: 30, 2: 40 } })
    await scaleTo(cluster, 1)
    await world.settle()
    assert.deepEqual(await ordinalsIn(cluster), [2])
    assert.match((await eventsOf(cluster, 'WorkerLeaves')).join(), /demo-worker-1 on node \S+ leaves: it holds the least: 30 bytes$/)
  })

  scaled('are the highest ordinals where the cache does not say what each holds, and it says so', async (world) => {
    const cluster = await start(world, { leading: 'plain' })
    await scaleTo(cluster, 1)
    await world.settle()
    assert.deepEqual(await ordinalsIn(cluster), [0])
    assert.match(
      (await eventsOf(cluster, 'WorkerLeaves')).join(),
      /the cache does not say what each worker holds, so it is the one with the highest ordinal/,
    )
    assert.deepEqual(ranIn(cluster), [])
  })

  scaled('are chosen by nobody else than the cache: a hostile report names other pods and no amounts', async (world) => {
    const cluster = await start(world, { leading: 'reports' })
    const workers = [
      { pod: 'demo-master-0', cachedBytes: 0 },
      { pod: 'demo-worker-0', cachedBytes: -1 },
      { pod: 'demo-worker-1', cachedBytes: '7' },
      { pod: 'demo-worker-2', node: 'elsewhere', cachedBytes: 0 },
      null,
      { pod: ['demo-worker-0'], cachedBytes: 0 },
    ]
    answering(cluster, { report: { stdout: JSON.stringify({ workers }) } })
    await scaleTo(cluster, 2)
    await world.settle()
    assert.deepEqual(await ordinalsIn(cluster), [0, 1])
  })

  scaled('go without handing over when they may not take any time for it, or are the last', async (world) => {
    const cluster = await start(world, { replicas: 2, annotations: { 'sluice.dev/handover-seconds': '0' } })
    answering(cluster, { bytes: { 0: 1, 1: 2 } })
    await scaleTo(cluster, 1)
    await world.settle()
    assert.deepEqual([await ordinalsIn(cluster), ranIn(cluster)], [[1], []])
    await cluster.patch(CACHE_RUNTIMES, 'default/demo', { metadata: { annotations: { 'sluice.dev/handover-seconds': '5' } } })
    await scaleTo(cluster, 0)
    await world.settle()
    assert.deepEqual([await ordinalsIn(cluster), ranIn(cluster)], [[], []])
  })

  scaled('go when their time is over, with what is known of it', async (world) => {
    const cluster = await start(world, { replicas: 2, annotations: { 'sluice.dev/handover-seconds': '30' } })
    answering(cluster, { bytes: { 0: 1, 1: 2 }, leave: { stdout: '{"moved":3,"dropped":0,"left":4}\n', lastsMs: 600_000 } })
    await scaleTo(cluster, 1)
    await world.advance(20_000)
    assert.deepEqual(await ordinalsIn(cluster), [0, 1])
    await world.advance(20_000)
    assert.deepEqual(await ordinalsIn(cluster), [1])
    assert.match(
      (await eventsOf(cluster, 'WorkerLeaves')).join(),
      /3 bytes were handed over, 0 found no room, 4 were left \(its time was over\)$/,
    )
  })

  scaled('stay when more are wanted again, and serve as before', async (world) => {
    const cluster = await start(world)
    answering(cluster, { bytes: { 0: 5, 1: 30, 2: 20 }, leave: { lastsMs: 600_000 } })
    await scaleTo(cluster, 2)
    await world.advance(5000)
    assert.match((await workersIn(cluster)).metadata.annotations?.['sluice.dev/leaving-worker'] ?? '', /^demo-worker-0 /)
    await scaleTo(cluster, 3)
    await world.settle()
    assert.deepEqual(ranIn(cluster), ['leave demo-worker-0', 'stay demo-worker-0'])
    assert.deepEqual(
      [await ordinalsIn(cluster), await chosenIn(cluster)],
      [
        [0, 1, 2],
        [3, []],
      ],
    )
    assert.equal((await workersIn(cluster)).metadata.annotations?.['sluice.dev/leaving-worker'], undefined)
  })

  scaled('are the same after a restart in the middle, whatever the cache reports by then', async (world) => {
    const cluster = await start(world)
    answering(cluster, { bytes: { 0: 5, 1: 30, 2: 20 }, leave: { lastsMs: 60_000 } })
    await scaleTo(cluster, 2)
    await world.advance(5000)
    cluster.crashControllers()
    answering(cluster, { bytes: { 0: 50, 1: 3, 2: 2 } })
    await world.settle()
    assert.deepEqual(await ordinalsIn(cluster), [1, 2])
  })
})

describe('workers beside readers', () => {
  scaled('never leave, the scale-in says who reads where, and goes on by itself', async (world) => {
    const cluster = await start(world, { replicas: 2, annotations: CO_LOCATED })
    answering(cluster, { bytes: { 0: 1, 1: 2 } })
    await createReference(cluster, 'other')
    const [first, second] = [await nodeOf(cluster, 'demo-worker-0'), await nodeOf(cluster, 'demo-worker-1')]
    await cluster.create(aReader('reader', first))
    await cluster.create(aReader('guest', second, { namespace: 'other', claim: 'shared' }))
    await world.settle()
    await scaleTo(cluster, 1)
    await world.settle()
    assert.deepEqual(await ordinalsIn(cluster), [0, 1])
    const held = `1 worker that is to leave stays, because pods read beside every worker: demo-worker-0 on node ${first} (pod reader), demo-worker-1 on node ${second} (1 pod of namespace other). It goes on by itself when the pods of a node have ended`
    assert.equal(await heldIn(cluster), `True ReadersBesideWorkers: ${held}`)
    assert.deepEqual(await eventsOf(cluster, 'RuntimeScaleInFailed'), [held])
    const { worker } = (await runtimeIn(cluster)).status as { worker: Record<string, unknown> }
    assert.deepEqual([worker.desiredReplicas, worker.currentReplicas, worker.phase], [2, 2, 'Ready'])
    await endReader(cluster, 'other/guest')
    await world.settle()
    assert.deepEqual([await ordinalsIn(cluster), await heldIn(cluster)], [[0], undefined])
    assert.equal((await eventsOf(cluster, 'RuntimeScaleInFailed')).length, 1)
  })

  scaled('are no longer held when more are wanted', async (world) => {
    const cluster = await start(world, { replicas: 1, annotations: CO_LOCATED })
    await cluster.create(aReader('reader', await nodeOf(cluster, 'demo-worker-0')))
    await scaleTo(cluster, 0)
    await world.settle()
    assert.match((await heldIn(cluster)) ?? '', /^True/)
    await scaleTo(cluster, 1)
    await world.settle()
    assert.equal(await heldIn(cluster), undefined)
  })

  scaled('are taken back when a reader comes while they hand over, and another one leaves', async (world) => {
    const cluster = await start(world, { replicas: 2, annotations: CO_LOCATED })
    answering(cluster, { bytes: { 0: 1, 1: 2 }, leave: { lastsMs: 60_000 } })
    await scaleTo(cluster, 1)
    await world.advance(5000)
    await cluster.create(aReader('reader', await nodeOf(cluster, 'demo-worker-0')))
    await world.advance(5000)
    answering(cluster, { bytes: { 0: 1, 1: 2 } })
    await world.advance(120_000)
    assert.deepEqual(ranIn(cluster), ['leave demo-worker-0', 'stay demo-worker-0', 'leave demo-worker-1'])
    assert.deepEqual(await ordinalsIn(cluster), [0])
  })

  scaled('take their unused client with them, and readers come only where workers are', async (world) => {
    const cluster = await start(world, { replicas: 2, annotations: CO_LOCATED })
    const labels = { 'fluid.io/f-default-demo': 'true', 'fluid.io/s-default-demo': 'true' }
    const { spec } = await expectThere(cluster, DAEMON_SETS, 'default/demo-client')
    assert.deepEqual((spec as { template: { spec: { nodeSelector: object } } }).template.spec.nodeSelector, labels)
    const expression = { key: 'fluid.io/s-default-demo', operator: 'In', values: ['true'] }
    const unmarked = { key: 'sluice.dev/l-default-demo', operator: 'DoesNotExist' }
    assert.deepEqual(await nodeTermsIn(cluster), [{ matchExpressions: [expression, unmarked] }])
    const node = await nodeOf(cluster, 'demo-worker-1')
    await cluster.create(aReader('reader', node))
    await world.settle()
    const clientsOn = async (): Promise<number> =>
      (await cluster.list(PODS)).filter(
        ({ metadata, spec }) => /^demo-client-/.test(metadata.name ?? '') && (spec as { nodeName?: string }).nodeName === node,
      ).length
    assert.equal(await clientsOn(), 1)
    await endReader(cluster, 'default/reader')
    await world.settle()
    await scaleTo(cluster, 1)
    await world.settle()
    assert.deepEqual([await ordinalsIn(cluster), await clientsOn()], [[0], 0])
  })

  scaled('leave in the global mode all the same; a reader only decides between equals', async (world) => {
    const cluster = await start(world, { replicas: 2, leading: 'reports' })
    answering(cluster, { bytes: { 0: 7, 1: 7 } })
    await cluster.create(aReader('reader', await nodeOf(cluster, 'demo-worker-1')))
    await scaleTo(cluster, 1)
    await world.settle()
    assert.deepEqual(await ordinalsIn(cluster), [1])
    await scaleTo(cluster, 0)
    await world.settle()
    assert.deepEqual([await ordinalsIn(cluster), await heldIn(cluster)], [[], undefined])
  })

  scaled('are looked at on the server before they leave: a reader that no cache shows is seen', async (world) => {
    const cluster = await start(world, { replicas: 1, annotations: CO_LOCATED })
    const node = await nodeOf(cluster, 'demo-worker-0')
    await cluster.create(aReader('reader', node))
    await world.settle()
    const seen = await cluster.inside(() => readersNow(cluster.client, node, { namespace: 'default', name: 'demo' }))
    assert.deepEqual(seen, [{ namespace: 'default', pod: 'reader', node }])
    assert.deepEqual(await cluster.inside(() => readersNow(cluster.client, node, { namespace: 'default', name: 'other' })), [])
  })

  scaled('stay when a reader came that no cache has seen: the server is asked right before they go', async (world) => {
    const cluster = await start(world, { replicas: 2, annotations: CO_LOCATED, leading: 'reports' })
    answering(cluster, { bytes: { 0: 1, 1: 2 } })
    cluster.interference = { onDelivery: ({ path, name }) => (path.endsWith('/pods') && name === 'reader' ? 'hide' : undefined) }
    await cluster.create(aReader('reader', await nodeOf(cluster, 'demo-worker-0')))
    await scaleTo(cluster, 1)
    await world.advance(3000)
    cluster.interference = undefined
    await world.settle()
    cluster.complaints.length = 0
    assert.deepEqual(await ordinalsIn(cluster), [0], 'the one that holds the least would have gone, and stays')
  })

  scaled('get no new reader from the moment they are chosen, until they are gone', async (world) => {
    const cluster = await start(world, { replicas: 2, annotations: CO_LOCATED })
    answering(cluster, { bytes: { 0: 1, 1: 2 }, leave: { lastsMs: 60_000 } })
    const [leaving, staying] = [await nodeOf(cluster, 'demo-worker-0'), await nodeOf(cluster, 'demo-worker-1')]
    const markOf = async (node: string): Promise<string | undefined> =>
      (await expectThere(cluster, NODES, node)).metadata.labels?.['sluice.dev/l-default-demo']
    await scaleTo(cluster, 1)
    await world.advance(5000)
    assert.deepEqual([await markOf(leaving), await markOf(staying)], ['true', undefined])
    assert.deepEqual(ranIn(cluster), ['leave demo-worker-0'], 'it is led out after its node is kept free')
    for (const i of [1, 2, 3]) await cluster.create(aReader(`reader-${i}`, undefined))
    await world.advance(5000)
    for (const i of [1, 2, 3]) assert.equal(await nodeOf(cluster, `reader-${i}`), staying)
    await world.advance(120_000)
    assert.deepEqual(await ordinalsIn(cluster), [1])
    assert.equal(await markOf(leaving), undefined)
  })

  scaled('that stay after all wait for their master, and the runtime says so', async (world) => {
    const cluster = await start(world, { replicas: 2, annotations: CO_LOCATED })
    answering(cluster, { bytes: { 0: 1, 1: 2 }, leave: { lastsMs: 600_000 } })
    await scaleTo(cluster, 1)
    await world.advance(5000)
    // The master ends, and something keeps the next one from coming.
    await cluster.patch(PODS, 'default/demo-master-0', { metadata: { finalizers: ['example.com/slow'] } })
    await cluster.delete(PODS, 'default/demo-master-0', { gracePeriodSeconds: 0 })
    await cluster.create(aReader('reader', await nodeOf(cluster, 'demo-worker-0')))
    await world.advance(30_000)
    assert.match((await heldIn(cluster)) ?? '', /worker demo-worker-0 stays after all, and serves again as soon as the master runs/)
    const { conditions = [] } = (await runtimeIn(cluster)).status as { conditions?: { type: string; reason?: string }[] }
    assert.equal(conditions.find(({ type }) => type === 'ScaleInHeld')?.reason, 'AwaitsMaster')
    assert.deepEqual(await eventsOf(cluster, 'RuntimeScaleInFailed'), [], 'no reader is in the way')
    assert.deepEqual(await ordinalsIn(cluster), [0, 1])
    await cluster.patch(PODS, 'default/demo-master-0', { metadata: { finalizers: null } })
    answering(cluster, { bytes: { 0: 1, 1: 2 } })
    await world.advance(120_000)
    assert.deepEqual(await ordinalsIn(cluster), [0], 'the other one leaves')
    assert.equal(await heldIn(cluster), undefined)
  })

  scaled('are not held by pods with a sidecar: these read from all workers, and go on with those that stay', async (world) => {
    const cluster = await start(world, { replicas: 1, annotations: CO_LOCATED })
    const { metadata, spec } = aReader('reader', await nodeOf(cluster, 'demo-worker-0'))
    const sidecar = datasetLabels('fluid-fuse-0', { namespace: 'default', name: 'demo' })
    const labels = { [SIDECAR_LABELS.done]: 'true', ...sidecar }
    await cluster.create({ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, labels }, spec: { ...(spec as object), volumes: [] } })
    await scaleTo(cluster, 0)
    await world.settle()
    assert.deepEqual([await ordinalsIn(cluster), await heldIn(cluster)], [[], undefined])
  })

  scaled('are not held by a claim that only names the volume of the dataset', async (world) => {
    const cluster = await start(world, { replicas: 1, annotations: CO_LOCATED })
    await cluster.create({
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace: 'default', name: 'other' } },
      spec: {
        accessModes: ['ReadOnlyMany'],
        storageClassName: 'fluid',
        resources: { requests: { storage: '1Gi' } },
        volumeName: 'default-demo',
      },
    })
    await cluster.create(aReader('pretender', await nodeOf(cluster, 'demo-worker-0'), { claim: 'other' }))
    await scaleTo(cluster, 0)
    await world.settle()
    assert.deepEqual(await ordinalsIn(cluster), [])
  })
})

describe('the number of workers', () => {
  scaled('is read and written as autoscalers do, for every kind that has workers', async ({ member: cluster }) => {
    for (const { kind, resource } of runtimeKinds.filter(({ kind: of }) => of !== 'ThinRuntime')) {
      const object = aRuntime(kind === 'CacheRuntime' ? { worker: { replicas: 2 } } : { replicas: 2 }, kind)
      await cluster.create({ ...object, metadata: { ...object.metadata, name: kind.toLowerCase() } })
      const key = `default/${kind.toLowerCase()}`
      const status =
        kind === 'CacheRuntime'
          ? { worker: { phase: 'Ready', currentReplicas: 3 }, selector: 'a=b' }
          : { ...NO_STATUS, currentWorkerNumberScheduled: 3, selector: 'a=b' }
      await cluster.patch(resource as Resource, key, { status }, 'status')
      const patched = await cluster.patch(resource as Resource, key, { spec: { replicas: 5 } }, 'scale')
      const { spec, status: read } = patched as unknown as { spec: object; status: { replicas: number; selector?: string } }
      assert.deepEqual([spec, read.replicas], [{ replicas: 5 }, 3], kind)
      // Nothing serves an EFCRuntime, whose definition is as Fluid has it.
      assert.equal(read.selector, kind === 'EFCRuntime' ? undefined : 'a=b', kind)
      await cluster.delete(resource as Resource, key)
    }
  })
})

describe('a scale-in that is disturbed', () => {
  const neverTooFew: Invariant = {
    says: 'there are never fewer workers than are asked for, and one leaves at a time',
    about: ['advancedstatefulsets.workload.fluid.io'],
    broken(view, { object, previous, isDeletion }) {
      if (isDeletion || previous === undefined || object.metadata.name !== 'demo-worker') return undefined
      const [runtime] = view.list('cacheruntimes.data.fluid.io')
      const asked = (runtime?.spec as { worker?: { replicas?: number } } | undefined)?.worker?.replicas ?? 0
      const [before, after] = [previous, object].map(({ spec }) => (spec as { replicas: number }).replicas)
      if (before === undefined || after === undefined || after >= before) return undefined
      return after < asked ? `${after} instead of ${asked}` : before - after > 1 ? `from ${before} to ${after}` : undefined
    },
  }
  survives(cacheRuntimeController(CACHE), {
    modules,
    nodes: 4,
    before: [(cluster: WorldCluster) => createClass(cluster, aLeadingClass())],
    steps: [
      async (cluster) => answering(cluster, { bytes: { 0: 5, 1: 30, 2: 20 } }),
      (cluster) => cluster.create(aDataset()),
      (cluster) => cluster.create(aRuntime({ worker: { replicas: 3 } })),
      (cluster) => scaleTo(cluster, 1),
    ],
    invariants: [neverTooFew],
    async atRest(cluster) {
      assert.deepEqual(await chosenIn(cluster), [1, [0]])
      assert.deepEqual(await ordinalsIn(cluster), [1])
      assert.equal((await workersIn(cluster)).metadata.annotations?.['sluice.dev/leaving-worker'], undefined)
    },
  })

  const READ = 'demo-worker-0'
  const readersWorkerStays: Invariant = {
    says: 'the worker beside a reader of another namespace stays, and is not led out',
    about: ['advancedstatefulsets.workload.fluid.io'],
    broken(view, { object, isDeletion }) {
      if (isDeletion || object.metadata.name !== 'demo-worker' || view.get('pods', 'web/reader') === undefined) return undefined
      const { reserveOrdinals = [] } = object.spec as { reserveOrdinals?: number[] }
      const leaving = object.metadata.annotations?.['sluice.dev/leaving-worker'] ?? ''
      return reserveOrdinals.includes(0) || leaving.startsWith(`${READ} `) ? 'it leaves' : undefined
    },
  }
  survives(cacheRuntimeController(CACHE), {
    modules,
    nodes: 4,
    before: [(cluster: WorldCluster) => createClass(cluster, aLeadingClass())],
    steps: [
      async (cluster) => {
        answering(cluster, { bytes: { 0: 5, 1: 30, 2: 20 } })
        const runtime = aRuntime({ worker: { replicas: 3 } })
        await cluster.create(aDataset())
        await cluster.create({ ...runtime, metadata: { ...runtime.metadata, annotations: CO_LOCATED } })
      },
      (cluster) => bound(cluster),
      (cluster) => createReference(cluster, 'web'),
      async (cluster) => cluster.create(aReader('reader', await nodeOf(cluster, READ), { namespace: 'web', claim: 'shared' })),
      (cluster) => scaleTo(cluster, 1),
    ],
    invariants: [neverTooFew, readersWorkerStays],
    async atRest(cluster) {
      assert.deepEqual(await ordinalsIn(cluster), [0])
      assert.equal(await heldIn(cluster), undefined)
    },
  })
})
