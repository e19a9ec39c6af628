/**
 * Objects in and out of one logical cluster of the store: keys, encoding, conversion between served versions, and a lock
 * per object so that writers of the same object queue up instead of colliding.
 */
import { type ByteText, utf8Of } from '../base/byte-text.ts'
import { deepClone, setOwn } from '../base/json.ts'
import type { KindDefinition } from '../kinds/kind.ts'
import { type KubeObject, METADATA_FIELDS, type ObjectMeta } from '../kube/meta.ts'
import type { ClusterStore, CommitResult, Version } from '../store/index.ts'
import type { Served } from './catalog.ts'

export interface Stored {
  version: Version
  /** Frozen, in the storage version. */
  object: KubeObject
}

export function keyOf(served: Pick<Served, 'bucket'>, namespace: string, name: string): string {
  return `${served.bucket}/${namespace}/${name}`
}

export function prefixOf(served: Pick<Served, 'bucket'>, namespace: string): string {
  return namespace === '' ? `${served.bucket}/` : `${served.bucket}/${namespace}/`
}

const REGISTRY_PLACES: Readonly<Record<string, string>> = {
  '/endpoints': 'services/endpoints',
  '/nodes': 'minions',
  '/services': 'services/specs',
  'networking.k8s.io/ingresses': 'ingress',
}

/** The object's key in a real server's etcd: some messages contain it. */
export function registryKey(served: Served, object: KubeObject): string {
  const { group, plural, builtin } = served.definition
  const place = REGISTRY_PLACES[`${group}/${plural}`] ?? (builtin ? plural : `${group}/${plural}`)
  const { namespace, name } = object.metadata
  return `/registry/${place}/${namespace === undefined ? '' : `${namespace}/`}${name}`
}

/** As stored. */
export const encodeObject = (object: KubeObject): Buffer => Buffer.from(JSON.stringify(ordered(object, object.metadata)))

/** kind and apiVersion come first, so that a list of built-in objects can strip them from the stored bytes without parsing. */
function ordered(object: KubeObject, metadata: ObjectMeta): KubeObject {
  const { kind, apiVersion } = object
  const result = { kind, apiVersion, metadata }
  for (const key of Object.keys(object))
    if (key !== 'kind' && key !== 'apiVersion' && key !== 'metadata')
      setOwn(result, key, (object as unknown as Record<string, unknown>)[key])
  return result as KubeObject
}

/** The length in bytes of `{"kind":…,"apiVersion":…,` at the start of encoded objects. */
export function typePrefixLength(kind: string, apiVersion: string): number {
  return Buffer.byteLength(`{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`)
}

export function convertTo(served: Served, object: KubeObject, apiVersion: string): KubeObject {
  if (object.apiVersion === apiVersion) return object
  const convert = served.definition.convert
  return convert === undefined ? { ...object, apiVersion } : convert(object, apiVersion)
}

/** A stored object as the current schema reads it: a custom resource written under an older schema is pruned and defaulted. */
export const readVersion = (served: Served, version: Version): KubeObject => readAs(served, version, version.object() as KubeObject)

/** The same for a single use: a scan neither fills the cache of parsed objects nor freezes what it discards. */
export const glanceAt = (served: Served, version: Version): KubeObject => readAs(served, version, version.glance() as KubeObject)

/** For custom resources: the definition under which a version (or the object it was made from) is known to read exactly as stored. */
const unchangedUnder = new WeakMap<Version | KubeObject, KindDefinition>()

function readAs({ definition }: Served, version: Version, object: KubeObject): KubeObject {
  if (definition.readStored === undefined || unchangedUnder.get(version) === definition) return object
  const read = unchangedUnder.get(object) === definition ? object : definition.readStored(object)
  if (read === object) unchangedUnder.set(version, definition)
  return read
}

/** Whether the stored bytes of a version are exactly what this path serves, so that they can be passed on. */
export function isServedAsStored(served: Served, version: Version): boolean {
  if (served.apiVersion !== served.storageApiVersion) return false
  if (served.definition.readStored === undefined || unchangedUnder.get(version) === served.definition) return true
  glanceAt(served, version)
  return unchangedUnder.get(version) === served.definition
}

/**
 * A replacement was decoded by the same schema, and what it keeps of the old object was read by it. A new object may lack
 * fields that its kind removed and that read as their defaults; so may a converted one.
 */
const isSureToReadTheSame = (served: Served, expect: Version | undefined): boolean =>
  expect !== undefined && served.definition.readStored !== undefined && served.apiVersion === served.storageApiVersion

export interface Objects {
  readonly store: ClusterStore
  get(served: Served, namespace: string, name: string, revision?: number): Stored | undefined
  /** Every object of a resource (or of one namespace of it), frozen, in the storage version. */
  list(served: Served, namespace?: string): KubeObject[]
  /** Writes `object` (storage version) if the stored object is still `expect`; resolves when it is durable. */
  put(served: Served, object: KubeObject, expect: Version | undefined): Promise<CommitResult>
  remove(served: Served, object: KubeObject, expect: Version): Promise<CommitResult>
  /** Runs `work` while no other writer of that object runs. */
  exclusively<T>(served: Served, namespace: string, name: string, work: () => Promise<T>): Promise<T>
}

export function createObjects(store: ClusterStore): Objects {
  const locks = new Map<string, Promise<unknown>>()
  return {
    store,
    get(served, namespace, name, revision) {
      const version = store.get(keyOf(served, namespace, name), revision)
      return version === undefined ? undefined : { version, object: readVersion(served, version) }
    },
    list(served, namespace = '') {
      return store.range(prefixOf(served, namespace)).versions.map((version) => readVersion(served, version))
    },
    put(served, object, expect) {
      const key = keyOf(served, object.metadata.namespace ?? '', object.metadata.name ?? '')
      const encode = (revision: number): ReturnType<typeof stamped> => {
        const made = stamped(object, revision)
        if (isSureToReadTheSame(served, expect)) unchangedUnder.set(made.object, served.definition)
        return made
      }
      return store.commit({ key, expect: expect?.revision ?? 'absent', type: 'put', encode })
    },
    remove(served, object, expect) {
      const key = keyOf(served, object.metadata.namespace ?? '', object.metadata.name ?? '')
      return store.commit({ key, expect: expect.revision, type: 'delete', encode: (revision) => stamped(object, revision) })
    },
    async exclusively(served, namespace, name, work) {
      const key = keyOf(served, namespace, name)
      const before = locks.get(key)
      const mine = before === undefined ? work() : before.then(work, work)
      const settled = mine.then(noop, noop)
      locks.set(key, settled)
      try {
        return await mine
      } finally {
        if (locks.get(key) === settled) locks.delete(key)
      }
    },
  }
}

/** The order people know from kubectl, whatever order the fields were set in. */
function orderedMetadata(metadata: ObjectMeta): ObjectMeta {
  const ordered: Record<string, unknown> = {}
  for (const field of METADATA_FIELDS) if (metadata[field] !== undefined) ordered[field] = metadata[field]
  return ordered
}

function stamped(object: KubeObject, revision: number): { text: ByteText; object: KubeObject } {
  const value = ordered(object, orderedMetadata({ ...object.metadata, resourceVersion: String(revision) }))
  const text = utf8Of(JSON.stringify(value))
  written.set(value, text)
  return { text, object: value }
}

const written = new WeakMap<KubeObject, ByteText>()

/** The text of an object that was written in this process; undefined for any other object and for copies. */
export const writtenText = (object: KubeObject): ByteText | undefined => written.get(object)

function noop(): void {
  // The next in the queue only needs to know that the previous one is over, however it ended.
}

/** A private copy that rules and admission may change. */
export const mutableCopy = (object: KubeObject): KubeObject => deepClone(object)
