/** A class whose programs report and lead out, readers on chosen nodes, and verbs for stories about workers that leave. */
import assert from 'node:assert/strict'
import type { CommandOutcome } from '../../faultsim/world/commands.ts'
import type { World, WorldCluster, WorldOptions } from '../../faultsim/world/index.ts'
import { type CacheRuntimeClass, fluidKinds } from '../../kinds/fluid/index.ts'
import { CACHE_RUNTIMES } from '../../kinds/fluid/resources.ts'
import { EVENTS, PERSISTENT_VOLUMES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { defineModule } from '../../runtime/module/module.ts'
import { advancedStatefulSet } from '../advanced-stateful-set/controller.ts'
import { fluidCsiDriver } from '../csi/driver.ts'
import { cacheEngine } from '../engines/cache/engine.ts'
import { aClass } from '../engines/cache/testing.ts'
import { nodeController } from '../node/controller.ts'
import { cacheRuntimeController } from '../runtime/cache/controller.ts'
import type { RuntimeDeps } from '../runtime/deps.ts'
import { aDataset, aRuntime, bound, createClass, DEPS, runtimeIn, saidOf, workersIn } from '../runtime/testing.ts'
import { otherModules } from '../testing.ts'
import { volumeController } from '../volume/controller.ts'

/** With the real engine, which knows commands. */
export const CACHE: RuntimeDeps = { ...DEPS.cache, engine: cacheEngine }

const dataForTests = defineModule({
  name: 'data',
  roles: ['member'],
  upstreamLeases: [],
  kinds: { member: fluidKinds },
  defaults: () => ({}),
  services: ({ clock }) => ({ clock }),
  controllers: ({ clock }) => [cacheRuntimeController({ ...CACHE, clock }), advancedStatefulSet, volumeController(), nodeController({})],
  seams: { csiDrivers: () => [fluidCsiDriver({ hostPathPrefixes: 'all' })] },
})

export const modules = [...otherModules, dataForTests]
export const member: WorldOptions = { hub: false, members: 1, modules, nodes: 4 }

const SIMULATED_NODES = [{ operator: 'Exists' }]
/** Commands are answered by the world's script: for it, pods on simulated nodes run. */
const RUN = { 'sluice.dev/run': 'process' }

export type Leading = 'reports' | 'leads' | 'plain'

export function aLeadingClass(leading: Leading = 'leads'): CacheRuntimeClass {
  const { topology } = aClass()
  const running = (name: string) => ({
    template: {
      metadata: { annotations: RUN },
      spec: { containers: [{ name, image: `example.com/${name}:1` }], tolerations: SIMULATED_NODES },
    },
  })
  const report = { reportSummary: { command: ['cache', 'report'] } }
  const commands = { 'sluice.dev/decommission': '["cache","leave"]', 'sluice.dev/recommission': '["cache","stay"]' }
  const client = { containers: [{ name: 'client', image: 'example.com/client:1', securityContext: { privileged: true } }] }
  return aClass({
    metadata: { name: 'sample', annotations: leading === 'leads' ? commands : {} },
    topology: {
      ...topology,
      master: { ...topology?.master, ...running('master'), ...(leading === 'plain' ? {} : { executionEntries: report }) },
      worker: running('worker'),
      client: { template: { spec: client } },
    },
  })
}

export interface Start {
  replicas?: number
  leading?: Leading
  annotations?: Record<string, string>
}

export const CO_LOCATED = { 'sluice.dev/fuse-global': 'false' }

/** Workers that are ready, and a claim that can be mounted. */
export async function start(world: World, { replicas = 3, leading = 'leads', annotations = {} }: Start = {}): Promise<WorldCluster> {
  const { member: cluster } = world
  await createClass(cluster, aLeadingClass(leading))
  await cluster.create(aDataset())
  const runtime = aRuntime({ worker: { replicas } })
  await cluster.create({ ...runtime, metadata: { ...runtime.metadata, annotations } })
  await world.settle()
  await bound(cluster)
  await world.settle()
  return cluster
}

export const scaleTo = (cluster: WorldCluster, replicas: number): Promise<unknown> =>
  cluster.patch(CACHE_RUNTIMES, 'default/demo', { spec: { replicas } }, 'scale')

export async function nodeOf(cluster: WorldCluster, pod: string): Promise<string> {
  const { nodeName } = ((await cluster.get(PODS, `default/${pod}`))?.spec ?? {}) as { nodeName?: string }
  assert.ok(nodeName !== undefined, `pod ${pod} has no node`)
  return nodeName
}

/** The ordinals of the workers that there are. */
export const ordinalsIn = async (cluster: WorldCluster): Promise<number[]> =>
  (await cluster.list(PODS))
    .map(({ metadata: { name = '' } }) => /^demo-worker-(\d+)$/.exec(name)?.[1])
    .filter((ordinal) => ordinal !== undefined)
    .map(Number)
    .sort((a, b) => a - b)

export const chosenIn = async (cluster: WorldCluster): Promise<unknown[]> => {
  const { replicas, reserveOrdinals } = (await workersIn(cluster)).spec
  return [replicas, reserveOrdinals]
}

/** A pod that mounts a claim, and never ends by itself; without a node the scheduler finds one. */
export const aReader = (name: string, node: string | undefined, { namespace = 'default', claim = 'demo' } = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name, annotations: RUN },
  spec: {
    ...(node === undefined ? {} : { nodeName: node }),
    containers: [{ name: 'reader', image: 'reader' }],
    tolerations: SIMULATED_NODES,
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim } }],
  },
})

export const endReader = (cluster: WorldCluster, key: string): Promise<unknown> => cluster.delete(PODS, key, { gracePeriodSeconds: 0 })

/** What a reference leads to: a volume and a claim in another namespace, for the same files. */
export async function createReference(cluster: WorldCluster, namespace: string): Promise<void> {
  await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const csi = {
    driver: 'fuse.csi.fluid.io',
    volumeHandle: `${namespace}-shared`,
    volumeAttributes: { runtime_namespace: 'default', runtime_name: 'demo', fluid_path: '/x' },
  }
  const sizes = { accessModes: ['ReadOnlyMany'], storageClassName: 'fluid' }
  await cluster.create({
    ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: `${namespace}-shared` } },
    spec: { ...sizes, capacity: { storage: '1Gi' }, csi, claimRef: { namespace, name: 'shared' } },
  })
  await cluster.create({
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace, name: 'shared' } },
    spec: { ...sizes, resources: { requests: { storage: '1Gi' } }, volumeName: `${namespace}-shared` },
  })
}

export interface Answers {
  /** Bytes by ordinal. */
  bytes?: Readonly<Record<number, number>>
  report?: CommandOutcome
  leave?: CommandOutcome
  stay?: CommandOutcome
}

const LEFT: CommandOutcome = {
  stdout: '{"state":"leaving","moved":1,"dropped":0,"left":9}\n{"state":"gone","moved":8,"dropped":2,"left":0}\n',
}

/** From now on the commands of the cache answer so. */
export function answering(cluster: WorldCluster, { bytes = {}, report, leave = LEFT, stay = {} }: Answers = {}): void {
  const lines = (): object[] =>
    Object.entries(bytes).map(([i, cachedBytes]) => ({ pod: `demo-worker-${i}`, cachedBytes, capacityBytes: 100, state: 'serving' }))
  cluster.commands.script(({ command: [, what] }) =>
    what === 'report'
      ? (report ?? { stdout: JSON.stringify({ cached: '1B', workers: lines() }) })
      : what === 'leave'
        ? leave
        : what === 'stay'
          ? stay
          : undefined,
  )
}

/** `leave demo-worker-1`, in order. */
export const ranIn = (cluster: WorldCluster): string[] =>
  cluster.commands.calls.filter(({ command }) => command[1] !== 'report').map(({ command }) => command.slice(1).join(' '))

export const heldIn = async (cluster: WorldCluster): Promise<string | undefined> => saidOf(await runtimeIn(cluster), 'ScaleInHeld')

export const eventsOf = async (cluster: WorldCluster, reason: string): Promise<string[]> =>
  (await cluster.list(EVENTS)).filter((event) => event.reason === reason).map((event) => String(event.message))

/** The terms that nodes must fulfil to use the dataset's volume. */
export async function nodeTermsIn(cluster: WorldCluster): Promise<unknown> {
  const volume = await cluster.get(PERSISTENT_VOLUMES, 'default-demo')
  assert.ok(volume !== undefined, 'there is no volume')
  return (volume.spec as { nodeAffinity?: { required?: { nodeSelectorTerms?: unknown } } }).nodeAffinity?.required?.nodeSelectorTerms
}
