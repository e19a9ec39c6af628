import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectGone, expectThere } from '../../faultsim/expect/index.ts'
import { story } from '../../faultsim/story.ts'
import { aWorld, type WorldCluster } from '../../faultsim/world/index.ts'
import type { AdvancedStatefulSet } from '../../kinds/fluid/index.ts'
import {
  ADVANCED_STATEFUL_SETS,
  ALLUXIO_RUNTIMES,
  CACHE_RUNTIME_CLASSES,
  CACHE_RUNTIMES,
  DATASETS,
  EFC_RUNTIMES,
} from '../../kinds/fluid/resources.ts'
import { CONFIG_MAPS, DAEMON_SETS, PERSISTENT_VOLUME_CLAIMS, PODS, SECRETS, SERVICES } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import {
  aDataset,
  aPrivilegedClass,
  aRuntime,
  bound,
  createClass,
  eventsIn,
  member,
  NOBODY,
  runtimeIn,
  saidOf,
  workersIn,
} from './testing.ts'

const FINALIZER = 'cache-runtime-controller-finalizer'
const keyed = (): KubeObject => ({ ...aPrivilegedClass(), metadata: { name: 'sample', annotations: { 'sluice.dev/key': 'true' } } })
const statusOf = ({ status }: KubeObject): Record<string, unknown> => (status ?? {}) as Record<string, unknown>

describe('a runtime', () => {
  story(
    'says so when its class has a name that no object can have, however long',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aDataset())
      await cluster.create(aRuntime({ runtimeClassName: 'x'.repeat(6000) }))
      await world.settle()
      assert.match(saidOf(await runtimeIn(cluster)) ?? '', /^False NoClass: there is no CacheRuntimeClass x/)
      assert.deepEqual(cluster.complaints, [])
    },
    member,
  )

  story(
    'says so when the server takes no pods of its class, because two containers have one name',
    async (world) => {
      const { member: cluster } = world
      const { topology = {}, ...rest } = aPrivilegedClass()
      const twice = {
        template: {
          spec: {
            containers: [
              { name: 'c', image: 'i' },
              { name: 'c', image: 'i' },
            ],
          },
        },
      }
      await createClass(cluster, { ...rest, topology: { ...topology, client: twice } } as KubeObject)
      await cluster.create(aDataset())
      await cluster.create(aRuntime())
      await world.advance(60_000)
      assert.match(
        saidOf(await runtimeIn(cluster)) ?? '',
        /^False NotAccepted: the server does not accept an object of this runtime: .*duplicate/,
      )
      await cluster.delete(CACHE_RUNTIMES, 'default/demo')
      await world.settle()
      cluster.complaints.length = 0
    },
    member,
  )

  story(
    'waits for its dataset, then for its class, and is then served with all that its class says',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aRuntime({ worker: { replicas: 2 } }))
      await world.settle()
      const waiting = await runtimeIn(cluster)
      assert.equal(
        saidOf(waiting),
        'False NoDataset: there is no Dataset demo in namespace default, which this runtime would serve: create it',
      )
      assert.deepEqual(waiting.metadata.finalizers ?? [], [])
      await cluster.create(aDataset())
      await world.settle()
      assert.equal(saidOf(await runtimeIn(cluster)), 'False NoClass: there is no CacheRuntimeClass sample: create it')
      await createClass(cluster, keyed())
      await world.settle()
      const runtime = await runtimeIn(cluster)
      const dataset = await expectThere(cluster, DATASETS, 'default/demo')
      assert.equal(saidOf(runtime), 'True Served: the engine cache serves it')
      assert.deepEqual(runtime.metadata.finalizers, [FINALIZER])
      assert.deepEqual(runtime.metadata.labels, { 'fluid.io/dataset-id': 'default-demo' })
      assert.deepEqual(runtime.metadata.ownerReferences, [
        { apiVersion: 'data.fluid.io/v1alpha1', kind: 'Dataset', name: 'demo', uid: dataset.metadata.uid },
      ])
      for (const [resource, name] of [
        [CONFIG_MAPS, 'fluid-runtime-config-demo'],
        [SERVICES, 'svc-demo-master'],
        [ADVANCED_STATEFUL_SETS, 'demo-master'],
        [ADVANCED_STATEFUL_SETS, 'demo-worker'],
        [DAEMON_SETS, 'demo-client'],
        [SECRETS, 'demo-cache-key'],
      ] as const)
        assert.equal((await expectThere(cluster, resource, `default/${name}`)).metadata.ownerReferences?.[0]?.uid, runtime.metadata.uid)
      const { valueFile, selector, master, worker, client } = statusOf(runtime)
      assert.deepEqual(
        [valueFile, selector],
        ['fluid-runtime-config-demo', 'cacheruntime.fluid.io/component-name=demo-worker,cacheruntime.fluid.io/name=demo'],
      )
      const ready = (count: number): object => ({
        ...{ desiredReplicas: count, currentReplicas: count, readyReplicas: count, availableReplicas: count, unavailableReplicas: 0 },
      })
      const short = (of: unknown): object => {
        const { reason: _reason, message: _message, ...rest } = of as Record<string, unknown>
        return rest
      }
      assert.deepEqual(short(master), { phase: 'Ready', ...ready(1) })
      assert.deepEqual(short(worker), { phase: 'Ready', ...ready(2) })
      assert.deepEqual(short(client), { phase: 'NotReady', ...ready(0) })
      assert.equal(saidOf(runtime, 'WorkersReady'), 'True Workers are ready: The workers are ready.')
      assert.equal(saidOf(runtime, 'MasterInitialized'), 'True Master is initialized: The master is initialized.')
      assert.equal((await eventsIn(cluster)).length, 2)
    },
    member,
  )

  it('is the same in whatever order things come', async () => {
    const comings = {
      class: (cluster: WorldCluster) => createClass(cluster, aPrivilegedClass()),
      dataset: (cluster: WorldCluster) => cluster.create(aDataset()),
      runtime: (cluster: WorldCluster) => cluster.create(aRuntime()),
    }
    const ends = new Set<string>()
    for (const order of ['class dataset runtime', 'runtime dataset class', 'dataset runtime class', 'runtime class dataset']) {
      const world = await aWorld(member).settle()
      for (const what of order.split(' ') as (keyof typeof comings)[]) {
        await comings[what](world.member)
        await world.settle()
      }
      const runtime = await runtimeIn(world.member)
      assert.equal(saidOf(runtime), 'True Served: the engine cache serves it')
      ends.add(JSON.stringify([runtime.metadata.labels, runtime.metadata.finalizers, runtime.status]).replaceAll(/2026-[^"]*/g, 'T'))
      await expectGone(world.member, SECRETS, 'default/demo-cache-key')
      await world.stop()
    }
    assert.equal(ends.size, 1)
  })

  story(
    'is scaled: ordinals that were left out come back with more workers, and workers leave one after another',
    async (world) => {
      const { member: cluster } = world
      await createClass(cluster, aPrivilegedClass())
      await cluster.create(aDataset())
      await cluster.create(aRuntime({ worker: { replicas: 2 } }))
      await world.settle()
      await cluster.patch(ADVANCED_STATEFUL_SETS, 'default/demo-worker', { spec: { reserveOrdinals: [0] } })
      await world.settle()
      await cluster.patch(CACHE_RUNTIMES, 'default/demo', { spec: { worker: { replicas: 3 } } })
      await world.settle()
      const { replicas, reserveOrdinals } = (await workersIn(cluster)).spec
      assert.deepEqual([replicas, reserveOrdinals], [3, []])
      const said = saidOf(await runtimeIn(cluster), 'WorkersScaledOut')
      assert.equal(said, 'True Workers scaled out: Workers scaled out from 2 replicas to 3 replicas.')
      await cluster.patch(CACHE_RUNTIMES, 'default/demo', { spec: { worker: { replicas: 1 } } })
      await world.settle()
      const runtime = await runtimeIn(cluster)
      assert.equal(saidOf(runtime, 'WorkersScaledIn'), 'True Workers scaled in: Workers scaled in from 2 replicas to 1 replicas.')
      assert.equal((statusOf(runtime).worker as { readyReplicas: number }).readyReplicas, 1)
      await expectGone(cluster, PODS, 'default/demo-worker-2')
      await expectThere(cluster, PODS, 'default/demo-worker-0')
      const events = (await eventsIn(cluster)).map((event) => event.split(' on node ')[0])
      assert.deepEqual(events, [
        'Normal Succeed: Runtime scaled out',
        'Normal WorkerLeaves: Worker demo-worker-2',
        'Normal WorkerLeaves: Worker demo-worker-1',
        'Normal Succeed: Runtime scaled in',
      ])
    },
    member,
  )

  story(
    'changes in place, and loses what it no longer has',
    async (world) => {
      const { member: cluster } = world
      await createClass(cluster, aPrivilegedClass({ extraResources: { configMaps: [{ name: 'extra', data: { a: 'b' } }] } }))
      await cluster.create(aDataset())
      await cluster.create(aRuntime())
      await world.settle()
      await expectThere(cluster, CONFIG_MAPS, 'default/demo-extra')
      await cluster.update(CACHE_RUNTIME_CLASSES, 'sample', (object) => {
        ;(object as Record<string, unknown>).extraResources = {}
      })
      const version = { runtimeVersion: { image: 'example.com/worker', imageTag: '2' } }
      await cluster.patch(CACHE_RUNTIMES, 'default/demo', { spec: { worker: { replicas: 1, ...version }, client: { disabled: true } } })
      await world.settle()
      await expectGone(cluster, CONFIG_MAPS, 'default/demo-extra')
      await expectGone(cluster, DAEMON_SETS, 'default/demo-client')
      const pod = await expectThere(cluster, PODS, 'default/demo-worker-0')
      assert.equal((pod.spec as { containers: { image: string }[] }).containers[0]?.image, 'example.com/worker:2')
      const runtime = await runtimeIn(cluster)
      assert.equal(statusOf(runtime).client, undefined)
      assert.equal(saidOf(runtime, 'FusesReady'), undefined)
      await cluster.delete(ADVANCED_STATEFUL_SETS, 'default/demo-worker')
      await world.settle()
      assert.equal((statusOf(await runtimeIn(cluster)).worker as { phase: string }).phase, 'Ready')
    },
    member,
  )

  story(
    'takes nothing that belongs to somebody else, and goes on when that is gone',
    async (world) => {
      const { member: cluster } = world
      await cluster.create({
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'fluid-runtime-config-demo' } },
        data: { mine: 'yes' },
      })
      await createClass(cluster, aPrivilegedClass())
      await cluster.create(aDataset())
      await cluster.create(aRuntime())
      await world.settle()
      const runtime = await runtimeIn(cluster)
      assert.equal(
        saidOf(runtime),
        'False NameTaken: ConfigMap fluid-runtime-config-demo exists and was not made for this runtime: delete it, or give the Dataset and its runtime another name',
      )
      const kept = (await expectThere(cluster, CONFIG_MAPS, 'default/fluid-runtime-config-demo')) as KubeObject & { data: unknown }
      assert.deepEqual(kept.data, { mine: 'yes' })
      await expectGone(cluster, ADVANCED_STATEFUL_SETS, 'default/demo-worker')
      await cluster.delete(CONFIG_MAPS, 'default/fluid-runtime-config-demo')
      await world.settle()
      assert.equal(saidOf(await runtimeIn(cluster)), 'True Served: the engine cache serves it')
    },
    member,
  )

  story(
    'that nobody serves says so, gets nothing, and can be deleted at once',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aDataset())
      await cluster.create(aRuntime({}, 'EFCRuntime'))
      await world.settle()
      const runtime = await runtimeIn(cluster, EFC_RUNTIMES)
      assert.equal(saidOf(runtime), `False ${NOBODY.reason}: ${NOBODY.message}`)
      const { ownerReferences = [], finalizers = [] } = runtime.metadata
      assert.deepEqual([ownerReferences.map(({ kind, name }) => `${kind} ${name}`), finalizers], [['Dataset demo'], []])
      assert.deepEqual(await eventsIn(cluster), [`Warning ErrorProcessRuntime: ${NOBODY.message}`])
      await cluster.delete(EFC_RUNTIMES, 'default/demo')
      await world.settle()
      await expectGone(cluster, EFC_RUNTIMES, 'default/demo')
    },
    member,
  )

  story(
    'of a class that never existed goes with its dataset, without a word',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aDataset())
      await cluster.create(aRuntime({ runtimeClassName: 'nothing' }))
      await world.settle()
      const said = await eventsIn(cluster)
      assert.deepEqual(said, ['Warning ErrorProcessRuntime: there is no CacheRuntimeClass nothing: create it'])
      await cluster.delete(DATASETS, 'default/demo')
      await world.settle()
      await expectGone(cluster, CACHE_RUNTIMES, 'default/demo')
      assert.deepEqual(await eventsIn(cluster), said)
    },
    member,
  )

  story(
    'of another engine keeps the form of its status, and repeats what its dataset says',
    async (world) => {
      const { member: cluster } = world
      await createClass(cluster, aPrivilegedClass())
      await cluster.create(aDataset())
      await cluster.create(aRuntime({ replicas: 2 }, 'AlluxioRuntime'))
      await world.settle()
      const mount = { mountPoint: 's3://lake/x', name: 'x' }
      const runtimes = [{ name: 'demo', namespace: 'default', category: 'Accelerate', type: 'alluxio' }]
      await bound(cluster, { cacheStates: { cached: '1.00GiB' }, mounts: [{ ...mount, options: { secret: 'no' } }], runtimes })
      await world.settle()
      const runtime = await runtimeIn(cluster, ALLUXIO_RUNTIMES)
      assert.equal(saidOf(runtime), 'True ServedByBuiltin: the builtin cache serves it')
      const { conditions: _conditions, cacheAffinity: _affinity, workerReason: _1, masterReason: _2, ...status } = statusOf(runtime)
      assert.deepEqual(status, {
        ...{ valueFile: 'fluid-runtime-config-demo', setupDuration: '1h0m0s', masterPhase: 'Ready', workerPhase: 'Ready' },
        ...{ desiredMasterNumberScheduled: 1, currentMasterNumberScheduled: 1, masterNumberReady: 1 },
        ...{ desiredWorkerNumberScheduled: 2, currentWorkerNumberScheduled: 2, workerNumberReady: 2 },
        ...{ workerNumberAvailable: 2, workerNumberUnavailable: 0, fusePhase: 'Ready', fuseReason: 'Fuses are ready' },
        ...{ desiredFuseNumberScheduled: 0, currentFuseNumberScheduled: 0, fuseNumberReady: 0 },
        ...{ fuseNumberAvailable: 0, fuseNumberUnavailable: 0, cacheStates: { cached: '1.00GiB' }, mounts: [mount] },
        selector: 'cacheruntime.fluid.io/component-name=demo-worker,cacheruntime.fluid.io/name=demo',
      })
      assert.equal(saidOf(runtime, 'FusesReady'), 'True Fuses are ready: The fuses are ready.')
    },
    member,
  )

  story(
    'that is deleted waits for the volume of its dataset, then everything goes',
    async (world) => {
      const { member: cluster } = world
      await createClass(cluster, keyed())
      await cluster.create(aDataset())
      await cluster.create(aRuntime())
      await world.settle()
      await bound(cluster)
      await cluster.create(aReader())
      await world.settle()
      await cluster.delete(CACHE_RUNTIMES, 'default/demo')
      await world.settle()
      assert.equal(
        saidOf(await runtimeIn(cluster)),
        'False Deleted: it is being deleted, and waits until PersistentVolumeClaim demo is gone: delete the pods that use it',
      )
      await expectThere(cluster, ADVANCED_STATEFUL_SETS, 'default/demo-worker')
      await cluster.delete(PODS, 'default/reader', { gracePeriodSeconds: 0 })
      await world.settle()
      await expectGone(cluster, PERSISTENT_VOLUME_CLAIMS, 'default/demo')
      await expectGone(cluster, CACHE_RUNTIMES, 'default/demo')
      await expectGone(cluster, ADVANCED_STATEFUL_SETS, 'default/demo-worker')
      await expectGone(cluster, SECRETS, 'default/demo-cache-key')
      await cluster.create(aRuntime())
      await world.settle()
      assert.equal(saidOf(await runtimeIn(cluster)), 'True Served: the engine cache serves it')
    },
    member,
  )

  story(
    'gets nothing for a dataset that is being deleted, and goes with it',
    async (world) => {
      const { member: cluster } = world
      await createClass(cluster, aPrivilegedClass())
      const dataset = aDataset()
      await cluster.create({ ...dataset, metadata: { ...dataset.metadata, finalizers: ['example.com/hold'] } })
      await cluster.delete(DATASETS, 'default/demo')
      await cluster.create(aRuntime())
      await world.settle()
      assert.equal(
        saidOf(await runtimeIn(cluster)),
        'False DatasetDeleted: Dataset demo is being deleted, so nothing is made for it any more',
      )
      await expectGone(cluster, ADVANCED_STATEFUL_SETS, 'default/demo-worker')
      await cluster.patch(DATASETS, 'default/demo', { metadata: { finalizers: [] } })
      await world.settle()
      assert.match(saidOf(await runtimeIn(cluster)) ?? '', /NoDataset/)
      await cluster.create(aDataset())
      await world.settle()
      const said = await eventsIn(cluster)
      await cluster.delete(DATASETS, 'default/demo')
      await world.settle()
      await expectGone(cluster, CACHE_RUNTIMES, 'default/demo')
      await expectGone(cluster, ADVANCED_STATEFUL_SETS, 'default/demo-worker')
      assert.deepEqual(await eventsIn(cluster), said)
    },
    member,
  )

  story(
    'takes back what its spec does not say any more, deep inside the templates too',
    async (world) => {
      const { member: cluster } = world
      await createClass(cluster, aPrivilegedClass())
      await cluster.create(aDataset())
      const said = { args: ['--fast'], nodeSelector: { disk: 'ssd' }, resources: { requests: { cpu: '1' } } }
      const client = { nodeSelector: { disk: 'ssd' }, args: ['--fast'] }
      await cluster.create(aRuntime({ worker: { replicas: 1, ...said }, client }))
      await world.settle()
      const unsaid = { args: null, nodeSelector: null, resources: null }
      await cluster.patch(CACHE_RUNTIMES, 'default/demo', { spec: { worker: unsaid, client: { args: null, nodeSelector: null } } })
      await world.settle()
      for (const [resource, name] of [
        [ADVANCED_STATEFUL_SETS, 'worker'],
        [DAEMON_SETS, 'client'],
      ] as const) {
        const { spec } = (await expectThere(cluster, resource, `default/demo-${name}`)) as AdvancedStatefulSet
        const { nodeSelector, containers } = spec.template.spec ?? {}
        assert.deepEqual([nodeSelector?.disk, containers?.[0]?.args], [undefined, undefined], name)
        assert.equal(containers?.[0]?.resources?.requests?.cpu, undefined, name)
      }
    },
    member,
  )

  story(
    'says why its workers find no node, and what to do',
    async (world) => {
      const { member: cluster } = world
      await createClass(cluster, aPrivilegedClass())
      await cluster.create(aDataset())
      await cluster.create(aRuntime({ worker: { replicas: 2 } }))
      await world.settle()
      const { worker } = statusOf(await runtimeIn(cluster)) as { worker: { phase: string; reason: string; message: string } }
      assert.deepEqual([worker.phase, worker.reason], ['PartialReady', 'Unschedulable'])
      assert.match(worker.message, /^pod demo-worker-\d: .*anti-affinity.*: set placement: Shared on Dataset demo, or add nodes$/)
    },
    { ...member, nodes: 1 },
  )
})

const aReader = (): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'reader' },
  spec: {
    containers: [{ name: 'reader', image: 'reader' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'demo' } }],
  },
})
