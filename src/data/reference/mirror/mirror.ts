/**
 * What a sidecar needs in the namespace of a reference: the pod template of the original's client, and the ConfigMaps that it
 * mounts. They are made anew from the runtime and its class: whoever may edit a namespace may edit the objects there. Nothing of them
 * carries credentials, and pods of other namespaces run nothing that the original's namespace chose: a template that needs a Secret,
 * or whose program, environment or volumes the runtime says itself, is not copied at all. Pure, but for the look-ups.
 */
import { isJsonObject } from '../../../base/json.ts'
import { DATA_GROUP } from '../../../kinds/fluid/groups.ts'
import { CacheRuntime, type CacheRuntimeClass, type Dataset } from '../../../kinds/fluid/index.ts'
import type { Original } from '../../../kinds/fluid/reference.ts'
import { hashIn, mirrorHash, mirrorName, referenceOf } from '../../../kinds/fluid/reference.ts'
import { CACHE_RUNTIME_CLASSES, DATASETS, THIN_RUNTIME_PROFILES } from '../../../kinds/fluid/resources.ts'
import { CONFIG_MAPS, DAEMON_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { ConfigMap, DaemonSet } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type ObjectRef, objectKey, refOf } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import { type Index, indexOf, type Reader, via, type Watch } from '../../../runtime/controller.ts'
import { controllerOf } from '../../../runtime/workloads/pod/ownership.ts'
import { boundType, choose, type Runtime, runtimesNamed } from '../../dataset/runtimes.ts'
import { BUILTIN_CLASS } from '../../engines/builtin/class.ts'
import type { Engine, EngineOptions } from '../../engines/engine.ts'
import { isGoing } from '../indexes.ts'
import { shownKeys } from '../referring.ts'
import { chosenFor } from './chosen.ts'

export interface Mirror {
  /** Undefined: the original has no client, or one that cannot be copied. */
  source: { template: DaemonSet; configMaps: readonly ConfigMap[]; runtimeClass: CacheRuntimeClass | undefined } | undefined
  /** Why there is no copy, where there should be one. */
  problem: string | undefined
  /** Nothing is made of the runtime now, and what is there goes on as it is: as the client of the original does. */
  isKept?: boolean
}

/** What engines make of a runtime is asked of them. */
export interface Sharing {
  engines: readonly Engine[]
  options: EngineOptions
}

/** Also classes and profiles are looked up. */
export const READ_WATCHES: readonly Watch[] = [CACHE_RUNTIME_CLASSES, THIN_RUNTIME_PROFILES].map((resource) =>
  // What they say is seen in what is made of it.
  via<KubeObject>(resource as Resource, () => [], { isRelevantUpdate: () => false }),
)

const NOTHING: Mirror = Object.freeze({ source: undefined, problem: undefined })
const KEPT: Mirror = Object.freeze({ ...NOTHING, isKept: true })

/** As engines call the DaemonSet of a client. */
const CLIENT_NAMES = ['client', 'fuse', 'jindofs-fuse'] as const

/** Every namespace has one of its own. */
const EVERYWHERE: ReadonlySet<string> = new Set(['kube-root-ca.crt'])

export function mirrorOf(original: Original, read: Pick<Reader, 'get'>, sharing: Sharing): Mirror {
  const { namespace, name } = original
  const dataset = read.get(DATASETS, namespace, name)
  const named = runtimesNamed(original, read)
  const runtime = choose(named, boundType(dataset?.status)).runtime ?? named[0]
  if (dataset === undefined || runtime === undefined || !hasClient(original, runtime, read)) return NOTHING
  // Of what goes nothing is changed any more, and what is said of it until then is not seen in its objects.
  if (isGoing(dataset) || isGoing(runtime.object)) return KEPT
  const classOf = (className: string): CacheRuntimeClass | undefined => read.get(CACHE_RUNTIME_CLASSES, '', className)
  const profileOf = (profile: string): KubeObject | undefined => read.get(THIN_RUNTIME_PROFILES, '', profile)
  const engine = sharing.engines.find(({ type }) => type === runtime.type)
  const made = engine?.serve({ runtime: runtime.object, dataset, classOf, profileOf }, sharing.options).prepared?.objects
  if (made === undefined) return KEPT
  const [template] = made.daemonSets
  if (template === undefined) return NOTHING
  const chosen = chosenFor(runtime, dataset)
  if (chosen.length > 0) {
    const problem = `the client of Dataset ${namespace}/${name} runs what its namespace chose (${shownKeys(chosen)}), so no sidecar can be injected into pods of this namespace: use nodes with the CSI driver, or ask the owner for a client as its class has it`
    return { source: undefined, problem }
  }
  const needs = needsOf(template.spec?.template?.spec)
  const configMaps = made.configMaps.filter(({ metadata }) => needs.configMaps.includes(metadata.name ?? ''))
  const own = new Set(configMaps.map(({ metadata }) => metadata.name))
  const others = [
    ...needs.others,
    ...needs.configMaps.filter((one) => !own.has(one) && !EVERYWHERE.has(one)).map((one) => `ConfigMap ${one}`),
  ]
  if (others.length === 0) return { source: { template, configMaps, runtimeClass: classOf(classNameOf(runtime)) }, problem: undefined }
  const problem = `the client of Dataset ${namespace}/${name} needs what its namespace alone has (${shownKeys(others)}), so no sidecar can be injected into pods of this namespace: use nodes with the CSI driver, or ask the owner for a client without`
  return { source: undefined, problem }
}

/** Nothing is copied before there is a client. */
function hasClient({ namespace, name }: Original, { object }: Runtime, read: Pick<Reader, 'get'>): boolean {
  const isOurs = (set: DaemonSet): boolean => object.metadata.uid !== undefined && controllerOf(set)?.uid === object.metadata.uid
  return CLIENT_NAMES.flatMap((client) => read.get(DAEMON_SETS, namespace, `${name}-${client}`) ?? []).some(isOurs)
}

const classNameOf = ({ object }: Runtime): string =>
  object.kind === CacheRuntime.kind ? ((object as CacheRuntime).spec?.runtimeClassName ?? '') : BUILTIN_CLASS

/** A copy under whose name a user has something else stays away: what is theirs is never touched. */
export function nameTakenIn(namespace: string, original: Original, { source }: Mirror, read: Pick<Reader, 'get'>): string | undefined {
  const all =
    source === undefined ? [] : [...source.configMaps.map((map) => [CONFIG_MAPS, map] as const), [DAEMON_SETS, source.template] as const]
  for (const [resource, { metadata }] of all) {
    const name = mirrorName(metadata.name ?? '', original)
    const found = read.get<KubeObject>(resource as Resource, namespace, name)
    if (found !== undefined && !isCopy(found))
      return `${resource.kind} ${name} exists in namespace ${namespace} and is no copy: delete it, or no sidecar can be injected there`
  }
  return undefined
}

/** On copies: what stands for the original. */
export const MIRROR_OF = 'sluice.dev/mirror-of'
/** On copies: `namespace/name` of the original. */
export const MIRROR_SOURCE = 'sluice.dev/mirror-source'

/** What has only one of the marks is somebody else's. */
export const isCopy = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.[MIRROR_OF] !== undefined && metadata.annotations?.[MIRROR_SOURCE] !== undefined

/** References by namespace and the hash of their original, with which the names of copies end. */
const BY_HASH = 'reference-hash'

export const HASH_INDEX: Index = indexOf(DATASETS, BY_HASH, (dataset: Dataset) => {
  const referred = referenceOf(dataset)
  return referred === undefined ? [] : [objectKey(dataset.metadata.namespace, mirrorHash(referred))]
})

/** References in whose way an object is, or was: it has the name of a copy, and is none. */
export const blockedBy = ({ metadata: { namespace = '', name = '' } }: KubeObject, read: Reader): ObjectRef[] =>
  read.byIndex(DATASETS, BY_HASH, objectKey(namespace, hashIn(name))).map(refOf)

/** The dataset whose runtime an object belongs to. */
export function ownerOf(object: KubeObject): ObjectRef[] {
  const owner = controllerOf(object)
  return owner?.apiVersion.startsWith(`${DATA_GROUP}/`) === true ? [{ namespace: object.metadata.namespace ?? '', name: owner.name }] : []
}

interface Needs {
  configMaps: string[]
  /** `Secret x`: what is never copied. */
  others: string[]
}

/** Keys under which pods name Secrets: `secretKeyRef`, `secretRef`, `nodePublishSecretRef`, a volume's or projection's `secret`. */
const SECRET_KEY = /^secret$|secret(?:Key)?Ref$/i

/** By the names of the fields, so that no kind of volume is forgotten. */
export function needsOf(spec: unknown): Needs {
  const [configMaps, others] = [new Set<string>(), new Set<string>()]
  walk(spec, (key, value) => {
    const name = nameIn(value)
    if (key === 'secretName' && typeof value === 'string') others.add(`Secret ${value}`)
    else if (SECRET_KEY.test(key) && name !== '') others.add(`Secret ${name}`)
    else if (key === 'claimName' && typeof value === 'string') others.add(`PersistentVolumeClaim ${value}`)
    else if (CONFIG_MAP_KEYS.has(key) && name !== '') configMaps.add(name)
  })
  return { configMaps: [...configMaps].sort(), others: [...others].sort() }
}

const CONFIG_MAP_KEYS: ReadonlySet<string> = new Set(['configMap', 'configMapKeyRef', 'configMapRef'])

const nameIn = (value: unknown): string => (isJsonObject(value) && typeof value.name === 'string' ? value.name : '')

/** Not into the Secrets that images are pulled with: a copy does without. */
function walk(value: unknown, visit: (key: string, value: unknown) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, visit)
  if (!isJsonObject(value)) return
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'imagePullSecrets') continue
    visit(key, inner)
    walk(inner, visit)
  }
}

/** A template whose references to ConfigMaps name the copies. */
export function renamed<T>(value: T, names: ReadonlySet<string>, original: Original): T {
  const next = (key: string, inner: unknown): unknown => {
    const name = nameIn(inner)
    return CONFIG_MAP_KEYS.has(key) && names.has(name)
      ? { ...(inner as object), name: mirrorName(name, original) }
      : renamed(inner, names, original)
  }
  if (Array.isArray(value)) return value.map((item) => renamed(item, names, original)) as T
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, next(key, inner)])) as T
}
