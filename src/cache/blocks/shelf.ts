/**
 * One directory of a tier: its quota and, as a segmented LRU, the order in which its blocks would go. Pure. A block begins on
 * probation and is protected when it is used again later; what is protected takes at most 80 % of the quota, the rest goes back on
 * probation. Reads in pieces within two seconds count as one use: reading everything once does not drive out what is read often.
 */
import { type Block, BlockList, type Segment } from './block-list.ts'
import type { Medium, Tier, TierPath } from './tier.ts'

const HIGH = 0.95
const LOW = 0.7
const PROTECTED_SHARE = 0.8
const ONE_USE_SECONDS = 2

/** How much a block is in use, to be compared with others. */
export interface Heat {
  segment: Segment
  usedAt: number
}

const RANK: Readonly<Record<Segment, number>> = { probation: 0, protected: 1, kept: 2 }

/** Negative: `a` is colder than `b`. */
export const compareHeat = (a: Heat, b: Heat): number => RANK[a.segment] - RANK[b.segment] || a.usedAt - b.usedAt

export const heatOf = (block: Block): Heat => ({ segment: block.list?.segment ?? 'probation', usedAt: block.usedAt })

export class Shelf {
  readonly directory: string
  readonly medium: Medium
  readonly level: number
  readonly lists: Readonly<Record<Segment, BlockList>>
  quotaBytes = 0
  highBytes = 0
  lowBytes = 0
  /** Bytes of files and of reservations. */
  #usedBytes = 0

  constructor(tier: Tier, path: TierPath, level: number) {
    this.directory = path.directory
    this.medium = tier.medium
    this.level = level
    this.lists = {
      probation: new BlockList(this, 'probation'),
      protected: new BlockList(this, 'protected'),
      kept: new BlockList(this, 'kept'),
    }
    this.setQuota(tier, path)
  }

  setQuota({ high = HIGH, low = LOW }: Tier, { quotaBytes, directory }: TierPath): void {
    if (!Number.isSafeInteger(quotaBytes) || quotaBytes < 0) throw new TypeError(`the quota of ${directory} is not a number of bytes`)
    if (!(low > 0 && low <= high && high <= 1)) throw new TypeError(`of ${directory}: low and high must be shares, 0 < low ≤ high ≤ 1`)
    this.quotaBytes = quotaBytes
    this.highBytes = Math.floor(quotaBytes * high)
    this.lowBytes = Math.floor(quotaBytes * low)
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  get freeBytes(): number {
    return this.quotaBytes - this.#usedBytes
  }

  get blocks(): number {
    return this.lists.probation.count + this.lists.protected.count + this.lists.kept.count
  }

  /** Before a byte is written. False: there is no room up to the mark, and nothing was reserved. */
  reserve(bytes: number, upTo = this.quotaBytes): boolean {
    if (this.#usedBytes + bytes > Math.min(upTo, this.quotaBytes)) return false
    this.#usedBytes += bytes
    return true
  }

  /** What was found at the start, whether or not it fits. */
  account(bytes: number): void {
    this.#usedBytes += bytes
  }

  /** After the last byte is gone. */
  release(bytes: number): void {
    this.#usedBytes -= bytes
  }

  add(block: Block, segment: Segment): void {
    this.lists[segment].addNewest(block)
    this.#limitProtected()
  }

  use(block: Block, nowSeconds: number): void {
    const { list } = block
    if (list === undefined) return
    const isAgain = nowSeconds - block.usedAt >= ONE_USE_SECONDS
    block.usedAt = Math.max(block.usedAt, nowSeconds)
    list.remove(block)
    this.add(block, isAgain && list.segment === 'probation' ? 'protected' : list.segment)
  }

  /** What goes first. `isForced`: blocks that are kept go, too. */
  coldest(isForced = false): Block | undefined {
    const { probation, protected: again, kept } = this.lists
    return probation.coldest() ?? again.coldest() ?? (isForced ? kept.coldest() : undefined)
  }

  #limitProtected(): void {
    const { probation, protected: again } = this.lists
    while (again.oldest !== undefined && again.bytes > this.quotaBytes * PROTECTED_SHARE) {
      const block = again.oldest
      again.remove(block)
      probation.addNewest(block)
    }
  }
}
