/**
 * Empties namespaces that are being deleted, and lets them go when they are empty. Sole writer of: the finalizer
 * `kubernetes` in spec.finalizers and the deletion conditions of a namespace's status. Reads: everything that lives in
 * the namespace, live, because it cannot watch what it does not know. Runs again while something remains.
 */
import { NAMESPACES } from '../../../client/builtin-resources.ts'
import type { Client } from '../../../client/client.ts'
import { isNotFound } from '../../../client/errors.ts'
import { discoverResources, type Discovered } from '../../../client/discovery.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Action, defineController, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { deletionConditions, type Remaining } from './conditions.ts'

const FINALIZER = 'kubernetes'
const LOOK_AGAIN_MS = 500

export interface Observed {
  namespace: KubeObject | undefined
  /** What still lives there; undefined when nobody looked because nothing is being deleted. */
  remaining: Remaining[] | undefined
  nowMs: number
}

export const namespaceLifecycle = defineController<Observed>({
  name: 'minicluster.housekeeping.namespace',
  for: NAMESPACES,
  writes: [
    { resource: NAMESPACES, subresource: 'finalize', verbs: ['update'] },
    { resource: NAMESPACES, subresource: 'status', verbs: ['patch'] },
  ],
  concurrency: 4,
  async observe(ref, namespace, read, client) {
    const isGoing = namespace?.metadata.deletionTimestamp !== undefined && finalizersOf(namespace).includes(FINALIZER)
    return { namespace, remaining: isGoing ? await lookInto(client, ref.name) : undefined, nowMs: read.nowMs() }
  },
  plan,
})

export function plan({ namespace, remaining, nowMs }: Observed): Plan {
  if (namespace === undefined || remaining === undefined) return NOTHING_TO_DO
  if (remaining.length === 0) {
    const spec = { ...(namespace.spec as object), finalizers: finalizersOf(namespace).filter((name) => name !== FINALIZER) }
    return { actions: [{ do: 'update', resource: NAMESPACES, object: { ...namespace, spec }, subresource: 'finalize' }] }
  }
  const actions: Action[] = remaining
    .filter((one) => one.objects.some((object) => object.metadata.deletionTimestamp === undefined))
    .map((one) => ({ do: 'delete-collection', resource: one.resource, namespace: namespace.metadata.name ?? '' }))
  const conditions = deletionConditions(namespace, remaining, nowMs)
  if (conditions !== undefined) actions.push({ do: 'patch', resource: NAMESPACES, of: namespace, patch: { status: { conditions } }, subresource: 'status' })
  return { actions, recheckAfterMs: LOOK_AGAIN_MS }
}

const finalizersOf = (namespace: KubeObject): string[] => (namespace.spec as { finalizers?: string[] } | undefined)?.finalizers ?? []

async function lookInto(client: Client, namespace: string): Promise<Remaining[]> {
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

const isDeletable = (resource: Discovered): boolean => resource.namespaced && resource.verbs.includes('list') && resource.verbs.includes('deletecollection')
