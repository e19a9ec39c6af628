/** Questions to the server itself, for before a deed that an old cache must not bring about. */
import type { Client } from '../client/client.ts'
import { ifFound } from '../client/errors.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'

/**
 * Whether the owner still wants what was seen. Caches may be old, and of different age: an old wish beside newer children
 * looks like a wish to undo them. Where this is false, the news that is lacking is on its way, and wakes the controller.
 */
export async function isFresh(client: Client, resource: Resource, owner: KubeObject): Promise<boolean> {
  return (await liveOwner(client, resource, owner))?.metadata.generation === owner.metadata.generation
}

/** Whether not even its status has changed since: then what it counted has not changed either. */
export async function isUnchanged(client: Client, resource: Resource, owner: KubeObject): Promise<boolean> {
  return (await liveOwner(client, resource, owner))?.metadata.resourceVersion === owner.metadata.resourceVersion
}

/** Undefined when it is gone, or another one of the same name. */
export async function liveOwner(client: Client, resource: Resource, { metadata }: KubeObject): Promise<KubeObject | undefined> {
  const { namespace, name = '', uid } = metadata
  const live = await ifFound(client.get(resource, { namespace, name }))
  return live?.metadata.uid === uid ? live : undefined
}
