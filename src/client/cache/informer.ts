/**
 * An informer: a frozen, indexed copy of one resource that follows the server by list and watch. It may skip states in
 * between but never goes back in time; after a 410 or a broken stream it lists again and reports the difference.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import { deepFreeze } from '../../base/json.ts'
import type { Random } from '../../base/random.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Client } from '../client.ts'
import { isExpired } from '../errors.ts'
import type { Resource } from '../resource.ts'

export type ObjectKey = string

export const keyOfObject = (object: KubeObject): ObjectKey => `${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`

export interface CacheEvent {
  type: 'added' | 'updated' | 'deleted'
  object: KubeObject
  old: KubeObject | undefined
}

/** Values an object is found under; the object may have none. */
export type IndexFunction = (object: KubeObject) => readonly string[]

export interface Informer {
  readonly resource: Resource
  readonly hasSynced: boolean
  /** Newest revision the cache has seen; grows also by bookmarks. */
  readonly revision: number
  get(namespace: string, name: string): KubeObject | undefined
  list(namespace?: string): KubeObject[]
  /** Objects an index knows under `value`; the index must have been added before. */
  byIndex(index: string, value: string): KubeObject[]
  addIndex(index: string, of: IndexFunction): void
  /** Also called for everything already there. Returns how to stop. */
  subscribe(handler: (event: CacheEvent) => void): () => void
  /** Resolves when the first list is in. */
  synced(): Promise<void>
}

export interface InformerOptions {
  client: Client
  clock: Clock
  random: Random
  resource: Resource
  namespace?: string
  labelSelector?: string
  /** What of an object is kept; default: everything but managedFields. */
  project?(object: KubeObject): KubeObject
  signal: AbortSignal
  /** Told of every broken list or watch before it is tried again. */
  onError?(error: unknown): void
}

const MIN_BACKOFF_MS = 200
const MAX_BACKOFF_MS = 30_000
const MIN_WATCH_SECONDS = 300

export function startInformer(options: InformerOptions): Informer {
  const objects = new Map<ObjectKey, KubeObject>()
  const byNamespace = new Map<string, Map<string, KubeObject>>()
  const indexes = new Map<string, { of: IndexFunction; entries: Map<string, Map<ObjectKey, KubeObject>> }>()
  const handlers = new Set<(event: CacheEvent) => void>()
  const project = options.project ?? withoutManagedFields
  let revision = 0
  let hasSynced = false
  let announceSync: () => void = () => undefined
  const firstSync = new Promise<void>((resolve) => {
    announceSync = resolve
  })

  const emit = (event: CacheEvent): void => {
    for (const handler of handlers) handler(event)
  }
  const store = (object: KubeObject): void => {
    const key = keyOfObject(object)
    const old = objects.get(key)
    if (old?.metadata.resourceVersion === object.metadata.resourceVersion && old?.metadata.uid === object.metadata.uid) return
    unindex(key, old)
    objects.set(key, object)
    index(key, object)
    emit({ type: old === undefined ? 'added' : 'updated', object, old })
  }
  const remove = (object: KubeObject): void => {
    const key = keyOfObject(object)
    const old = objects.get(key)
    if (old === undefined) return
    unindex(key, old)
    objects.delete(key)
    emit({ type: 'deleted', object, old })
  }

  function index(key: ObjectKey, object: KubeObject): void {
    const namespace = object.metadata.namespace ?? ''
    const inNamespace = byNamespace.get(namespace) ?? new Map<string, KubeObject>()
    byNamespace.set(namespace, inNamespace.set(key, object))
    for (const one of indexes.values()) addTo(one, key, object)
  }

  function unindex(key: ObjectKey, old: KubeObject | undefined): void {
    if (old === undefined) return
    const namespace = old.metadata.namespace ?? ''
    const inNamespace = byNamespace.get(namespace)
    inNamespace?.delete(key)
    if (inNamespace?.size === 0) byNamespace.delete(namespace)
    for (const { of, entries } of indexes.values())
      for (const value of of(old)) {
        entries.get(value)?.delete(key)
        if (entries.get(value)?.size === 0) entries.delete(value)
      }
  }

  async function relist(): Promise<void> {
    const { client, resource, namespace, labelSelector, signal } = options
    const result = await client.list(resource, { namespace, labelSelector, signal })
    const present = new Set<ObjectKey>()
    for (const item of result.items) {
      const object = deepFreeze(project(item))
      present.add(keyOfObject(object))
      store(object)
    }
    for (const [key, object] of [...objects]) if (!present.has(key)) remove(object)
    revision = Number(result.resourceVersion)
    if (!hasSynced) {
      hasSynced = true
      announceSync()
    }
  }

  async function follow(): Promise<void> {
    const { client, resource, namespace, labelSelector, signal } = options
    const timeoutSeconds = Math.round(MIN_WATCH_SECONDS * (1 + options.random.next()))
    const events = client.watch(resource, { namespace, labelSelector, resourceVersion: String(revision), timeoutSeconds, signal })
    for await (const event of events) {
      if (signal.aborted) return
      if (event.type !== 'BOOKMARK') {
        const object = deepFreeze(project(event.object))
        if (event.type === 'DELETED') remove(object)
        else store(object)
      }
      const seen = Number(event.object.metadata.resourceVersion)
      if (seen > revision) revision = seen
    }
  }

  async function run(): Promise<void> {
    let failures = 0
    let mustList = true
    while (!options.signal.aborted) {
      try {
        if (mustList) await relist()
        mustList = false
        await follow()
        failures = 0
      } catch (error) {
        if (options.signal.aborted) return
        options.onError?.(error)
        // A gap in the history, or an answer that cannot be read: only a fresh list is certain.
        mustList ||= isExpired(error) || error instanceof SyntaxError
        const backoff = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** failures++)
        await sleep(options.clock, isExpired(error) ? 0 : backoff * (0.5 + options.random.next() / 2), options.signal)
      }
    }
  }
  void run()

  return {
    resource: options.resource,
    get hasSynced() {
      return hasSynced
    },
    get revision() {
      return revision
    },
    get: (namespace, name) => objects.get(`${namespace}/${name}`),
    list: (namespace) => [...((namespace === undefined ? objects : byNamespace.get(namespace))?.values() ?? [])],
    byIndex(name, value) {
      const found = indexes.get(name)
      if (found === undefined) throw new Error(`informer of ${options.resource.plural} has no index ${name}`)
      return [...(found.entries.get(value)?.values() ?? [])]
    },
    addIndex(name, of) {
      if (indexes.has(name)) return
      const one = { of, entries: new Map<string, Map<ObjectKey, KubeObject>>() }
      indexes.set(name, one)
      for (const [key, object] of objects) addTo(one, key, object)
    },
    subscribe(handler) {
      handlers.add(handler)
      for (const object of objects.values()) handler({ type: 'added', object, old: undefined })
      return () => handlers.delete(handler)
    },
    synced: () => firstSync,
  }
}

function addTo(index: { of: IndexFunction; entries: Map<string, Map<ObjectKey, KubeObject>> }, key: ObjectKey, object: KubeObject): void {
  for (const value of index.of(object)) {
    const found = index.entries.get(value) ?? new Map<ObjectKey, KubeObject>()
    index.entries.set(value, found.set(key, object))
  }
}

function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) return object
  const { managedFields: _dropped, ...metadata } = object.metadata
  return { ...object, metadata }
}
