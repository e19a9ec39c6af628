/**
 * Blocks that are fetched before anybody reads them. A load takes what room there is and drives nothing out; a few blocks at a
 * time, so that readers get theirs first. Files of a load are held until it ends: what was just loaded does not go for the rest.
 */

import type { Log } from '../../base/log.ts'
import type { BlockStore } from '../blocks/store.ts'
import { HttpError } from '../http/errors.ts'
import { blockName } from '../protocol/block.ts'
import type { Fetches } from './fetches.ts'
import type { Holds } from './holds.ts'
import type { PostedLoad } from './posted.ts'
import { Slots } from './slots.ts'

export interface LoadsOptions {
  store: BlockStore
  fetches: Fetches
  holds: Holds
  mayStore: () => boolean
  /** Blocks that are loaded at the same time, where a load does not say it. */
  most: number
  /** However many a load wants. */
  utmost: number
  log: Log
  signal: AbortSignal
}

/** Bytes of a batch: in the cache now, without room, not read. */
export interface Loaded {
  loaded: number
  /** Of `loaded`, what was not there before. */
  fetched: number
  noSpace: number
  failed: number
  /** Why the first of them failed. */
  reason?: string
}

type Outcome = 'loaded' | 'fetched' | 'noSpace' | HttpError

export class Loads {
  readonly #options: LoadsOptions
  readonly #slots: Slots
  /** Blocks that are on their way: several loads share one read, and one place in the store. */
  readonly #coming = new Map<string, Promise<Outcome>>()
  #expectedBytes = 0

  constructor(options: LoadsOptions) {
    this.#options = options
    this.#slots = new Slots(options.most, Number.MAX_SAFE_INTEGER)
  }

  /** Resolves when every block of the batch is stored, or known not to be. */
  async load({ blocks, isEnd, concurrency }: PostedLoad): Promise<Loaded> {
    const { utmost, holds } = this.#options
    const slots = concurrency === undefined ? this.#slots : new Slots(Math.min(concurrency, utmost), Number.MAX_SAFE_INTEGER)
    const result: Loaded = { loaded: 0, fetched: 0, noSpace: 0, failed: 0 }
    const held = new Set(blocks.map(({ key }) => key.fileId))
    this.#hold([...held])
    await Promise.all(
      blocks.map(async (block) => {
        const outcome = await this.#one(block, slots)
        if (outcome instanceof HttpError) {
          result.failed += block.bytes
          result.reason ??= outcome.message
        } else if (outcome === 'fetched') {
          result.loaded += block.bytes
          result.fetched += block.bytes
        } else result[outcome] += block.bytes
      }),
    )
    if (isEnd) holds.releaseAll()
    return result
  }

  async #one(block: PostedLoad['blocks'][number], slots: Slots): Promise<Outcome> {
    if (this.#options.store.has(block.key)) return 'loaded'
    const name = blockName(block.key)
    const coming = this.#coming.get(name)
    if (coming !== undefined) {
      const outcome = await coming
      // Somebody else's read.
      return outcome === 'fetched' ? 'loaded' : outcome
    }
    const fetching = this.#fetch(block, slots).finally(() => this.#coming.delete(name))
    this.#coming.set(name, fetching)
    return fetching
  }

  async #fetch({ key, bytes }: PostedLoad['blocks'][number], slots: Slots): Promise<Outcome> {
    const { store, fetches, mayStore, signal } = this.#options
    const giveBack = await slots.take(bytes, signal)
    try {
      if (!mayStore()) return new HttpError(503, 'Leaving', 'the worker leaves, and takes nothing new')
      if (!store.hasCapacityFor(bytes, this.#expectedBytes)) return 'noSpace'
      this.#expectedBytes += bytes
      try {
        return (await fetches.load(key)) === 'stored' ? 'fetched' : 'noSpace'
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
