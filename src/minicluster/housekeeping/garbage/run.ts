/**
 * The garbage collector: follows ownership over all resources and carries out what `planGarbage` says. An owner missing
 * from the cache is looked up live before anything is deleted because of it.
 *
 * Work per event is constant: an object that neither has owners nor waits for its end costs two look-ups. Only the end of
 * an owner, or the beginning of its waiting, costs as much as it has dependents, once.
 */
import type { Clock } from '../../../base/clock.ts'
import type { Random } from '../../../base/random.ts'
import type { Everything } from '../../../client/cache/everything.ts'
import { type CacheEvent, keyOfObject } from '../../../client/cache/object-cache.ts'
import type { Client } from '../../../client/client.ts'
import { isNotFound } from '../../../client/errors.ts'
import { keyOfResource, type Resource } from '../../../client/resource.ts'
import type { KubeObject, OwnerReference } from '../../../kube/meta.ts'
import { applyAction } from '../../../runtime/apply-plan.ts'
import { createFreshnessGate } from '../../../runtime/freshness.ts'
import type { RunningController } from '../../../runtime/run-controller.ts'
import { createWorkers, type Observer } from '../../../runtime/workers.ts'
import { concernsGarbage, isWaitingForDependents, type OwnerState, planGarbage } from './plan.ts'

const GARBAGE_COLLECTOR = 'minicluster.housekeeping.garbage'
const CONCURRENCY = 8

export interface GarbageOptions extends Observer {
  client: Client
  everything: Everything
  clock: Clock
  random: Random
}

export function runGarbageCollector(options: GarbageOptions): RunningController {
  const { client, everything } = options
  const gate = createFreshnessGate((resource) => everything.informerOf(resource))
  const workers = createWorkers({ ...options, name: GARBAGE_COLLECTOR, concurrency: CONCURRENCY, work })
  const { queue } = workers
  /** Keys with an owner of a kind that is not served: looked at again when the served kinds change. */
  const puzzled = new Set<string>()
  const unsubscribe = [everything.subscribe(onEvent), everything.onResources(lookAtPuzzled)]
  void everything.ready().then(workers.start)

  function onEvent(resource: Resource, { type, object, old }: CacheEvent): void {
    const key = keyOf(resource, object)
    if (type === 'deleted') puzzled.delete(key)
    else if (concernsGarbage(object)) queue.add(key)
    const startsWaiting = isWaitingForDependents(object) && (old === undefined || !isWaitingForDependents(old))
    if (type === 'deleted' || startsWaiting)
      for (const dependent of everything.dependentsOf(object.metadata.uid ?? '')) queue.add(keyOf(dependent.resource, dependent.object))
    // An owner that waits for its dependents hears of each that goes or turns away.
    for (const reference of [...(object.metadata.ownerReferences ?? []), ...(old?.metadata.ownerReferences ?? [])])
      wakeOwner(reference, object)
  }

  function wakeOwner(reference: OwnerReference, dependent: KubeObject): void {
    const resource = everything.resourceOf(reference)
    if (resource === undefined) return
    const owner = everything.get(resource, resource.namespaced ? (dependent.metadata.namespace ?? '') : '', reference.name)
    if (owner?.metadata.deletionTimestamp !== undefined) queue.add(keyOf(resource, owner))
  }

  function lookAtPuzzled(): void {
    const keys = [...puzzled]
    puzzled.clear()
    for (const key of keys) queue.add(key)
  }

  async function work(key: string): Promise<number | undefined> {
    if (!gate.isOpen(key, () => queue.add(key))) return undefined
    const { resource, namespace, name } = parseKey(key)
    const object = resource === undefined ? undefined : everything.get(resource, namespace, name)
    if (resource === undefined || object === undefined) return 0
    const references = object.metadata.ownerReferences ?? []
    const owners = await Promise.all(references.map(async (reference) => ({ reference, state: await stateOf(reference, object) })))
    if (owners.some((owner) => owner.state === 'unknown')) puzzled.add(key)
    let sent = 0
    for (const action of planGarbage({ resource, object, owners, dependents: everything.dependentsOf(object.metadata.uid ?? '') })) {
      if (workers.isStopped) break
      try {
        const written = await applyAction({ client, manager: GARBAGE_COLLECTOR, informerOf: everything.informerOf }, action)
        if (written !== undefined) gate.wrote(key, written)
        sent++
      } catch (error) {
        // Gone by itself: what was wanted, or of no concern any more.
        if (!isNotFound(error)) throw error
      }
    }
    return sent
  }

  async function stateOf(reference: OwnerReference, dependent: KubeObject): Promise<OwnerState> {
    const resource = everything.resourceOf(reference)
    if (resource === undefined) return 'unknown'
    const namespace = resource.namespaced ? (dependent.metadata.namespace ?? '') : ''
    // A cluster-scoped object cannot belong to something inside a namespace: there is no namespace to look in.
    if (resource.namespaced && namespace === '') return 'unknown'
    const cached = everything.get(resource, namespace, reference.name)
    const owner = cached?.metadata.uid === reference.uid ? cached : await liveOwner(resource, namespace, reference.name)
    if (owner === undefined || owner.metadata.uid !== reference.uid) return 'absent'
    return isWaitingForDependents(owner) ? 'waiting' : 'solid'
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
    const space = key.indexOf(' ')
    const slash = key.indexOf('/', space)
    return { resource: everything.resourceByKey(key.slice(0, space)), namespace: key.slice(space + 1, slash), name: key.slice(slash + 1) }
  }

  return {
    busy: () => [
      ...workers.busy(),
      ...gate.waiting().map((key) => `${GARBAGE_COLLECTOR} waits for a cache to show its last write for ${key}`),
    ],
    lookAgain() {
      for (const { resource, object } of everything.all()) if (concernsGarbage(object)) queue.add(keyOf(resource, object))
    },
    async stop() {
      for (const stop of unsubscribe) stop()
      await workers.stop()
    },
  }
}

const keyOf = (resource: Resource, object: KubeObject): string => `${keyOfResource(resource)} ${keyOfObject(object)}`
