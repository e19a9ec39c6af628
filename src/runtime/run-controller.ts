/**
 * Drives one controller: events fill the queue, workers observe, plan and apply. A key is not worked on while a cache is
 * older than our own last write for it, so a decision is never based on a world before its own deeds.
 */
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Caches } from '../client/cache/caches.ts'
import type { Client } from '../client/client.ts'
import { isConflict } from '../client/errors.ts'
import type { Resource } from '../client/resource.ts'
import type { KubeObject } from '../kube/meta.ts'
import { applyAction } from './apply-plan.ts'
import { type Controller, type ObjectRef, type Reader, resourcesOf } from './controller.ts'
import { createWorkQueue, type WorkQueue } from './work-queue.ts'

export interface RunOptions {
  client: Client
  caches: Caches
  clock: Clock
  random: Random
  /** Told once of each failed pass, before it is tried again. */
  onError?(error: unknown, controller: string, key: string): void
  /** Told of each pass that wrote something. */
  onWrites?(controller: string, key: string, count: number): void
}

export interface RunningController {
  readonly queue: WorkQueue
  /** Passes under way. */
  readonly busy: number
  stop(): Promise<void>
}

const STALE_RECHECK_MS = 20

export function runController(controller: Controller, options: RunOptions): RunningController {
  const { clock, random, caches, client } = options
  const informers = new Map(resourcesOf(controller).map((resource) => [keyOfResource(resource), caches.of(resource)]))
  for (const index of controller.indexes ?? []) informers.get(keyOfResource(index.resource))?.addIndex(`${controller.name}/${index.name}`, index.of)
  const read = readerOf(controller, caches, clock)
  /** Newest revision written while working on a key, by resource: the freshness gate. */
  const wrote = new Map<string, Map<string, number>>()
  const underway = new Set<Promise<void>>()
  let busy = 0
  let isStopped = false
  let hasStarted = false
  const queue = createWorkQueue({ clock, random, onReady: pump })

  const unsubscribe = [
    caches.of(controller.for).subscribe(({ object }) => queue.add(refKey(object))),
    ...(controller.watches ?? []).map((watch) =>
      caches.of(watch.resource).subscribe(({ object, old }) => {
        for (const of of old === undefined ? [object] : [old, object])
          for (const ref of watch.affects(of, read)) queue.add(`${ref.namespace}/${ref.name}`)
      }),
    ),
  ]
  void Promise.all([...informers.values()].map((informer) => informer.synced())).then(() => {
    hasStarted = true
    pump()
  })

  function pump(): void {
    while (hasStarted && !isStopped && busy < (controller.concurrency ?? 1)) {
      const key = queue.take()
      if (key === undefined) return
      busy++
      const pass = work(key).finally(() => {
        busy--
        queue.done(key)
        underway.delete(pass)
        pump()
      })
      underway.add(pass)
    }
  }

  async function work(key: string): Promise<void> {
    if (!isFresh(key)) return queue.addAfter(key, STALE_RECHECK_MS)
    try {
      const ref = refOf(key)
      const observed = await controller.observe(ref, read.get(controller.for, ref.namespace, ref.name), read, client)
      const plan = controller.plan(observed)
      for (const action of plan.actions) {
        if (isStopped) return
        const written = await applyAction(client, action, controller.name)
        if (written !== undefined) remember(key, written.resource, written.revision)
      }
      queue.forget(key)
      if (plan.actions.length > 0) options.onWrites?.(controller.name, key, plan.actions.length)
      if (plan.recheckAfterMs !== undefined) queue.addAfter(key, plan.recheckAfterMs)
    } catch (error) {
      if (isStopped) return
      // The world moved while we decided: decide again at once, when the cache has caught up.
      if (isConflict(error)) return queue.addAfter(key, STALE_RECHECK_MS)
      options.onError?.(error, controller.name, key)
      queue.addFailed(key)
    }
  }

  function isFresh(key: string): boolean {
    const pending = wrote.get(key)
    if (pending === undefined) return true
    for (const [resource, revision] of pending) if ((informers.get(resource)?.revision ?? revision) < revision) return false
    wrote.delete(key)
    return true
  }

  function remember(key: string, resource: Resource, revision: number): void {
    const pending = wrote.get(key) ?? new Map<string, number>()
    wrote.set(key, pending.set(keyOfResource(resource), revision))
  }

  return {
    queue,
    get busy() {
      return busy
    },
    async stop() {
      isStopped = true
      queue.close()
      for (const stop of unsubscribe) stop()
      await Promise.all(underway)
    },
  }
}

const keyOfResource = (resource: Resource): string => `${resource.group}/${resource.version}/${resource.plural}`
const refKey = (object: KubeObject): string => `${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`

function refOf(key: string): ObjectRef {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

function readerOf(controller: Controller, caches: Caches, clock: Clock): Reader {
  return {
    get: (resource, namespace, name) => caches.of(resource).get(namespace, name),
    list: (resource, namespace) => caches.of(resource).list(namespace),
    byIndex: (resource, index, value) => caches.of(resource).byIndex(`${controller.name}/${index}`, value),
    nowMs: () => clock.now(),
  }
}
