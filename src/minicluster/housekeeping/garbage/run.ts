/**
 * The garbage collector: follows ownership over all resources and carries out what `planGarbage` says. An owner missing
 * from the cache is looked up live before anything is deleted because of it.
 */
import type { Clock } from '../../../base/clock.ts'
import type { Random } from '../../../base/random.ts'
import type { CacheEvent } from '../../../client/cache/informer.ts'
import type { Client } from '../../../client/client.ts'
import { isConflict, isNotFound } from '../../../client/errors.ts'
import type { Resource } from '../../../client/resource.ts'
import type { KubeObject, OwnerReference } from '../../../kube/meta.ts'
import { applyAction } from '../../../runtime/apply-plan.ts'
import { createWorkQueue } from '../../../runtime/work-queue.ts'
import { createOwnerGraph, keyOfResource } from './graph.ts'
import { FOREGROUND, type OwnerState, planGarbage } from './plan.ts'

export const GARBAGE_COLLECTOR = 'minicluster.housekeeping.garbage'

export interface GarbageOptions {
  client: Client
  clock: Clock
  random: Random
  onError(error: unknown, controller: string, key: string): void
}

export interface GarbageCollector {
  readonly busy: number
  stop(): Promise<void>
}

const CONCURRENCY = 8
const STALE_RECHECK_MS = 20
const UNKNOWN_RECHECK_MS = 30_000

export function runGarbageCollector(options: GarbageOptions): GarbageCollector {
  const { client, clock, random } = options
  const underway = new Set<Promise<void>>()
  const wrote = new Map<string, { resource: Resource; revision: number }>()
  let isStopped = false
  let isReady = false
  const queue = createWorkQueue({ clock, random, onReady: pump })
  const graph = createOwnerGraph({ client, clock, random, onEvent, onError: (error) => options.onError(error, GARBAGE_COLLECTOR, 'discovery') })
  void graph.ready().then(() => {
    isReady = true
    pump()
  })

  function onEvent(resource: Resource, { type, object, old }: CacheEvent): void {
    if (concerns(object)) queue.add(keyOf(resource, object))
    const uid = object.metadata.uid ?? ''
    const isTurning = type === 'deleted' || object.metadata.deletionTimestamp !== undefined
    if (isTurning) for (const dependent of graph.dependentsOf(uid)) queue.add(keyOf(dependent.resource, dependent.object))
    // An owner that waits for its dependents hears of each that goes or turns away.
    for (const reference of [...(object.metadata.ownerReferences ?? []), ...(old?.metadata.ownerReferences ?? [])]) enqueueOwner(reference, object)
  }

  function enqueueOwner(reference: OwnerReference, dependent: KubeObject): void {
    const resource = graph.resourceOf(reference)
    if (resource === undefined) return
    const owner = graph.get(resource, resource.namespaced ? (dependent.metadata.namespace ?? '') : '', reference.name)
    if (owner?.metadata.deletionTimestamp !== undefined) queue.add(keyOf(resource, owner))
  }

  function pump(): void {
    while (isReady && !isStopped && underway.size < CONCURRENCY) {
      const key = queue.take()
      if (key === undefined) return
      const pass: Promise<void> = work(key).finally(() => {
        underway.delete(pass)
        queue.done(key)
        pump()
      })
      underway.add(pass)
    }
  }

  async function work(key: string): Promise<void> {
    const { resource, namespace, name } = parseKey(key)
    if (resource === undefined) return
    const last = wrote.get(key)
    if (last !== undefined) {
      if (graph.revisionOf(last.resource) < last.revision) return queue.addAfter(key, STALE_RECHECK_MS)
      wrote.delete(key)
    }
    const object = graph.get(resource, namespace, name)
    if (object === undefined) return queue.forget(key)
    try {
      const owners = await Promise.all((object.metadata.ownerReferences ?? []).map(async (reference) => ({ reference, state: await stateOf(reference, object) })))
      const facts = { resource, object, owners, dependents: graph.dependentsOf(object.metadata.uid ?? '') }
      for (const action of planGarbage(facts)) {
        const written = await applyAction(client, action, GARBAGE_COLLECTOR)
        if (written !== undefined && written.resource === resource) wrote.set(key, written)
      }
      queue.forget(key)
      if (owners.some((owner) => owner.state === 'unknown')) queue.addAfter(key, UNKNOWN_RECHECK_MS)
    } catch (error) {
      if (isStopped || isNotFound(error)) return
      if (isConflict(error)) return queue.addAfter(key, STALE_RECHECK_MS)
      options.onError(error, GARBAGE_COLLECTOR, key)
      queue.addFailed(key)
    }
  }

  async function stateOf(reference: OwnerReference, dependent: KubeObject): Promise<OwnerState> {
    const resource = graph.resourceOf(reference)
    if (resource === undefined) return 'unknown'
    const namespace = resource.namespaced ? (dependent.metadata.namespace ?? '') : ''
    // A cluster-scoped object cannot belong to something inside a namespace: there is no namespace to look in.
    if (resource.namespaced && namespace === '') return 'unknown'
    const cached = graph.get(resource, namespace, reference.name)
    const owner = cached?.metadata.uid === reference.uid ? cached : await liveOwner(resource, namespace, reference.name)
    if (owner === undefined || owner.metadata.uid !== reference.uid) return 'absent'
    const isWaiting = owner.metadata.deletionTimestamp !== undefined && (owner.metadata.finalizers ?? []).includes(FOREGROUND)
    return isWaiting ? 'waiting' : 'solid'
  }

  async function liveOwner(resource: Resource, namespace: string, name: string): Promise<KubeObject | undefined> {
    try {
      return await client.get(resource, { namespace, name })
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  function parseKey(key: string): { resource: Resource | undefined; namespace: string; name: string } {
    const [resourceKey = '', object = ''] = key.split(' ')
    const slash = object.indexOf('/')
    return { resource: graph.resourceByKey(resourceKey), namespace: object.slice(0, slash), name: object.slice(slash + 1) }
  }

  return {
    get busy() {
      return underway.size
    },
    async stop() {
      isStopped = true
      queue.close()
      graph.stop()
      await Promise.all(underway)
    },
  }
}

const keyOf = (resource: Resource, object: KubeObject): string => `${keyOfResource(resource)} ${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`

/** Most objects own nothing and are owned by nobody: they never enter the queue. */
function concerns(object: KubeObject): boolean {
  if ((object.metadata.ownerReferences ?? []).length > 0) return true
  return object.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).length > 0
}
