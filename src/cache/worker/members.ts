/** Who the workers are, as the last heartbeat was answered, and whom a block belongs to in this epoch and in the one before. */
import { createPlacement } from '../placement/placement.ts'
import type { BlockKey } from '../protocol/block.ts'
import type { Membership, WorkerEntry } from '../protocol/membership.ts'

export class Members {
  readonly #self: string
  #membership: Membership = { epoch: 0, workers: [], previous: [] }
  #owners = createPlacement([])
  #all = createPlacement([])
  #owned = createPlacement([])

  constructor(self: string) {
    this.#self = self
  }

  get epoch(): number {
    return this.#membership.epoch
  }

  /** This worker as the master sees it. */
  get self(): WorkerEntry | undefined {
    return this.#membership.workers.find(({ name }) => name === this.#self)
  }

  update(membership: Membership): void {
    this.#membership = membership
    this.#owners = createPlacement(this.#others(membership.workers))
    this.#all = createPlacement(membership.workers)
    // Of a worker that left since, the address is that of then; it serves reads until it is gone.
    const leaving = new Set(membership.workers.filter(({ state }) => state === 'gone').map(({ name }) => name))
    const then = membership.previous.filter(({ name, state }) => state !== 'gone' && !leaving.has(name))
    this.#owned = createPlacement(then.map((worker) => ({ ...worker, state: 'serving' as const })))
  }

  /** The first workers of a block without this one. */
  ownersOf(key: BlockKey, count: number): WorkerEntry[] {
    return this.#owners.ownersOf(key, count)
  }

  /**
   * Who may have a block, without this one: those whose it is, and those whose it was in the epoch before. Whoever asks this one for
   * what is another's knows of an epoch that this one has not heard of yet.
   */
  holdersOf(key: BlockKey, count: number): WorkerEntry[] {
    const now = this.#others(this.#all.ownersOf(key, count))
    const before = this.#others(this.#owned.ownersOf(key, count))
    return [...now, ...before.filter(({ address }) => !now.some((one) => one.address === address))]
  }

  #others(workers: readonly WorkerEntry[]): WorkerEntry[] {
    return workers.filter(({ name }) => name !== this.#self)
  }
}
