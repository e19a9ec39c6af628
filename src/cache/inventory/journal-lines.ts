/**
 * The journal's lines: a checksum and JSON. The head, the files of a snapshot and a line with its revision; then changes, each
 * step ended by its revision. A step without its end was not written to the end and does not count.
 */
import { crc32 } from 'node:zlib'
import type { FileRecord } from './namespace.ts'

export interface JournalHead {
  format: 1
  /** Tells whether ids were made with this key, without telling the key. */
  keyCheck: string
  /** Name, path, identity. */
  mounts: readonly (readonly [string, string, string])[]
}

export type StoredFile = readonly [
  path: string,
  mount: string,
  size: number,
  fileId: string,
  version: string,
  etag: string | null,
  mtimeNs: string | null,
]

export type JournalLine =
  | { head: JournalHead }
  | { file: StoredFile }
  | { removed: string }
  /** Mounts whose first listing has ended. */
  | { listed: readonly string[] }
  | { revision: number }
  /** Nothing after this revision was ever told to anybody. */
  | { closed: number }

const CHECKSUM = /^[0-9a-f]{8} /

export const encodeLine = (line: JournalLine): string => {
  const json = JSON.stringify(line)
  return `${checksum(json)} ${json}\n`
}

/** Undefined: damaged. */
export function decodeLine(text: string): JournalLine | undefined {
  if (!CHECKSUM.test(text)) return undefined
  const json = text.slice(9)
  // The checksum says that we wrote it.
  return checksum(json) === text.slice(0, 8) ? (JSON.parse(json) as JournalLine) : undefined
}

export const storedOf = ({ path, mount, size, fileId, version, etag, mtimeNs }: FileRecord): StoredFile => [
  path,
  mount.name,
  size,
  fileId,
  version,
  etag ?? null,
  mtimeNs ?? null,
]

const checksum = (json: string): string => crc32(json).toString(16).padStart(8, '0')
