/**
 * All regular files below a directory. Directories are read through their descriptors, so that a path that is swapped meanwhile
 * changes nothing; links are followed while they stay inside and do not lead back to a directory on the way. What can be no
 * file of a dataset (pipes, links that lead out, names that are no text) is named as refused; what vanishes is left out.
 */
import type { BigIntStats, Dirent } from 'node:fs'
import { type FileHandle, lstat, opendir, stat } from 'node:fs/promises'
import path from 'node:path'
import { isCleanSegment } from '../clean-path.ts'
import { DEEPEST_PATH, MOST_DIRECTORIES } from '../limits.ts'
import type { Found } from '../pager.ts'
import { type SourceFile, SourceRefused } from '../source.ts'
import { UNFINISHED } from '../unfinished.ts'
import { NotInside, openDirectoryInside, procPath, resolveInside } from './inside.ts'

interface Directory {
  /** In the mount, '' for its root. */
  relative: string
  real: string
  depth: number
  parent?: Directory
}

interface Step {
  found?: Found
  directory?: Directory
}

export interface LocalWalk {
  /** A real path. */
  root: string
  signalNow: () => AbortSignal
  /** Called before a directory is read, with its real path. */
  onDirectory: (real: string) => void
  /** Those that wait to be read count as well: a directory of directories must not fill the memory. */
  mostDirectories?: number
}

/** Asked of the thread pool at a time. */
const BATCH = 64
const decoder = new TextDecoder('utf-8', { fatal: true })

export async function* walkLocal(walk: LocalWalk): AsyncGenerator<Found, void> {
  const pending: Directory[] = [{ relative: '', real: walk.root, depth: 0 }]
  const most = walk.mostDirectories ?? MOST_DIRECTORIES
  let directories = 1
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for await (const step of readDirectory(walk, directory)) {
      walk.signalNow().throwIfAborted()
      if (step.directory !== undefined) {
        if (++directories > most) throw new SourceRefused(`more than ${most} directories: mount parts of it separately`)
        pending.push(step.directory)
      }
      if (step.found !== undefined) yield step.found
    }
  }
}

export const localFile = (relative: string, { size, mtimeNs }: BigIntStats): SourceFile => ({
  path: relative,
  size: Number(size),
  mtimeNs: String(mtimeNs),
})

async function* readDirectory(walk: LocalWalk, directory: Directory): AsyncGenerator<Step, void> {
  walk.onDirectory(directory.real)
  const handle = await openDirectoryInside(walk.root, directory.real).catch(ofUnreadable)
  if (handle === undefined) return
  if (handle === 'refused') return yield { found: { refused: directory.relative } }
  try {
    // The types know texts only; the bytes tell which names are no text.
    const names = await opendir(procPath(handle), { encoding: 'buffer' as 'utf8', bufferSize: BATCH })
    const inspectAll = (entries: readonly Dirent[]) => Promise.all(entries.map((entry) => inspect(walk, directory, { handle, entry })))
    let batch: Dirent[] = []
    for await (const entry of names) {
      batch.push(entry)
      if (batch.length < BATCH) continue
      yield* await inspectAll(batch)
      batch = []
    }
    yield* await inspectAll(batch)
  } finally {
    await handle.close()
  }
}

/** Undefined: it is not there any more. */
function ofUnreadable(error: unknown): 'refused' | undefined {
  if (error instanceof NotInside) return undefined
  if (isDenied(error)) return 'refused'
  throw error
}

async function inspect(walk: LocalWalk, directory: Directory, { handle, entry }: { handle: FileHandle; entry: Dirent }): Promise<Step> {
  const bytes = entry.name as unknown as Buffer
  const name = textOf(bytes)
  if (name === UNFINISHED) return {}
  const relative = directory.relative === '' ? (name ?? bytes.toString()) : `${directory.relative}/${name ?? bytes}`
  const refused: Step = { found: { refused: relative } }
  if (name === undefined || !isCleanSegment(name)) return refused
  try {
    const real = path.join(directory.real, name)
    const stats = await lstat(`${procPath(handle)}/${name}`, { bigint: true })
    if (stats.isFile()) return { found: { file: localFile(relative, stats) } }
    if (stats.isDirectory()) return deeper(directory, relative, real) ?? refused
    return stats.isSymbolicLink() ? ((await followed(walk.root, directory, relative)) ?? refused) : refused
  } catch (error) {
    if (isDenied(error) || error instanceof NotInside) return refused
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

/** Undefined: it leads back, or to nothing that can be a file. */
async function followed(root: string, directory: Directory, relative: string): Promise<Step | undefined> {
  const real = await resolveInside(root, relative)
  const stats = await stat(real, { bigint: true })
  if (stats.isFile()) return { found: { file: localFile(relative, stats) } }
  if (!stats.isDirectory()) return undefined
  for (let on: Directory | undefined = directory; on !== undefined; on = on.parent) if (on.real === real) return undefined
  return deeper(directory, relative, real)
}

function deeper(parent: Directory, relative: string, real: string): Step | undefined {
  const depth = parent.depth + 1
  return depth < DEEPEST_PATH ? { directory: { relative, real, depth, parent } } : undefined
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

const isDenied = (error: unknown): boolean => ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')
