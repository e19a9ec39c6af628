/**
 * The store in memory, for tests and worlds: the same core as the durable one, where a write becomes durable in the next
 * microtask. `hold` keeps writes in flight until `release` or `fail`, to observe what happens in the meantime.
 */

import type { CommitLog, PendingWrite } from '../mvcc/pending.ts'
import { type CoreOptions, StoreCore } from '../mvcc/store-core.ts'
import { type Store, StoreUnavailableError } from '../store.ts'

export interface MemoryStore extends Store {
  /** From now on writes stay in flight. */
  hold(): void
  /** The oldest `count` writes in flight become durable now; without a count all do, and holding ends. */
  release(count?: number): void
  /** Every write in flight fails now, as on a full disk. */
  fail(error: Error): void
  /** Writes in flight. */
  readonly inFlight: number
}

class MicrotaskLog implements CommitLog {
  readonly queue: PendingWrite[] = []
  isHeld = false
  isClosed = false
  #isScheduled = false

  append(write: PendingWrite): void {
    if (this.isClosed) throw new StoreUnavailableError('the store is closed')
    this.queue.push(write)
    if (this.isHeld || this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      if (!this.isHeld) this.publish(this.queue.length)
    })
  }

  publish(count: number): void {
    for (const write of this.queue.splice(0, count)) write.publish()
  }
}

export function createMemoryStore(options: CoreOptions): MemoryStore {
  const log = new MicrotaskLog()
  const core = new StoreCore(options, log)
  return {
    cluster: (name) => core.cluster(name),
    clusterNames: () => core.clusterNames(),
    get inFlight() {
      return log.queue.length
    },
    hold: () => {
      log.isHeld = true
    },
    release: (count) => {
      if (count === undefined) log.isHeld = false
      log.publish(count ?? log.queue.length)
    },
    fail: (error) => {
      for (const write of log.queue.splice(0)) write.abort(error)
    },
    close: async () => {
      log.isClosed = true
      log.publish(log.queue.length)
      core.close()
    },
  }
}
