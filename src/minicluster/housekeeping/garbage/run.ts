/**
 * The garbage collector: follows ownership over all resources and carries out what `planGarbage` says. An owner missing
 * from the cache is looked up live before anything is deleted because of it.
 *
 * Work per event is constant: an object that has no owners and is not waiting for dependents costs two look-ups. Only when
 * an owner is deleted, or starts to wait, does it cost as much as it has dependents, once.
 */
import type { Clock } from '../../../base/clock.ts'
import type { Random } from '../../../base/random.ts'
import type { ClusterCache } from '../../../client/cache/cluster-cache.ts'
import type { CacheEvent } from '../../../client/cache/object-cache.ts'
import type { Client } from '../../../client/client.ts'
import { ifFound, isConflict, isNotFound, isOutcomeUnknown } from '../../../client/errors.ts'
import { EVERY_RESOURCE } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject, OwnerReference } from '../../../kube/meta.ts'
import { keyOfLocated, type Resource } from '../../../kube/resource.ts'
import { applyAction, type Writer } from '../../../runtime/apply-action.ts'
import type { Action } from '../../../runtime/controller.ts'
import { createFreshnessGate, type FreshnessGate } from '../../../runtime/freshness.ts'
import type { ControllerMetrics } from '../../../runtime/metrics.ts'
import type { RunningController } from '../../../runtime/run-controller.ts'
import { createWorkers, type Observer, type Workers } from '../../../runtime/workers.ts'
import { isRelevantToGarbage, isWaitingForDependents, type OwnerState, planGarbage } from './plan.ts'

export const GARBAGE_COLLECTOR = 'minicluster.housekeeping.garbage'
const CONCURRENCY = 8

export interface GarbageOptions extends Observer {
  client: Client
  clusterCache: ClusterCache
  clock: Clock
  random: Random
}

/** Starts when the cache of all resources is ready. */
export function runGarbageCollector(options: GarbageOptions): RunningController {
  return new GarbageCollector(options)
}

class GarbageCollector implements RunningController {
  readonly #client: Client
  readonly #metrics: ControllerMetrics | undefined
  readonly #clusterCache: ClusterCache
  readonly #gate: FreshnessGate
  readonly #workers: Workers
  /** Keys with an owner of a kind that is not served: queued again when the served kinds change. */
  readonly #puzzled = new Set<string>()
  readonly #unsubscribe: (() => void)[]

  constructor(options: GarbageOptions) {
    this.#client = options.client
    this.#metrics = options.metrics
    this.#clusterCache = options.clusterCache
    this.#gate = createFreshnessGate((resource) => this.#clusterCache.informerOf(resource))
    this.#workers = createWorkers({ ...options, name: GARBAGE_COLLECTOR, concurrency: CONCURRENCY, work: (key) => this.#work(key) })
    this.#unsubscribe = [
      this.#clusterCache.subscribe((resource, event) => this.#hear(resource, event)),
      this.#clusterCache.onResources(() => this.#lookAtPuzzled()),
    ]
    void this.#clusterCache.ready().then(() => this.#workers.start())
  }

  busy(): string[] {
    const waiting = this.#gate.waiting().map((key) => `${GARBAGE_COLLECTOR} waits for a cache to show its last write for ${key}`)
    return [...this.#workers.busy(), ...waiting]
  }

  resync(): void {
    for (const { resource, object } of this.#clusterCache.all()) if (isRelevantToGarbage(object)) this.#add(resource, object)
  }

  async stop(): Promise<void> {
    for (const stop of this.#unsubscribe) stop()
    await this.#workers.stop()
  }

  #add(resource: Resource, object: KubeObject): void {
    this.#workers.queue.add(keyOfLocated(resource, object))
  }

  #hear(resource: Resource, { type, object, old }: CacheEvent): void {
    if (type === 'deleted') this.#puzzled.delete(keyOfLocated(resource, object))
    else if (isRelevantToGarbage(object)) this.#add(resource, object)
    const startsWaiting = isWaitingForDependents(object) && (old === undefined || !isWaitingForDependents(old))
    if (type === 'deleted' || startsWaiting)
      for (const dependent of this.#clusterCache.dependentsOf(object.metadata.uid ?? '')) this.#add(dependent.resource, dependent.object)
    // An owner that waits for its dependents is queued for each one that is deleted or drops its reference.
    const references = [...(object.metadata.ownerReferences ?? []), ...(old?.metadata.ownerReferences ?? [])]
    for (const reference of references) this.#enqueueOwner(reference, object)
  }

  #enqueueOwner(reference: OwnerReference, dependent: KubeObject): void {
    const resource = this.#clusterCache.resourceOf(reference)
    if (resource === undefined) return
    const owner = this.#clusterCache.get(resource, resource.namespaced ? (dependent.metadata.namespace ?? '') : '', reference.name)
    if (owner?.metadata.deletionTimestamp !== undefined) this.#add(resource, owner)
  }

  #lookAtPuzzled(): void {
    const keys = [...this.#puzzled]
    this.#puzzled.clear()
    for (const key of keys) this.#workers.queue.add(key)
  }

  async #work(key: string): Promise<number | undefined> {
    if (!this.#gate.isOpen(key, () => this.#workers.queue.add(key))) return undefined
    const { resource, object } = this.#find(key)
    if (resource === undefined || object === undefined) return 0
    const owners: { reference: OwnerReference; state: OwnerState }[] = []
    for (const reference of object.metadata.ownerReferences ?? [])
      owners.push({ reference, state: await this.#stateOf(key, reference, object) })
    if (owners.some((owner) => owner.state === 'unknown')) this.#puzzled.add(key)
    const dependents = this.#clusterCache.dependentsOf(object.metadata.uid ?? '')
    return this.#applyAll(key, planGarbage({ resource, object, owners, dependents }))
  }

  async #applyAll(key: string, actions: readonly Action[]): Promise<number> {
    const writer: Writer = {
      client: this.#client,
      manager: GARBAGE_COLLECTOR,
      informerOf: (resource) => this.#clusterCache.informerOf(resource),
    }
    let sent = 0
    for (const action of actions) {
      if (this.#workers.isStopped) break
      try {
        const written = await applyAction(writer, action)
        this.#count(action, written === undefined || written.isGone === true ? 'unneeded' : 'done')
        if (written !== undefined) this.#gate.wrote(key, written)
        sent++
      } catch (error) {
        // Already gone: that is what was wanted, or it no longer matters.
        this.#count(
          action,
          isConflict(error) ? 'conflict' : isOutcomeUnknown(error) ? 'unknown' : isNotFound(error) ? 'unneeded' : 'refused',
        )
        if (!isNotFound(error)) throw error
      }
    }
    return sent
  }

  #count(action: Action, result: Parameters<ControllerMetrics['wrote']>[0]['result']): void {
    this.#metrics?.wrote({ controller: GARBAGE_COLLECTOR, verb: action.do, resource: EVERY_RESOURCE.plural, result })
  }

  async #stateOf(key: string, reference: OwnerReference, dependent: KubeObject): Promise<OwnerState> {
    const resource = this.#clusterCache.resourceOf(reference)
    if (resource === undefined) return 'unknown'
    const namespace = resource.namespaced ? (dependent.metadata.namespace ?? '') : ''
    // A cluster-scoped object cannot belong to something inside a namespace: there is no namespace to look in.
    if (resource.namespaced && namespace === '') return 'unknown'
    const cached = this.#clusterCache.get(resource, namespace, reference.name)
    const owner = cached?.metadata.uid === reference.uid ? cached : await this.#liveOwner(resource, namespace, reference.name)
    if (owner === undefined || owner.metadata.uid !== reference.uid) return 'absent'
    if (owner !== cached) this.#lookWhenSeen(key, resource, owner)
    return isWaitingForDependents(owner) ? 'waiting' : 'solid'
  }

  /**
   * An owner that the cache does not know yet may be deleted before the cache ever shows it, and then no event follows. So
   * its dependent is queued again once the cache has caught up with the server's revision.
   */
  #lookWhenSeen(key: string, resource: Resource, owner: KubeObject): void {
    const informer = this.#clusterCache.informerOf(resource)
    const revision = Number(owner.metadata.resourceVersion)
    void informer?.until(() => informer.revision >= revision).then(() => this.#workers.queue.add(key))
  }

  async #liveOwner(resource: Resource, namespace: string, name: string): Promise<KubeObject | undefined> {
    return ifFound(this.#client.get(resource, { namespace, name }))
  }

  #find(key: string): { resource: Resource | undefined; object: KubeObject | undefined } {
    const space = key.indexOf(' ')
    const slash = key.indexOf('/', space)
    const resource = this.#clusterCache.resourceByKey(key.slice(0, space))
    if (resource === undefined) return { resource, object: undefined }
    return { resource, object: this.#clusterCache.get(resource, key.slice(space + 1, slash), key.slice(slash + 1)) }
  }
}
