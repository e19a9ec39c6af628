/**
 * A worker whose dataset is deleted gives its room back: it removes its blocks and the directories they were in, and stores nothing
 * from then on. Whoever still reads gets blocks from their source. Asked again it goes on, also after a restart.
 */
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import type { BlockStore } from '../blocks/store.ts'

export interface ClearingReport {
  /** Blocks that are still here, and one more while their directories are. */
  left: number
}

export class Clearing {
  readonly #store: BlockStore
  readonly #log: Log
  #hasBegun = false
  #isDone = false
  #running: Promise<void> | undefined

  constructor({ store, log }: { store: BlockStore; log: Log }) {
    this.#store = store
    this.#log = log
  }

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Does nothing while it runs, and when nothing is left. */
  start(): void {
    this.#hasBegun = true
    if (this.#running !== undefined || (this.#isDone && this.#store.size === 0)) return
    this.#running = this.#store
      .clear()
      .then(() => {
        this.#isDone = true
      })
      .catch((error: unknown) => this.#log.write('warn', 'blocks cannot be removed', { error: messageOf(error) }))
      .finally(() => {
        this.#running = undefined
      })
  }

  report(): ClearingReport {
    // Directories count as well: it is through when the last one is gone.
    return { left: this.#store.size + (this.#isDone ? 0 : 1) }
  }

  async idle(): Promise<void> {
    await this.#running
  }
}
