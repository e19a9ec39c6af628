/** Files that are held for a load, each with an end: a loader that dies pins nothing for ever. */

import type { Clock } from '../../base/clock.ts'
import type { BlockStore } from '../blocks/store.ts'
import { HttpError } from '../http/errors.ts'

export class Holds {
  readonly #options: { store: BlockStore; clock: Clock; holdMs: number }
  readonly #ends = new Map<string, () => void>()

  constructor(options: { store: BlockStore; clock: Clock; holdMs: number }) {
    this.#options = options
  }

  change({ hold, release }: { hold: readonly string[]; release: readonly string[] }): void {
    const { store, clock, holdMs } = this.#options
    for (const fileId of release) this.#end(fileId)
    for (const fileId of hold) {
      if (!store.hold(fileId)) throw new HttpError(503, 'Busy', 'too many files are held: let go of those that are loaded')
      this.#ends.get(fileId)?.()
      this.#ends.set(
        fileId,
        clock.after(holdMs, () => this.#end(fileId)),
      )
    }
  }

  releaseAll(): void {
    for (const fileId of [...this.#ends.keys()]) this.#end(fileId)
  }

  close(): void {
    for (const cancel of this.#ends.values()) cancel()
  }

  #end(fileId: string): void {
    this.#ends.get(fileId)?.()
    this.#ends.delete(fileId)
    this.#options.store.letGo(fileId)
  }
}
