/** The clusters of one store, over one commit log: what the memory store and the journal store have in common. */
import type { Clock } from '../../base/clock.ts'
import { type ClusterContext, ClusterCore } from './cluster.ts'
import { DEFAULT_HISTORY, type HistoryLimits } from './history.ts'
import type { CommitLog } from './pending.ts'
import { ParsedCache } from './version.ts'

export interface CoreOptions {
  clock: Clock
  /** How much history can be read and watched from; see HistoryLimits for the defaults. */
  history?: Partial<HistoryLimits>
  /** How many parsed objects are kept for the whole store. Default 4,000. */
  parsedObjects?: number
  /** The limit on their total source bytes. Default 64 MiB. */
  parsedBytes?: number
  /** A watcher's callback threw; the watcher was closed. Default: the error is rethrown as an uncaught exception. */
  onWatcherError?(error: unknown): void
}

const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

export class StoreCore {
  readonly #clusters = new Map<string, ClusterCore>()
  readonly #context: ClusterContext

  constructor(options: CoreOptions, log: CommitLog) {
    this.#context = {
      clock: options.clock,
      history: { ...DEFAULT_HISTORY, ...options.history },
      cache: new ParsedCache(options.parsedObjects ?? 4000, options.parsedBytes ?? 64 * 1024 * 1024),
      log,
      onWatcherError: options.onWatcherError ?? throwLater,
    }
  }

  cluster(name: string): ClusterCore {
    let cluster = this.#clusters.get(name)
    if (cluster === undefined) {
      if (!CLUSTER_NAME.test(name)) throw new TypeError(`a cluster's name is a DNS label, not ${JSON.stringify(name.slice(0, 100))}`)
      cluster = new ClusterCore(name, this.#context)
      this.#clusters.set(name, cluster)
    }
    return cluster
  }

  clusterNames(): string[] {
    return [...this.#clusters.keys()].sort()
  }

  /** Bytes of all live values. */
  get liveBytes(): number {
    let sum = 0
    for (const cluster of this.#clusters.values()) sum += cluster.liveBytes
    return sum
  }

  close(): void {
    for (const cluster of this.#clusters.values()) cluster.close()
  }
}

function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
