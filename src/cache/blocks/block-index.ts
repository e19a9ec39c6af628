/**
 * Which blocks there are: 256 maps by the first byte of the file's id, so that all blocks of a file are found by looking at one
 * map of 256. Keys are packed into 28 characters of one byte each, which takes half the memory of names.
 */
import type { BlockKey } from '../protocol/block.ts'
import type { Block } from './block-list.ts'

const PACKED = 28
const FILE_ID = 16
const VERSION = 24

export function packKey({ fileId, version, index }: BlockKey): string {
  const bytes = Buffer.allocUnsafe(PACKED)
  bytes.write(fileId, 0, 'hex')
  bytes.write(version, FILE_ID, 'hex')
  bytes.writeUInt32BE(index, VERSION)
  return bytes.toString('latin1')
}

export function unpackKey(id: string): BlockKey {
  const bytes = Buffer.from(id, 'latin1')
  return { fileId: bytes.toString('hex', 0, FILE_ID), version: bytes.toString('hex', FILE_ID, VERSION), index: bytes.readUInt32BE(VERSION) }
}

export class BlockIndex {
  readonly #buckets: readonly Map<string, Block>[] = Array.from({ length: 256 }, () => new Map<string, Block>())
  #size = 0

  get size(): number {
    return this.#size
  }

  get(id: string): Block | undefined {
    return this.#bucket(id)?.get(id)
  }

  add(block: Block): void {
    this.#bucket(block.id)?.set(block.id, block)
    this.#size++
  }

  delete(block: Block): void {
    if (this.#bucket(block.id)?.delete(block.id) === true) this.#size--
  }

  /** In no order. */
  ofFile(fileId: string): Block[] {
    const prefix = packKey({ fileId, version: '0'.repeat(16), index: 0 }).slice(0, FILE_ID)
    const bucket = this.#bucket(prefix)
    return bucket === undefined ? [] : [...bucket.values()].filter(({ id }) => id.startsWith(prefix))
  }

  *all(): Generator<Block, undefined> {
    for (const bucket of this.#buckets) yield* bucket.values()
  }

  #bucket(id: string): Map<string, Block> | undefined {
    return this.#buckets[id.charCodeAt(0)]
  }
}
