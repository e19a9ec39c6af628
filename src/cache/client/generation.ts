/**
 * A generation of a volume on disk: files that are complete under their names, and a record of them beside it, a line for each as
 * it is finished. Everything below its directory was created by this program: names are single clean segments, directories are
 * made one by one and never reached through a link, files are made under another name and renamed.
 */
import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  futimesSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from 'node:fs'
import path from 'node:path'
import { isJsonObject } from '../../base/json.ts'
import { GENERATION, isUser, REQUEST_ID } from '../../kube/materialised-volume.ts'
import type { FileEntry } from '../protocol/file.ts'
import { isCleanSegment } from '../sources/clean-path.ts'
import type { Layout } from './layout.ts'

export interface Recorded {
  version: string
  size: number
  mtimeMs: number
}

export interface Generation {
  number: number
  directory: string
  files: Map<string, Recorded>
  isReady: boolean
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code

/** Made, or as a killed process left it: what the record names and the disk confirms by size and time is kept. */
export function openGeneration(layout: Layout, id: string, number: number): Generation {
  const directory = layout.generation(id, number)
  mkdirSync(layout.records(id), { recursive: true })
  mkdirSync(layout.generations(id), { recursive: true })
  makeDirectory(directory)
  const { files, isReady } = readRecord(layout.record(id, number))
  let isWhole = true
  for (const [relative, recorded] of files) {
    if (isThere(directory, relative, recorded)) continue
    files.delete(relative)
    isWhole = false
  }
  return { number, directory, files, isReady: isReady && isWhole }
}

function readRecord(file: string): Pick<Generation, 'files' | 'isReady'> {
  const files = new Map<string, Recorded>()
  let isReady = false
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  // Without its end the last line is torn.
  for (const line of text.split('\n').slice(0, -1)) {
    const parsed: unknown = parseLine(line)
    if (!isJsonObject(parsed)) continue
    if (parsed.ready === true) isReady = true
    const { path: name, version, size, mtimeMs, gone } = parsed
    if (typeof name !== 'string' || !name.split('/').every(isCleanSegment)) continue
    if (gone === true) files.delete(name)
    else if (typeof version === 'string' && typeof size === 'number' && typeof mtimeMs === 'number')
      files.set(name, { version, size, mtimeMs })
  }
  return { files, isReady }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // Torn by a crash of the machine: what it named is fetched again.
    return undefined
  }
}

function isThere(directory: string, relative: string, { size, mtimeMs }: Recorded): boolean {
  const stat = lstatSync(path.join(directory, relative), { throwIfNoEntry: false })
  return stat?.isFile() === true && stat.size === size && Math.abs(stat.mtimeMs - mtimeMs) < 2
}

/** A directory that is one, not a link to one. */
function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, 0o755)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    const stat = lstatSync(directory)
    if (!stat.isDirectory()) {
      // Left from a file of that name in an earlier attempt.
      unlinkSync(directory)
      mkdirSync(directory, 0o755)
    } else if ((stat.mode & 0o200) === 0) chmodSync(directory, 0o755)
  }
}

/** Where a file goes, with the directories it needs. `made` remembers those that are known to be there. */
export function placeFor({ directory }: Generation, relative: string, made: Set<string>): string {
  const segments = relative.split('/')
  if (!segments.every(isCleanSegment)) throw new Error('a name that no file can have')
  let at = directory
  for (const segment of segments.slice(0, -1)) {
    at = path.join(at, segment)
    if (made.has(at)) continue
    makeDirectory(at)
    made.add(at)
  }
  const file = path.join(at, segments.at(-1) ?? '')
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat?.isDirectory()) removeTree(file)
  return file
}

export const createPartial = (file: string): number => {
  rmSync(file, { force: true })
  return openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
}

/** Time and mode as readers see them; closes the file. */
export function finishPartial(descriptor: number, { mtimeMs }: FileEntry): void {
  try {
    // Seconds as a floating number would lose the last of the milliseconds: the kernel rounds down.
    const seconds = (mtimeMs + (mtimeMs % 1000 === 0 ? 0 : 0.001)) / 1000
    futimesSync(descriptor, seconds, seconds)
    fchmodSync(descriptor, 0o444)
  } finally {
    closeSync(descriptor)
  }
}

/** False: it must be fetched. */
export function linkFrom(older: Generation, relative: string, to: string): boolean {
  try {
    rmSync(to, { force: true })
    linkSync(path.join(older.directory, relative), to)
    return true
  } catch {
    // Too many links, or the file is gone: a copy does it.
    return false
  }
}

export function recorder(layout: Layout, id: string, generation: Generation) {
  const file = layout.record(id, generation.number)
  return {
    add(relative: string, recorded: Recorded): void {
      generation.files.set(relative, recorded)
      appendFileSync(file, `${JSON.stringify({ path: relative, ...recorded })}\n`)
    },
    /** The file is not wanted any more. */
    remove(relative: string): void {
      generation.files.delete(relative)
      appendFileSync(file, `${JSON.stringify({ path: relative, gone: true })}\n`)
      rmSync(path.join(generation.directory, relative), { force: true })
      for (let parent = path.dirname(relative); parent !== '.'; parent = path.dirname(parent)) {
        try {
          rmdirSync(path.join(generation.directory, parent))
        } catch {
          // Others need it.
          return
        }
      }
    },
    finish(): void {
      closeDirectories(generation.directory)
      if (layout.hasForeignRoot !== true) chmodSync(generation.directory, 0o555)
      appendFileSync(file, '{"ready":true}\n')
      generation.isReady = true
    },
  }
}

/** Those below it. */
function closeDirectories(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue
    const inner = path.join(directory, entry.name)
    closeDirectories(inner)
    chmodSync(inner, 0o555)
  }
}

export function removeTree(directory: string): void {
  openDirectories(directory)
  rmSync(directory, { recursive: true, force: true })
}

/** Also for those who are not root. */
function openDirectories(directory: string): void {
  if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return
  chmodSync(directory, 0o755)
  for (const entry of readdirSync(directory, { withFileTypes: true }))
    if (entry.isDirectory()) openDirectories(path.join(directory, entry.name))
}

/** False: somebody uses it. Moved away first, then looked at again: whoever writes its use after that finds no directory. */
export function removeUnused(layout: Layout, id: string, number: number): boolean {
  if (hasUsers(layout, id, number)) return false
  const directory = layout.generation(id, number)
  const away = path.join(layout.partial, `${AWAY}${id}-${number}`)
  mkdirSync(layout.partial, { recursive: true })
  if (existsSync(directory)) {
    removeTree(away)
    // A directory that may not be written cannot change its parent.
    chmodSync(directory, 0o755)
    renameSync(directory, away)
    if (hasUsers(layout, id, number)) {
      bringBack(away, directory)
      return false
    }
  }
  rmSync(layout.record(id, number), { force: true })
  rmSync(layout.users(id, number), { recursive: true, force: true })
  removeTree(away)
  return true
}

const AWAY = 'gone-'

function bringBack(away: string, directory: string): void {
  renameSync(away, directory)
  chmodSync(directory, 0o555)
}

/** At the start: nothing that was partial can be gone on with. A generation that a killed process had moved away comes back if it is used. */
export function clearPartial(layout: Layout): void {
  if (!existsSync(layout.partial)) return
  for (const name of readdirSync(layout.partial).filter((one) => one.startsWith(AWAY))) {
    const [id = '', number = ''] = name.slice(AWAY.length).split('-')
    if (!REQUEST_ID.test(id) || !GENERATION.test(number) || !hasUsers(layout, id, Number(number))) continue
    const directory = layout.generation(id, Number(number))
    if (!existsSync(directory)) bringBack(path.join(layout.partial, name), directory)
  }
  removeTree(layout.partial)
}

function hasUsers(layout: Layout, id: string, number: number): boolean {
  try {
    return readdirSync(layout.users(id, number)).some(isUser)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}
