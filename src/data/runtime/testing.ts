/** Engines for tests of the controllers of runtimes, a module with these controllers, and verbs for stories about them. */
import assert from 'node:assert/strict'
import type { Random } from '../../base/random.ts'
import type { WorldCluster, WorldOptions } from '../../faultsim/world/index.ts'
import {
  type AdvancedStatefulSet,
  CacheRuntime,
  type CacheRuntimeClass,
  Dataset,
  type DatasetSpec,
  fluidKinds,
  type RuntimeCondition,
} from '../../kinds/fluid/index.ts'
import { datasetId, fuseLabel } from '../../kinds/fluid/names.ts'
import {
  ADVANCED_STATEFUL_SETS,
  ALLUXIO_RUNTIMES,
  CACHE_RUNTIME_CLASSES,
  CACHE_RUNTIMES,
  DATASETS,
  EFC_RUNTIMES,
  JINDO_RUNTIMES,
  JUICEFS_RUNTIMES,
  VINEYARD_RUNTIMES,
} from '../../kinds/fluid/resources.ts'
import { EVENTS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { defineModule } from '../../runtime/module/module.ts'
import { advancedStatefulSet } from '../advanced-stateful-set/controller.ts'
import { cacheEngine as realCacheEngine } from '../engines/cache/engine.ts'
import { cacheObjects } from '../engines/cache/objects.ts'
import { aClass } from '../engines/cache/testing.ts'
import { type Cache, cacheNames, componentsOf, problemOf } from '../engines/cache/topology.ts'
import type { Engine, EngineInput, Prepared, Served } from '../engines/engine.ts'
import { thinEngine } from '../engines/thin/engine.ts'
import { otherModules } from '../testing.ts'
import { volumeController } from '../volume/controller.ts'
import { alluxioRuntimeController } from './alluxio/controller.ts'
import { cacheRuntimeController } from './cache/controller.ts'
import type { RuntimeDeps } from './deps.ts'
import { efcRuntimeController } from './efc/controller.ts'
import { jindoRuntimeController } from './jindo/controller.ts'
import { juicefsRuntimeController } from './juicefs/controller.ts'
import { thinRuntimeController } from './thin/controller.ts'
import { vineyardRuntimeController } from './vineyard/controller.ts'

const API_VERSION = 'data.fluid.io/v1alpha1'

/** A key is the same in every run, so that runs can be compared. */
const random: Random = { next: () => 0.5, bytes: (length) => new Uint8Array(length).fill(7) }

function preparedFrom(cache: Cache, servedBy?: string): Prepared {
  const components = Object.fromEntries(componentsOf(cache).map(({ type, name, replicas }) => [type, { name, replicas }]))
  return {
    objects: cacheObjects(cache),
    components,
    keySecret:
      cache.runtimeClass.metadata.annotations?.['sluice.dev/key'] === 'true' ? `${cache.dataset.metadata.name}-cache-key` : undefined,
    mountUfs: undefined,
    reportSummary: undefined,
    mountPaths: [],
    quotas: { memoryBytes: 0, diskBytes: 0 },
    servedBy,
  }
}

function served({ runtime, dataset, classOf }: EngineInput, spec: Cache['spec'], servedBy?: string): Served {
  const { runtimeClassName: name } = spec
  const runtimeClass = classOf(name)
  if (runtimeClass === undefined) return { refused: { reason: 'NoClass', message: `there is no CacheRuntimeClass ${name}: create it` } }
  const { namespace = '', name: of = '', uid = '' } = dataset.metadata
  const named = { namespace, name: of, uid }
  const cache: Cache = {
    ...{ dataset, runtime, spec, runtimeClass, names: cacheNames(dataset), fuseLabel: fuseLabel(named), datasetId: datasetId(named) },
    targetPath: `/runtime-mnt/cache/${namespace}/${of}/cache-fuse`,
  }
  const message = problemOf(cache)
  return message === undefined ? { prepared: preparedFrom(cache, servedBy) } : { refused: { reason: 'Invalid', message } }
}

/** The real objects of a cache. */
const cacheEngine: Engine = {
  type: 'cache',
  resource: CACHE_RUNTIMES,
  serve: (input) => served(input, (input.runtime as CacheRuntime).spec ?? { runtimeClassName: '' }),
  clearing: realCacheEngine.clearing,
}

/** Another engine that is served by a class which its runtimes do not name. */
const alluxioEngine: Engine = {
  type: 'alluxio',
  resource: ALLUXIO_RUNTIMES,
  serve: (input) => {
    const { replicas = 1 } = (input.runtime.spec ?? {}) as { replicas?: number }
    return served(input, { runtimeClassName: 'sample', worker: { replicas } }, 'the builtin cache serves it')
  },
}

/** One that has no masters. */
const juicefsEngine: Engine = {
  type: 'juicefs',
  resource: JUICEFS_RUNTIMES,
  serve: (input) => {
    const { replicas = 1 } = (input.runtime.spec ?? {}) as { replicas?: number }
    return served(input, { runtimeClassName: 'sample', master: { disabled: true, replicas: 0 }, worker: { replicas } })
  },
}

export const NOBODY = { reason: 'NoEngine', message: 'no engine serves it: use a CacheRuntime of class builtin' }
const nobody = (type: Engine['type'], resource: Resource): Engine => ({ type, resource, serve: () => ({ refused: NOBODY }) })

const depsOf = (engine: Engine): RuntimeDeps => ({
  engine,
  options: { translates: true, hostPathPrefixes: 'all', version: '1.0.0' },
  random,
  // For declarations: what runs in a world has the clock of that world.
  clock: { now: () => 0, after: () => () => undefined },
})

/** What the controllers are given, by the type of their runtimes. */
export const DEPS = {
  cache: depsOf(cacheEngine),
  alluxio: depsOf(alluxioEngine),
  juicefs: depsOf(juicefsEngine),
  jindo: depsOf(nobody('jindo', JINDO_RUNTIMES)),
  thin: depsOf(thinEngine),
  efc: depsOf(nobody('efc', EFC_RUNTIMES)),
  vineyard: depsOf(nobody('vineyard', VINEYARD_RUNTIMES)),
}

const dataForTests = defineModule({
  name: 'data',
  roles: ['member'],
  upstreamLeases: [],
  kinds: { member: fluidKinds },
  defaults: () => ({}),
  services: ({ clock }) => ({ clock }),
  controllers: ({ clock }) => [
    cacheRuntimeController({ ...DEPS.cache, clock }),
    alluxioRuntimeController({ ...DEPS.alluxio, clock }),
    juicefsRuntimeController({ ...DEPS.juicefs, clock }),
    jindoRuntimeController(DEPS.jindo),
    thinRuntimeController(DEPS.thin),
    efcRuntimeController(DEPS.efc),
    vineyardRuntimeController(DEPS.vineyard),
    advancedStatefulSet,
    volumeController(),
  ],
})

export const modules = [...otherModules, dataForTests]
export const member: WorldOptions = { hub: false, members: 1, modules, nodes: 4 }

export const aDataset = (spec: DatasetSpec = {}): KubeObject => ({
  apiVersion: API_VERSION,
  kind: Dataset.kind,
  metadata: { namespace: 'default', name: 'demo' },
  spec,
})

export const aRuntime = (spec: object = {}, kind: string = CacheRuntime.kind): KubeObject => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { namespace: 'default', name: 'demo' },
  spec: kind === CacheRuntime.kind ? { runtimeClassName: 'sample', ...spec } : spec,
})

/** As the controller of datasets would bind it. */
export const bound = (cluster: WorldCluster, more: object = {}, at = '2026-01-01T01:00:00Z'): Promise<unknown> =>
  cluster.patch(
    DATASETS,
    'default/demo',
    { status: { phase: 'Bound', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: at }], ...more } },
    'status',
  )

export async function runtimeIn(cluster: WorldCluster, resource: Resource = CACHE_RUNTIMES): Promise<KubeObject> {
  const found = await cluster.get(resource, 'default/demo')
  assert.ok(found !== undefined, `there is no ${resource.kind} demo`)
  return found
}

type Conditions = { conditions?: RuntimeCondition[] }

/** `True Served: …`. */
export function saidOf({ status }: KubeObject, type = 'Served'): string | undefined {
  const found = ((status ?? {}) as Conditions).conditions?.find((condition) => condition.type === type)
  return found === undefined ? undefined : `${found.status} ${found.reason}: ${found.message}`
}

export async function workersIn(cluster: WorldCluster): Promise<AdvancedStatefulSet> {
  const found = await cluster.get(ADVANCED_STATEFUL_SETS, 'default/demo-worker')
  assert.ok(found !== undefined, 'there is no AdvancedStatefulSet demo-worker')
  return found as AdvancedStatefulSet
}

/** A class whose clients may mount for other pods, which servers demand privileges for. */
export function aPrivilegedClass(more: Partial<CacheRuntimeClass> = {}): CacheRuntimeClass {
  const { topology, ...rest } = aClass()
  const containers = [{ name: 'client', image: 'example.com/client:1', securityContext: { privileged: true } }]
  return { ...rest, topology: { ...topology, client: { template: { spec: { containers } } } }, ...more }
}

/** Its plural is none that could be guessed. */
export const createClass = (cluster: WorldCluster, object: KubeObject): Promise<unknown> =>
  cluster.inside(() => cluster.client.create(CACHE_RUNTIME_CLASSES, object))

/** `Normal Succeed: …`, about runtimes. */
export async function eventsIn(cluster: WorldCluster): Promise<string[]> {
  const events = (await cluster.list(EVENTS)) as (KubeObject & { involvedObject: { kind?: string }; source?: { component?: string } })[]
  return events
    .filter(({ source }) => source?.component?.startsWith('data.runtime.') === true)
    .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
}
