/** The files in a directory of a tier, finished or not: how many bytes they take, which blocks they are, and damage to one of them. */
import { closeSync, lstatSync, openSync, readdirSync, readSync, truncateSync, writeSync } from 'node:fs'
import path from 'node:path'
import type { Random } from '../../../src/base/random.ts'
import { type BlockKey, parseBlockName } from '../../../src/cache/protocol/block.ts'

export interface TierFile {
  file: string
  bytes: number
  /** Undefined: it is not finished. */
  key: BlockKey | undefined
}

export function tierFiles(directory: string): TierFile[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(directory, entry.name)
    if (entry.isDirectory()) return tierFiles(file)
    // Gone just now; while its program is held still nothing is.
    const stat = lstatSync(file, { throwIfNoEntry: false })
    return stat === undefined ? [] : [{ file, bytes: stat.size, key: parseBlockName(entry.name) }]
  })
}

export const tierBytes = (directory: string): number => tierFiles(directory).reduce((sum, { bytes }) => sum + bytes, 0)

/** As a machine that lost its power would leave it. What was done; undefined when there is no block. */
export function damageBlock(directory: string, random: Random): string | undefined {
  const blocks = tierFiles(directory).filter(({ key, bytes }) => key !== undefined && bytes > 1)
  const chosen = blocks[Math.floor(random.next() * blocks.length)]
  if (chosen === undefined) return undefined
  const at = Math.floor(random.next() * chosen.bytes)
  if (random.next() < 0.3) {
    truncateSync(chosen.file, at)
    return `${chosen.file} cut at ${at}`
  }
  const descriptor = openSync(chosen.file, 'r+')
  try {
    const byte = Buffer.alloc(1)
    readSync(descriptor, byte, 0, 1, at)
    byte[0] = (byte[0] ?? 0) ^ (1 << Math.floor(random.next() * 8))
    writeSync(descriptor, byte, 0, 1, at)
  } finally {
    closeSync(descriptor)
  }
  return `${chosen.file} changed at ${at}`
}
