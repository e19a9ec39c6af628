/** CacheRuntime: its class says which pods serve it. */
import type { CacheRuntime, CacheRuntimeSpec } from '../../../kinds/fluid/index.ts'
import { isNative, pathOfMount } from '../../../kinds/fluid/mount-point.ts'
import { datasetId, fuseLabel } from '../../../kinds/fluid/names.ts'
import { CACHE_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import { cacheTiersOf } from '../../../kinds/fluid/tiered-store.ts'
import { unreadMount } from '../../../kinds/fluid/unread-mounts.ts'
import { commandIn } from '../../scaling/handover.ts'
import { mountInfo } from '../../volume/desired.ts'
import { BUILTIN_CLASS, DEFAULT_LEVELS } from '../builtin/class.ts'
import type { Engine, EngineInput, PodEntry, Prepared, Served } from '../engine.ts'
import { clearingOf } from './clearing.ts'
import { cacheObjects } from './objects.ts'
import { CLASS_ANNOTATIONS, keySecretName } from './pod-template.ts'
import { type Cache, type Component, cacheNames, componentsOf, problemOf } from './topology.ts'

export const cacheEngine: Engine = {
  type: 'cache',
  resource: CACHE_RUNTIMES,
  serve,
  clearing({ runtime, classOf }) {
    const { spec } = runtime as CacheRuntime
    return clearingOf(classOf(spec?.runtimeClassName ?? ''), cacheNames(runtime), spec)
  },
}

/** Of an object; what is longer is nobody's name. */
const LONGEST_NAME = 253
const SHORTEST_TIMEOUT_S = 20

function serve({ runtime, dataset, classOf }: EngineInput): Served {
  const { spec } = runtime as CacheRuntime
  const className = spec?.runtimeClassName ?? ''
  const runtimeClass = classOf(className)
  if (spec === undefined || runtimeClass === undefined) {
    const message = `failed to get CacheRuntimeClass ${className.slice(0, LONGEST_NAME)}: create it, or name one that kubectl get cacheruntimeclasses shows`
    return { refused: { reason: 'NoSuchClass', message } }
  }
  // Of another class only its own programs know.
  const unread = className === BUILTIN_CLASS ? unreadMount(dataset.spec) : undefined
  if (unread !== undefined) return { refused: unread }
  const { namespace = '', name = '', uid = '' } = dataset.metadata
  const named = { namespace, name, uid }
  return servedAs({
    dataset,
    runtime,
    spec: className === BUILTIN_CLASS ? withTiers(spec) : spec,
    runtimeClass,
    names: cacheNames(runtime),
    fuseLabel: fuseLabel(named),
    datasetId: datasetId(named),
    targetPath: mountInfo('cache', dataset.metadata).path,
  })
}

/** A builtin worker cannot run without a tier; any other class may store elsewhere. */
const withTiers = (spec: CacheRuntimeSpec): CacheRuntimeSpec =>
  (spec.worker?.tieredStore?.levels ?? []).length > 0
    ? spec
    : { ...spec, worker: { replicas: 1, ...spec.worker, tieredStore: { levels: [...DEFAULT_LEVELS] } } }

/** Of any runtime that is served as a cache. */
export function servedAs(cache: Cache, servedBy?: string): Served {
  const problem = problemOf(cache)
  if (problem !== undefined) return { refused: { reason: 'InvalidRuntime', message: problem } }
  return { prepared: preparedOf(cache, servedBy) }
}

function preparedOf(cache: Cache, servedBy: string | undefined): Prepared {
  const components = componentsOf(cache)
  const of = (type: Component['type']) => components.find((component) => component.type === type)
  const [master, worker] = [of('master'), of('worker')]
  const { metadata } = cache.runtimeClass
  const { tiers } = cacheTiersOf(worker?.levels ?? [])
  const bytes = (isMemory: boolean): number =>
    tiers
      .filter(({ medium }) => (medium === 'MEM') === isMemory)
      .reduce((sum, { stores }) => sum + stores.reduce((all, one) => all + one.quotaBytes, 0), 0)
  return {
    objects: cacheObjects(cache),
    components: Object.fromEntries(components.map(({ type, name, replicas }) => [type, { name, replicas }])),
    keySecret: metadata.annotations?.[CLASS_ANNOTATIONS.key] === 'true' ? keySecretName(cache.dataset.metadata.name ?? '') : undefined,
    mountUfs: entryOf(master, 'mountUFS'),
    reportSummary: entryOf(master ?? worker, 'reportSummary'),
    ...leadingOf(cache, master),
    // Fluid's contract: what pods mount themselves is no concern of the command. Where masters get those volumes, it mounts all.
    mountPaths: (cache.dataset.spec?.mounts ?? [])
      .filter((mount) => metadata.annotations?.[CLASS_ANNOTATIONS.nativeMounts] === 'true' || !isNative(mount))
      .map(pathOfMount)
      .sort(),
    quotas: { memoryBytes: bytes(true), diskBytes: bytes(false) },
    servedBy,
  }
}

/** Only a master can lead workers out. */
function leadingOf({ runtimeClass }: Cache, master: Component | undefined): Pick<Prepared, 'decommission' | 'recommission'> {
  const of = (annotation: string): PodEntry | undefined => {
    const command = commandIn(runtimeClass.metadata.annotations?.[annotation])
    return command === undefined ? undefined : commandOf(master, { command })
  }
  const [decommission, recommission] = [of(CLASS_ANNOTATIONS.decommission), of(CLASS_ANNOTATIONS.recommission)]
  return { ...(decommission === undefined ? {} : { decommission }), ...(recommission === undefined ? {} : { recommission }) }
}

const entryOf = (component: Component | undefined, name: 'mountUFS' | 'reportSummary'): PodEntry | undefined =>
  commandOf(component, component?.definition.executionEntries?.[name])

/** Commands run in the first pod of the component, in its first container. */
function commandOf(component: Component | undefined, entry: { command: string[]; timeout?: number } | undefined): PodEntry | undefined {
  const container = component?.definition.template?.spec?.containers?.[0]?.name
  if (component === undefined || entry === undefined || container === undefined || component.replicas === 0) return undefined
  return {
    pod: `${component.name}-0`,
    container,
    command: entry.command,
    timeoutMs: Math.max(entry.timeout ?? 0, SHORTEST_TIMEOUT_S) * 1000,
  }
}
