/**
 * The client's copy of the inventory below a sub path, made of the lines that the master sends, and which of its files can exist
 * in a directory. Lines are checked: names come from sources that nobody trusts, and what is made of them are paths on a node.
 */
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { datasetPath, isBelow } from '../config/paths.ts'
import { blockKeyOf } from '../protocol/block.ts'
import type { FileEntry } from '../protocol/file.ts'

export interface Tree {
  readonly subPath: string
  files: Map<string, FileEntry>
  /** -1: nothing is known yet. */
  revision: number
  isComplete: boolean
}

export const emptyTree = (subPath: string): Tree => ({ subPath, files: new Map(), revision: -1, isComplete: false })

const MOST_FILES = 10_000_000
const LARGEST_FILE = 2 ** 50

/** Changes the tree; a line that makes no sense throws, and the tree must then be taken anew. */
export function applyLine(tree: Tree, line: unknown): void {
  const own = isJsonObject(line) ? line : {}
  if (own.snapshot === true) {
    tree.files = new Map()
  } else if (isJsonObject(own.add)) {
    const entry = entryOf(own.add)
    if (!isBelow(entry.path, tree.subPath)) throw new Error('the master sent a file of another part of the dataset')
    if (tree.files.size >= MOST_FILES) throw new Error(`there are more than ${MOST_FILES} files`)
    tree.files.set(entry.path, entry)
  } else if (isJsonObject(own.remove) && typeof own.remove.path === 'string') {
    tree.files.delete(own.remove.path)
  } else if (Number.isSafeInteger(own.revision) && typeof own.isComplete === 'boolean') {
    tree.revision = own.revision as number
    tree.isComplete = own.isComplete
  } else throw new Error('the master sent a line that cannot be read')
}

function entryOf({ path, fileId, size, version, mtimeMs }: JsonObject): FileEntry {
  const isFine =
    typeof path === 'string' &&
    path !== '/' &&
    datasetPath(path) === path &&
    typeof fileId === 'string' &&
    typeof version === 'string' &&
    blockKeyOf(fileId, version, '0') !== undefined &&
    Number.isSafeInteger(size) &&
    (size as number) >= 0 &&
    (size as number) <= LARGEST_FILE &&
    typeof mtimeMs === 'number' &&
    Number.isFinite(mtimeMs)
  if (!isFine) throw new Error('the master sent a file that cannot be one')
  // Whole milliseconds that a file can have.
  return { path, fileId, size: size as number, version, mtimeMs: Math.min(Math.max(0, Math.trunc(mtimeMs)), 4e12) }
}

export interface Wanted {
  /** By path relative to the volume. */
  files: ReadonlyMap<string, FileEntry>
  /** Files that a directory of the same name hides: object stores have both. */
  hidden: number
  bytes: number
}

export function wantedOf({ subPath, files }: Tree): Wanted {
  const directories = new Set<string>()
  for (const path of files.keys())
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const parent = path.slice(0, at)
      if (directories.has(parent)) break
      directories.add(parent)
    }
  const wanted = new Map<string, FileEntry>()
  let [hidden, bytes] = [0, 0]
  const skip = subPath === '/' ? 1 : subPath.length + 1
  for (const entry of files.values()) {
    if (directories.has(entry.path)) {
      hidden++
      continue
    }
    // A sub path that is a file itself appears under its own name.
    const relative = entry.path === subPath ? entry.path.slice(entry.path.lastIndexOf('/') + 1) : entry.path.slice(skip)
    wanted.set(relative, entry)
    bytes += entry.size
  }
  return { files: wanted, hidden, bytes }
}
