/** The informers of one API server, one per resource, shared by all its readers. */
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfResource, type Resource } from '../../kube/resource.ts'
import type { Client } from '../client.ts'
import { type AsOf, createAsOf } from './as-of.ts'
import { type Informer, startInformer } from './informer.ts'

export interface Caches {
  /** The informer of a resource, started on first use. `project` has an effect only then. */
  of(resource: Resource, project?: (object: KubeObject) => KubeObject): Informer
  all(): readonly Informer[]
  /** The informer of a resource, if it was started. */
  known(resource: Resource): Informer | undefined
  /** Tells whether the informer of a resource reflects a revision, and asks the server where that is not known. */
  asOf(resource: Resource): AsOf
  /** Resolves when every informer asked for so far has its first list. */
  synced(): Promise<void>
  /** A line per informer that is not up to date: without its first list, or with a failing server. */
  behind(): string[]
  stop(): void
}

export interface CachesOptions {
  client: Client
  clock: Clock
  random: Random
  /**
   * Whose managedFields entries are kept on the objects (all others are dropped): a controller that applies needs its own,
   * to see what it applied before.
   */
  keepsManager?(manager: string): boolean
  /** Only objects with these labels are kept (default: all). */
  labelSelector?: string
  onError?(error: unknown, resource: Resource): void
}

export function createCaches(options: CachesOptions): Caches {
  const informers = new Map<string, Informer>()
  const asOfs = new Map<string, AsOf>()
  // One signal per informer: Node warns about many listeners on one signal.
  const stopping: AbortController[] = []
  const keepsManager = options.keepsManager ?? (() => false)
  const signalOfStop = (): AbortSignal => {
    const stop = new AbortController()
    stopping.push(stop)
    return stop.signal
  }
  const caches: Caches = {
    of(resource, project = (object) => withOwnRecords(object, keepsManager)) {
      const key = keyOfResource(resource)
      let informer = informers.get(key)
      if (informer === undefined) {
        const { client, clock, random, labelSelector } = options
        const onError = (error: unknown): void => options.onError?.(error, resource)
        informer = startInformer({ client, clock, random, resource, labelSelector, project, signal: signalOfStop(), onError })
        informers.set(key, informer)
      }
      return informer
    },
    all: () => [...informers.values()],
    asOf(resource) {
      const key = keyOfResource(resource)
      let asOf = asOfs.get(key)
      if (asOf === undefined) {
        const { client, clock } = options
        const onError = (error: unknown): void => options.onError?.(error, resource)
        asOf = createAsOf({ client, clock, informer: caches.of(resource), signal: signalOfStop(), onError })
        asOfs.set(key, asOf)
      }
      return asOf
    },
    known: (resource) => informers.get(keyOfResource(resource)),
    async synced() {
      await Promise.all([...informers.values()].map((informer) => informer.synced()))
    },
    behind: () => [...informers.values()].flatMap(stateOf),
    stop() {
      for (const one of stopping) one.abort()
    },
  }
  return caches
}

/** Empty, or one line about an informer that is not up to date. */
export function stateOf(informer: Informer): string[] {
  if (informer.isFailing) return [`the cache of ${informer.resource.plural} cannot follow its server`]
  return informer.hasSynced ? [] : [`the cache of ${informer.resource.plural} waits for its first list`]
}

function withOwnRecords(object: KubeObject, keepsManager: (manager: string) => boolean): KubeObject {
  const { managedFields, ...metadata } = object.metadata
  if (managedFields === undefined) return object
  const own = managedFields.filter((entry) => entry.operation === 'Apply' && keepsManager(entry.manager ?? ''))
  return { ...object, metadata: own.length === 0 ? metadata : { ...metadata, managedFields: own } }
}
