/**
 * The last 32 bytes of a block's file: magic (8), length of the block (8), CRC-32 of the block (4), CRC-32 of its name (4), four
 * zeros, CRC-32 of these 28 bytes (4); numbers are little-endian. It is written last, so a torn file has none, and a file that was
 * given another name is known too. CRC-32 is `zlib.crc32`, which Node has since 20.15.
 */
import { crc32 } from 'node:zlib'
import { MAX_BLOCK_BYTES } from '../protocol/block.ts'

export const TRAILER_BYTES = 32
const MAGIC = Buffer.from('SluiceB1', 'latin1')
const CHECKED = 28

export interface Trailer {
  length: number
  /** Unsigned. */
  crc: number
}

export function writeTrailer(name: string, { length, crc }: Trailer): Buffer {
  const bytes = Buffer.alloc(TRAILER_BYTES)
  MAGIC.copy(bytes)
  bytes.writeBigUInt64LE(BigInt(length), 8)
  bytes.writeUInt32LE(crc, 16)
  bytes.writeUInt32LE(crc32(name), 20)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, CHECKED)), CHECKED)
  return bytes
}

/** Undefined: this is not the end of a whole file of the block of that name. */
export function readTrailer(name: string, given: Uint8Array): Trailer | undefined {
  if (given.length !== TRAILER_BYTES) return undefined
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.length)
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined
  if (bytes.readUInt32LE(CHECKED) !== crc32(bytes.subarray(0, CHECKED))) return undefined
  if (bytes.readUInt32LE(20) !== crc32(name)) return undefined
  const length = Number(bytes.readBigUInt64LE(8))
  return length > 0 && length <= MAX_BLOCK_BYTES ? { length, crc: bytes.readUInt32LE(16) } : undefined
}

const CRC = /^[0-9a-f]{8}$/

/** As it is sent: eight hex digits. */
export const formatCrc = (crc: number): string => (crc >>> 0).toString(16).padStart(8, '0')

export const parseCrc = (text: string | null | undefined): number | undefined =>
  text !== null && text !== undefined && CRC.test(text) ? Number.parseInt(text, 16) : undefined
