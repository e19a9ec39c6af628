/**
 * Blocks of a worker of the same node, read from its files directly where its tiers are directories of the node. The client checks
 * trailer and CRC itself, and tells the worker which blocks it used. Whatever is wrong with a file, the worker is asked instead.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { blockFilePath, type DatasetName } from '../blocks/block-path.ts'
import { readTrailer, TRAILER_BYTES } from '../blocks/trailer.ts'
import { type BlockKey, blockName } from '../protocol/block.ts'

export interface LocalBlocks {
  /** False: not here, or not whole. */
  read(key: BlockKey, into: Buffer): boolean
}

export function createLocalBlocks(directories: readonly string[], dataset: DatasetName): LocalBlocks {
  const trailer = Buffer.alloc(TRAILER_BYTES)
  const readFile = (file: string, key: BlockKey, into: Buffer): boolean => {
    let descriptor: number
    try {
      descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW)
    } catch {
      // Missing, or not for us to read: the worker will tell.
      return false
    }
    try {
      const stat = fstatSync(descriptor)
      if (!stat.isFile() || stat.size !== into.length + TRAILER_BYTES) return false
      if (!readWhole(descriptor, into, 0) || !readWhole(descriptor, trailer, into.length)) return false
      const found = readTrailer(blockName(key), trailer)
      return found !== undefined && found.length === into.length && found.crc === crc32(into)
    } catch {
      return false
    } finally {
      closeSync(descriptor)
    }
  }
  return { read: (key, into) => directories.some((directory) => readFile(blockFilePath(directory, dataset, key), key, into)) }
}

function readWhole(descriptor: number, into: Buffer, position: number): boolean {
  for (let at = 0; at < into.length; ) {
    const count = readSync(descriptor, into, at, into.length - at, position + at)
    if (count === 0) return false
    at += count
  }
  return true
}
