/** The range of a block that a request asks for: one, in bytes. Pure. */
import { HttpError } from '../http/errors.ts'

const RANGE = /^bytes=(\d{1,15})-(\d{0,15})$/

export interface ByteRange {
  start: number
  /** Exclusive. */
  end: number
}

/** Throws an HttpError: 400 for what is no single range, 416 for one outside the block. */
export function byteRange(header: string | undefined, length: number): ByteRange {
  if (header === undefined) return { start: 0, end: length }
  const [, first, last] = RANGE.exec(header) ?? []
  if (first === undefined) throw new HttpError(400, 'BadRange', 'ask for one range with a beginning: bytes=0-1048575')
  const start = Number(first)
  const end = Math.min(length, last === '' || last === undefined ? length : Number(last) + 1)
  if (start >= end) throw new HttpError(416, 'BadRange', `the block has ${length} bytes`)
  return { start, end }
}
