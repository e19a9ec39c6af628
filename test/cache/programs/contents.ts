/**
 * What the sources of the proof hold and ever held: each file's bytes follow from a seed, each version is known by the name that
 * the cache gives it. Where a path is a file and others lie below it (S3 permits that), the others are shown. Pure.
 */
import { createCipheriv, createHash } from 'node:crypto'
import { type Content as VersionParts, versionOf } from '../../../src/cache/protocol/file.ts'

export interface Content {
  seed: number
  size: number
  version: string
  sha256: string
  /** Later ones have larger numbers, per path. */
  order: number
}

interface History {
  known: Map<string, Content>
  current: Content | undefined
  wasRemoved: boolean
}

/** Of one seed, shorter contents are beginnings of longer ones; of two seeds, no 16 bytes are the same. */
export function bytesOf(seed: number, size: number): Buffer {
  const key = createHash('sha256').update(`content ${seed}`).digest().subarray(0, 16)
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size))
}

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export class Contents {
  readonly #files = new Map<string, History>()
  #serial = 0

  /** Never used before. */
  newSeed(): number {
    return ++this.#serial
  }

  set(path: string, { seed, bytes, stamp }: { seed: number; bytes: Uint8Array; stamp: Omit<VersionParts, 'size'> }): Content {
    const history = this.#files.get(path) ?? { known: new Map<string, Content>(), current: undefined, wasRemoved: false }
    const size = bytes.length
    const content = { seed, size, version: versionOf({ size, ...stamp }), sha256: sha256Of(bytes), order: history.known.size + 1 }
    history.known.set(content.version, content)
    history.current = content
    this.#files.set(path, history)
    return content
  }

  remove(path: string): void {
    const history = this.#files.get(path)
    if (history === undefined) return
    history.current = undefined
    history.wasRemoved = true
  }

  current(path: string): Content | undefined {
    return this.#files.get(path)?.current
  }

  ofVersion(path: string, version: string): Content | undefined {
    return this.#files.get(path)?.known.get(version)
  }

  /** The last one that had exactly these bytes. */
  ofBytes(path: string, sha256: string): Content | undefined {
    return [...(this.#files.get(path)?.known.values() ?? [])].findLast((content) => content.sha256 === sha256)
  }

  /** It is there, and was there ever since it was first written. */
  isSteady(path: string): boolean {
    const history = this.#files.get(path)
    return history?.current !== undefined && !history.wasRemoved
  }

  /** All paths that ever were. */
  paths(): string[] {
    return [...this.#files.keys()]
  }

  /** What a reader of `subPath` sees now, by path relative to it; a sub path that is a file appears under its own name. */
  newestBelow(subPath: string): Map<string, Content> {
    const all = new Map([...this.#files].flatMap(([path, { current }]) => (current === undefined ? [] : [[path, current] as const])))
    const directories = new Set([...all.keys()].flatMap(parentsOf))
    const shown = new Map<string, Content>()
    for (const [path, content] of all) {
      if (directories.has(path)) continue
      const relative = relativeTo(subPath, path)
      if (relative !== undefined) shown.set(relative, content)
    }
    return shown
  }
}

/** Undefined: it is not below. */
function relativeTo(subPath: string, path: string): string | undefined {
  if (path === subPath) return path.slice(path.lastIndexOf('/') + 1)
  const prefix = subPath === '/' ? '/' : `${subPath}/`
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined
}

/** `isFile`: the sub path is a file itself. */
export const absoluteOf = (subPath: string, relative: string, isFile: boolean): string =>
  isFile ? subPath : subPath === '/' ? `/${relative}` : `${subPath}/${relative}`

function parentsOf(path: string): string[] {
  const parents: string[] = []
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) parents.push(path.slice(0, at))
  return parents
}
