/** A module with this controller and volumes, an engine whose pods the story itself makes, and verbs for stories about datasets. */
import assert from 'node:assert/strict'
import { conditionsOf, expectThere } from '../../faultsim/expect/index.ts'
import type { CommandOutcome } from '../../faultsim/world/commands.ts'
import type { WorldCluster, WorldOptions } from '../../faultsim/world/index.ts'
import {
  type CacheRuntime,
  type CacheRuntimeSpec,
  type Dataset,
  type DatasetSpec,
  type DatasetStatus,
  fluidKinds,
} from '../../kinds/fluid/index.ts'
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { defineModule } from '../../runtime/module/module.ts'
import type { Engine, EngineInput, Prepared, Served } from '../engines/engine.ts'
import { otherModules } from '../testing.ts'
import { volumeController } from '../volume/controller.ts'
import { type DatasetControllerOptions, datasetController } from './controller.ts'

const SET_VERSION = 'workload.fluid.io/v1alpha1'
const API_VERSION = 'data.fluid.io/v1alpha1'
const OPTIONS = { translates: true, hostPathPrefixes: 'all', version: '0.0.0' } as const

/** One master and the workers that the runtime asks for. Class `unknown` is refused, class `plain` has no commands. */
const anEngine: Engine = {
  type: 'cache',
  resource: CACHE_RUNTIMES,
  serve({ runtime, dataset }: EngineInput): Served {
    const { spec } = runtime as CacheRuntime
    if (spec?.runtimeClassName === 'unknown')
      return { refused: { reason: 'NoClass', message: 'there is no class unknown: create it, or name another' } }
    return { prepared: prepared(dataset, spec) }
  },
}

export function prepared({ metadata: { name = '' }, spec: { mounts = [] } = {} }: Dataset, spec?: CacheRuntimeSpec): Prepared {
  const entry = (what: string) =>
    spec?.runtimeClassName === 'plain'
      ? undefined
      : { pod: `${name}-master-0`, container: 'main', command: ['cache', what], timeoutMs: 20_000 }
  return {
    objects: { configMaps: [], services: [], sets: [], daemonSets: [] },
    components: {
      master: { name: `${name}-master`, replicas: 1 },
      worker: { name: `${name}-worker`, replicas: spec?.worker?.replicas ?? 1 },
      client: { name: `${name}-client`, replicas: 0 },
    },
    keySecret: undefined,
    mountUfs: entry('mount'),
    reportSummary: entry('report'),
    mountPaths: mounts.map(({ path, name: mount }) => path ?? `/${mount}`).sort(),
    quotas: { memoryBytes: 0, diskBytes: 0 },
    servedBy: undefined,
  }
}

const dataForTests = defineModule({
  name: 'data-for-tests',
  roles: ['member'],
  upstreamLeases: [],
  kinds: { member: fluidKinds },
  defaults: () => ({}),
  services: ({ clock }) => ({ clock }),
  controllers: ({ clock }) => [datasetController({ engines: [anEngine], options: OPTIONS, clock }), volumeController()],
})

/** All that a cluster has, but of data only this: the stories themselves play the controllers of runtimes. */
export const modules = [...otherModules, dataForTests]

export const member: WorldOptions = { hub: false, members: 1, nodes: 1, modules }

/** For declarations: nothing of it is called. */
export const DECLARED: DatasetControllerOptions = {
  engines: [anEngine],
  options: OPTIONS,
  clock: { now: () => 0, after: () => () => undefined },
}

export const MOUNTS = [{ mountPoint: 's3://one', name: 'one', path: '/one' }]

export const aDataset = (spec: DatasetSpec = { mounts: MOUNTS }, annotations: Record<string, string> = {}): Dataset => ({
  apiVersion: API_VERSION,
  kind: 'Dataset',
  metadata: { namespace: 'default', name: 'demo', annotations },
  spec,
})

export const aRuntime = (spec: Partial<CacheRuntimeSpec> = {}): CacheRuntime => ({
  apiVersion: API_VERSION,
  kind: 'CacheRuntime',
  metadata: { namespace: 'default', name: 'demo' },
  spec: { runtimeClassName: 'sample', ...spec },
})

export const aRuntimeOf = (kind: string): KubeObject => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { namespace: 'default', name: 'demo' },
  spec: {},
})

interface PodParts {
  annotations?: Record<string, string>
  spec?: object
  /** Of the set that made it. */
  setUid?: string
}

/** Pod 0 of a component: one that runs, as far as the cluster knows. */
export const aPod = (component: 'master' | 'worker', more: PodParts = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'default',
    name: `demo-${component}-0`,
    labels: { 'cacheruntime.fluid.io/name': 'demo', 'cacheruntime.fluid.io/component-name': `demo-${component}` },
    annotations: more.annotations ?? { 'sluice.dev/run': 'process' },
    ownerReferences: [
      { apiVersion: SET_VERSION, kind: 'AdvancedStatefulSet', name: `demo-${component}`, uid: more.setUid ?? 'set', controller: true },
    ],
  },
  spec: { containers: [{ name: 'main', image: 'cache' }], tolerations: [{ operator: 'Exists' }], ...more.spec },
})

/** With the set that makes it: the collector removes what nobody owns. */
export async function createPod(cluster: WorldCluster, component: 'master' | 'worker', more: PodParts = {}): Promise<unknown> {
  const name = `demo-${component}`
  const labels = { app: name }
  const spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'cache' }] } },
  }
  const set: KubeObject = { apiVersion: SET_VERSION, kind: 'AdvancedStatefulSet', metadata: { namespace: 'default', name }, spec }
  const { metadata } = (await cluster.get(ADVANCED_STATEFUL_SETS, `default/${name}`)) ?? (await cluster.create(set))
  return cluster.create(aPod(component, { ...more, setUid: metadata.uid }))
}

/** A pod that mounts the dataset. */
export const aReader = (name = 'reader'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name },
  spec: {
    containers: [{ name: 'reader', image: 'reader' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'demo' } }],
  },
})

/** What the controller of the runtime would say. */
export const phases = (cluster: WorldCluster, master: string, worker: string): Promise<unknown> =>
  cluster.patch(CACHE_RUNTIMES, 'default/demo', { status: { master: component(master), worker: component(worker) } }, 'status')

const component = (phase: string) => ({ phase, readyReplicas: phase === 'Ready' ? 1 : 0 })

export const deletePod = (cluster: WorldCluster, name: string): Promise<unknown> =>
  cluster.delete(PODS, `default/${name}`, { gracePeriodSeconds: 0 })

export interface Answers {
  mount?: CommandOutcome
  report?: CommandOutcome
}

export const FIGURES = {
  ...{ cached: '1.00GiB', cachedPercentage: '50.0%', cacheCapacity: '4.00GiB', cacheHitRatio: '0.0%' },
  ...{ ufsTotal: '2.00GiB', fileNum: '17' },
}

/** From now on the commands of the cache answer so; by default they work, and the dataset's own mounts are mounted. */
export function answering(cluster: WorldCluster, answers: Answers = {}, paths: readonly string[] = ['/one']): void {
  const mount = answers.mount ?? { stdout: JSON.stringify({ mounted: paths }) }
  const report = answers.report ?? { stdout: JSON.stringify(FIGURES) }
  cluster.commands.script(({ command }) => (command[1] === 'mount' ? mount : command[1] === 'report' ? report : undefined))
}

export const ranIn = (cluster: WorldCluster, what: string): number =>
  cluster.commands.calls.filter(({ command }) => command[1] === what).length

/** The dataset, its runtime and its pods, all ready. */
export async function serve(cluster: WorldCluster, dataset = aDataset(), runtime = aRuntime()): Promise<void> {
  await cluster.create(dataset)
  await cluster.create(runtime)
  for (const type of ['master', 'worker'] as const) await createPod(cluster, type)
  await phases(cluster, 'Ready', 'Ready')
}

export async function datasetIn(cluster: WorldCluster): Promise<Dataset & { status: DatasetStatus }> {
  const found = await expectThere(cluster, DATASETS, 'default/demo')
  assert.ok(found.status !== undefined, 'the dataset has no status')
  return found as Dataset & { status: DatasetStatus }
}

export const phaseIn = async (cluster: WorldCluster): Promise<string | undefined> => (await datasetIn(cluster)).status.phase

/** `Ready=True, …`: every condition of the dataset. */
export const saysIn = async (cluster: WorldCluster): Promise<string> =>
  [...conditionsOf(await datasetIn(cluster)).values()].map(({ type, status }) => `${type}=${status}`).join(', ')

export const messageIn = async (cluster: WorldCluster, type: string): Promise<string | undefined> =>
  conditionsOf(await datasetIn(cluster)).get(type)?.message
