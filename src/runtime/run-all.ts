/** Runs a list of controllers against one API server: one set of caches for all of them, one client each. */

import type { Registry } from 'prom-client'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/error-text.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import { type Caches, createCaches } from '../client/cache/caches.ts'
import { type ClusterCache, followCluster } from '../client/cache/cluster-cache.ts'
import { type Client, createClient } from '../client/client.ts'
import type { Members } from '../client/members.ts'
import type { Transport } from '../client/transport.ts'
import type { Resource } from '../kube/resource.ts'
import type { Controller } from './controller.ts'
import { type ControllerMetrics, createControllerMetrics, fanOut } from './metrics.ts'
import { type RunningController, runController } from './run-controller.ts'
import type { Observer, Pass } from './workers.ts'

export interface RunAllOptions {
  clock: Clock
  random: Random
  log: Log
  /** Where controllers register their metrics (default: nowhere). */
  registry?: Registry
  /** Called after every pass of every controller. */
  onPass?(pass: Pass): void
  /** How each part of the process reaches the server: a controller by its name, `caches`, or `everything`, which is the cluster cache. */
  transportFor(part: string): Transport
  /** Whether the server's discovery shows a definition only some time after it is established, as all but our own do (default no). */
  isDiscoveryLate?: boolean
  /** Resources of which the cluster cache keeps whole objects (default: none). */
  keepsWhole?(resource: Resource): boolean
  /** Replaces a controller before it runs: worlds script its effects. */
  adapt?(controller: Controller): Controller
}

/** What exists before the controllers, which are created from it. */
export interface Shared {
  caches: Caches
  clusterCache: ClusterCache
  clientOf(part: string): Client
  keepsManager(name: string): boolean
  /** Options for loops that run next to the controllers. */
  observer: Observer & { clock: Clock; random: Random }
}

/** Caches that are kept next to the controllers and stop with them. */
export interface CacheLifecycle {
  behind(): string[]
  stop(): Promise<void>
}

export interface ControllerSet {
  controllers: readonly Controller[]
  /** The other clusters they may reach. */
  members?: Members & CacheLifecycle
  /** Loops that run next to the controllers. */
  loops?: readonly RunningController[]
  /** Controllers wait for this before their first pass. */
  ready?: Promise<unknown>
  /** Further observers of passes, writes and events. */
  observes?: readonly Partial<ControllerMetrics>[]
}

export interface RunningControllers {
  /** What is not settled, as lines of text; empty when nothing can run until something else happens. */
  busy(): string[]
  /** Resyncs every controller: for when something outside the API changed, such as the certificate authority. */
  resync(): void
  stop(): Promise<void>
}

export function runAll(options: RunAllOptions, compose: (shared: Shared) => ControllerSet): RunningControllers {
  const { clock, random, log, registry, onPass } = options
  const others: Partial<ControllerMetrics>[] = []
  const metrics = registry === undefined ? undefined : fanOut(createControllerMetrics(registry), others)
  const clients: Client[] = []
  const clientOf = (part: string): Client => {
    const client = createClient({ transport: options.transportFor(part), clock, random, userAgent: `sluice/${part}` })
    clients.push(client)
    return client
  }
  const names = new Set<string>()
  const keepsManager = (name: string): boolean => names.has(name)
  const caches = createCaches({
    client: clientOf('caches'),
    clock,
    random,
    keepsManager,
    onError: (error, resource) => log.write('warn', 'cannot follow a resource', { resource: resource.plural, cause: messageOf(error) }),
  })
  const clusterCache = followCluster({
    client: clientOf('everything'),
    clock,
    random,
    isDiscoveryLate: options.isDiscoveryLate,
    whole: options.keepsWhole,
    shared: (resource) => caches.known(resource),
    onError: (error) => log.write('warn', 'cannot follow everything', { cause: messageOf(error) }),
  })
  const onError = (error: unknown, controller: string, key: string): void =>
    log.write('error', 'a pass failed and will be tried again', { controller, object: key, cause: messageOf(error) })
  const observer = { clock, random, metrics, onError, onPass }
  const {
    controllers: declared,
    members,
    loops = [],
    ready,
    observes = [],
  } = compose({ caches, clusterCache, clientOf, keepsManager, observer })
  others.push(...observes)
  metrics?.watchCaches(caches, () => clock.now())
  const controllers = declared.map((controller) => options.adapt?.(controller) ?? controller)
  for (const { name } of controllers) names.add(name)
  const running = [
    ...controllers.map((controller) =>
      runController(controller, { client: clientOf(controller.name), caches, clusterCache, members, ready, ...observer }),
    ),
    ...loops,
  ]
  return {
    busy: () => [...caches.behind(), ...clusterCache.behind(), ...(members?.behind() ?? []), ...running.flatMap((one) => one.busy())],
    resync() {
      for (const one of running) one.resync()
    },
    async stop() {
      await Promise.all(running.map((one) => one.stop()))
      caches.stop()
      clusterCache.stop()
      await members?.stop()
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}
