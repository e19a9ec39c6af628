/** The informers of one API server, one per resource, shared by everybody who reads it. */
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Client } from '../client.ts'
import type { Resource } from '../resource.ts'
import { type Informer, startInformer } from './informer.ts'

export interface Caches {
  /** The informer of a resource, started on first use. `project` counts only then. */
  of(resource: Resource, project?: (object: KubeObject) => KubeObject): Informer
  /** Resolves when every informer asked for so far has its first list. */
  synced(): Promise<void>
  stop(): void
}

export interface CachesOptions {
  client: Client
  clock: Clock
  random: Random
  onError?(error: unknown, resource: Resource): void
}

export function createCaches(options: CachesOptions): Caches {
  const informers = new Map<string, Informer>()
  const stopping = new AbortController()
  return {
    of(resource, project) {
      const key = `${resource.group}/${resource.version}/${resource.plural}`
      let informer = informers.get(key)
      if (informer === undefined) {
        const { client, clock, random } = options
        const onError = (error: unknown): void => options.onError?.(error, resource)
        informer = startInformer({ client, clock, random, resource, project, signal: stopping.signal, onError })
        informers.set(key, informer)
      }
      return informer
    },
    async synced() {
      await Promise.all([...informers.values()].map((informer) => informer.synced()))
    },
    stop: () => stopping.abort(),
  }
}
