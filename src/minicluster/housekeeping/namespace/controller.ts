/**
 * Empties namespaces that are being deleted, and finalizes them when they are empty. Sole writer of: the finalizer
 * `kubernetes` in spec.finalizers and the deletion conditions of a namespace's status. Reads: the metadata of everything
 * in the namespace, and before the last step the server itself. Runs again when something in it is deleted or
 * marked for deletion. Deletion: this is the deletion.
 */

import type { ClusterCache } from '../../../client/cache/cluster-cache.ts'
import type { Client } from '../../../client/client.ts'
import { type Discovered, discoverResources } from '../../../client/discovery.ts'
import { isNotFound } from '../../../client/errors.ts'
import { EVERY_RESOURCE, NAMESPACES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { keyOfResource, type Resource } from '../../../kube/resource.ts'
import { type Action, type Controller, defineController, NOTHING_TO_DO, type Plan, type Signal } from '../../../runtime/controller.ts'
import { deletionConditions, type Remaining } from './conditions.ts'

const FINALIZER = 'kubernetes'
const RESYNC_MS = 1000

export interface Observed {
  namespace: KubeObject | undefined
  /** What still exists there; undefined when it was not read because nothing is being deleted. */
  remaining: readonly Remaining[] | undefined
  /** Some of it is in no cache (events, objects just created), so only another read shows when it is gone. */
  isUnwatched: boolean
  nowMs: number
}

export function namespaceLifecycle(clusterCache: ClusterCache): Controller {
  return defineController<Observed>({
    name: 'minicluster.housekeeping.namespace',
    for: NAMESPACES,
    signals: [leavers(clusterCache)],
    writes: [
      { resource: EVERY_RESOURCE, verbs: ['deletecollection'] },
      { resource: NAMESPACES, subresource: 'finalize', verbs: ['update'] },
      { resource: NAMESPACES, subresource: 'status', verbs: ['patch'] },
    ],
    // What is left is counted on the server itself: a cache may be behind.
    reads: [{ resource: EVERY_RESOURCE, verbs: ['list'] }],
    concurrency: 4,
    async observe(ref, namespace, read, client) {
      const isGoing = namespace?.metadata.deletionTimestamp !== undefined && finalizersOf(namespace).includes(FINALIZER)
      const remaining = isGoing ? await contentOf(ref.name, clusterCache, client) : undefined
      const isKnown = (resource: Resource, { metadata }: KubeObject): boolean =>
        clusterCache.get(resource, ref.name, metadata.name ?? '') !== undefined
      const isUnwatched = (remaining ?? []).some(({ resource, objects }) => objects.some((object) => !isKnown(resource, object)))
      return { namespace, remaining, isUnwatched, nowMs: read.nowMs() }
    },
    plan,
  })
}

export function plan({ namespace, remaining, isUnwatched, nowMs }: Observed): Plan {
  if (namespace === undefined || remaining === undefined) return NOTHING_TO_DO
  if (remaining.length === 0) {
    const spec = { ...(namespace.spec as object), finalizers: finalizersOf(namespace).filter((name) => name !== FINALIZER) }
    return { actions: [{ do: 'update', resource: NAMESPACES, object: { ...namespace, spec }, subresource: 'finalize' }] }
  }
  const requeueAfterMs = isUnwatched ? RESYNC_MS : undefined
  const untouched = remaining.filter(({ objects }) => objects.some((object) => object.metadata.deletionTimestamp === undefined))
  // Objects not yet marked for deletion say nothing about what will remain: the conditions wait for the next pass.
  if (untouched.length > 0) {
    const actions = untouched.map(
      ({ resource }): Action => ({ do: 'delete-collection', resource, namespace: namespace.metadata.name ?? '' }),
    )
    return { actions, requeueAfterMs }
  }
  const conditions = deletionConditions(namespace, remaining, nowMs)
  if (conditions === undefined) return { actions: [], requeueAfterMs }
  return {
    actions: [{ do: 'patch', resource: NAMESPACES, of: namespace, patch: { status: { conditions } }, subresource: 'status' }],
    requeueAfterMs,
  }
}

const finalizersOf = (namespace: KubeObject): string[] => (namespace.spec as { finalizers?: string[] } | undefined)?.finalizers ?? []

/** The namespace of every object that is deleted or marked for deletion. */
function leavers(clusterCache: ClusterCache): Signal {
  return {
    subscribe: (enqueue) =>
      clusterCache.subscribe((_resource, { type, object }) => {
        const { namespace, deletionTimestamp } = object.metadata
        if (namespace !== undefined && (type === 'deleted' || deletionTimestamp !== undefined)) enqueue({ namespace: '', name: namespace })
      }),
  }
}

/** The cache answers as long as it holds anything; only the server can say that nothing is left. */
async function contentOf(namespace: string, clusterCache: ClusterCache, client: Client): Promise<Remaining[]> {
  const known = new Map<string, Remaining & { objects: KubeObject[] }>()
  for (const { resource, object } of clusterCache.inNamespace(namespace)) {
    const one = known.get(keyOfResource(resource))
    if (one === undefined) known.set(keyOfResource(resource), { resource, objects: [object] })
    else one.objects.push(object)
  }
  return known.size > 0 ? [...known.values()] : listContent(client, namespace)
}

async function listContent(client: Client, namespace: string): Promise<Remaining[]> {
  const resources = (await discoverResources(client)).filter(isDeletable)
  const found = await Promise.all(
    resources.map(async (resource) => {
      try {
        return { resource, objects: (await client.list(resource, { namespace })).items }
      } catch (error) {
        // The resource went away between discovery and now.
        if (isNotFound(error)) return { resource, objects: [] }
        throw error
      }
    }),
  )
  return found.filter((one) => one.objects.length > 0)
}

const isDeletable = (resource: Discovered): boolean =>
  resource.namespaced && resource.verbs.includes('list') && resource.verbs.includes('deletecollection')
