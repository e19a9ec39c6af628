/**
 * Room for blocks on all shelves: reserves it, makes it by eviction, and takes blocks away. A quota counts files, reservations and
 * files that are removed while somebody still reads them, and is given back only when the bytes are really gone. Only a lowered
 * quota drives out blocks that are kept: the quota is the law.
 */

import path from 'node:path'
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import { copyBlockFile, removeFile, temporaryName } from './block-files.ts'
import { type BlockIndex, unpackKey } from './block-index.ts'
import type { Block } from './block-list.ts'
import { blockFilePath, type DatasetName } from './block-path.ts'
import { compareHeat, type Heat, heatOf, type Shelf } from './shelf.ts'

export interface StoreCounters {
  stored: number
  evicted: number
  demoted: number
  damaged: number
}

export interface CapacityOptions {
  shelves: readonly Shelf[]
  index: BlockIndex
  dataset: DatasetName
  counters: StoreCounters
  log: Log
}

/** An eviction under way, and the mark it goes down to. */
interface Eviction {
  downTo: number
  done: Promise<void>
}

export class Capacity {
  readonly #options: CapacityOptions
  readonly #evictions = new Map<Shelf, Eviction>()
  /** Blocks whose file is being written or removed. */
  readonly #busy = new Set<string>()
  /** Blocks that were taken away while they were read: their bytes are given back with the last lease. */
  readonly #readOn = new Map<Block, Shelf>()
  #serial = 0

  constructor(options: CapacityOptions) {
    this.#options = options
  }

  fileOf(shelf: Shelf, id: string): string {
    return blockFilePath(shelf.directory, this.#options.dataset, unpackKey(id))
  }

  temporaryFor(file: string): string {
    return path.join(path.dirname(file), temporaryName(++this.#serial))
  }

  /** False: its file is being written or removed already. */
  claim(id: string): boolean {
    if (this.#busy.has(id)) return false
    this.#busy.add(id)
    return true
  }

  isClaimed(id: string): boolean {
    return this.#busy.has(id)
  }

  unclaim(id: string): void {
    this.#busy.delete(id)
  }

  /** The fastest shelf with room, which is reserved; makes room where there is none. Undefined: nothing can go that would make enough. */
  async reserve(bytes: number): Promise<Shelf | undefined> {
    const take = () => {
      const shelf = this.#byFreeBytes().find((candidate) => candidate.reserve(bytes))
      if (shelf !== undefined) this.#evictAboveHigh(shelf)
      return shelf
    }
    let shelf = take()
    for (const candidate of shelf === undefined ? this.#byFreeBytes() : []) {
      if (candidate.quotaBytes < bytes) continue
      await this.#evict(candidate, Math.min(candidate.lowBytes, candidate.quotaBytes - bytes))
      shelf = take()
      if (shelf !== undefined) break
    }
    return shelf
  }

  /** Room that costs no block its place that is as hot or hotter. */
  async reserveFor(bytes: number, heat: Heat): Promise<Shelf | undefined> {
    for (const shelf of this.#byFreeBytes()) {
      let isDone = shelf.reserve(bytes, shelf.highBytes)
      while (!isDone && bytes <= shelf.highBytes) {
        const block = shelf.coldest()
        if (block === undefined || compareHeat(heatOf(block), heat) >= 0 || !(await this.#evictBlock(shelf, block))) break
        isDone = shelf.reserve(bytes, shelf.highBytes)
      }
      if (isDone) return shelf
    }
    return undefined
  }

  /** Down to the quotas as they are now. */
  async settle(): Promise<void> {
    for (const shelf of this.#options.shelves) {
      if (shelf.usedBytes > shelf.highBytes) await this.#evict(shelf, shelf.lowBytes)
      while (shelf.freeBytes < 0) {
        const block = shelf.coldest(true)
        if (block === undefined || !(await this.#evictBlock(shelf, block))) break
      }
    }
  }

  /** Until no eviction is under way. */
  async idle(): Promise<void> {
    while (this.#evictions.size > 0) await Promise.all([...this.#evictions.values()].map(({ done }) => done))
  }

  /** Takes a block away, also while it is read: readers keep what they have open. */
  async remove(block: Block): Promise<void> {
    const shelf = block.list?.shelf
    if (shelf === undefined) return
    block.list?.remove(block)
    this.#options.index.delete(block)
    // Whoever moves it just now sees that it is gone, and removes it.
    if (!this.claim(block.id)) return
    try {
      await this.#removeFile(shelf, block)
    } finally {
      this.unclaim(block.id)
    }
  }

  endLease(block: Block): void {
    block.leases--
    const shelf = block.leases === 0 ? this.#readOn.get(block) : undefined
    if (shelf === undefined) return
    this.#readOn.delete(block)
    shelf.release(block.bytes)
  }

  /** Fast levels first, and of a level the directory with most room. */
  #byFreeBytes(): Shelf[] {
    return [...this.#options.shelves].sort((a, b) => a.level - b.level || b.freeBytes - a.freeBytes)
  }

  #evictAboveHigh(shelf: Shelf): void {
    if (shelf.usedBytes > shelf.highBytes) void this.#evict(shelf, shelf.lowBytes)
  }

  /** One eviction for each shelf at a time; whoever needs more room lowers its mark. Never rejects. */
  #evict(shelf: Shelf, downTo: number): Promise<void> {
    const running = this.#evictions.get(shelf)
    if (running !== undefined) {
      running.downTo = Math.min(running.downTo, downTo)
      return running.done
    }
    const eviction: Eviction = { downTo, done: Promise.resolve() }
    eviction.done = this.#evictDown(shelf, eviction).finally(() => this.#evictions.delete(shelf))
    this.#evictions.set(shelf, eviction)
    return eviction.done
  }

  async #evictDown(shelf: Shelf, eviction: Eviction): Promise<void> {
    // Otherwise an eviction without work would end before it is registered.
    await Promise.resolve()
    while (shelf.usedBytes > eviction.downTo) {
      const block = shelf.coldest()
      if (block === undefined || !(await this.#evictBlock(shelf, block))) return
    }
  }

  /** One level down where there is room, else away. False: it stays, because the disk refuses or because it is in use by now. */
  async #evictBlock(shelf: Shelf, block: Block): Promise<boolean> {
    const { counters, shelves } = this.#options
    const below = shelves
      .filter(({ level }) => level === shelf.level + 1)
      .sort((a, b) => b.freeBytes - a.freeBytes)
      .find((candidate) => candidate.reserve(block.bytes))
    if (below === undefined) {
      const used = shelf.usedBytes
      await this.remove(block)
      counters.evicted++
      return shelf.usedBytes < used
    }
    this.#evictAboveHigh(below)
    return await this.#moveDown(block, shelf, below)
  }

  async #moveDown(block: Block, shelf: Shelf, below: Shelf): Promise<boolean> {
    const { counters, log } = this.#options
    const [from, to] = [this.fileOf(shelf, block.id), this.fileOf(below, block.id)]
    if (!this.claim(block.id)) {
      below.release(block.bytes)
      return false
    }
    block.leases++
    try {
      await copyBlockFile(from, { temporary: this.temporaryFor(to), to })
      const isGone = block.list === undefined
      // Somebody began to read it meanwhile: it is not that cold, and its file must not be removed under a reader.
      if (isGone || block.leases > 1) {
        await removeFile(to)
        below.release(block.bytes)
        if (isGone) await this.#removeFile(shelf, block, 1)
        return isGone
      }
      block.list?.remove(block)
      below.add(block, 'probation')
      counters.demoted++
      await this.#removeFile(shelf, block, 1)
      return true
    } catch (error) {
      log.write('warn', 'a block cannot be moved to a slower tier', { directory: below.directory, error: messageOf(error) })
      below.release(block.bytes)
      return false
    } finally {
      this.unclaim(block.id)
      this.endLease(block)
    }
  }

  /** The file, and then its share of the quota. */
  async #removeFile(shelf: Shelf, block: Block, ownLeases = 0): Promise<void> {
    try {
      await removeFile(this.fileOf(shelf, block.id))
      if (block.list === undefined && block.leases > ownLeases) this.#readOn.set(block, shelf)
      else shelf.release(block.bytes)
    } catch (error) {
      // The bytes are still there, so they still count.
      this.#options.log.write('warn', 'a block file cannot be removed', { directory: shelf.directory, error: messageOf(error) })
    }
  }
}
