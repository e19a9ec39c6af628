/** Blocks of one shelf and segment from the oldest use to the newest: a doubly linked list without allocations of its own. */
import type { Shelf } from './shelf.ts'

/**
 * What is known of a block that lies in a file. One is about 175 bytes with its place in the index (measured with 200,000 on
 * Node 20): few fields, all of them small integers or references.
 */
export interface Block {
  /** See `packKey`. */
  readonly id: string
  /** Of its file, with the trailer. */
  readonly bytes: number
  /** As a signed integer, which needs no memory of its own. Undefined: not checked since the start. */
  crc: number | undefined
  /** Seconds since 1970. */
  usedAt: number
  /** Readers and movers: while there are any, it is not evicted. */
  leases: number
  /** Undefined: it is in the index no more. */
  list: BlockList | undefined
  older: Block | undefined
  newer: Block | undefined
}

/** `kept`: pinned, or of a file that is being loaded. */
export type Segment = 'probation' | 'protected' | 'kept'

export class BlockList {
  readonly shelf: Shelf
  readonly segment: Segment
  oldest: Block | undefined
  newest: Block | undefined
  bytes = 0
  count = 0

  constructor(shelf: Shelf, segment: Segment) {
    this.shelf = shelf
    this.segment = segment
  }

  addNewest(block: Block): void {
    block.list = this
    block.older = this.newest
    block.newer = undefined
    if (this.newest === undefined) this.oldest = block
    else this.newest.newer = block
    this.newest = block
    this.bytes += block.bytes
    this.count++
  }

  remove(block: Block): void {
    if (block.older === undefined) this.oldest = block.newer
    else block.older.newer = block.newer
    if (block.newer === undefined) this.newest = block.older
    else block.newer.older = block.older
    block.list = undefined
    block.older = undefined
    block.newer = undefined
    this.bytes -= block.bytes
    this.count--
  }

  /** The block that was not used for longest and that nobody reads or moves. */
  coldest(): Block | undefined {
    let block = this.oldest
    while (block !== undefined && block.leases > 0) block = block.newer
    return block
  }
}
