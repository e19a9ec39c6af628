/**
 * What a sidecar needs in the namespace of a reference: the pod template of the original's client, and the ConfigMaps that it
 * mounts. Nothing of it carries credentials: a template that needs a Secret, or anything else that only the original's namespace
 * has, is not copied at all. Pure, but for the look-ups.
 */
import { isJsonObject } from '../../../base/json.ts'
import { DATA_GROUP } from '../../../kinds/fluid/groups.ts'
import type { Dataset } from '../../../kinds/fluid/index.ts'
import type { Original } from '../../../kinds/fluid/reference.ts'
import { hashIn, mirrorHash, mirrorName, referenceOf } from '../../../kinds/fluid/reference.ts'
import { DATASETS } from '../../../kinds/fluid/resources.ts'
import { CONFIG_MAPS, DAEMON_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { ConfigMap, DaemonSet } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type ObjectRef, objectKey, refOf } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import { type Index, indexOf, type Reader } from '../../../runtime/controller.ts'
import { controllerOf } from '../../../runtime/workloads/pod/ownership.ts'
import { runtimesNamed } from '../../dataset/runtimes.ts'
import { shownKeys } from '../referring.ts'

export interface Mirror {
  /** Undefined: the original has no client, or one that cannot be copied. */
  source: { template: DaemonSet; configMaps: readonly ConfigMap[] } | undefined
  /** Why there is no copy, where there should be one. */
  problem: string | undefined
}

const NOTHING: Mirror = Object.freeze({ source: undefined, problem: undefined })

/** As engines call the DaemonSet of a client. */
const CLIENT_NAMES = ['client', 'fuse', 'jindofs-fuse'] as const

/** Every namespace has one of its own. */
const EVERYWHERE: ReadonlySet<string> = new Set(['kube-root-ca.crt'])

export function mirrorOf(original: Original, read: Pick<Reader, 'get'>): Mirror {
  const { namespace, name } = original
  const uids = new Set(runtimesNamed(original, read).map(({ object }) => object.metadata.uid))
  const isOurs = (object: KubeObject | undefined): boolean => object !== undefined && uids.has(controllerOf(object)?.uid)
  const template = CLIENT_NAMES.flatMap((client) => read.get(DAEMON_SETS, namespace, `${name}-${client}`) ?? []).find(isOurs)
  if (template === undefined) return NOTHING
  const needs = needsOf(template.spec?.template?.spec)
  const configMaps: ConfigMap[] = []
  for (const of of needs.configMaps) {
    if (EVERYWHERE.has(of)) continue
    const found = read.get(CONFIG_MAPS, namespace, of)
    if (found !== undefined && isOurs(found)) configMaps.push(found)
    else needs.others.push(`ConfigMap ${of}`)
  }
  if (needs.others.length === 0) return { source: { template, configMaps }, problem: undefined }
  const problem = `the client of Dataset ${namespace}/${name} needs what its namespace alone has (${shownKeys(needs.others)}), so no sidecar can be injected into pods of this namespace: use nodes with the CSI driver, or ask the owner for a client without`
  return { source: undefined, problem }
}

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
