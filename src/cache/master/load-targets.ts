/**
 * What a load asks for: paths of the dataset with a number of copies each. A path is a file, or a directory with everything below;
 * `*`, `?` and `**` in it stand for any part of a name, one character, and any number of directories, unless there is a file or
 * directory of just that name. Pure; matching takes time in proportion to the lengths, whatever the pattern.
 */
import { isJsonObject } from '../../base/json.ts'
import { datasetPath } from '../config/paths.ts'
import { HttpError } from '../http/errors.ts'
import type { Inventory } from '../inventory/inventory.ts'
import type { FileEntry } from '../protocol/file.ts'

export interface LoadTarget {
  path: string
  /** 0: as many as the dataset says. */
  replicas: number
}

export interface Chosen {
  /** Each once. Undefined: one that is not wanted, so that whoever goes through millions can let others have a turn. */
  files(): Iterable<FileEntry | undefined>
  /** The largest number of copies that a target wants of it; 0: none wants it. */
  replicasOf(file: FileEntry): number
  /** Paths that nothing was found for: right once all files were gone through. */
  missing(): string[]
}

const MOST_TARGETS = 256
const MOST_REPLICAS = 16
/** Each is compared with every file below its first directories. */
const MOST_PATTERNS = 32

/** Throws HttpError. None at all means everything. */
export function targetsOf(value: unknown): LoadTarget[] {
  if (!Array.isArray(value) || value.length > MOST_TARGETS)
    throw new HttpError(400, 'BadTargets', `targets must be a list of at most ${MOST_TARGETS} paths`)
  const targets = value.map((target: unknown) => {
    const { path: text, replicas = 0 } = isJsonObject(target) ? target : {}
    const path = typeof text === 'string' ? datasetPath(text) : undefined
    if (path === undefined)
      throw new HttpError(400, 'BadTargets', 'each target needs a path that is absolute and has no empty, . or .. part')
    if (!Number.isSafeInteger(replicas) || (replicas as number) < 0)
      throw new HttpError(400, 'BadTargets', `${path}: replicas must be a whole number`)
    return { path, replicas: Math.min(replicas as number, MOST_REPLICAS) }
  })
  return targets.length === 0 ? [{ path: '/', replicas: 0 }] : targets
}

type Known = Pick<Inventory, 'byPath' | 'snapshot'>

interface Pattern {
  path: string
  segments: readonly string[]
  replicas: number
  isFound: boolean
}

export function choose(targets: readonly LoadTarget[], inventory: Known, usualReplicas: number): Chosen {
  const literal = new Map<string, number>()
  const patterns: Pattern[] = []
  const bases = new Set<string>()
  const missing: string[] = []
  for (const { path, replicas } of targets) {
    const copies = replicas === 0 ? usualReplicas : replicas
    if (exists(inventory, path)) {
      literal.set(path, Math.max(copies, literal.get(path) ?? 0))
      bases.add(path)
      continue
    }
    const base = baseOf(path)
    if (base === undefined) missing.push(path)
    else {
      patterns.push({ path, segments: path.slice(1).split('/'), replicas: copies, isFound: false })
      bases.add(base)
    }
  }
  if (patterns.length > MOST_PATTERNS) throw new HttpError(400, 'BadTargets', `at most ${MOST_PATTERNS} paths may have wildcards`)
  const replicasOf = (file: FileEntry): number => Math.max(mostAbove(literal, file.path), ofPatterns(patterns, file))
  return {
    replicasOf,
    missing: () => [...missing, ...patterns.filter(({ isFound }) => !isFound).map(({ path }) => path)],
    *files() {
      for (const base of outermost([...bases]))
        for (const file of inventory.snapshot(base).entries) yield patterns.length === 0 || replicasOf(file) > 0 ? file : undefined
    },
  }
}

const mostAbove = (literal: ReadonlyMap<string, number>, path: string): number =>
  aboveOf(path).reduce((most, above) => Math.max(most, literal.get(above) ?? 0), 0)

function ofPatterns(patterns: readonly Pattern[], file: FileEntry): number {
  if (patterns.length === 0) return 0
  const segments = file.path.slice(1).split('/')
  let most = 0
  for (const pattern of patterns) {
    if (!matches(pattern.segments, segments)) continue
    pattern.isFound = true
    most = Math.max(most, pattern.replicas)
  }
  return most
}

/** An empty dataset is all there is of it. */
const exists = (inventory: Known, path: string): boolean =>
  path === '/' || inventory.byPath(path) !== undefined || hasAny(inventory.snapshot(path).entries)

function hasAny(entries: Iterable<FileEntry>): boolean {
  for (const _ of entries) return true
  return false
}

/** The path itself and all directories above. */
function aboveOf(path: string): string[] {
  const above = [path]
  for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) above.push(path.slice(0, cut))
  return [...above, '/']
}

/** The directory before the first wildcard; undefined: there is none. */
function baseOf(path: string): string | undefined {
  const at = path.search(/[*?]/)
  return at < 0 ? undefined : path.slice(0, Math.max(1, path.lastIndexOf('/', at)))
}

const outermost = (bases: readonly string[]): string[] =>
  bases.filter((base) =>
    aboveOf(base)
      .slice(1)
      .every((above) => above === base || !bases.includes(above)),
  )

/** A pattern that matches a directory takes what is below it as well. */
export function matches(pattern: readonly string[], path: readonly string[]): boolean {
  let [p, at, star, mark] = [0, 0, -1, 0]
  while (at < path.length) {
    if (p === pattern.length) return true
    if (pattern[p] === '**') {
      star = p++
      mark = at
    } else if (isLike(pattern[p] ?? '', path[at] ?? '')) {
      p++
      at++
    } else if (star >= 0) {
      p = star + 1
      at = ++mark
    } else return false
  }
  return pattern.slice(p).every((segment) => segment === '**')
}

function isLike(pattern: string, name: string): boolean {
  let [p, at, star, mark] = [0, 0, -1, 0]
  while (at < name.length) {
    if (pattern[p] === '*') {
      star = p++
      mark = at
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === name[at])) {
      p++
      at++
    } else if (star >= 0) {
      p = star + 1
      at = ++mark
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}
