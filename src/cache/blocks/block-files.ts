/**
 * The files of blocks: listed, written under a temporary name and renamed, checked, copied, removed. Knows nothing of quotas.
 * Nothing is synced: what a crash tears has no valid trailer.
 */
import { lstatSync } from 'node:fs'
import { constants, copyFile, type FileHandle, mkdir, open, readdir, rename, rmdir, unlink } from 'node:fs/promises'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { type BlockKey, blockName, MAX_BLOCK_BYTES, parseBlockName } from '../protocol/block.ts'
import { bucketOf } from './block-path.ts'
import type { BufferPool } from './buffer-pool.ts'
import { readTrailer, TRAILER_BYTES, type Trailer } from './trailer.ts'

const TEMPORARY = '.writing-'
const BUCKET = /^[0-9a-f]{2}$/

export interface FoundFile {
  key: BlockKey
  bytes: number
  mtimeMs: number
}

export const errorCode = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code

/**
 * Names, sizes and times of the blocks below a dataset's directory; nothing is read. What a killed process left unfinished is
 * removed, and so is what cannot be whole; files that are none of ours stay.
 */
export async function listBlockFiles(directory: string): Promise<{ found: FoundFile[]; torn: number }> {
  await mkdir(directory, { recursive: true })
  const found: FoundFile[] = []
  let torn = 0
  for (const bucket of (await readdir(directory)).filter((name) => BUCKET.test(name)).sort()) {
    for (const name of await readdir(path.join(directory, bucket))) {
      const file = path.join(directory, bucket, name)
      const key = parseBlockName(name)
      const isOurs = key !== undefined && bucketOf(key) === bucket
      // A call that waits: the directory was just listed, and this takes 3 µs where the thread pool takes 30.
      const stat = isOurs || name.startsWith(TEMPORARY) ? lstatSync(file, { throwIfNoEntry: false }) : undefined
      if (stat === undefined || stat.isDirectory()) continue
      if (isOurs && stat.isFile() && stat.size > TRAILER_BYTES && stat.size <= MAX_BLOCK_BYTES + TRAILER_BYTES) {
        found.push({ key, bytes: stat.size, mtimeMs: stat.mtimeMs })
        continue
      }
      if (isOurs) torn++
      await removeFile(file)
    }
  }
  return { found, torn }
}

/** Of a dataset: each that is empty, the dataset's own and that of its namespace last. The directory of the tier stays. */
export async function removeDirectories(directory: string): Promise<void> {
  const buckets = await readdir(directory).catch(ignoring('ENOENT', []))
  for (const bucket of buckets.filter((name) => BUCKET.test(name))) await removeIfEmpty(path.join(directory, bucket))
  await removeIfEmpty(directory)
  await removeIfEmpty(path.dirname(directory))
}

async function removeIfEmpty(directory: string): Promise<void> {
  await rmdir(directory).catch(ignoring('ENOENT', undefined)).catch(ignoring('ENOTEMPTY', undefined)).catch(ignoring('ENOTDIR', undefined))
}

const ignoring =
  <T>(code: string, instead: T) =>
  (error: unknown): T => {
    if (errorCode(error) === code) return instead
    throw error
  }

/** False: it was gone already. */
export async function removeFile(file: string): Promise<boolean> {
  try {
    await unlink(file)
    return true
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw error
  }
}

export const temporaryName = (serial: number): string => `${TEMPORARY}${process.pid}-${serial}`

/** Creates the directory when it is missing, as it is for the first block of each. */
export async function createFile(file: string): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  // Clients of the node run as other users and read these files.
  const create = () => open(file, flags, 0o644)
  try {
    return await create()
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    await mkdir(path.dirname(file), { recursive: true })
    return await create()
  }
}

export const openBlockFile = (file: string): Promise<FileHandle> => open(file, constants.O_RDONLY | constants.O_NOFOLLOW)

export async function copyBlockFile(from: string, { temporary, to }: { temporary: string; to: string }): Promise<void> {
  try {
    await mkdir(path.dirname(to), { recursive: true })
    await copyFile(from, temporary, constants.COPYFILE_EXCL)
    await rename(temporary, to)
  } catch (error) {
    await removeFile(temporary)
    throw error
  }
}

/** Reads the whole block. Undefined: it is torn, or not what was written. */
export async function checkBlockFile(
  handle: FileHandle,
  key: BlockKey,
  of: { bytes: number; buffers: BufferPool },
): Promise<Trailer | undefined> {
  const end = Buffer.alloc(TRAILER_BYTES)
  const { bytesRead } = await handle.read(end, 0, TRAILER_BYTES, of.bytes - TRAILER_BYTES)
  const trailer = bytesRead === TRAILER_BYTES ? readTrailer(blockName(key), end) : undefined
  if (trailer === undefined || trailer.length !== of.bytes - TRAILER_BYTES) return undefined
  const buffer = of.buffers.take()
  try {
    let crc = 0
    for (let at = 0; at < trailer.length; ) {
      const { bytesRead: count } = await handle.read(buffer, 0, Math.min(buffer.length, trailer.length - at), at)
      if (count === 0) return undefined
      crc = crc32(buffer.subarray(0, count), crc)
      at += count
    }
    return crc === trailer.crc ? trailer : undefined
  } finally {
    of.buffers.give(buffer)
  }
}
