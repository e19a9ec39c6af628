/**
 * Who owns whom, over every resource of a cluster: metadata-only informers for all of them, with an index from an owner's
 * uid to its dependents. Resources that appear later (custom ones) are followed as soon as discovery shows them.
 */
import type { Clock } from '../../../base/clock.ts'
import type { Random } from '../../../base/random.ts'
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../client/builtin-resources.ts'
import { type CacheEvent, type Informer, startInformer } from '../../../client/cache/informer.ts'
import type { Client } from '../../../client/client.ts'
import { type Discovered, discoverResources } from '../../../client/discovery.ts'
import type { Resource } from '../../../client/resource.ts'
import type { KubeObject, OwnerReference } from '../../../kube/meta.ts'
import { parseGroupVersion } from '../../../kube/meta.ts'
import type { Dependent } from './plan.ts'

export interface OwnerGraph {
  get(resource: Resource, namespace: string, name: string): KubeObject | undefined
  dependentsOf(uid: string): Dependent[]
  /** The resource an owner reference names; undefined when it is not served. */
  resourceOf(reference: OwnerReference): Resource | undefined
  resourceByKey(key: string): Resource | undefined
  /** Newest revision seen of a resource. */
  revisionOf(resource: Resource): number
  ready(): Promise<void>
  stop(): void
}

export interface GraphOptions {
  client: Client
  clock: Clock
  random: Random
  onEvent(resource: Resource, event: CacheEvent): void
  onError(error: unknown): void
}

export const keyOfResource = (resource: Resource): string => `${resource.group}/${resource.version}/${resource.plural}`
const BY_OWNER = 'owner'
/** Events and leases come in great numbers and nobody owns them: following them would cost the most and bring nothing. */
const IGNORED = new Set(['/events', 'events.k8s.io/events', 'coordination.k8s.io/leases'])

export function createOwnerGraph(options: GraphOptions): OwnerGraph {
  const followed = new Map<string, { resource: Resource; informer: Informer; stop: AbortController }>()
  const stopping = new AbortController()
  let refreshing: Promise<void> = Promise.resolve()
  const definitions = startInformer({ ...options, resource: CUSTOM_RESOURCE_DEFINITIONS, signal: stopping.signal, project: metadataOnly })
  const refresh = (): void => {
    refreshing = refreshing.then(followAll, followAll)
  }
  const unsubscribe = definitions.subscribe(refresh)
  refresh()

  async function followAll(): Promise<void> {
    if (stopping.signal.aborted) return
    try {
      const resources = (await discoverResources(options.client)).filter(isFollowed)
      const wanted = new Set(resources.map(keyOfResource))
      for (const [key, one] of followed)
        if (!wanted.has(key)) {
          one.stop.abort()
          followed.delete(key)
        }
      for (const resource of resources) if (!followed.has(keyOfResource(resource))) follow(resource)
    } catch (error) {
      if (!stopping.signal.aborted) options.onError(error)
    }
  }

  function follow(resource: Resource): void {
    const stop = new AbortController()
    stopping.signal.addEventListener('abort', () => stop.abort(), { once: true, signal: stop.signal })
    const { client, clock, random } = options
    const informer = startInformer({ client, clock, random, resource, signal: stop.signal, project: metadataOnly, onError: options.onError })
    informer.addIndex(BY_OWNER, (object) => (object.metadata.ownerReferences ?? []).map((reference) => reference.uid))
    informer.subscribe((event) => options.onEvent(resource, event))
    followed.set(keyOfResource(resource), { resource, informer, stop })
  }

  return {
    get: (resource, namespace, name) => followed.get(keyOfResource(resource))?.informer.get(namespace, name),
    dependentsOf(uid) {
      const found: Dependent[] = []
      for (const { resource, informer } of followed.values()) for (const object of informer.byIndex(BY_OWNER, uid)) found.push({ resource, object })
      return found
    },
    resourceOf(reference) {
      const { group } = parseGroupVersion(reference.apiVersion)
      for (const { resource } of followed.values()) if (resource.group === group && resource.kind === reference.kind) return resource
      return undefined
    },
    resourceByKey: (key) => followed.get(key)?.resource,
    revisionOf: (resource) => followed.get(keyOfResource(resource))?.informer.revision ?? 0,
    async ready() {
      await refreshing
      await Promise.all([...followed.values()].map(({ informer }) => informer.synced()))
    },
    stop() {
      unsubscribe()
      stopping.abort()
    },
  }
}

const isFollowed = (resource: Discovered): boolean =>
  ['list', 'watch', 'delete'].every((verb) => resource.verbs.includes(verb)) && !IGNORED.has(`${resource.group}/${resource.plural}`)

function metadataOnly(object: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, ownerReferences, finalizers, deletionTimestamp } = object.metadata
  return { apiVersion: object.apiVersion, kind: object.kind, metadata: { name, namespace, uid, resourceVersion, ownerReferences, finalizers, deletionTimestamp } }
}
