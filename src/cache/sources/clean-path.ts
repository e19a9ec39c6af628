/**
 * Names as sources give them → paths that every part of the cache can use without another check: relative, no empty, `.` or
 * `..` segment, no control character, well-formed Unicode, within the limits of Linux. Anything else is refused, never repaired:
 * a repaired name could stand for another file.
 */
import { DEEPEST_PATH, LONGEST_PATH_BYTES, LONGEST_SEGMENT_BYTES } from './limits.ts'

// C0, DEL and C1: terminals act on them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
const LONE_SURROGATE = /\p{Surrogate}/u

/** A single name, as a directory holds it. */
export function isCleanSegment(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || name.includes('/')) return false
  return isText(name) && Buffer.byteLength(name) <= LONGEST_SEGMENT_BYTES
}

/** The path itself; undefined when no file could have it. */
export function cleanPath(path: string): string | undefined {
  if (path.length > LONGEST_PATH_BYTES || !isText(path) || Buffer.byteLength(path) > LONGEST_PATH_BYTES) return undefined
  const segments = path.split('/')
  return segments.length <= DEEPEST_PATH && segments.every(isCleanSegment) ? path : undefined
}

/** For the report: bounded, and harmless in a terminal. */
export const showName = (name: string): string => JSON.stringify(name.slice(0, 100)).replace(/[\u007f-\u009f]/g, '?')

const isText = (text: string): boolean => !CONTROL.test(text) && !LONE_SURROGATE.test(text)
