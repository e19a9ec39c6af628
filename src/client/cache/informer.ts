/**
 * An informer: a frozen, indexed copy of one resource that follows the server by list and watch. It may skip intermediate
 * states but never goes back in time; after a 410 or an unreadable stream it lists again and reports the difference.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import { deepFreeze } from '../../base/json.ts'
import type { Random } from '../../base/random.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Client, WatchEvent } from '../client.ts'
import { ApiError, isExpired } from '../errors.ts'
import { TransportError } from '../transport.ts'
import { type CacheEvent, type IndexFunction, ObjectCache } from './object-cache.ts'

export interface Informer {
  readonly resource: Resource
  readonly hasSynced: boolean
  /** Lists or watches are failing and being retried. */
  readonly isFailing: boolean
  /** Newest revision the cache has seen; bookmarks advance it too. */
  readonly revision: number
  /** Objects held. */
  readonly size: number
  /** When the server was last heard from: an event, a bookmark, a list. */
  readonly lastContactMs: number
  get(namespace: string, name: string): KubeObject | undefined
  list(namespace?: string): KubeObject[]
  /** Objects that an index has under `value`; the index must have been added before. */
  byIndex(index: string, value: string): KubeObject[]
  addIndex(index: string, of: IndexFunction): void
  /** Also called for every existing object. Handlers must not throw. Returns how to unsubscribe. */
  subscribe(handler: (event: CacheEvent) => void): () => void
  /** Resolves when the first list is in. */
  synced(): Promise<void>
  /** Resolves as soon as `condition` holds, checked after every change of the cache; or when the informer stops. */
  until(condition: () => boolean): Promise<void>
}

export interface InformerOptions {
  client: Client
  clock: Clock
  random: Random
  resource: Resource
  namespace?: string
  labelSelector?: string
  /** The part of an object that is kept; default: everything but managedFields. */
  project?(object: KubeObject): KubeObject
  signal: AbortSignal
  /** Called for every list or watch that fails, before the retry. */
  onError?(error: unknown): void
}

const MIN_BACKOFF_MS = 200
const MAX_BACKOFF_MS = 30_000
const MIN_WATCH_SECONDS = 300
/** A watch that ends sooner than this without an event counts as failed. */
const SHORT_WATCH_MS = 1000

/** Starts immediately; stops with the signal. */
export function startInformer(options: InformerOptions): Informer {
  const informer = new ListWatch(options)
  void informer.run()
  return informer
}

class ListWatch implements Informer {
  readonly resource: Resource
  readonly #options: InformerOptions
  readonly #cache = new ObjectCache()
  readonly #waiting = new Set<() => void>()
  #revision = 0
  #lastContactMs = 0
  #hasSynced = false
  /** Consecutive failures: the next delay grows with them. */
  #failures = 0
  #isFailing = false

  constructor(options: InformerOptions) {
    this.#options = options
    this.resource = options.resource
  }

  get hasSynced(): boolean {
    return this.#hasSynced
  }

  get isFailing(): boolean {
    return this.#isFailing
  }

  get revision(): number {
    return this.#revision
  }

  get size(): number {
    return this.#cache.size
  }

  get lastContactMs(): number {
    return this.#lastContactMs
  }

  get(namespace: string, name: string): KubeObject | undefined {
    return this.#cache.get(namespace, name)
  }

  list(namespace?: string): KubeObject[] {
    return this.#cache.list(namespace)
  }

  byIndex(name: string, value: string): KubeObject[] {
    const found = this.#cache.byIndex(name, value)
    if (found === undefined) throw new Error(`informer of ${this.resource.plural} has no index ${name}`)
    return found
  }

  addIndex(name: string, of: IndexFunction): void {
    this.#cache.addIndex(name, of)
  }

  subscribe(handler: (event: CacheEvent) => void): () => void {
    return this.#cache.subscribe(handler)
  }

  synced(): Promise<void> {
    return this.until(() => this.#hasSynced)
  }

  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition() && !this.#options.signal.aborted) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }

  async run(): Promise<void> {
    const { clock, random, signal } = this.#options
    // Anything waiting for an event of a server that is no longer followed would wait for ever.
    signal.addEventListener('abort', () => this.#changed(), { once: true })
    let mustList = true
    while (!signal.aborted) {
      try {
        if (mustList) await this.#relist()
        mustList = false
        await this.#follow()
      } catch (error) {
        if (signal.aborted) return
        this.#isFailing = true
        this.#options.onError?.(error)
        mustList ||= !canResumeAfter(error)
        const backoff = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** this.#failures)
        // A first 410 is normal after a long silence; a server that keeps returning it is not.
        const isRoutine = isExpired(error) && this.#failures === 0
        this.#failures = Math.min(this.#failures + 1, 30)
        await sleep(clock, isRoutine ? 0 : backoff * (0.5 + random.next() / 2), signal)
      }
    }
  }

  async #relist(): Promise<void> {
    const { client, namespace, labelSelector, signal } = this.#options
    const result = await client.list(this.resource, { namespace, labelSelector, signal })
    if (signal.aborted) return
    this.#cache.replace(result.items.map((item) => this.#kept(item)))
    this.#revision = Number(result.resourceVersion)
    this.#lastContactMs = this.#options.clock.now()
    this.#hasSynced = true
    this.#changed()
  }

  async #follow(): Promise<void> {
    const { client, clock, random, namespace, labelSelector, signal } = this.#options
    const startedMs = clock.now()
    let isSilent = true
    const onOpen = (): void => {
      this.#isFailing = false
    }
    const timeoutSeconds = Math.round(MIN_WATCH_SECONDS * (1 + random.next()))
    const resourceVersion = String(this.#revision)
    for await (const event of client.watch(this.resource, { namespace, labelSelector, signal, resourceVersion, timeoutSeconds, onOpen })) {
      if (signal.aborted) return
      this.#take(event)
      isSilent = false
      this.#failures = 0
    }
    if (isSilent && !signal.aborted && clock.now() - startedMs < SHORT_WATCH_MS) throw new TransportError('the watch ended at once')
    this.#failures = 0
  }

  #take(event: WatchEvent): void {
    this.#lastContactMs = this.#options.clock.now()
    const seen = Number(event.object.metadata.resourceVersion)
    // Delivered twice, or late: the cache is already newer.
    if (!(seen > this.#revision)) return
    if (event.type === 'DELETED') this.#cache.remove(this.#kept(event.object))
    else if (event.type !== 'BOOKMARK') this.#cache.put(this.#kept(event.object))
    this.#revision = seen
    this.#changed()
  }

  #kept(object: KubeObject): KubeObject {
    return deepFreeze((this.#options.project ?? withoutManagedFields)(object))
  }

  #changed(): void {
    for (const look of [...this.#waiting]) look()
  }
}

/** A cut connection or a busy server leaves no gap; anything else (410, an unreadable answer) requires a fresh list. */
function canResumeAfter(error: unknown): boolean {
  if (error instanceof TransportError) return true
  return error instanceof ApiError && (error.code === 429 || error.code >= 500)
}

function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) return object
  const { managedFields: _dropped, ...metadata } = object.metadata
  return { ...object, metadata }
}
