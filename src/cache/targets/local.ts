/**
 * A directory of this machine. Files are written into `.sluice-unfinished` at its top and moved to their places when they are
 * whole, with the time of the source; so an equal size and time say later that it is the same file. Nothing is synced to the disk:
 * kill -9 takes nothing, a machine that loses power may.
 */
import { constants } from 'node:fs'
import { chmod, type FileHandle, lstat, mkdir, open, realpath, rename, rm, rmdir, unlink, utimes } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { openDirectoryInside, procPath } from '../sources/local/inside.ts'
import { createLocalSource } from '../sources/local/local.ts'
import type { SourceFile } from '../sources/source.ts'
import { UNFINISHED } from '../sources/unfinished.ts'
import { Directories } from './directories.ts'
import { Clash, type Target, TargetRefused, type Written } from './target.ts'

export interface LocalTargetOptions {
  /** As people know it, for messages. */
  shown: string
  /** Absolute; made if it is not there. Links on the way are followed: it is ours. */
  path: string
  /** A directory below it, made if it is not there; whoever writes there must not lead us out by links. */
  below?: string
  /** Every file is read again before it gets its name, also what the kernel copied. */
  checks: boolean
}

/** What the kernel copies cannot be stopped or counted while it is under way. */
const LARGEST_KERNEL_COPY = 256 * 1024 * 1024
const WRITE_BYTES = 1024 * 1024
const READ_BYTES = 1024 * 1024
/** `utimes` takes microseconds, through a number that rounds. */
const SAME_TIME_NS = 2000n
const NS_PER_SECOND = 1e9
const SPECIAL_BITS = 0o7000
/** Nothing that is tried again helps against these. */
const REFUSED = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO'])

export async function openLocalTarget({ shown, path, below = '', checks }: LocalTargetOptions): Promise<Target> {
  const refusing = <T>(work: () => Promise<T>): Promise<T> => work().catch((error: unknown) => Promise.reject(refusalOf(shown, error)))
  const root = await refusing(() => rootOf(path, below))
  const directories = new Directories(await refusing(() => openDirectoryInside(root, root)))
  let unfinished: Promise<FileHandle> | undefined
  let serial = 0

  async function makeUnfinished(): Promise<FileHandle> {
    await directories.within('', false, (top) => mkdir(`${top}/${UNFINISHED}`, { mode: 0o700 }).catch(ofExisting))
    return openDirectoryInside(root, `${root}/${UNFINISHED}`)
  }

  /** Made anew when another copier, which took it for a leftover, has removed it. */
  async function place(): Promise<string> {
    for (;;) {
      unfinished ??= makeUnfinished()
      const current = unfinished
      const handle = await current.catch(async (error: unknown) => {
        if (unfinished === current) unfinished = undefined
        throw error
      })
      if ((await handle.stat()).nlink > 0) return `${procPath(handle)}/${process.pid}-${serial++}`
      if (unfinished !== current) continue
      unfinished = undefined
      await handle.close()
    }
  }

  async function removeUnfinished(): Promise<void> {
    const current = unfinished
    unfinished = undefined
    await (await current?.catch(() => undefined))?.close()
    await directories.within('', false, (top) => rm(`${top}/${UNFINISHED}`, { recursive: true, force: true }))
  }

  return {
    begin: () => refusing(removeUnfinished),
    has: (file) =>
      refusing(async () => {
        const { directory, name } = split(file.path)
        const stats = await directories.within(directory, false, (parent) => lstat(`${parent}/${name}`, { bigint: true }).catch(ofMissing))
        return stats?.isFile() === true && Number(stats.size) === file.size && isSameTime(stats.mtimeNs, file.mtimeNs)
      }),
    write: (written, signal) =>
      refusing(async () => {
        const temporary = await place()
        try {
          await fill(temporary, written, { checks, signal })
          await finish(temporary, written.file)
          const { directory, name } = split(written.file.path)
          await directories.within(directory, true, (parent) => move(temporary, { parent, name, path: written.file.path }))
        } catch (error) {
          await rm(temporary, { force: true })
          throw error
        }
      }),
    async *paths(signal) {
      const listing = createLocalSource({ mountPoint: shown, path: root })
      try {
        for (let cursor: string | undefined, isLast = false; !isLast; isLast = cursor === undefined) {
          const page = await listing.list(cursor, signal)
          for (const file of page.files) yield file.path
          cursor = page.cursor
        }
      } finally {
        await listing.close()
      }
    },
    remove: (path) => refusing(() => removeFile(directories, path)),
    async end() {
      try {
        await removeUnfinished()
      } finally {
        await directories.close()
      }
    },
  }
}

/** A real path. */
async function rootOf(path: string, below: string): Promise<string> {
  await mkdir(path, { recursive: true })
  const top = await realpath(path)
  const directories = new Directories(await openDirectoryInside(top, top))
  try {
    return (await directories.within(below, true, (directory) => realpath(directory))) ?? top
  } catch (error) {
    throw error instanceof Clash ? new TargetRefused(`${below} leads elsewhere or is no directory: name one that is`) : error
  } finally {
    await directories.close()
  }
}

const split = (path: string): { directory: string; name: string } => {
  const cut = path.lastIndexOf('/')
  return { directory: path.slice(0, Math.max(0, cut)), name: path.slice(cut + 1) }
}

function isSameTime(is: bigint, expected: string | undefined): boolean {
  if (expected === undefined) return false
  const apart = is - BigInt(expected)
  return apart <= SAME_TIME_NS && -apart <= SAME_TIME_NS
}

async function fill(temporary: string, { file, from, onBytes }: Written, how: { checks: boolean; signal: AbortSignal }): Promise<void> {
  if (from.copyTo !== undefined && file.size <= LARGEST_KERNEL_COPY && !how.checks) {
    await from.copyTo(file, temporary).catch(ofSource(file.path))
    onBytes(file.size)
    return
  }
  const sum = await stream(temporary, { file, from, onBytes }, how.signal)
  // What came over a network or block by block is worth a second look.
  if ((how.checks || from.copyTo === undefined) && sum !== (await sumOf(temporary)))
    throw new Error(`${file.path} was written with other bytes than were read`)
}

/** Resolves to the CRC of what was read. */
async function stream(temporary: string, { file, from, onBytes }: Written, signal: AbortSignal): Promise<number> {
  const handle = await open(temporary, 'wx', 0o644)
  try {
    let pending: Uint8Array[] = []
    let [bytes, sum] = [0, 0]
    const flush = async (): Promise<void> => {
      const chunks = pending
      if (bytes === 0) return
      const { bytesWritten } = await handle.writev(chunks)
      if (bytesWritten !== bytes) throw new Error(`only ${bytesWritten} of ${bytes} bytes were written`)
      onBytes(bytes)
      pending = []
      bytes = 0
    }
    for await (const chunk of readOf(from, file, signal)) {
      sum = crc32(chunk, sum)
      pending.push(chunk)
      bytes += chunk.length
      if (bytes >= WRITE_BYTES) await flush()
    }
    await flush()
    return sum
  } finally {
    await handle.close()
  }
}

async function* readOf(from: Written['from'], file: SourceFile, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  try {
    yield* from.read(file, { start: 0, end: file.size }, signal)
  } catch (error) {
    ofSource(file.path)(error)
  }
}

/** A disk that cannot be read is not one that cannot be written. */
const ofSource =
  (path: string) =>
  (error: unknown): never => {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (syscall === undefined || syscall === 'copyfile') throw error
    throw new Error(`${path} cannot be read (${code})`)
  }

async function sumOf(file: string): Promise<number> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const buffer = Buffer.allocUnsafe(READ_BYTES)
    let sum = 0
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) return sum
      sum = crc32(buffer.subarray(0, bytesRead), sum)
    }
  } finally {
    await handle.close()
  }
}

/** Its size is checked; it gets the time of the source, and no rights that only the source's owner should give. */
async function finish(temporary: string, { path, size, mtimeNs }: SourceFile): Promise<void> {
  // Nobody else can write where it is.
  const stats = await lstat(temporary)
  if (stats.size !== size) throw new Error(`${path} was written with ${stats.size} of ${size} bytes`)
  if ((stats.mode & SPECIAL_BITS) !== 0) await chmod(temporary, stats.mode & 0o777)
  if (mtimeNs === undefined) return
  const seconds = Number(mtimeNs) / NS_PER_SECOND
  await utimes(temporary, seconds, seconds)
}

async function move(temporary: string, { parent, name, path }: { parent: string; name: string; path: string }): Promise<void> {
  try {
    await rename(temporary, `${parent}/${name}`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EISDIR' || code === 'ENOTEMPTY' || code === 'EEXIST') throw new Clash(path, 'directory')
    if (code === 'EXDEV')
      throw new TargetRefused(`${path} lies on another file system than the top of the target: migrate into it separately`)
    throw error
  }
}

/** Directories that it leaves empty go as well. */
async function removeFile(directories: Directories, path: string): Promise<void> {
  const { directory, name } = split(path)
  await directories.within(directory, false, (parent) => unlink(`${parent}/${name}`).catch(ofMissing))
  for (let at = directory; at !== ''; at = split(at).directory) {
    const above = split(at)
    directories.forget(at)
    const isGone = await directories.within(above.directory, false, (parent) =>
      rmdir(`${parent}/${above.name}`).then(
        () => true,
        () => false,
      ),
    )
    if (isGone !== true) return
  }
}

function ofExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

function ofMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
  return undefined
}

function refusalOf(shown: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall === undefined || code === undefined || !REFUSED.has(code)) return error
  return new TargetRefused(`${shown} cannot be written (${code}): check its space, and that the pod may write there`)
}
