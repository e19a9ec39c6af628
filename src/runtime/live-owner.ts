/** Live reads before a write that must not be caused by a stale cache. */
import type { Client } from '../client/client.ts'
import { ifFound } from '../client/errors.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'

/**
 * Whether the owner's spec is still the one that was seen. Caches may be stale, and of different age: an old desired state
 * next to newer children looks as if the children should be removed. When this is false, the missing event is still to come
 * and enqueues the key.
 */
export async function isFresh(client: Client, resource: Resource, owner: KubeObject): Promise<boolean> {
  return (await liveOwner(client, resource, owner))?.metadata.generation === owner.metadata.generation
}

/** Whether not even its status has changed since: then what it counted has not changed either. */
export async function isUnchanged(client: Client, resource: Resource, owner: KubeObject): Promise<boolean> {
  return (await liveOwner(client, resource, owner))?.metadata.resourceVersion === owner.metadata.resourceVersion
}

/** Undefined when it is gone, or replaced by another of the same name. */
export async function liveOwner(client: Client, resource: Resource, { metadata }: KubeObject): Promise<KubeObject | undefined> {
  const { namespace, name = '', uid } = metadata
  const live = await ifFound(client.get(resource, { namespace, name }))
  return live?.metadata.uid === uid ? live : undefined
}
