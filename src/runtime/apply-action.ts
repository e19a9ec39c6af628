/** Applies one action of a plan, and returns how to tell whether a cache has seen it. */
import type { Informer } from '../client/cache/informer.ts'
import type { Client } from '../client/client.ts'
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from '../client/errors.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'
import type { Action } from './controller.ts'
import { holdsApplied } from './owned-subset.ts'

/** A write that was sent and answered. */
export interface Written {
  resource: Resource
  /** Undefined: the controller's own cluster. */
  cluster?: string
  /** As the server returned it; undefined where the answer is not the object. */
  object?: KubeObject
  /** The object was already gone: the write had no effect, but the cache must show that before the next decision. */
  isGone?: boolean
  /** Whether this cache of the resource already shows the write, or something newer. */
  isSeenBy(informer: Informer): boolean
}

export interface Writer {
  client: Client
  /** Field manager of every write: the controller's name. */
  manager: string
  /** The cache of a resource, where there is one. */
  informerOf(resource: Resource): Informer | undefined
}

/** Undefined when nothing had to be sent, or the write had no effect. */
export async function applyAction(writer: Writer, action: Action): Promise<Written | undefined> {
  const written = await send(writer, action)
  return written === undefined || action.cluster === undefined ? written : { ...written, cluster: action.cluster }
}

async function send(writer: Writer, action: Action): Promise<Written | undefined> {
  const { client, manager: fieldManager } = writer
  switch (action.do) {
    case 'apply': {
      const { namespace = '', name = '' } = action.object.metadata
      const live = writer.informerOf(action.resource)?.get(namespace, name)
      if (live !== undefined && holdsApplied(live, action.object, fieldManager)) return undefined
      return unlessTerminating(async () =>
        wrote(
          action.resource,
          await client.apply(action.resource, action.object, { fieldManager, force: true, subresource: action.subresource }),
        ),
      )
    }
    case 'create':
      return create(writer, action)
    case 'patch': {
      const { metadata } = action.of
      const own = (action.patch.metadata ?? {}) as Record<string, unknown>
      const body = { ...action.patch, metadata: { ...own, resourceVersion: metadata.resourceVersion } }
      const of = { namespace: metadata.namespace, name: metadata.name ?? '' }
      return unlessGone(action.resource, action.of, async () =>
        wrote(
          action.resource,
          await client.patch(action.resource, of, { type: 'merge', body, subresource: action.subresource, fieldManager }),
        ),
      )
    }
    case 'update':
      return unlessGone(action.resource, action.object, async () =>
        wrote(action.resource, await client.update(action.resource, action.object, { subresource: action.subresource, fieldManager })),
      )
    case 'post': {
      const { namespace, name } = action.of.metadata
      const body = { ...action.body, metadata: { ...action.body.metadata, namespace, name } }
      await client.create(action.resource, body, { subresource: action.subresource, fieldManager })
      return { resource: action.resource, isSeenBy: movedFrom(action.of) }
    }
    case 'delete':
      return remove(client, action)
    case 'delete-collection':
      await client.deleteCollection(action.resource, { namespace: action.namespace })
      return undefined
  }
}

/** What the server now has for the object a write was meant for: the cache must catch up with it, or with something newer. */
export async function outcomeOf(client: Client, action: Action): Promise<Written> {
  return { ...(await stateOf(client, action)), cluster: action.cluster }
}

async function stateOf(client: Client, action: Action): Promise<Written> {
  const { resource } = action
  if (action.do === 'delete-collection') return { resource, isSeenBy: () => true }
  const { namespace = '', name = '' } = ('of' in action ? action.of : action.object).metadata
  try {
    return wrote(resource, await client.get(resource, { namespace, name }))
  } catch (error) {
    if (!isNotFound(error)) throw error
    let stale: string | undefined
    return {
      resource,
      // Gone, or no longer the stale version of an object that the server does not have.
      isSeenBy(informer) {
        const version = informer.get(namespace, name)?.metadata.resourceVersion
        stale ??= version
        return version === undefined || version !== stale
      },
    }
  }
}

/** An object that has gone since it was seen needs no write, and no event is recorded for it. */
async function unlessGone(resource: Resource, seen: KubeObject, write: () => Promise<Written>): Promise<Written> {
  try {
    return await write()
  } catch (error) {
    const { namespace = '', name = '', uid } = seen.metadata
    if (!isNotFound(error) || uid === undefined) throw error
    return { resource, isGone: true, isSeenBy: (informer) => informer.get(namespace, name)?.metadata.uid !== uid }
  }
}

/** What is gone, and was to be made again, needs no more: its namespace goes, too. */
async function unlessTerminating(write: () => Promise<Written>): Promise<Written | undefined> {
  try {
    return await write()
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined
    throw error
  }
}

async function create({ client, manager }: Writer, action: Extract<Action, { do: 'create' }>): Promise<Written | undefined> {
  const { resource, object, mustBeNew = false } = action
  try {
    return wrote(resource, await client.create(resource, object, { fieldManager: manager }))
  } catch (error) {
    // It already exists, or its namespace is terminating or gone, so there is nothing to create it for.
    if (!mustBeNew && (isAlreadyExists(error) || isNamespaceTerminating(error) || isNotFound(error))) return undefined
    throw error
  }
}

function remove(client: Client, action: Extract<Action, { do: 'delete' }>): Promise<Written> {
  const { namespace, name = '', uid } = action.of.metadata
  const options = { preconditions: { uid }, propagationPolicy: action.propagation, gracePeriodSeconds: action.gracePeriodSeconds }
  return unlessGone(action.resource, action.of, async () => {
    await client.delete(action.resource, { namespace, name }, options)
    return {
      resource: action.resource,
      isSeenBy(informer) {
        const cached = informer.get(namespace ?? '', name)
        return cached === undefined || cached.metadata.uid !== uid || cached.metadata.deletionTimestamp !== undefined
      },
    }
  })
}

function wrote(resource: Resource, object: KubeObject): Written {
  const revision = Number(object.metadata.resourceVersion ?? 0)
  return { resource, object, isSeenBy: (informer) => informer.revision >= revision }
}

/** The answer does not say which revision was written, so any version other than the old one counts as having seen it. */
function movedFrom(of: KubeObject): (informer: Informer) => boolean {
  const { namespace = '', name = '', resourceVersion } = of.metadata
  return (informer) => informer.get(namespace, name)?.metadata.resourceVersion !== resourceVersion
}
