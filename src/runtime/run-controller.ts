/**
 * Drives one controller: cache events fill its queue; passes observe, plan and apply. A pass waits while a cache is older
 * than the key's own last write; after a conflict, the key runs again as soon as the cache has caught up.
 */
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Caches } from '../client/cache/caches.ts'
import type { ClusterCache } from '../client/cache/cluster-cache.ts'
import type { Informer } from '../client/cache/informer.ts'
import type { Client } from '../client/client.ts'
import type { Members } from '../client/members.ts'
import type { KubeObject } from '../kube/meta.ts'
import { keyOfObject, type ObjectRef, refOfKey } from '../kube/object-reference.ts'
import { keyOfResource, type Resource } from '../kube/resource.ts'
import type { Writer } from './apply-action.ts'
import { createPlanApplier } from './apply-plan.ts'
import {
  type Controller,
  type EventIntent,
  type KeyedEvent,
  type PassReader,
  type Priority,
  type Reader,
  resourcesOf,
} from './controller.ts'
import { declaredClient } from './declared-client.ts'
import { declaredCheck } from './declared-writes.ts'
import { createEffects } from './effects.ts'
import { createEventRecorder } from './event-recorder.ts'
import { followOnDemand } from './follow.ts'
import { createFreshnessGate } from './freshness.ts'
import { createWorkers, type Observer } from './workers.ts'

export interface RunOptions extends Observer {
  client: Client
  caches: Caches
  clock: Clock
  random: Random
  /** Other clusters that it may read and write (default: none). */
  members?: Members
  /** Shows writes to resources that `caches` does not follow. */
  clusterCache?: Pick<ClusterCache, 'informerOf'>
  /** No pass begins before it resolves (default: passes begin once the caches have synced). */
  ready?: Promise<unknown>
}

export interface RunningController {
  /** What is not settled, as lines of text; empty when nothing can run. */
  busy(): string[]
  /** Queues every object again, as after a start: for when something outside the API changed. */
  resync(): void
  stop(): Promise<void>
}

export function runController(controller: Controller, options: RunOptions): RunningController {
  const { clock, caches, client, members } = options
  const informers = new Map(resourcesOf(controller).map((resource) => [keyOfResource(resource), caches.of(resource)]))
  const primaries = caches.of(controller.for)
  for (const index of controller.indexes ?? [])
    informers.get(keyOfResource(index.resource))?.addIndex(`${controller.name}/${index.name}`, index.of)
  const informerOf = (resource: Resource): Informer | undefined => informers.get(keyOfResource(resource))
  const ownInformerOf = (resource: Resource): Informer | undefined =>
    informerOf(resource) ?? caches.known(resource) ?? options.clusterCache?.informerOf(resource)
  const read = readerOf(controller, informerOf, clock)
  const events = createEventRecorder({
    client,
    clock,
    component: controller.component ?? controller.name,
    onWritten: () => options.metrics?.event(controller.name, 'written'),
    onDropped: () => options.metrics?.event(controller.name, 'lost'),
    onError(error, { of, reason }) {
      options.metrics?.event(controller.name, 'lost')
      options.onError?.(error, controller.name, `event ${reason} of ${keyOfObject(of)}`)
    },
  })
  const recorded = new Map<string, ReadonlySet<string>>()
  /** Keys that wait for a cache to catch up with its server. */
  const catchingUp = new Set<string>()
  const { rank } = controller
  const rankOf = rank === undefined ? undefined : (key: string): number => rank(refOfKey(key), read)
  const workers = createWorkers({ ...options, name: controller.name, concurrency: controller.concurrency ?? 1, rankOf, work })
  const { queue } = workers
  const enqueue = (ref: ObjectRef, priority?: Priority): void => queue.add(`${ref.namespace}/${ref.name}`, priority)
  const following = followOnDemand({
    caches,
    members,
    onChange(change) {
      for (const ref of controller.keysForFollowed?.(change, read) ?? []) enqueue(ref)
    },
  })
  const gate = createFreshnessGate((resource, cluster) =>
    cluster === undefined ? ownInformerOf(resource) : following.informerOf(resource, cluster),
  )
  const applier = createPlanApplier({
    check: declaredCheck(controller.name, controller.writes),
    writerTo,
    gate,
    metrics: options.metrics,
    record,
    enqueue: (key) => queue.add(key),
    isStopped: () => workers.isStopped,
  })
  const effects = createEffects({
    clock,
    clientFor: ({ name, access = [] }) => declaredClient(client, name, access),
    enqueue: (key, afterMs) => queue.addAfter(key, afterMs),
    onEnd: (effect, result) => options.metrics?.effect(effect, result),
    onError: (error, key) => options.onError?.(error, controller.name, key),
  })

  const unsubscribe = [
    // What existed at the start can wait; a user may be waiting for what happens now.
    primaries.subscribe(({ type, object, old }) => {
      if (type === 'updated' && old !== undefined && controller.isRelevantUpdate?.(old, object) === false) return
      const isWorthIt =
        controller.isRelevant === undefined ||
        controller.isRelevant(object, read) ||
        (old !== undefined && controller.isRelevant(old, read))
      if (!isWorthIt) return
      options.metrics?.triggered?.(controller.name, controller.for, type)
      queue.add(keyOfObject(object), primaries.hasSynced ? 'normal' : 'low')
    }),
    ...(controller.watches ?? []).map((watch) =>
      caches.of(watch.resource).subscribe(({ type, object, old }) => {
        if (type === 'updated' && old !== undefined && watch.isRelevantUpdate?.(old, object) === false) return
        for (const [of, other] of old === undefined
          ? [[object]]
          : [
              [old, object],
              [object, old],
            ])
          for (const ref of of === undefined ? [] : watch.keysFor(of, read, other)) {
            options.metrics?.triggered?.(controller.name, watch.resource, type)
            enqueue(ref, watch.priority)
          }
      }),
    ),
    ...(controller.signals ?? []).map((signal) => signal.subscribe(enqueue)),
    ...(members === undefined
      ? []
      : [
          members.subscribe((cluster) => {
            for (const ref of controller.keysForMember?.(cluster, read) ?? []) enqueue(ref)
          }),
        ]),
  ]
  void Promise.all([options.ready, ...[...informers.values()].map((informer) => informer.synced())]).then(workers.start)

  function writerTo(cluster: string | undefined): Writer {
    if (cluster === undefined) return { client, manager: controller.name, informerOf: ownInformerOf }
    const member = members?.get(cluster)
    if (member === undefined) throw new Error(`cluster ${cluster} cannot be reached: there is no address or no credentials for it`)
    return { client: member.clientFor(controller.name), manager: controller.name, informerOf: (resource) => member.caches.known(resource) }
  }

  function record(intent: EventIntent, key: string): void {
    options.metrics?.eventRecorded?.(controller.name, key, intent)
    events.record(intent)
  }

  async function work(key: string): Promise<number | undefined> {
    await applier.resolveUnknownOutcomes(key)
    if (!gate.isOpen(key, () => queue.add(key))) return undefined
    const ref = refOfKey(key)
    const primary = read.get(controller.for, ref.namespace, ref.name)
    const observed = await controller.observe(ref, primary, passReader(key), client)
    const plan = controller.plan(observed)
    const sent = await applier.applyAll(key, plan.actions)
    if (primary === undefined) effects.forget(key)
    recordOnce(key, plan.events ?? [])
    effects.begin(key, plan.effects ?? [])
    if (plan.requeueAfterMs !== undefined) queue.addAfter(key, plan.requeueAfterMs)
    return sent
  }

  function recordOnce(key: string, keyedEvents: readonly KeyedEvent[]): void {
    const before = recorded.get(key)
    for (const { key: id, ...intent } of keyedEvents) if (!before?.has(id)) record(intent, key)
    if (keyedEvents.length === 0) recorded.delete(key)
    else recorded.set(key, new Set(keyedEvents.map((one) => one.key)))
  }

  function passReader(key: string): PassReader {
    return {
      ...read,
      lastFailure: () => workers.lastFailure(key),
      outcome: (effect, of) => effects.outcome(key, effect.name, of) as never,
      follow(resource, cluster) {
        const informer = following.follow(resource, cluster)
        if (informer?.hasSynced === false) void informer.synced().then(() => queue.add(key))
        return informer
      },
      reflects(resource, namespace, revision) {
        const asOf = caches.asOf(resource)
        if (asOf.reflects(namespace, revision)) return true
        if (!catchingUp.has(key)) {
          catchingUp.add(key)
          void asOf.catchUp(namespace, revision).then(() => {
            catchingUp.delete(key)
            queue.add(key)
          })
        }
        return false
      },
      clientOf: (cluster) => members?.get(cluster)?.clientFor(controller.name),
    }
  }

  return {
    busy: () => [
      ...workers.busy(),
      ...gate.waiting().map((key) => `${controller.name} waits for a cache to show its last write for ${key}`),
      ...[...catchingUp].map((key) => `${controller.name} waits for a cache to catch up with its server for ${key}`),
      ...effects.running().map((effect) => `${controller.name} runs ${effect}`),
      ...(events.pending > 0 ? [`${controller.name} has ${events.pending} events to write`] : []),
    ],
    resync() {
      for (const object of primaries.list()) queue.add(keyOfObject(object), 'low')
    },
    async stop() {
      for (const stop of unsubscribe) stop()
      following.stop()
      await Promise.all([workers.stop(), effects.stop()])
      events.stop()
    },
  }
}

/** Only declared resources can be read: the cache of any other would still be empty, as if nothing existed. */
function readerOf(controller: Controller, informerOf: (resource: Resource) => Informer | undefined, clock: Clock): Reader {
  const cacheOf = (resource: Resource): Informer => {
    const informer = informerOf(resource)
    if (informer === undefined)
      throw new Error(`${controller.name} reads ${resource.plural} without declaring it: add it to its watches or indexes`)
    return informer
  }
  return {
    get: <T extends KubeObject>(resource: Resource<T>, namespace: string, name: string) =>
      cacheOf(resource).get(namespace, name) as T | undefined,
    list: <T extends KubeObject>(resource: Resource<T>, namespace?: string) => cacheOf(resource).list(namespace) as T[],
    byIndex: <T extends KubeObject>(resource: Resource<T>, index: string, value: string) =>
      cacheOf(resource).byIndex(`${controller.name}/${index}`, value) as T[],
    nowMs: () => clock.now(),
    revisionOf: (resource) => cacheOf(resource).revision,
  }
}
