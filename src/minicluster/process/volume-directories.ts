/**
 * Directories of volumes on this machine's disk. Only direct children of the root are created or removed: a path that leads
 * anywhere else, by name or by link, is refused.
 */
import { lstat, mkdir, realpath, rm } from 'node:fs/promises'
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import type { VolumeDirectories } from '../storage/local/volume.ts'

export function volumeDirectories(root: string): VolumeDirectories {
  if (!isAbsolute(root)) throw new Error(`the directory of volumes must be an absolute path, not ${root}`)

  function check(path: string): void {
    const isChild = resolve(path) === path && dirname(path) === resolve(root) && basename(path) !== ''
    if (!isChild) throw new Error(`${path} is not a directory in ${root}`)
  }

  return {
    async make(path) {
      check(path)
      await mkdir(path, { recursive: true })
      const found = await lstat(path)
      if (!found.isDirectory()) throw new Error(`${path} is there and is no directory`)
    },
    async remove(path) {
      check(path)
      // The root itself may be a link; links below it are never followed.
      const real = await realRoot(root)
      if (real !== undefined) await rm(resolve(real, basename(path)), { recursive: true, force: true })
    },
  }
}

async function realRoot(root: string): Promise<string | undefined> {
  try {
    return await realpath(root)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
