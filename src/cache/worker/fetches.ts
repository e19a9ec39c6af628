/**
 * Blocks that are not here: each is fetched once for all who wait, from the worker that had it in the epoch before, else from the
 * source; whoever waits reads what has arrived while the rest still comes. Who goes away does not stop it for others. Fetches
 * under way are bounded in number and in memory, those who wait in number; a block is in memory until it is stored and everybody
 * has it.
 */

import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import type { Heat } from '../blocks/shelf.ts'
import type { BlockStore } from '../blocks/store.ts'
import { HttpError } from '../http/errors.ts'
import { type BlockKey, blockLength, blockName } from '../protocol/block.ts'
import type { WorkerEntry } from '../protocol/membership.ts'
import { SourceChanged } from '../sources/source.ts'
import type { FileLookup } from './file-lookup.ts'
import type { WorkerCounters, WorkerFile, WorkerLimits, WorkerOptions } from './options.ts'
import type { Peers } from './peers.ts'
import { Slots } from './slots.ts'
import { sourceRefusal } from './source-refusal.ts'

export interface FetchesOptions {
  store: BlockStore
  files: FileLookup
  peers: Peers
  /** Whom to ask before the source. */
  holdersOf: (key: BlockKey) => readonly WorkerEntry[]
  /** A worker that leaves keeps nothing new. */
  mayStore: () => boolean
  sourceOf: WorkerOptions['sourceOf']
  blockBytes: number
  limits: Pick<WorkerLimits, 'fetches' | 'fetchBytes' | 'waiting'>
  counters: WorkerCounters
  log: Log
  signal: AbortSignal
}

/** A block on its way. Holders must `leave`. */
export interface Arriving {
  length: number
  from: 'peer' | 'source'
  /** Bytes from `position` that have arrived, at least one, unless `position` is the end. Rejects when no more will come. */
  after(position: number): Promise<Buffer>
  leave(): void
}

export class Fetches {
  readonly #options: FetchesOptions
  readonly #slots: Slots
  readonly #fetches = new Map<string, Fetch>()
  readonly #running = new Set<Promise<void>>()
  #waiting = 0

  constructor(options: FetchesOptions) {
    this.#options = options
    this.#slots = new Slots(options.limits.fetches, options.limits.fetchBytes)
  }

  /** Until everything under way is stored or has failed. */
  async idle(): Promise<void> {
    await Promise.all([...this.#running])
  }

  /** Resolves when the first bytes are here. Rejects with an HttpError. */
  async join(key: BlockKey, signal: AbortSignal): Promise<Arriving> {
    if (this.#waiting >= this.#options.limits.waiting) {
      this.#options.counters.refused++
      throw new HttpError(503, 'Busy', 'too many requests wait for blocks: try again, or ask the next worker')
    }
    this.#waiting++
    const fetch = this.#start(key, true)
    fetch.users++
    let hasLeft = false
    const leave = () => {
      if (hasLeft) return
      hasLeft = true
      this.#waiting--
      fetch.leave()
    }
    try {
      await fetch.change(signal, () => fetch.filled > 0)
      return { length: fetch.buffer.length, from: fetch.from, after: (position) => fetch.after(position, signal), leave }
    } catch (error) {
      leave()
      throw error
    }
  }

  /** Resolves when the block is stored, or there was no room for it: nothing that is kept goes for it. Rejects with an HttpError. */
  async load(key: BlockKey): Promise<'stored' | 'no-space'> {
    const fetch = this.#start(key, false)
    fetch.users++
    try {
      await fetch.ended
      if (fetch.error !== undefined) throw fetch.error
      return this.#options.store.has(key) ? 'stored' : 'no-space'
    } finally {
      fetch.leave()
    }
  }

  #start(key: BlockKey, isRead: boolean): Fetch {
    const name = blockName(key)
    const known = this.#fetches.get(name)
    if (known !== undefined) {
      known.isRead ||= isRead
      return known
    }
    const fetch = new Fetch(key, isRead)
    this.#fetches.set(name, fetch)
    const running = this.#run(fetch).finally(() => {
      this.#fetches.delete(name)
      this.#running.delete(running)
      fetch.leave()
    })
    fetch.ended = running
    this.#running.add(running)
    return fetch
  }

  /** Never rejects. */
  async #run(fetch: Fetch): Promise<void> {
    const { files, blockBytes, counters, signal } = this.#options
    const { fileId, version, index } = fetch.key
    try {
      const file = await files.version(fileId, version)
      const length = blockLength(file.entry.size, blockBytes, index)
      if (length === 0) throw new HttpError(404, 'NoSuchBlock', 'the file has fewer blocks')
      fetch.onUnused = await this.#slots.take(length, signal)
      // Everybody went away while it waited for its turn.
      if (fetch.users === 1) throw new HttpError(503, 'GivenUp', 'nobody waits for the block any more')
      fetch.buffer = Buffer.allocUnsafeSlow(length)
      if (!(await this.#fromPeers(fetch))) await this.#fromSource(fetch, file)
    } catch (error) {
      const refusal = sourceRefusal(error)
      if (error instanceof SourceChanged) {
        counters.sourceChanges++
        files.forget(fileId)
      } else if (refusal.status === 502) {
        counters.sourceFailures++
        this.#options.log.write('warn', 'a block cannot be read from its source', { reason: refusal.message })
      }
      return fetch.fail(refusal)
    }
    await this.#keep(fetch)
  }

  /** Nothing is shown of it before it is whole and right. */
  async #fromPeers(fetch: Fetch): Promise<boolean> {
    for (const { address } of this.#options.holdersOf(fetch.key)) {
      if (!(await this.#options.peers.get(address, fetch.key, fetch.buffer))) continue
      this.#options.counters.peerBytes += fetch.buffer.length
      fetch.from = 'peer'
      fetch.arrived(fetch.buffer.length)
      return true
    }
    return false
  }

  async #fromSource(fetch: Fetch, file: WorkerFile): Promise<void> {
    const { sourceOf, blockBytes, counters, signal } = this.#options
    const start = fetch.key.index * blockBytes
    const source = await sourceOf(file.mount, signal)
    let at = 0
    for await (const chunk of source.read(file.source, { start, end: start + fetch.buffer.length }, signal)) {
      if (at + chunk.length > fetch.buffer.length) throw new Error('it sent more than was asked for')
      fetch.buffer.set(chunk, at)
      at += chunk.length
      counters.sourceBytes += chunk.length
      // The last bytes are shown when the source has said that they are of this version.
      if (at < fetch.buffer.length) fetch.arrived(at)
    }
    if (at < fetch.buffer.length) throw new Error(`it sent ${at} of ${fetch.buffer.length} bytes`)
    fetch.arrived(at)
  }

  /** What cannot be stored was served all the same. */
  async #keep(fetch: Fetch): Promise<void> {
    const { store, log, mayStore } = this.#options
    if (!mayStore()) return
    const writer = await store.begin(fetch.key, fetch.buffer.length, fetch.isRead ? undefined : UNREAD)
    try {
      await writer?.write(fetch.buffer)
      await writer?.commit()
    } catch (error) {
      log.write('warn', 'a block cannot be stored', { error: messageOf(error) })
    }
  }
}

/** Of a block that was loaded and nobody has read: the first to go, and it drives nothing out. */
const UNREAD: Heat = { segment: 'probation', usedAt: 0 }

class Fetch {
  readonly key: BlockKey
  /** Somebody reads it; otherwise it is only loaded. */
  isRead: boolean
  /** Never rejects. */
  ended: Promise<void> = Promise.resolve()
  buffer: Buffer = Buffer.alloc(0)
  from: 'peer' | 'source' = 'source'
  filled = 0
  /** Whoever waits or reads, and the fetch itself. */
  users = 1
  onUnused: () => void = () => undefined
  #error: HttpError | undefined
  #waiters: (() => void)[] = []

  constructor(key: BlockKey, isRead: boolean) {
    this.key = key
    this.isRead = isRead
  }

  get error(): HttpError | undefined {
    return this.#error
  }

  arrived(filled: number): void {
    this.filled = filled
    this.#wake()
  }

  fail(error: HttpError): void {
    this.#error = error
    this.#wake()
  }

  leave(): void {
    this.users--
    if (this.users === 0) this.onUnused()
  }

  async after(position: number, signal: AbortSignal): Promise<Buffer> {
    await this.change(signal, () => this.filled > position || position >= this.buffer.length)
    return this.buffer.subarray(position, this.filled)
  }

  /** Until it is so. Rejects when it will not be, or when whoever waits is gone. */
  async change(signal: AbortSignal, isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#error !== undefined) throw this.#error
      if (signal.aborted) throw new HttpError(499, 'Gone', 'whoever asked has gone')
      await new Promise<void>((resolve) => {
        const done = () => {
          signal.removeEventListener('abort', done)
          resolve()
        }
        signal.addEventListener('abort', done, { once: true })
        this.#waiters.push(done)
      })
    }
  }

  #wake(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const wake of waiters) wake()
  }
}
