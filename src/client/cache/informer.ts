/**
 * An informer: a frozen, indexed copy of one resource that follows the server by list and watch. It may skip states in
 * between but never goes back in time; after a 410 or an unreadable stream it lists again and reports the difference.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import { deepFreeze } from '../../base/json.ts'
import type { Random } from '../../base/random.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Client, WatchEvent } from '../client.ts'
import { ApiError, isExpired } from '../errors.ts'
import type { Resource } from '../resource.ts'
import { TransportError } from '../transport.ts'
import { type CacheEvent, type IndexFunction, ObjectCache } from './object-cache.ts'

export interface Informer {
  readonly resource: Resource
  readonly hasSynced: boolean
  /** Lists or watches fail and are being tried again. */
  readonly isFailing: boolean
  /** Newest revision the cache has seen; grows also by bookmarks. */
  readonly revision: number
  get(namespace: string, name: string): KubeObject | undefined
  list(namespace?: string): KubeObject[]
  /** Objects an index knows under `value`; the index must have been added before. */
  byIndex(index: string, value: string): KubeObject[]
  addIndex(index: string, of: IndexFunction): void
  /** Also called for everything already there. Handlers must not throw. Returns how to stop. */
  subscribe(handler: (event: CacheEvent) => void): () => void
  /** Resolves when the first list is in. */
  synced(): Promise<void>
  /** Resolves as soon as `condition` holds; looked at after every change of the cache. */
  until(condition: () => boolean): Promise<void>
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
/** A watch that ends sooner than this without a word is as good as one that failed. */
const SHORT_WATCH_MS = 1000

export function startInformer(options: InformerOptions): Informer {
  const { clock, random, signal } = options
  const cache = new ObjectCache()
  const project = options.project ?? withoutManagedFields
  const waiting = new Set<() => void>()
  let revision = 0
  let hasSynced = false
  /** In a row: what the next delay grows with. */
  let failures = 0
  let isFailing = false
  const selection = { namespace: options.namespace, labelSelector: options.labelSelector, signal }

  const changed = (): void => {
    for (const look of [...waiting]) look()
  }
  const until = (condition: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })

  async function relist(): Promise<void> {
    const result = await options.client.list(options.resource, selection)
    if (signal.aborted) return
    cache.replace(result.items.map((item) => deepFreeze(project(item))))
    revision = Number(result.resourceVersion)
    hasSynced = true
    changed()
  }

  async function follow(): Promise<void> {
    const startedMs = clock.now()
    let isSilent = true
    const onOpen = (): void => {
      isFailing = false
    }
    const timeoutSeconds = Math.round(MIN_WATCH_SECONDS * (1 + random.next()))
    for await (const event of options.client.watch(options.resource, {
      ...selection,
      resourceVersion: String(revision),
      timeoutSeconds,
      onOpen,
    })) {
      if (signal.aborted) return
      take(event)
      isSilent = false
      failures = 0
    }
    if (isSilent && !signal.aborted && clock.now() - startedMs < SHORT_WATCH_MS) throw new TransportError('the watch ended at once')
    failures = 0
  }

  function take(event: WatchEvent): void {
    const seen = Number(event.object.metadata.resourceVersion)
    // Delivered twice, or late: the cache knows better already.
    if (!(seen > revision)) return
    if (event.type === 'DELETED') cache.remove(deepFreeze(project(event.object)))
    else if (event.type !== 'BOOKMARK') cache.put(deepFreeze(project(event.object)))
    revision = seen
    changed()
  }

  async function run(): Promise<void> {
    let mustList = true
    while (!signal.aborted) {
      try {
        if (mustList) await relist()
        mustList = false
        await follow()
      } catch (error) {
        if (signal.aborted) return
        isFailing = true
        options.onError?.(error)
        mustList ||= !canResumeAfter(error)
        const backoff = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** failures)
        // The first 410 is everyday life after a long silence; a server that keeps saying it is not.
        const isRoutine = isExpired(error) && failures === 0
        failures = Math.min(failures + 1, 30)
        await sleep(clock, isRoutine ? 0 : backoff * (0.5 + random.next() / 2), signal)
      }
    }
  }
  void run()

  return {
    resource: options.resource,
    get hasSynced() {
      return hasSynced
    },
    get isFailing() {
      return isFailing
    },
    get revision() {
      return revision
    },
    get: (namespace, name) => cache.get(namespace, name),
    list: (namespace) => cache.list(namespace),
    byIndex(name, value) {
      const found = cache.byIndex(name, value)
      if (found === undefined) throw new Error(`informer of ${options.resource.plural} has no index ${name}`)
      return found
    },
    addIndex: (name, of) => cache.addIndex(name, of),
    subscribe: (handler) => cache.subscribe(handler),
    synced: () => until(() => hasSynced),
    until,
  }
}

/** A cut connection or a busy server leaves no gap; anything else (410, an answer that cannot be read) calls for a fresh list. */
function canResumeAfter(error: unknown): boolean {
  if (error instanceof TransportError) return true
  return error instanceof ApiError && (error.code === 429 || error.code >= 500)
}

function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) return object
  const { managedFields: _dropped, ...metadata } = object.metadata
  return { ...object, metadata }
}
