/**
 * A file of a dataset as the cache's programs speak of it: its place in the dataset, its id, its version. Ids cannot be guessed
 * from paths without the runtime's key, so that who may read one directory cannot ask for blocks of another.
 */
import { createHash, createHmac } from 'node:crypto'

export interface FileEntry {
  /** In the dataset, absolute and clean: `/images/train/0001.jpg`. */
  path: string
  fileId: string
  size: number
  version: string
  /** Milliseconds since 1970, for the file that readers see. */
  mtimeMs: number
}

/** What a version is made of: the size and, whichever the source knows, the etag or the time of the last change. */
export interface Content {
  size: number
  etag?: string
  /** Nanoseconds since 1970, in decimal. */
  mtimeNs?: string
}

const FILE_ID_BYTES = 16
const VERSION_BYTES = 8

export const fileIdOf = (runtimeKey: Uint8Array, path: string): string =>
  createHmac('sha256', runtimeKey).update(path).digest().toString('hex', 0, FILE_ID_BYTES)

export const versionOf = ({ size, etag, mtimeNs }: Content): string =>
  createHash('sha256')
    .update(JSON.stringify([size, etag ?? null, etag === undefined ? (mtimeNs ?? null) : null]))
    .digest()
    // A slice of the whole text would keep the whole text in memory, for each of millions of files.
    .toString('hex', 0, VERSION_BYTES)

/** Changes of the inventory: a line of JSON each. `path` of a removed file is gone from the dataset. */
export type InventoryLine =
  | { add: FileEntry }
  | { remove: { path: string } }
  /** The last line: the revision that was reached, and whether the first listing of every mount has ended. */
  | { revision: number; isComplete: boolean }
