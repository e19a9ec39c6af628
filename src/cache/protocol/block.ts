/**
 * What names a block of a file, and how long it is. A file is cut into blocks of one size; the last or only block is as long
 * as what is left. Every program of the cache computes this on its own and must come to the same result.
 */

export interface BlockKey {
  /** Of the file's path, under the runtime's key: see `fileIdOf`. */
  fileId: string
  /** Of the file's content as far as it can be told: see `versionOf`. */
  version: string
  index: number
}

export const MIB = 1024 * 1024
export const DEFAULT_BLOCK_BYTES = 4 * MIB
export const MIN_BLOCK_BYTES = 2 ** 20
export const MAX_BLOCK_BYTES = 64 * MIB
/** A file has fewer blocks than this, whatever a source claims its size is. */
export const MOST_BLOCKS = 2 ** 31

const FILE_ID = /^[0-9a-f]{32}$/
const VERSION = /^[0-9a-f]{16}$/
const INDEX = /^(0|[1-9][0-9]{0,9})$/

export const blockCount = (fileBytes: number, blockBytes: number): number => Math.ceil(fileBytes / blockBytes)

/** 0 when the file has no such block. */
export const blockLength = (fileBytes: number, blockBytes: number, index: number): number =>
  Math.max(0, Math.min(blockBytes, fileBytes - index * blockBytes))

/** `<fileId>-<version>-<index>`: the name of a block's file, and its identity in hashes. */
export const blockName = ({ fileId, version, index }: BlockKey): string => `${fileId}-${version}-${index}`

/** Undefined when the parts cannot name a block. */
export function blockKeyOf(fileId: string, version: string, index: string): BlockKey | undefined {
  if (!FILE_ID.test(fileId) || !VERSION.test(version) || !INDEX.test(index)) return undefined
  const number = Number(index)
  return number < MOST_BLOCKS ? { fileId, version, index: number } : undefined
}

export function parseBlockName(name: string): BlockKey | undefined {
  const [fileId = '', version = '', index = '', ...more] = name.split('-')
  return more.length > 0 ? undefined : blockKeyOf(fileId, version, index)
}
