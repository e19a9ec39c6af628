/**
 * Reads what a decision about a runtime needs, from caches. Where something is missing, or objects would be written, the
 * server itself is asked whether the caches are up to date: an old cache must not scale workers in, or say that a dataset is
 * missing.
 */
import type { Client } from '../../client/client.ts'
import { ifFound } from '../../client/errors.ts'
import type { AdvancedStatefulSet, CacheRuntimeClass, Dataset } from '../../kinds/fluid/index.ts'
import { volumeName } from '../../kinds/fluid/names.ts'
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIME_CLASSES, DATASETS, THIN_RUNTIME_PROFILES } from '../../kinds/fluid/resources.ts'
import { DAEMON_SETS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { checkDns1123Subdomain } from '../../kube/names.ts'
import { refOf } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Failure, PassReader } from '../../runtime/controller.ts'
import { isFresh, isUnchanged } from '../../runtime/live-owner.ts'
import { holdsApplied } from '../../runtime/owned-subset.ts'
import type { Engine, Prepared, Served } from '../engines/engine.ts'
import { isOurClaim, isOurVolume } from '../volume/desired.ts'
import { type ClearEffect, type ToClear, toClearOf } from './clear.ts'
import { besideWorkers, isCoLocated } from './co-location.ts'
import { becauseOf, type ComponentState, type ComponentStates, phaseOf, stateOfDaemonSet, stateOfSet } from './components.ts'
import type { RuntimeDeps } from './deps.ts'
import type { ScalingEffects } from './effects.ts'
import { type Key, keyOf } from './key.ts'
import { isGoing, isOf, OWNED_RESOURCES, type OwnedObject, type Part, partsOf, surplusOf } from './parts.ts'
import { podNamesOf } from './pods.ts'
import { withOrdinals, withStep } from './scale.ts'
import { CHOOSING, type ScaleIn, scaleInOf } from './scale-in.ts'
import { ownedBy } from './triggers.ts'

export interface Observed {
  engine: Engine
  runtime: KubeObject
  /** A cache is behind its server: its event is coming, and will lead here again. */
  isStale: boolean
  /** Of a runtime that goes: what of its volume is still there, `PersistentVolumeClaim demo`. */
  volume?: string
  /** Of a runtime that goes: what is removed from nodes before. */
  toClear?: ToClear
  dataset?: Dataset
  serving?: Serving
  /** Why the server did not accept the last attempt. */
  failure?: Failure
  nowMs: number
}

export interface Serving {
  served: Served
  /** None when the runtime is refused. */
  parts: readonly Part[]
  surplus: readonly OwnedObject[]
  states: ComponentStates
  key: Key
  /** Undefined: nobody chooses which workers leave. */
  scaleIn: ScaleIn | undefined
}

interface Pass {
  deps: RuntimeDeps
  runtime: KubeObject
  read: PassReader
  client: Client
  /** The name of the controller, under which it applies objects. */
  manager: string
  effects: ScalingEffects
  clear: ClearEffect
}

export async function observe(pass: Pass): Promise<Observed> {
  const { deps, runtime, read, client } = pass
  const seen = { engine: deps.engine, runtime, nowMs: read.nowMs(), failure: read.lastFailure() }
  if (isGoing(runtime)) {
    const toClear = toClearOf({ engine: deps.engine, runtime, read, effect: pass.clear })
    const { namespace, name } = refOf(runtime)
    return { ...seen, isStale: false, dataset: read.get(DATASETS, namespace, name), volume: await volumeLeft(pass), toClear }
  }
  const { namespace, name } = refOf(runtime)
  const dataset = read.get(DATASETS, namespace, name)
  if (dataset === undefined) return { ...seen, isStale: (await ifFound(client.get(DATASETS, { namespace, name }))) !== undefined }
  const asked = askedFrom(read)
  const served = deps.engine.serve({ runtime, dataset, classOf: asked.classOf, profileOf: asked.profileOf }, deps.options)
  const chooses = served.prepared !== undefined && CHOOSING.includes(deps.engine.type)
  const scaleIn = chooses ? await scaleInOf({ ...pass, prepared: served.prepared }) : undefined
  const serving = servingOf(pass, { dataset, served, scaleIn })
  const isStale = !(await isCurrent(pass, dataset, { asked, serving }))
  return { ...seen, isStale, dataset, serving }
}

type ToServe = Pick<Serving, 'served' | 'scaleIn'> & { dataset: Dataset }

function servingOf({ deps, runtime, read }: Pass, { dataset, served, scaleIn }: ToServe): Serving {
  if (served.prepared === undefined) return { served, parts: [], surplus: [], states: {}, key: {}, scaleIn }
  const { namespace } = refOf(runtime)
  const prepared = placed(served.prepared, { runtime, dataset, read })
  const parts = partsOf(
    prepared,
    (resource, name) => read.get(resource, namespace, name),
    (wanted, live) =>
      scaleIn === undefined || live === undefined
        ? withOrdinals(wanted, live)
        : withStep(wanted, live, { step: scaleIn.step, nowMs: read.nowMs() }),
  )
  const owned = OWNED_RESOURCES.flatMap((resource) => ownedBy(read, resource, runtime).map((object) => ({ resource, object })))
  const states = statesOf({ runtime, read, dataset, prepared: { ...prepared, components: withChosen(prepared.components, parts) } })
  return { served, parts, surplus: surplusOf(owned, parts), states, key: keyOf({ runtime, prepared, read, random: deps.random }), scaleIn }
}

/** As many workers as there are to be after this pass: others may have to wait. */
function withChosen(components: Prepared['components'], parts: readonly Part[]): Prepared['components'] {
  const { worker } = components
  const set = parts.find(({ resource, wanted }) => resource === ADVANCED_STATEFUL_SETS && wanted.metadata.name === worker?.name)
  const { replicas } = (set?.wanted as AdvancedStatefulSet | undefined)?.spec ?? {}
  return worker === undefined || replicas === undefined ? components : { ...components, worker: { ...worker, replicas } }
}

function placed(prepared: Prepared, { runtime, dataset, read }: { runtime: KubeObject; dataset: Dataset; read: PassReader }): Prepared {
  if (!isCoLocated(runtime, read.get(PERSISTENT_VOLUMES, '', volumeName(refOf(runtime))))) return prepared
  const daemonSets = prepared.objects.daemonSets.map((clients) => besideWorkers(clients, dataset))
  return { ...prepared, objects: { ...prepared.objects, daemonSets } }
}

/** Those that an engine has looked up, found or not. */
interface Asked {
  classOf(name: string): CacheRuntimeClass | undefined
  profileOf(name: string): KubeObject | undefined
  all: { resource: Resource; name: string; found: KubeObject | undefined }[]
}

function askedFrom(read: PassReader): Asked {
  const all: Asked['all'] = []
  const lookUp = <T extends KubeObject>(resource: Resource<T>, name: string): T | undefined => {
    // Nothing has a name that no object can have: the server is not asked for it.
    if (checkDns1123Subdomain(name).length > 0) return undefined
    const found = read.get(resource, '', name)
    all.push({ resource, name, found })
    return found
  }
  return {
    classOf: (name) => lookUp(CACHE_RUNTIME_CLASSES, name),
    profileOf: (name) => lookUp(THIN_RUNTIME_PROFILES, name),
    all,
  }
}

/**
 * Whether what is decided from is what the server has. Asked only when something would be written, or is missing: nothing is made
 * for what is gone already, and nothing that runs follows a spec of the past.
 */
async function isCurrent(
  { runtime, client, deps, manager }: Pass,
  dataset: Dataset,
  { asked, serving }: { asked: Asked; serving: Serving },
): Promise<boolean> {
  for (const { resource, name, found } of asked.all)
    if (found === undefined && name !== '' && (await ifFound(client.get(resource, { name }))) !== undefined) return false
  const isChange = ({ wanted, live }: Part): boolean => live === undefined || (isOf(live, runtime) && !holdsApplied(live, wanted, manager))
  if (serving.surplus.length === 0 && !serving.parts.some(isChange)) return true
  if (!(await isFresh(client, deps.engine.resource, runtime)) || !(await isFresh(client, DATASETS, dataset))) return false
  for (const { resource, found } of asked.all) if (found !== undefined && !(await isUnchanged(client, resource, found))) return false
  return true
}

/** Claims and volumes hold what pods still use: their runtime stays until they are gone from the server, not only from a cache. */
export async function volumeLeft({ runtime, read, client }: Pick<Pass, 'runtime' | 'read' | 'client'>): Promise<string | undefined> {
  const key = refOf(runtime)
  const { namespace, name } = key
  const volume = volumeName(key)
  const claim = read.get(PERSISTENT_VOLUME_CLAIMS, namespace, name) ?? (await ifFound(client.get(PERSISTENT_VOLUME_CLAIMS, key)))
  if (claim !== undefined && isOurClaim(claim)) return `PersistentVolumeClaim ${name}`
  const found = read.get(PERSISTENT_VOLUMES, '', volume) ?? (await ifFound(client.get(PERSISTENT_VOLUMES, { name: volume })))
  return found !== undefined && isOurVolume(found, key) ? `PersistentVolume ${volume}` : undefined
}

interface StatesInput {
  runtime: KubeObject
  read: PassReader
  dataset: Dataset
  prepared: Prepared
}

function statesOf({ runtime, read, dataset, prepared: { components } }: StatesInput): ComponentStates {
  const { namespace } = refOf(runtime)
  const own = <T extends KubeObject>(found: T | undefined): T | undefined =>
    found !== undefined && isOf(found, runtime) ? found : undefined
  const ofSet = ({ name, replicas }: { name: string; replicas: number }): ComponentState => {
    const set = own(read.get(ADVANCED_STATEFUL_SETS, namespace, name))
    const isReady = phaseOf({ desired: replicas, ready: set?.status?.readyReplicas ?? 0 }) === 'Ready'
    return stateOfSet(set, replicas, set === undefined ? undefined : becauseOf(podsOf(read, set, isReady), isReady, dataset))
  }
  const { master, worker, client } = components
  return {
    ...(master === undefined ? {} : { master: ofSet(master) }),
    ...(worker === undefined ? {} : { worker: ofSet(worker) }),
    ...(client === undefined ? {} : { client: stateOfDaemonSet(own(read.get(DAEMON_SETS, namespace, client.name))) }),
  }
}

/** All that matter: the first one tells whether a set that is ready is simulated. */
function podsOf(read: PassReader, set: AdvancedStatefulSet, isReady: boolean) {
  const names = podNamesOf(set)
  return (isReady ? names.slice(0, 1) : names).flatMap((name) => read.get(PODS, set.metadata.namespace ?? '', name) ?? [])
}
