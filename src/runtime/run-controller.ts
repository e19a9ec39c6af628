/**
 * Drives one controller: events of caches fill its queue, passes observe, plan and apply. A pass waits while a cache is
 * older than the key's own last write, and starts again as soon as the cache has caught up with a conflict.
 */
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Caches } from '../client/cache/caches.ts'
import type { Informer } from '../client/cache/informer.ts'
import { keyOfObject } from '../client/cache/object-cache.ts'
import type { Client } from '../client/client.ts'
import { isConflict, isOutcomeUnknown } from '../client/errors.ts'
import { keyOfResource, type Resource } from '../client/resource.ts'
import type { KubeObject } from '../kube/meta.ts'
import { applyAction, outcomeOf, type Writer } from './apply-plan.ts'
import {
  type Action,
  type Controller,
  type News,
  type ObjectRef,
  type PassReader,
  type Priority,
  type Reader,
  resourcesOf,
  type Together,
} from './controller.ts'
import { createEffects } from './effects.ts'
import { createEventRecorder } from './event-recorder.ts'
import { createFreshnessGate } from './freshness.ts'
import { createWorkers, type Observer } from './workers.ts'

export interface RunOptions extends Observer {
  client: Client
  caches: Caches
  clock: Clock
  random: Random
}

export interface RunningController {
  /** What is not settled, in words; empty when nothing can run. */
  busy(): string[]
  /** Every object is looked at again, as after a start: for when something beyond the API changed. */
  lookAgain(): void
  stop(): Promise<void>
}

export function runController(controller: Controller, options: RunOptions): RunningController {
  const { clock, caches, client } = options
  const informers = new Map(resourcesOf(controller).map((resource) => [keyOfResource(resource), caches.of(resource)]))
  const primaries = caches.of(controller.for)
  for (const index of controller.indexes ?? [])
    informers.get(keyOfResource(index.resource))?.addIndex(`${controller.name}/${index.name}`, index.of)
  const informerOf = (resource: Resource): Informer | undefined => informers.get(keyOfResource(resource))
  const read = readerOf(controller, informerOf, clock)
  const writer: Writer = { client, manager: controller.name, informerOf }
  const events = createEventRecorder({
    client,
    clock,
    component: controller.component ?? controller.name,
    onError: (error, { of, reason }) => options.onError?.(error, controller.name, `event ${reason} of ${keyOfObject(of)}`),
  })
  const gate = createFreshnessGate(informerOf)
  const told = new Map<string, ReadonlySet<string>>()
  const doubts = new Map<string, readonly Action[]>()
  const workers = createWorkers({ ...options, name: controller.name, concurrency: controller.concurrency ?? 1, work })
  const { queue } = workers
  const wake = (ref: ObjectRef, priority?: Priority): void => queue.add(`${ref.namespace}/${ref.name}`, priority)
  const effects = createEffects({
    clock,
    wake: (key, afterMs) => queue.addAfter(key, afterMs),
    onError: (error, key) => options.onError?.(error, controller.name, key),
  })

  const unsubscribe = [
    // What was there at the start has waited already; what happens now, somebody may be looking at.
    primaries.subscribe(({ object }) => queue.add(keyOfObject(object), primaries.hasSynced ? 'normal' : 'low')),
    ...(controller.watches ?? []).map((watch) =>
      caches.of(watch.resource).subscribe(({ object, old }) => {
        for (const of of old === undefined ? [object] : [old, object]) for (const ref of watch.affects(of, read)) wake(ref, watch.priority)
      }),
    ),
    ...(controller.signals ?? []).map((signal) => signal.subscribe((ref) => wake(ref))),
  ]
  void Promise.all([...informers.values()].map((informer) => informer.synced())).then(workers.start)

  async function work(key: string): Promise<number | undefined> {
    await lookAfterDoubts(key)
    if (!gate.isOpen(key, () => queue.add(key))) return undefined
    const ref = refOf(key)
    const primary = read.get(controller.for, ref.namespace, ref.name)
    const observed = await controller.observe(ref, primary, passReader(key), client)
    const plan = controller.plan(observed)
    const sent = await applyAll(key, plan.actions)
    if (primary === undefined) effects.forget(key)
    tellNews(key, plan.news ?? [])
    effects.begin(key, plan.effects ?? [])
    if (plan.recheckAfterMs !== undefined) queue.addAfter(key, plan.recheckAfterMs)
    return sent
  }

  function tellNews(key: string, news: readonly News[]): void {
    const before = told.get(key)
    for (const { key: id, ...intent } of news) if (!before?.has(id)) events.tell(intent)
    if (news.length === 0) told.delete(key)
    else told.set(key, new Set(news.map((one) => one.key)))
  }

  function passReader(key: string): PassReader {
    return {
      ...read,
      lastFailure: () => workers.lastFailure(key),
      outcome: (effect, of) => effects.outcome(key, effect.name, of) as never,
    }
  }

  async function applyAll(key: string, actions: readonly (Action | Together)[]): Promise<number> {
    let sent = 0
    let failure: { error: unknown } | undefined
    for (const action of actions) {
      if (workers.isStopped) return sent
      try {
        sent += action.do === 'together' ? await applyTogether(key, action.actions) : await applyOne(key, action)
      } catch (error) {
        // Emptying one resource does not depend on another; everything else happens in the order of the plan or not at all.
        if (action.do !== 'delete-collection') throw error
        failure ??= { error }
      }
    }
    if (failure !== undefined) throw failure.error
    return sent
  }

  async function applyOne(key: string, action: Action): Promise<number> {
    try {
      const written = await applyAction(writer, action)
      if (written === undefined) return action.do === 'delete-collection' ? 1 : 0
      gate.wrote(key, written)
      const said = typeof action.tells === 'function' ? action.tells(written.object) : action.tells
      for (const intent of said === undefined ? [] : 'of' in said ? [said] : said) events.tell(intent)
      return 1
    } catch (error) {
      if (isOutcomeUnknown(error)) doubts.set(key, [...(doubts.get(key) ?? []), action])
      if (isConflict(error)) wakeWhenMoved(key, action)
      else {
        const told = action.tellsFailure?.(error instanceof Error ? error.message : String(error))
        if (told !== undefined) events.tell(told)
      }
      throw error
    }
  }

  /**
   * A write that got no answer may have happened: before this key is decided about again, the server is asked, and the
   * cache must show what it said.
   */
  async function lookAfterDoubts(key: string): Promise<void> {
    const doubtful = doubts.get(key)
    if (doubtful === undefined) return
    for (const action of doubtful) gate.wrote(key, await outcomeOf(client, action))
    doubts.delete(key)
  }

  /** In groups of 1, 2, 4, …: when the server refuses one, it is not asked a thousand times more. */
  async function applyTogether(key: string, actions: readonly Action[]): Promise<number> {
    let sent = 0
    for (let from = 0, size = 1; from < actions.length && !workers.isStopped; from += size, size *= 2) {
      const results = await Promise.allSettled(actions.slice(from, from + size).map((action) => applyOne(key, action)))
      for (const result of results) if (result.status === 'fulfilled') sent += result.value
      const failed = results.find((result) => result.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    }
    return sent
  }

  /** A conflict says that the cache is behind: the news is on its way, and with it the time to decide again. */
  function wakeWhenMoved(key: string, action: Action): void {
    const used = 'of' in action ? action.of : 'object' in action ? action.object : undefined
    const informer = informerOf(action.resource)
    if (used === undefined || informer === undefined) return
    const { namespace = '', name = '', resourceVersion } = used.metadata
    void informer.until(() => informer.get(namespace, name)?.metadata.resourceVersion !== resourceVersion).then(() => queue.add(key))
  }

  return {
    busy: () => [
      ...workers.busy(),
      ...gate.waiting().map((key) => `${controller.name} waits for a cache to show its last write for ${key}`),
      ...effects.running().map((effect) => `${controller.name} runs ${effect}`),
      ...(events.pending > 0 ? [`${controller.name} has ${events.pending} events to write`] : []),
    ],
    lookAgain() {
      for (const object of primaries.list()) queue.add(keyOfObject(object), 'low')
    },
    async stop() {
      for (const stop of unsubscribe) stop()
      await Promise.all([workers.stop(), effects.stop()])
      events.stop()
    },
  }
}

function refOf(key: string): ObjectRef {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** Only declared resources can be read: the cache of another would still be empty, and look as if nothing existed. */
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
  }
}
