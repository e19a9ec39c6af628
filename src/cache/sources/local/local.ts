/**
 * A directory or a single file of this machine: what `local://` and `pvc://` mounts are in a pod. A file's version is its size
 * and the time of its last change; both are compared before and after every read, and the last piece of a range is handed out
 * only after that, so that nobody ever holds a whole range of mixed bytes. What cannot be noticed: a file that gets other bytes
 * of the same length within one tick of the file system's clock (some milliseconds), or whose time of change is set back.
 */
import { constants } from 'node:fs'
import { copyFile, type FileHandle, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { cleanPath, isCleanSegment } from '../clean-path.ts'
import { LOCAL_CHUNK } from '../limits.ts'
import { createPager, type Found } from '../pager.ts'
import { assertRange } from '../range.ts'
import { type Range, type Source, SourceChanged, type SourceFile, SourceRefused } from '../source.ts'
import { NotInside, openFileInside, procPath } from './inside.ts'
import { localFile, walkLocal } from './walk.ts'
import { createWatches } from './watches.ts'

interface Place {
  /** The directory that nothing may lead out of, a real path. */
  root: string
  /** The name that a single file has there. */
  only?: string
}

export interface LocalOptions {
  /** As people know it, for messages: `pvc://data`. */
  mountPoint: string
  /** Where it lies in this program's file system: absolute. */
  path: string
  mostWatchedDirectories?: number
}

export function createLocalSource({ mountPoint, path: place, mostWatchedDirectories }: LocalOptions): Source {
  const watches = createWatches(mostWatchedDirectories)
  const shownName = path.basename(place)
  const located = () => locate(mountPoint, place)
  const openFile = async (name: string): Promise<FileHandle> => {
    const { root, only } = await located()
    if (only !== undefined && name !== shownName) throw new NotInside('there is one file only')
    return openFileInside(root, only ?? name)
  }

  async function* walk(signalNow: () => AbortSignal): AsyncGenerator<Found, void> {
    const { root, only } = await located()
    watches.begin()
    if (only === undefined) yield* walkLocal({ root, signalNow, onDirectory: watches.add })
    else {
      watches.add(root)
      const file = await statFile(shownName)
      if (file !== undefined) yield { file }
    }
    watches.end()
  }

  async function statFile(name: string): Promise<SourceFile | undefined> {
    if (cleanPath(name) === undefined) return undefined
    const handle = await openFile(name).catch(undefinedIfNotInside)
    try {
      const stats = await handle?.stat({ bigint: true })
      return stats?.isFile() ? localFile(name, stats) : undefined
    } finally {
      await handle?.close()
    }
  }

  const pager = createPager(walk)
  return {
    list: pager.list,
    stat: statFile,
    read: (file, range, signal) => readRange({ file, range, signal }, openFile),
    copyTo: (file, destination) => copyWhole(file, destination, openFile),
    watch: watches.start,
    async close() {
      watches.close()
      await pager.close()
    },
  }
}

/** Every time anew: volumes of Kubernetes replace their directory by changing a link. */
async function locate(mountPoint: string, place: string): Promise<Place> {
  try {
    const root = await realpath(place)
    const stats = await stat(root)
    if (stats.isDirectory()) return { root }
    if (stats.isFile() && isCleanSegment(path.basename(place))) return { root: path.dirname(root), only: path.basename(root) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new SourceRefused(`${mountPoint} cannot be read (${code ?? 'unknown error'}): check that the volume is mounted and readable`)
  }
  throw new SourceRefused(`${mountPoint} is neither a directory nor a file: mount one of them`)
}

interface RangedRead {
  file: SourceFile
  range: Range
  signal: AbortSignal
}

async function* readRange(
  { file, range, signal }: RangedRead,
  openFile: (name: string) => Promise<FileHandle>,
): AsyncGenerator<Uint8Array, void> {
  assertRange(file, range)
  if (cleanPath(file.path) === undefined) throw new SourceChanged('no file can have the name that was asked for')
  const handle = await openFile(file.path).catch(undefinedIfNotInside)
  if (handle === undefined) throw new SourceChanged(`${file.path} is not there any more`)
  try {
    await assertSame(handle, file)
    let held: Uint8Array | undefined
    for (let at = range.start; at < range.end; ) {
      signal.throwIfAborted()
      const chunk = Buffer.allocUnsafe(Math.min(LOCAL_CHUNK, range.end - at))
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, at)
      if (bytesRead === 0) throw new SourceChanged(`${file.path} ended at byte ${at}`)
      at += bytesRead
      if (held !== undefined) yield held
      held = chunk.subarray(0, bytesRead)
    }
    await assertSame(handle, file)
    if (held !== undefined) yield held
  } finally {
    await handle.close()
  }
}

async function copyWhole(file: SourceFile, destination: string, openFile: (name: string) => Promise<FileHandle>): Promise<void> {
  if (cleanPath(file.path) === undefined) throw new SourceChanged('no file can have the name that was asked for')
  const handle = await openFile(file.path).catch(undefinedIfNotInside)
  if (handle === undefined) throw new SourceChanged(`${file.path} is not there any more`)
  try {
    await assertSame(handle, file)
    await copyFile(procPath(handle), destination, constants.COPYFILE_EXCL)
    await assertSame(handle, file)
  } finally {
    await handle.close()
  }
}

async function assertSame(handle: FileHandle, { path: name, size, mtimeNs }: SourceFile): Promise<void> {
  const stats = await handle.stat({ bigint: true })
  if (!stats.isFile()) throw new SourceChanged(`${name} is no regular file any more`)
  if (Number(stats.size) !== size || String(stats.mtimeNs) !== mtimeNs) throw new SourceChanged(`${name} was changed`)
}

function undefinedIfNotInside(error: unknown): undefined {
  if (error instanceof NotInside) return undefined
  throw error
}
