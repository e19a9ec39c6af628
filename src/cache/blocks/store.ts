/**
 * The blocks of one worker: files in the directories of its tiers, found again after a restart. A block is served only when it is
 * whole: its CRC-32 is checked when it is written, and when it is first read after a start; one that is torn or wrong is dropped
 * and counted. Quotas are never exceeded by a byte; whatever has no room is not stored, which is no error.
 */
import type { FileHandle } from 'node:fs/promises'
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import type { BlockKey } from '../protocol/block.ts'
import { checkBlockFile, errorCode, listBlockFiles, openBlockFile, removeDirectories, removeFile } from './block-files.ts'
import { BlockIndex, packKey, unpackKey } from './block-index.ts'
import type { Block, Segment } from './block-list.ts'
import { type DatasetName, datasetDirectory } from './block-path.ts'
import { type BlockWriter, createBlockWriter } from './block-writer.ts'
import { BufferPool } from './buffer-pool.ts'
import { Capacity, type StoreCounters } from './capacity.ts'
import { compareHeat, type Heat, heatOf, Shelf } from './shelf.ts'
import type { Medium, Tier, TierUsage } from './tier.ts'
import { TRAILER_BYTES } from './trailer.ts'

export interface StoreOptions {
  dataset: DatasetName
  tiers: readonly Tier[]
  /** Nothing is evicted. */
  isPinned?: boolean
  clock: Clock
  log: Log
}

/** An open block. It is neither evicted nor moved before `close`. */
export interface BlockReader {
  length: number
  crc: number
  medium: Medium
  /** Rejects when the file has become shorter. */
  read(into: Buffer, position: number, length: number): Promise<void>
  close(): Promise<void>
}

/** Files that can be held at a time. */
const MOST_HELD = 100_000

export async function openBlockStore(options: StoreOptions): Promise<BlockStore> {
  const store = new BlockStore(options)
  await store.load()
  return store
}

export class BlockStore {
  readonly counters: StoreCounters = { stored: 0, evicted: 0, demoted: 0, damaged: 0 }
  readonly buffers = new BufferPool()
  readonly #options: StoreOptions
  readonly #shelves: readonly Shelf[]
  readonly #index = new BlockIndex()
  readonly #capacity: Capacity
  readonly #held = new Set<string>()
  readonly #checks = new Map<Block, Promise<boolean>>()

  constructor(options: StoreOptions) {
    this.#options = options
    this.#shelves = options.tiers.flatMap((tier, level) => tier.paths.map((path) => new Shelf(tier, path, level)))
    const { dataset, log } = options
    this.#capacity = new Capacity({ shelves: this.#shelves, index: this.#index, dataset, counters: this.counters, log })
  }

  /** Lists what is there. Nothing is read; what exceeds a quota goes. */
  async load(): Promise<void> {
    for (const shelf of this.#shelves) {
      const { found, torn } = await listBlockFiles(datasetDirectory(shelf.directory, this.#options.dataset))
      this.counters.damaged += torn
      for (const { key, bytes, mtimeMs } of found.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
        const id = packKey(key)
        // Killed while it was moved: the faster one stays.
        if (this.#index.get(id) !== undefined) await removeFile(this.#capacity.fileOf(shelf, id))
        else {
          shelf.account(bytes)
          this.#add(shelf, newBlock({ id, bytes, usedAt: Math.floor(mtimeMs / 1000) }))
        }
      }
    }
    await this.#capacity.settle()
  }

  has(key: BlockKey): boolean {
    return this.#index.get(packKey(key)) !== undefined
  }

  /** Its file is being written or removed. */
  isBusy(key: BlockKey): boolean {
    return this.#capacity.isClaimed(packKey(key))
  }

  /** Undefined: it is not there, or was not whole and is there no more. Counts as a use. */
  async read(key: BlockKey): Promise<BlockReader | undefined> {
    const block = this.#index.get(packKey(key))
    const shelf = block?.list?.shelf
    if (block === undefined || shelf === undefined) return undefined
    block.leases++
    let handle: FileHandle | undefined
    try {
      handle = await openBlockFile(this.#capacity.fileOf(shelf, block.id))
      if (await this.#isWhole(block, handle)) {
        shelf.use(block, this.#nowSeconds())
        return this.#reader(block, { handle, medium: shelf.medium })
      }
    } catch (error) {
      if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ELOOP') {
        this.#options.log.write('warn', 'a block file cannot be read', { directory: shelf.directory, error: messageOf(error) })
      }
    }
    await handle?.close()
    await this.#dropDamaged(block)
    this.#capacity.endLease(block)
    return undefined
  }

  /**
   * Room and a file for a block of that length. Undefined: there is no room, it is here already, or somebody else writes it.
   * With `heat` it comes from another worker, and drives out nothing that is as hot.
   */
  async begin(key: BlockKey, length: number, heat?: Heat): Promise<BlockWriter | undefined> {
    const id = packKey(key)
    if (this.#index.get(id) !== undefined || !this.#capacity.claim(id)) return undefined
    const bytes = length + TRAILER_BYTES
    try {
      const shelf = await (heat === undefined ? this.#capacity.reserve(bytes) : this.#capacity.reserveFor(bytes, heat))
      if (shelf === undefined) {
        this.#capacity.unclaim(id)
        return undefined
      }
      return await this.#writer(key, { shelf, length, heat })
    } catch (error) {
      this.#options.log.write('warn', 'a block cannot be stored', { error: messageOf(error) })
      return undefined
    }
  }

  /** Whether a block of that length, and blocks of `expected` bytes that are on their way, can be stored while everything else stays. */
  hasCapacityFor(length: number, expected = 0): boolean {
    const free = this.#shelves.map(({ usedBytes, highBytes }) => Math.max(0, highBytes - usedBytes))
    const total = free.reduce((sum, one) => sum + one, 0)
    return free.some((one) => one >= length + TRAILER_BYTES) && total >= expected + length + TRAILER_BYTES
  }

  /** A client of this node read the block's file. */
  use(key: BlockKey): boolean {
    const block = this.#index.get(packKey(key))
    if (block !== undefined) block.list?.shelf.use(block, this.#nowSeconds())
    return block !== undefined
  }

  async remove(key: BlockKey): Promise<void> {
    const block = this.#index.get(packKey(key))
    if (block !== undefined) await this.#capacity.remove(block)
  }

  /** Removes all blocks, and the directories they were in where nothing else is. Blocks that are being written stay. */
  async clear(): Promise<void> {
    for (const block of [...this.#index.all()]) await this.#capacity.remove(block)
    for (const { directory } of this.#shelves) await removeDirectories(datasetDirectory(directory, this.#options.dataset))
  }

  /** Drops blocks of all versions of a file but one, or of all. Resolves to their number. */
  async dropOthers(fileId: string, keptVersion: string | undefined): Promise<number> {
    const old = this.#index.ofFile(fileId).filter(({ id }) => unpackKey(id).version !== keptVersion)
    for (const block of old) await this.#capacity.remove(block)
    return old.length
  }

  /** Blocks of the file stay while it is held, as in a load. False: too many are held. */
  hold(fileId: string): boolean {
    if (!this.#held.has(fileId) && this.#held.size >= MOST_HELD) return false
    this.#held.add(fileId)
    this.#reassign(fileId)
    return true
  }

  letGo(fileId: string): void {
    if (this.#held.delete(fileId)) this.#reassign(fileId)
  }

  /** For the same directories, in the same order. */
  async setQuotas(tiers: readonly Tier[]): Promise<void> {
    const wanted = tiers.flatMap((tier) => tier.paths.map((path) => ({ tier, path })))
    if (wanted.length !== this.#shelves.length || wanted.some(({ path }, i) => path.directory !== this.#shelves[i]?.directory)) {
      throw new TypeError('the directories of the tiers have changed: restart the worker, which finds the blocks of those that stay')
    }
    for (const [i, { tier, path }] of wanted.entries()) this.#shelves[i]?.setQuota(tier, path)
    await this.#capacity.settle()
  }

  /** All blocks, the hottest first. */
  byHeat(): { key: BlockKey; bytes: number; heat: Heat }[] {
    return [...this.#index.all()]
      .map((block) => ({ id: block.id, bytes: block.bytes - TRAILER_BYTES, heat: heatOf(block) }))
      .sort((a, b) => compareHeat(b.heat, a.heat) || (a.id < b.id ? -1 : 1))
      .map(({ id, bytes, heat }) => ({ key: unpackKey(id), bytes, heat }))
  }

  usage(): TierUsage[] {
    return this.#options.tiers.map(({ medium }, level) => {
      const own = this.#shelves.filter((shelf) => shelf.level === level)
      const sum = (of: (shelf: Shelf) => number) => own.reduce((total, shelf) => total + of(shelf), 0)
      return {
        medium,
        quotaBytes: sum(({ quotaBytes }) => quotaBytes),
        usedBytes: sum(({ usedBytes }) => usedBytes),
        blocks: sum(({ blocks }) => blocks),
      }
    })
  }

  get size(): number {
    return this.#index.size
  }

  /** Until no eviction is under way. */
  idle(): Promise<void> {
    return this.#capacity.idle()
  }

  #nowSeconds(): number {
    return Math.floor(this.#options.clock.now() / 1000)
  }

  #segmentOf(block: Block): Segment {
    const isKept = this.#options.isPinned === true || (this.#held.size > 0 && this.#held.has(unpackKey(block.id).fileId))
    return isKept ? 'kept' : 'probation'
  }

  #add(shelf: Shelf, block: Block, segment = this.#segmentOf(block)): void {
    this.#index.add(block)
    shelf.add(block, segment)
  }

  #reassign(fileId: string): void {
    for (const block of this.#index.ofFile(fileId)) {
      const shelf = block.list?.shelf
      const segment = this.#segmentOf(block)
      if (shelf === undefined || (block.list?.segment === 'kept') === (segment === 'kept')) continue
      block.list?.remove(block)
      shelf.add(block, segment)
    }
  }

  /** One check for all who ask at the same time. */
  async #isWhole(block: Block, handle: FileHandle): Promise<boolean> {
    if (block.crc !== undefined) return true
    let check = this.#checks.get(block)
    if (check === undefined) {
      check = this.#check(block, handle).finally(() => this.#checks.delete(block))
      this.#checks.set(block, check)
    }
    return await check
  }

  async #check(block: Block, handle: FileHandle): Promise<boolean> {
    const trailer = await checkBlockFile(handle, unpackKey(block.id), { bytes: block.bytes, buffers: this.buffers })
    if (trailer !== undefined) block.crc = trailer.crc | 0
    return trailer !== undefined
  }

  async #dropDamaged(block: Block): Promise<void> {
    if (block.list === undefined) return
    this.counters.damaged++
    await this.#capacity.remove(block)
  }

  #reader(block: Block, { handle, medium }: { handle: FileHandle; medium: Medium }): BlockReader {
    let isClosed = false
    return {
      length: block.bytes - TRAILER_BYTES,
      crc: (block.crc ?? 0) >>> 0,
      medium,
      read: async (into, position, length) => {
        for (let done = 0; done < length; ) {
          const { bytesRead } = await handle.read(into, done, length - done, position + done)
          if (bytesRead === 0) {
            await this.#dropDamaged(block)
            throw new Error('the file of a block has become shorter')
          }
          done += bytesRead
        }
      },
      close: async () => {
        if (isClosed) return
        isClosed = true
        await handle.close()
        this.#capacity.endLease(block)
      },
    }
  }

  #writer(key: BlockKey, { shelf, length, heat }: { shelf: Shelf; length: number; heat?: Heat }): Promise<BlockWriter> {
    const id = packKey(key)
    const bytes = length + TRAILER_BYTES
    const file = this.#capacity.fileOf(shelf, id)
    return createBlockWriter({
      key,
      length,
      file,
      temporary: this.#capacity.temporaryFor(file),
      onCommit: (crc) => {
        const block = newBlock({ id, bytes, usedAt: heat?.usedAt ?? this.#nowSeconds(), crc: crc | 0 })
        const own = this.#segmentOf(block)
        this.#add(shelf, block, own === 'probation' && heat !== undefined && heat.segment !== 'probation' ? 'protected' : own)
        this.counters.stored++
        this.#capacity.unclaim(id)
      },
      onAbort: ({ isLeft, reason }) => {
        this.#capacity.unclaim(id)
        // Bytes that cannot be removed still count.
        if (isLeft) this.#options.log.write('warn', 'an unfinished block file cannot be removed', { directory: shelf.directory, reason })
        else shelf.release(bytes)
      },
    })
  }
}

const newBlock = (of: { id: string; bytes: number; usedAt: number; crc?: number }): Block => ({
  id: of.id,
  bytes: of.bytes,
  crc: of.crc,
  usedAt: of.usedAt,
  leases: 0,
  list: undefined,
  older: undefined,
  newer: undefined,
})
