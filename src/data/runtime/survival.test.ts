import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectGone, expectThere } from '../../faultsim/expect/index.ts'
import { type Invariant, survives } from '../../faultsim/survives.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import type { CacheRuntimeClass } from '../../kinds/fluid/index.ts'
import {
  ADVANCED_STATEFUL_SETS,
  ALLUXIO_RUNTIMES,
  CACHE_RUNTIMES,
  DATASETS,
  EFC_RUNTIMES,
  JINDO_RUNTIMES,
  JUICEFS_RUNTIMES,
  THIN_RUNTIMES,
  VINEYARD_RUNTIMES,
} from '../../kinds/fluid/resources.ts'
import { CONFIG_MAPS, DAEMON_SETS, SECRETS } from '../../kinds/kubernetes/resources.ts'
import type { ConfigMap } from '../../kinds/kubernetes/types.ts'
import type { Resource } from '../../kube/resource.ts'
import { aProfile, aDataset as aThinDataset, aThinRuntime } from '../engines/thin/testing.ts'
import { alluxioRuntimeController } from './alluxio/controller.ts'
import { cacheRuntimeController } from './cache/controller.ts'
import { efcRuntimeController } from './efc/controller.ts'
import { jindoRuntimeController } from './jindo/controller.ts'
import { juicefsRuntimeController } from './juicefs/controller.ts'
import { aDataset, aPrivilegedClass, aRuntime, bound, createClass, DEPS, modules, NOBODY, runtimeIn, saidOf, workersIn } from './testing.ts'
import { thinRuntimeController } from './thin/controller.ts'
import { vineyardRuntimeController } from './vineyard/controller.ts'

/** With a key, and in one zone: pods say in which zone they are, and which of them comes first is up to the scheduler. */
function aClassInOneZone(): CacheRuntimeClass {
  const { topology, ...rest } = aPrivilegedClass({ metadata: { name: 'sample', annotations: { 'sluice.dev/key': 'true' } } })
  const placed = (name: string) => ({
    template: {
      spec: { nodeSelector: { 'topology.kubernetes.io/zone': 'east-a' }, containers: [{ name, image: `example.com/${name}:1` }] },
    },
  })
  return { ...rest, topology: { ...topology, master: { ...topology?.master, ...placed('master') }, worker: placed('worker') } }
}
const before = [(cluster: WorldCluster) => createClass(cluster, aClassInOneZone())]

/** How its bucket is called. */
const SETS = 'advancedstatefulsets.workload.fluid.io'
const RUNTIMES = ['cacheruntimes', 'alluxioruntimes', 'juicefsruntimes', 'thinruntimes'].map((plural) => `${plural}.data.fluid.io`)

const heldByRuntime: Invariant = {
  says: 'nothing is made for a runtime that does not have its finalizer',
  about: [SETS],
  broken: (view, { object, previous, isDeletion }) => {
    const uid = object.metadata.ownerReferences?.[0]?.uid
    const owner = RUNTIMES.flatMap((plural) => view.list(plural)).find(({ metadata }) => metadata.uid === uid)
    const isNew = previous === undefined && !isDeletion
    return isNew && (owner?.metadata.finalizers ?? []).length === 0 ? `${object.metadata.name} was made` : undefined
  },
}

describe('the controllers of runtimes', () => {
  survives(cacheRuntimeController(DEPS.cache), {
    modules,
    nodes: 4,
    before,
    steps: [
      (cluster) => cluster.create(aRuntime({ worker: { replicas: 1 } })),
      (cluster) => cluster.create(aDataset()),
      (cluster) => cluster.patch(CACHE_RUNTIMES, 'default/demo', { spec: { worker: { replicas: 2 } } }),
      (cluster) => cluster.patch(CACHE_RUNTIMES, 'default/demo', { spec: { client: { disabled: true } } }),
    ],
    invariants: [heldByRuntime],
    async atRest(cluster) {
      const runtime = await runtimeIn(cluster)
      assert.equal(saidOf(runtime), 'True Served: the engine cache serves it')
      assert.equal(saidOf(runtime, 'WorkersScaledOut'), 'True Workers scaled out: Workers scaled out from 1 replicas to 2 replicas.')
      assert.equal((await workersIn(cluster)).status?.readyReplicas, 2)
    },
  })

  survives(cacheRuntimeController(DEPS.cache), {
    modules,
    nodes: 4,
    before: [
      (cluster) =>
        createClass(cluster, { ...aPrivilegedClass(), metadata: { name: 'sample', annotations: { 'sluice.dev/clear': '["clear"]' } } }),
    ],
    steps: [
      async (cluster) => {
        let tried = 0
        cluster.commands.script(() => (tried++ === 0 ? { exitCode: 1 } : {}))
        await cluster.create(aDataset({ tolerations: [{ operator: 'Exists' }] }))
      },
      (cluster) =>
        cluster.create(
          aRuntime({
            podMetadata: { annotations: { 'sluice.dev/run': 'process' } },
            worker: { replicas: 1, tieredStore: { levels: [{ hostPath: { paths: ['/var/lib/sluice/cache/a'], quotas: ['1Gi'] } }] } },
          }),
        ),
      (cluster) => cluster.delete(DATASETS, 'default/demo'),
    ],
    invariants: [heldByRuntime],
    async atRest(cluster) {
      await expectGone(cluster, CACHE_RUNTIMES, 'default/demo')
      await expectGone(cluster, ADVANCED_STATEFUL_SETS, 'default/demo-worker')
      assert.ok(cluster.commands.calls.length > 0, 'nothing was cleared')
    },
  })

  survives(alluxioRuntimeController(DEPS.alluxio), {
    modules,
    nodes: 4,
    before,
    steps: [
      (cluster) => cluster.create(aDataset()),
      (cluster) => cluster.create(aRuntime({ replicas: 2 }, 'AlluxioRuntime')),
      (cluster) => bound(cluster, { cacheStates: { cached: '1.00GiB' } }, '2025-12-31T00:00:00Z'),
      (cluster) => cluster.patch(ALLUXIO_RUNTIMES, 'default/demo', { spec: { replicas: 1 } }),
      (cluster) => cluster.delete(DATASETS, 'default/demo'),
    ],
    invariants: [heldByRuntime],
    async atRest(cluster) {
      await expectGone(cluster, ALLUXIO_RUNTIMES, 'default/demo')
      await expectGone(cluster, ADVANCED_STATEFUL_SETS, 'default/demo-worker')
      await expectGone(cluster, CONFIG_MAPS, 'default/fluid-runtime-config-demo')
      await expectGone(cluster, SECRETS, 'default/demo-cache-key')
    },
  })

  survives(juicefsRuntimeController(DEPS.juicefs), {
    modules,
    nodes: 4,
    before,
    steps: [
      (cluster) => cluster.create(aDataset()),
      (cluster) => cluster.create(aRuntime({ replicas: 2 }, 'JuiceFSRuntime')),
      (cluster) => cluster.patch(JUICEFS_RUNTIMES, 'default/demo', { spec: { replicas: 1 } }),
      (cluster) => cluster.delete(JUICEFS_RUNTIMES, 'default/demo'),
    ],
    invariants: [heldByRuntime],
    async atRest(cluster) {
      await expectGone(cluster, JUICEFS_RUNTIMES, 'default/demo')
      await expectGone(cluster, ADVANCED_STATEFUL_SETS, 'default/demo-worker')
    },
  })

  survives(thinRuntimeController(DEPS.thin), {
    modules,
    nodes: 4,
    steps: [
      (cluster) => cluster.create(aThinDataset()),
      (cluster) => cluster.create(aThinRuntime({ worker: { image: 'example.com/worker', enabled: true } })),
      (cluster) => cluster.create(aProfile()),
      (cluster) => cluster.patch(DATASETS, 'default/demo', { spec: { mounts: [{ mountPoint: 'nfs.example.com:/other', name: 'other' }] } }),
      (cluster) => cluster.patch(THIN_RUNTIMES, 'default/demo', { spec: { worker: { enabled: false } } }),
    ],
    invariants: [heldByRuntime],
    async atRest(cluster) {
      const runtime = await runtimeIn(cluster, THIN_RUNTIMES)
      assert.equal(saidOf(runtime), 'True Served: the engine thin serves it')
      assert.equal(saidOf(runtime, 'FusesInitialized'), 'True Fuses are initialized: The fuse is initialized.')
      assert.equal(saidOf(runtime, 'WorkersReady'), undefined)
      const { data = {} }: ConfigMap = await expectThere(cluster, CONFIG_MAPS, 'default/demo-fuse-conf')
      assert.match(data['config.json'] ?? '', /^{"mounts":\[{"mountPoint":"nfs.example.com:\/other","name":"other"}\],"targetPath":/)
      await expectThere(cluster, DAEMON_SETS, 'default/demo-fuse')
      await expectGone(cluster, ADVANCED_STATEFUL_SETS, 'default/demo-worker')
    },
  })

  const unserved = (kind: string, resource: Resource) => ({
    modules,
    steps: [(cluster: WorldCluster) => cluster.create(aRuntime({}, kind)), (cluster: WorldCluster) => cluster.create(aDataset())],
    async atRest(cluster: WorldCluster) {
      const runtime = await runtimeIn(cluster, resource)
      assert.equal(saidOf(runtime), `False ${NOBODY.reason}: ${NOBODY.message}`)
      assert.deepEqual(runtime.metadata.finalizers ?? [], [])
    },
  })
  survives(jindoRuntimeController(DEPS.jindo), unserved('JindoRuntime', JINDO_RUNTIMES))
  survives(efcRuntimeController(DEPS.efc), unserved('EFCRuntime', EFC_RUNTIMES))
  survives(vineyardRuntimeController(DEPS.vineyard), unserved('VineyardRuntime', VINEYARD_RUNTIMES))
})
