/**
 * What controllers do, in the Prometheus text format. Label values come from declarations (names of controllers, resources
 * and effects), never from objects, so the number of series is fixed by the program.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Caches } from '../client/cache/caches.ts'
import type { Resource } from '../kube/resource.ts'
import type { EventIntent } from './controller.ts'
import type { Pass } from './workers.ts'

export interface Write {
  controller: string
  verb: string
  /** As declared: one name for everything that is declared together. */
  resource: string
  result: 'done' | 'unneeded' | 'refused' | 'conflict' | 'unknown'
  /** The pass, and what was written where: only for controllers that the runtime drives. */
  key?: string
  target?: Resource
  cluster?: string
}

export interface ControllerMetrics {
  pass(pass: Pass): void
  waited(controller: string, waitedMs: number): void
  wrote(write: Write): void
  effect(effect: string, result: 'done' | 'failed'): void
  event(controller: string, result: 'written' | 'lost'): void
  /** An event of a pass, whether or not it can be written. */
  eventRecorded?(controller: string, key: string, intent: EventIntent): void
  /** A change of an object of `by` enqueued a key. */
  triggered?(controller: string, by: Resource, type: 'added' | 'updated' | 'deleted'): void
  /** Read on each scrape. */
  watchQueue(controller: string, read: () => { depth: number; waiting: number; retrying: number }): void
  watchCaches(caches: Caches, nowMs: () => number): void
}

/** Name, kind and meaning of every metric: the reference is made from it. */
export const METRICS = {
  sluice_controller_passes_total: 'Passes over a key, by what became of them: done, conflict, failed.',
  sluice_controller_pass_seconds: 'Time of a pass, from taking the key to the last answer.',
  sluice_controller_queue_seconds: 'Time a key was ready before a worker took it.',
  sluice_controller_queue_depth: 'Keys that are ready and wait for a worker.',
  sluice_controller_keys_waiting: 'Keys that wait for a time: a delay, or the next try.',
  sluice_controller_keys_retrying: 'Keys whose last pass failed.',
  sluice_controller_writes_total:
    'Writes by verb and resource: done, unneeded (the live object already held it), refused, conflict, unknown (no answer).',
  sluice_effects_total: 'Effects that ended: done, failed.',
  sluice_controller_events_total: 'Events written, and lost because they could not be.',
  sluice_cache_objects: 'Objects in a cache.',
  sluice_cache_is_following: '1 while the cache has its first list and follows its server, 0 otherwise.',
  sluice_cache_staleness_seconds: 'Time since the cache last heard from its server: an event, a bookmark or a list.',
} as const

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export function createControllerMetrics(registry: Registry): ControllerMetrics {
  const registers = [registry]
  const counter = <L extends string>(name: keyof typeof METRICS, labelNames: L[]): Counter<L> =>
    new Counter({ name, help: METRICS[name], labelNames, registers })
  const histogram = (name: keyof typeof METRICS): Histogram<'controller'> =>
    new Histogram({ name, help: METRICS[name], labelNames: ['controller'], buckets: SECONDS, registers })
  const passes = counter('sluice_controller_passes_total', ['controller', 'result'])
  const writes = counter('sluice_controller_writes_total', ['controller', 'verb', 'resource', 'result'])
  const effects = counter('sluice_effects_total', ['effect', 'result'])
  const events = counter('sluice_controller_events_total', ['controller', 'result'])
  const passSeconds = histogram('sluice_controller_pass_seconds')
  const queueSeconds = histogram('sluice_controller_queue_seconds')
  const queues = new Map<string, () => { depth: number; waiting: number; retrying: number }>()
  const gauge = (name: keyof typeof METRICS, of: 'depth' | 'waiting' | 'retrying'): void => {
    new Gauge({
      name,
      help: METRICS[name],
      labelNames: ['controller'],
      registers,
      collect() {
        for (const [controller, read] of queues) this.set({ controller }, read()[of])
      },
    })
  }
  gauge('sluice_controller_queue_depth', 'depth')
  gauge('sluice_controller_keys_waiting', 'waiting')
  gauge('sluice_controller_keys_retrying', 'retrying')
  return {
    pass({ controller, result, durationMs }) {
      passes.inc({ controller, result })
      passSeconds.observe({ controller }, durationMs / 1000)
    },
    waited: (controller, waitedMs) => queueSeconds.observe({ controller }, waitedMs / 1000),
    wrote: ({ controller, verb, resource, result }) => writes.inc({ controller, verb, resource, result }),
    effect: (effect, result) => effects.inc({ effect, result }),
    event: (controller, result) => events.inc({ controller, result }),
    watchQueue: (controller, read) => void queues.set(controller, read),
    watchCaches: (caches, nowMs) => watchCaches(caches, { registry, nowMs }),
  }
}

/** Everything is reported to `own` and to all `others`, including those added later. */
export function fanOut(own: ControllerMetrics, others: readonly Partial<ControllerMetrics>[]): ControllerMetrics {
  const all = (report: (to: Partial<ControllerMetrics>) => void): void => {
    report(own)
    for (const other of others) report(other)
  }
  return {
    pass: (pass) => all((to) => to.pass?.(pass)),
    waited: (controller, waitedMs) => all((to) => to.waited?.(controller, waitedMs)),
    wrote: (write) => all((to) => to.wrote?.(write)),
    effect: (effect, result) => all((to) => to.effect?.(effect, result)),
    event: (controller, result) => all((to) => to.event?.(controller, result)),
    eventRecorded: (controller, key, intent) => all((to) => to.eventRecorded?.(controller, key, intent)),
    triggered: (controller, by, type) => all((to) => to.triggered?.(controller, by, type)),
    watchQueue: (controller, read) => all((to) => to.watchQueue?.(controller, read)),
    watchCaches: (caches, nowMs) => all((to) => to.watchCaches?.(caches, nowMs)),
  }
}

function watchCaches(caches: Caches, { registry, nowMs }: { registry: Registry; nowMs(): number }): void {
  const gauge = (name: keyof typeof METRICS, of: (cache: ReturnType<Caches['all']>[number]) => number | undefined): void => {
    new Gauge({
      name,
      help: METRICS[name],
      labelNames: ['resource'],
      registers: [registry],
      collect() {
        for (const cache of caches.all()) {
          const value = of(cache)
          const { group, plural } = cache.resource
          if (value !== undefined) this.set({ resource: group === '' ? plural : `${plural}.${group}` }, value)
        }
      },
    })
  }
  gauge('sluice_cache_objects', (cache) => cache.size)
  gauge('sluice_cache_is_following', (cache) => (cache.hasSynced && !cache.isFailing ? 1 : 0))
  gauge('sluice_cache_staleness_seconds', (cache) => (cache.hasSynced ? Math.max(0, nowMs() - cache.lastContactMs) / 1000 : undefined))
}
