/**
 * Frames: the unit of group commit and of damage. A frame is written with one write and one sync, and the next one is
 * written only after that; so a frame that is broken at the end of a journal was never acknowledged, while one that is
 * followed by a good frame was, and its loss must be reported.
 *   magic u32 · payload length u32 · crc32 u32 of (number, payload) · number f64 · payload
 * The magic begins with a byte that UTF-8 never has, so that values cannot imitate it. A file's frames count from 0.
 */
import { crc32 } from 'node:zlib'
import type { DiskFile } from './disk.ts'
import { type JournalRecord, recordBytes, writeRecord } from './record.ts'

const MAGIC = Buffer.from([0xf5, 0x53, 0x4c, 0x46])
const HEADER_BYTES = 20
const READ_BYTES = 1024 * 1024

export function encodeFrame(number: number, records: readonly JournalRecord[]): Buffer {
  const size = records.reduce((sum, record) => sum + recordBytes(record), HEADER_BYTES)
  const frame = Buffer.allocUnsafeSlow(size)
  let at = HEADER_BYTES
  for (const record of records) at = writeRecord(record, frame, at)
  MAGIC.copy(frame, 0)
  frame.writeUInt32LE(size - HEADER_BYTES, 4)
  frame.writeDoubleLE(number, 12)
  frame.writeUInt32LE(crc32(frame.subarray(12)), 8)
  return frame
}

export function frameChecksum(frame: Buffer): number {
  return frame.readUInt32LE(8)
}

export interface Frame {
  /** Its offset in the file. */
  offset: number
  number: number
  checksum: number
  payload: Buffer
}

export interface FramesEnd {
  /** Where the good frames end. */
  offset: number
  /** The number of the next frame. */
  next: number
  /** Why reading ended before the end of the file. */
  damage: string | undefined
}

/** Visits the good frames from the start of the file. */
export async function readFrames(file: DiskFile, visit: (frame: Frame) => void): Promise<FramesEnd> {
  const size = await file.size()
  let pending: Buffer = Buffer.alloc(0)
  let offset = 0
  let next = 0
  for (;;) {
    const { used, count, wanted, damage } = parseFrames(pending, { next, offset, left: size - offset, visit })
    offset += used
    next += count
    pending = pending.subarray(used)
    if (damage !== undefined || wanted === 0) return { offset, next, damage }
    const missing = Math.max(wanted - pending.length, READ_BYTES)
    const more = await file.read(offset + pending.length, missing)
    if (more.length === 0) return { offset, next, damage: 'the file ended early' }
    pending = pending.length === 0 ? more : Buffer.concat([pending, more])
  }
}

interface ParseContext {
  next: number
  /** The buffer's offset in the file. */
  offset: number
  /** Bytes of the file from the start of the buffer on. */
  left: number
  visit(frame: Frame): void
}

interface Parsed {
  used: number
  count: number
  /** How many bytes from `used` on are needed to continue; 0 = the file ends here. */
  wanted: number
  damage?: string
}

function parseFrames(buffer: Buffer, { next, offset, left, visit }: ParseContext): Parsed {
  let used = 0
  let count = 0
  for (;;) {
    const remaining = left - used
    if (remaining === 0) return { used, count, wanted: 0 }
    if (remaining < HEADER_BYTES) return { used, count, wanted: 0, damage: 'a frame is cut off in its header' }
    if (buffer.length - used < HEADER_BYTES) return { used, count, wanted: HEADER_BYTES }
    const length = frameLength(buffer, used)
    if (length === undefined) return { used, count, wanted: 0, damage: 'there is no frame where one should begin' }
    if (length > remaining) return { used, count, wanted: 0, damage: 'a frame is cut off' }
    if (buffer.length - used < length) return { used, count, wanted: length }
    const frame = buffer.subarray(used, used + length)
    if (!isIntact(frame)) return { used, count, wanted: 0, damage: 'a frame has the wrong checksum' }
    const number = frame.readDoubleLE(12)
    if (number !== next + count) return { used, count, wanted: 0, damage: `frame ${number} stands where frame ${next + count} belongs` }
    visit({ offset: offset + used, number, checksum: frameChecksum(frame), payload: frame.subarray(HEADER_BYTES) })
    used += length
    count++
  }
}

function frameLength(buffer: Buffer, at: number): number | undefined {
  return buffer.compare(MAGIC, 0, 4, at, at + 4) === 0 ? HEADER_BYTES + buffer.readUInt32LE(at + 4) : undefined
}

function isIntact(frame: Buffer): boolean {
  return crc32(frame.subarray(12)) === frameChecksum(frame)
}

/** The offset of the first intact frame at or after `from`; undefined when there is none. */
export async function findIntactFrame(file: DiskFile, from: number): Promise<number | undefined> {
  const size = await file.size()
  const overlap = HEADER_BYTES - 1
  for (let base = from; base < size; base += READ_BYTES) {
    const window = await file.read(base, READ_BYTES + overlap)
    for (let at = window.indexOf(MAGIC); at >= 0 && at < READ_BYTES; at = window.indexOf(MAGIC, at + 1)) {
      if (window.length - at < HEADER_BYTES) break
      const length = HEADER_BYTES + window.readUInt32LE(at + 4)
      if (base + at + length > size) continue
      if (isIntact(await file.read(base + at, length))) return base + at
    }
  }
  return undefined
}
