/**
 * Blocks that are fetched before anybody reads them. A load takes what room there is and drives nothing out; a few blocks at a
 * time, so that readers get theirs first. Files of a load are held until it ends: what was just loaded does not go for the rest.
 */

import type { Log } from '../../base/log.ts'
import type { BlockStore } from '../blocks/store.ts'
import { HttpError } from '../http/errors.ts'
import type { Fetches } from './fetches.ts'
import type { Holds } from './holds.ts'
import type { PostedLoad } from './posted.ts'
import { Slots } from './slots.ts'

export interface LoadsOptions {
  store: BlockStore
  fetches: Fetches
  holds: Holds
  mayStore: () => boolean
  /** Blocks that are loaded at the same time. */
  most: number
  log: Log
  signal: AbortSignal
}

/** Bytes of a batch: in the cache now, without room, not read. */
export interface Loaded {
  loaded: number
  noSpace: number
  failed: number
  /** Why the first of them failed. */
  reason?: string
}

export class Loads {
  readonly #options: LoadsOptions
  readonly #slots: Slots
  /** Of blocks that are on their way. */
  #expectedBytes = 0

  constructor(options: LoadsOptions) {
    this.#options = options
    this.#slots = new Slots(options.most, Number.MAX_SAFE_INTEGER)
  }

  /** Resolves when every block of the batch is stored, or known not to be. */
  async load({ blocks, isEnd }: PostedLoad): Promise<Loaded> {
    const result: Loaded = { loaded: 0, noSpace: 0, failed: 0 }
    const held = new Set(blocks.map(({ key }) => key.fileId))
    this.#hold([...held])
    await Promise.all(
      blocks.map(async (block) => {
        const outcome = await this.#one(block)
        if (outcome instanceof HttpError) {
          result.failed += block.bytes
          result.reason ??= outcome.message
        } else result[outcome] += block.bytes
      }),
    )
    if (isEnd) this.#options.holds.releaseAll()
    return result
  }

  async #one({ key, bytes }: PostedLoad['blocks'][number]): Promise<'loaded' | 'noSpace' | HttpError> {
    const { store, fetches, mayStore, signal } = this.#options
    if (store.has(key)) return 'loaded'
    const giveBack = await this.#slots.take(bytes, signal)
    try {
      if (!mayStore()) return new HttpError(503, 'Leaving', 'the worker leaves, and takes nothing new')
      if (!store.hasCapacityFor(bytes, this.#expectedBytes)) return 'noSpace'
      this.#expectedBytes += bytes
      try {
        return (await fetches.load(key)) === 'stored' ? 'loaded' : 'noSpace'
      } finally {
        this.#expectedBytes -= bytes
      }
    } catch (error) {
      if (error instanceof HttpError) return error
      throw error
    } finally {
      giveBack()
    }
  }

  /** More files than can be held are loaded all the same. */
  #hold(fileIds: readonly string[]): void {
    const { holds, log } = this.#options
    try {
      holds.change({ hold: fileIds, release: [] })
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      log.write('debug', 'files of a load are not held', { reason: error.message })
    }
  }
}
