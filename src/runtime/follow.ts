/**
 * What a controller follows beyond its declarations: resources that only passes can name, in its own cluster and in members.
 * Each is subscribed to once, and unsubscribed when its member goes.
 */
import type { Caches } from '../client/cache/caches.ts'
import type { Informer } from '../client/cache/informer.ts'
import type { Members } from '../client/members.ts'
import { keyOfResource, type Resource } from '../kube/resource.ts'
import type { FollowedChange } from './controller.ts'

export interface FollowOptions {
  caches: Caches
  members: Members | undefined
  onChange(change: FollowedChange): void
}

export interface Following {
  follow(resource: Resource, cluster: string | undefined): Informer | undefined
  /** The cache of what is followed already. */
  informerOf(resource: Resource, cluster: string | undefined): Informer | undefined
  stop(): void
}

interface Subscription {
  informer: Informer
  stop(): void
}

export function followOnDemand({ caches, members, onChange }: FollowOptions): Following {
  const subscriptions = new Map<string, Subscription>()
  const keyOf = (resource: Resource, cluster = ''): string => `${cluster} ${keyOfResource(resource)}`
  const cachesOf = (cluster: string | undefined): Caches | undefined => (cluster === undefined ? caches : members?.get(cluster)?.caches)

  function subscribe(informer: Informer, cluster: string | undefined): Subscription {
    const { resource } = informer
    const stop = informer.subscribe(({ object, old }) => {
      if (old !== undefined) onChange({ cluster, resource, object: old })
      onChange({ cluster, resource, object })
    })
    return { informer, stop }
  }

  return {
    follow(resource, cluster) {
      const informer = cachesOf(cluster)?.of(resource)
      const key = keyOf(resource, cluster)
      const known = subscriptions.get(key)
      if (known?.informer === informer) return informer
      // The member is gone, or has a new connection and therefore other caches.
      known?.stop()
      subscriptions.delete(key)
      if (informer !== undefined) subscriptions.set(key, subscribe(informer, cluster))
      return informer
    },
    informerOf: (resource, cluster) => cachesOf(cluster)?.known(resource),
    stop() {
      for (const { stop } of subscriptions.values()) stop()
      subscriptions.clear()
    },
  }
}
