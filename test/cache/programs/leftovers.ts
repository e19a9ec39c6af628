/** What programs that have ended must not leave: unfinished files, mounts; and how the proof's own directory is removed. */
import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'

const UNFINISHED = /^\.writing-|\.(tmp|new)$/

/** Paths of unfinished files, and mount points. */
export function leftovers(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  const unfinished = entries
    .filter((entry) => entry.isFile() && (UNFINISHED.test(entry.name) || isPartial(entry.parentPath ?? entry.path)))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((point) => point.startsWith(`${folder}/`))
  return [...unfinished, ...mounts]
}

const isPartial = (directory: string): boolean => /\/nodes\/[^/]+\/partial(\/|$)/.test(`${directory}/`)

/** Directories of generations may not be written: opened first, for those who are not root. */
export function removeFolder(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue
    chmodSync(path.join(folder, entry.name), 0o700)
    removeFolder(path.join(folder, entry.name))
  }
  rmSync(folder, { recursive: true, force: true })
}
