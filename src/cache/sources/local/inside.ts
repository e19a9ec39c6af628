/**
 * Opens what lies inside a directory, and nothing else: links are followed as long as they stay inside. Node has no openat2, so
 * a path is resolved, opened without following a last link, and then the kernel is asked what was really opened
 * (/proc/self/fd): whoever swaps a directory for a link in between gains nothing.
 */
import { constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises'
import path from 'node:path'

/** It is not there, leads out of the directory, or is something else than what was asked for. */
export class NotInside extends Error {
  override readonly name = 'NotInside'
}

/** What an open file or directory is called now, whatever was done to its path since. */
export const procPath = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`

const isInside = (root: string, real: string): boolean => real === root || real.startsWith(root.endsWith(path.sep) ? root : root + path.sep)

/** The real path of something below `root`, which is a real path itself. */
export async function resolveInside(root: string, relative: string): Promise<string> {
  const real = await realpath(path.join(root, relative)).catch((error: NodeJS.ErrnoException) => {
    if (MISSING.has(error.code ?? '')) throw new NotInside(`${error.code}`)
    throw error
  })
  if (!isInside(root, real)) throw new NotInside('it leads out of the mount')
  return real
}

export const openFileInside = async (root: string, relative: string): Promise<FileHandle> =>
  // Not to wait for the writer of a pipe that took the file's place.
  openReal(root, await resolveInside(root, relative), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)

/** `real` is what `resolveInside` returned, or a name read from a directory opened by this. */
export const openDirectoryInside = (root: string, real: string): Promise<FileHandle> =>
  openReal(root, real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY)

async function openReal(root: string, real: string, flags: number): Promise<FileHandle> {
  const handle = await open(real, flags).catch((error: NodeJS.ErrnoException) => {
    if (MISSING.has(error.code ?? '')) throw new NotInside(`${error.code}`)
    throw error
  })
  try {
    if (!isInside(root, await readlink(procPath(handle)))) throw new NotInside('it leads out of the mount')
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Gone, not what it was, a loop of links, or a pipe or socket. */
const MISSING = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ENXIO', 'EISDIR'])
