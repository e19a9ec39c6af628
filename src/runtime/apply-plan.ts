/** Carries out a plan, one action after the other, and reports the revision of the last write to each object. */
import type { Client } from '../client/client.ts'
import { isAlreadyExists, isNotFound } from '../client/errors.ts'
import type { Resource } from '../client/resource.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Action } from './controller.ts'

export interface Written {
  resource: Resource
  revision: number
}

export async function applyAction(client: Client, action: Action, manager: string): Promise<Written | undefined> {
  switch (action.do) {
    case 'apply':
      return wrote(action.resource, await client.apply(action.resource, action.object, { fieldManager: manager, force: true }))
    case 'create':
      return create(client, action.resource, action.object, manager)
    case 'patch': {
      const { metadata } = action.of
      const own = (action.patch.metadata ?? {}) as Record<string, unknown>
      const body = { ...action.patch, metadata: { ...own, resourceVersion: metadata.resourceVersion } }
      const of = { namespace: metadata.namespace, name: metadata.name ?? '' }
      return wrote(action.resource, await client.patch(action.resource, of, { type: 'merge', body, subresource: action.subresource, fieldManager: manager }))
    }
    case 'update':
      return wrote(action.resource, await client.update(action.resource, action.object, { subresource: action.subresource, fieldManager: manager }))
    case 'delete':
      return remove(client, action)
    case 'delete-collection':
      await client.deleteCollection(action.resource, { namespace: action.namespace })
      return undefined
  }
}

async function create(client: Client, resource: Resource, object: KubeObject, manager: string): Promise<Written | undefined> {
  try {
    return wrote(resource, await client.create(resource, object, { fieldManager: manager }))
  } catch (error) {
    if (isAlreadyExists(error)) return undefined
    throw error
  }
}

async function remove(client: Client, action: Extract<Action, { do: 'delete' }>): Promise<Written | undefined> {
  const { namespace, name = '', uid } = action.of.metadata
  try {
    await client.delete(action.resource, { namespace, name }, { preconditions: { uid }, propagationPolicy: action.propagation })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return undefined
}

function wrote(resource: Resource, object: KubeObject): Written {
  return { resource, revision: Number(object.metadata.resourceVersion ?? 0) }
}
