/**
 * The local source: a directory whose files are replaced as a whole, appended to with one write, moved or removed. Every change and
 * what is known of it happen in one turn of the event loop, so no judge sees a version that is not known yet.
 */
import { appendFileSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { bytesOf, type Contents } from './contents.ts'

export interface LocalFilesOptions {
  root: string
  /** Beside it, on the same file system. */
  staging: string
  /** Where the dataset shows it. */
  mountPath: string
  contents: Contents
}

export class LocalFiles {
  readonly #options: LocalFilesOptions
  #serial = 0

  constructor(options: LocalFilesOptions) {
    this.#options = options
    for (const directory of [options.root, options.staging]) mkdirSync(directory, { recursive: true })
  }

  put(relative: string, size: number): void {
    const { root, staging, contents } = this.#options
    const temporary = path.join(staging, String(this.#serial++))
    const seed = contents.newSeed()
    const bytes = bytesOf(seed, size)
    writeFileSync(temporary, bytes)
    this.#clearPath(relative)
    contents.set(this.#shown(relative), { seed, bytes, stamp: { mtimeNs: timeOf(temporary) } })
    renameSync(temporary, path.join(root, relative))
  }

  append(relative: string, more: number): void {
    const { root, contents } = this.#options
    const known = contents.current(this.#shown(relative))
    if (known === undefined) return
    const bytes = bytesOf(known.seed, known.size + more)
    const file = path.join(root, relative)
    appendFileSync(file, bytes.subarray(known.size))
    contents.set(this.#shown(relative), { seed: known.seed, bytes, stamp: { mtimeNs: timeOf(file) } })
  }

  /** A file, or a directory with everything in it. */
  remove(relative: string): void {
    for (const file of this.files(relative)) this.#options.contents.remove(this.#shown(file))
    rmSync(path.join(this.#options.root, relative), { recursive: true, force: true })
  }

  moveDirectory(from: string, to: string): void {
    const { root, contents } = this.#options
    const moved = this.files(from).map((file) => ({ file, known: contents.current(this.#shown(file)) }))
    this.remove(to)
    renameSync(path.join(root, from), path.join(root, to))
    for (const { file, known } of moved) {
      contents.remove(this.#shown(file))
      if (known === undefined) continue
      const now = to + file.slice(from.length)
      const stamp = { mtimeNs: timeOf(path.join(root, now)) }
      contents.set(this.#shown(now), { seed: known.seed, bytes: bytesOf(known.seed, known.size), stamp })
    }
  }

  /** Files at or below, relative to the root. */
  files(below: string): string[] {
    const at = path.join(this.#options.root, below)
    const stat = lstatSync(at, { throwIfNoEntry: false })
    if (stat === undefined) return []
    if (stat.isFile()) return [below]
    return readdirSync(at)
      .sort()
      .flatMap((name) => this.files(path.join(below, name)))
  }

  directories(below: string): string[] {
    return readdirSync(path.join(this.#options.root, below), { withFileTypes: true })
      .flatMap((entry) => (entry.isDirectory() ? [path.join(below, entry.name)] : []))
      .sort()
  }

  /** Directories where files were, and a file where a directory was. */
  #clearPath(relative: string): void {
    const { root } = this.#options
    const parts = path.dirname(relative).split('/')
    for (let depth = 1; depth <= parts.length; depth++) {
      const parent = parts.slice(0, depth).join('/')
      if (lstatSync(path.join(root, parent), { throwIfNoEntry: false })?.isFile()) this.remove(parent)
    }
    if (lstatSync(path.join(root, relative), { throwIfNoEntry: false })?.isDirectory()) this.remove(relative)
    mkdirSync(path.dirname(path.join(root, relative)), { recursive: true })
  }

  #shown(relative: string): string {
    return `${this.#options.mountPath}/${relative}`
  }
}

const timeOf = (file: string): string => String(statSync(file, { bigint: true }).mtimeNs)
