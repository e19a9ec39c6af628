/**
 * Small files below a directory in which programs of pods write as well. No link is followed, at no step: each directory is
 * opened from the one above it, so that whoever swaps one for a link in between gains nothing. Only regular files are read, and
 * what is written never goes into something that was there before.
 */
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, opendir, rename, rmdir, unlink } from 'node:fs/promises'
import type { FilesBelow } from '../kubelet/container-machine.ts'
import { removeTree } from './remove-tree.ts'

/** More names than any driver has use for; without a bound a program could fill our memory with them. */
const MOST_NAMES = 100_000

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants

export function filesBelow(directory: string): FilesBelow {
  return {
    kindOf: (path) =>
      inParent(directory, path, async (at) => {
        const found = await lstat(at).catch(missing)
        if (found === undefined) return undefined
        return found.isDirectory() ? 'directory' : found.isFile() ? 'file' : found.isSocket() ? 'socket' : 'other'
      }),
    read: (path, limitBytes) =>
      inParent(directory, path, async (at) => {
        // A pipe in its place would otherwise be waited for without end.
        const opened = await open(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(missing)
        if (opened === undefined) return undefined
        try {
          const stats = await opened.stat()
          if (!stats.isFile()) return undefined
          const buffer = Buffer.alloc(Math.min(limitBytes, stats.size))
          const { bytesRead } = await opened.read(buffer, 0, buffer.length, 0)
          return buffer.subarray(0, bytesRead)
        } finally {
          await opened.close()
        }
      }),
    async write(path, text) {
      await inParent(
        directory,
        path,
        async (at) => {
          const aside = `${at}.new`
          await unlink(aside).catch(missing)
          const opened = await open(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
          try {
            await opened.writeFile(text)
            await opened.sync()
          } finally {
            await opened.close()
          }
          await rename(aside, at)
        },
        'made',
      )
    },
    async makeDirectory(path) {
      await inDirectory(directory, partsOf(path), async () => undefined, 'made')
    },
    async remove(path) {
      await inParent(directory, path, removeTree)
    },
    async removeEmpty(path) {
      const parts = partsOf(path)
      const found = await emptyDirectories(directory, parts, { left: MOST_NAMES })
      if (found === undefined) return
      for (const one of found) await inParent(directory, one.join('/'), removeIfEmpty)
      for (parts.pop(); parts.length > 1; parts.pop()) await inParent(directory, parts.join('/'), removeIfEmpty)
    },
    async namesIn(path) {
      const names = await inDirectory(directory, partsOf(path), async (at) => {
        const found: string[] = []
        for await (const { name } of await opendir(at)) {
          if (found.length === MOST_NAMES) throw new Error(`${JSON.stringify(path)} holds more than ${MOST_NAMES} names: remove some`)
          found.push(name)
        }
        return found.sort()
      })
      return names ?? []
    },
  }
}

/** The directory and all below it, the deepest first; undefined: there is something else, or too much. */
async function emptyDirectories(top: string, parts: readonly string[], names: { left: number }): Promise<string[][] | undefined> {
  const inside = await inDirectory(top, parts, async (at) => {
    const found: string[] = []
    for await (const entry of await opendir(at)) {
      if (!entry.isDirectory() || names.left-- === 0) return undefined
      found.push(entry.name)
    }
    return found
  })
  if (inside === undefined) return undefined
  const all: string[][] = []
  for (const name of inside) {
    const below = await emptyDirectories(top, [...parts, name], names)
    if (below === undefined) return undefined
    all.push(...below)
  }
  return [...all, [...parts]]
}

/** What has come into it in between stays. */
async function removeIfEmpty(at: string): Promise<void> {
  await rmdir(at).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'ENOTDIR') missing(error)
  })
}

function partsOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..') || path.includes('\0')) throw new Error(`${JSON.stringify(path)} is not a path without ".."`)
  return parts
}

/** Runs `work` with a name for the last part that stays what it is, whatever is done to the directories above; undefined: there is none. */
function inParent<T>(top: string, path: string, work: (at: string) => Promise<T>, missingIs?: 'made'): Promise<T | undefined> {
  const parts = partsOf(path)
  const last = parts.pop()
  if (last === undefined) throw new Error(`${JSON.stringify(path)} names nothing below the directory`)
  return inDirectory(top, parts, (parent) => work(`${parent}/${last}`), missingIs)
}

async function inDirectory<T>(
  top: string,
  parts: readonly string[],
  work: (at: string) => Promise<T>,
  missingIs?: 'made',
): Promise<T | undefined> {
  if (missingIs === 'made') await mkdir(top, { recursive: true, mode: 0o755 })
  let handle = await open(top, O_RDONLY | O_DIRECTORY).catch(missing)
  if (handle === undefined) return undefined
  try {
    for (const [i, part] of parts.entries()) {
      const at: string = `${placeOf(handle)}/${part}`
      if (missingIs === 'made') await mkdir(at, { mode: 0o755 }).catch(there)
      const next: FileHandle | undefined = await open(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        if (error.code !== 'ELOOP' && error.code !== 'ENOTDIR') throw error
        throw new Error(`${parts.slice(0, i + 1).join('/')} is a link or a file, where a directory of the node is expected: remove it`)
      })
      await handle.close()
      handle = next
      if (handle === undefined) return undefined
    }
    return await work(placeOf(handle))
  } finally {
    await handle?.close()
  }
}

/** An open directory, by a name that leads to it wherever it is moved. */
const placeOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`

function missing(error: NodeJS.ErrnoException): undefined {
  // A link in the last place, and a pipe or device that nobody serves, are nothing of ours either.
  if (error.code === 'ENOENT' || error.code === 'ELOOP' || error.code === 'ENXIO') return undefined
  throw error
}

function there(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
