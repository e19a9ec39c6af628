/**
 * Tells that something below a directory changed: one watch per directory, added before the directory is read, so that nothing
 * falls between listing and watching. (The recursive watch of Node 20 on Linux walks the tree on its own, a second time.)
 * Above the bound, or where the kernel refuses, nothing is watched, and the period of the inventory has to do.
 */
import { type FSWatcher, watch } from 'node:fs'
import { MOST_WATCHED_DIRECTORIES } from '../limits.ts'

export interface Watches {
  /** A walk begins: directories that it does not name are given up when it ends. */
  begin(): void
  add(directory: string): void
  end(): void
  start(onChange: () => void): () => void
  readonly size: number
  close(): void
}

export function createWatches(most = MOST_WATCHED_DIRECTORIES): Watches {
  const watchers = new Map<string, FSWatcher>()
  let seen = new Set<string>()
  let onChange: (() => void) | undefined
  let hasGivenUp = false

  function drop(directory: string): void {
    watchers.get(directory)?.close()
    watchers.delete(directory)
  }
  function close(): void {
    for (const directory of [...watchers.keys()]) drop(directory)
  }
  function giveUp(): void {
    hasGivenUp = true
    close()
  }
  function open(directory: string): void {
    try {
      const watcher = watch(directory, { persistent: false }, () => onChange?.())
      // A directory that is removed ends its watch; the next listing names those that are left.
      watcher.on('error', () => drop(directory))
      watchers.set(directory, watcher)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'EACCES' && code !== 'ENOTDIR') giveUp()
    }
  }

  return {
    begin() {
      seen = new Set()
    },
    add(directory) {
      if (onChange === undefined || hasGivenUp) return
      seen.add(directory)
      if (seen.size > most) return giveUp()
      if (!watchers.has(directory)) open(directory)
    },
    end() {
      for (const directory of [...watchers.keys()]) if (!seen.has(directory)) drop(directory)
    },
    start(listener) {
      onChange = listener
      return () => {
        onChange = undefined
        close()
      }
    },
    get size() {
      return watchers.size
    },
    close,
  }
}
