/**
 * The files of a generation that are still to be fetched. Each is written under another name and gets its own when it is whole;
 * what is not finished is removed. Those of one block or less and larger ones are handed out apart.
 */
import { closeSync, fstatSync, mkdirSync, renameSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { blockCount, blockLength } from '../protocol/block.ts'
import type { FileEntry } from '../protocol/file.ts'
import { createPartial, finishPartial } from './generation.ts'
import type { Layout } from './layout.ts'

export interface PartialFilesOptions {
  layout: Layout
  /** Of the volume, for names that no other volume uses. */
  id: string
  blockBytes: number
  missing: readonly [relative: string, entry: FileEntry][]
  /** Where a whole file belongs. */
  placeOf(relative: string): string
  /** So many more are in a file. */
  onBytes(length: number): void
  /** It is at its place. */
  done(relative: string, entry: FileEntry): void
}

interface PartialFile {
  relative: string
  entry: FileEntry
  descriptor: number
  partial: string
  next: number
  left: number
  blocks: number
}

/** A block to be fetched, and the file that it belongs to. */
export interface MissingBlock {
  file: PartialFile
  index: number
  length: number
}

export class PartialFiles {
  readonly #options: PartialFilesOptions
  readonly #small: [string, FileEntry][]
  readonly #large: [string, FileEntry][]
  readonly #opened = new Set<PartialFile>()
  /** Large ones are handed out block by block. */
  #current: PartialFile | undefined
  #serial = 0

  constructor(options: PartialFilesOptions) {
    this.#options = options
    const { missing, blockBytes, layout } = options
    this.#small = missing.filter(([, { size }]) => size <= blockBytes).reverse()
    this.#large = missing.filter(([, { size }]) => size > blockBytes).reverse()
    mkdirSync(layout.partial, { recursive: true })
  }

  /** Undefined: there is none left; `empty`: a file that has no block was made instead. */
  next(prefersSmall: boolean): MissingBlock | 'empty' | undefined {
    const file = prefersSmall ? (this.#nextSmall() ?? this.#nextLarge()) : (this.#nextLarge() ?? this.#nextSmall())
    if (file === undefined) return undefined
    if (file.blocks === 0) {
      this.#finish(file)
      return 'empty'
    }
    const index = file.next++
    return { file, index, length: blockLength(file.entry.size, this.#options.blockBytes, index) }
  }

  /** True: that was the last one, and its file is at its place. */
  write({ file, index }: MissingBlock, bytes: Buffer): boolean {
    const { blockBytes, onBytes } = this.#options
    writeWhole(file.descriptor, bytes, index * blockBytes)
    onBytes(bytes.length)
    if (--file.left > 0) return false
    this.#finish(file)
    return true
  }

  /** Whatever is not finished goes. */
  discard(): void {
    for (const { descriptor, partial } of this.#opened) {
      closeSync(descriptor)
      rmSync(partial, { force: true })
    }
  }

  #nextLarge(): PartialFile | undefined {
    if (this.#current === undefined || this.#current.next >= this.#current.blocks) this.#current = this.#open(this.#large.pop())
    return this.#current
  }

  #nextSmall(): PartialFile | undefined {
    return this.#open(this.#small.pop())
  }

  #open(missing: [string, FileEntry] | undefined): PartialFile | undefined {
    if (missing === undefined) return undefined
    const { layout, id, blockBytes } = this.#options
    const [relative, entry] = missing
    const partial = path.join(layout.partial, `${id}-${this.#serial++}`)
    const blocks = blockCount(entry.size, blockBytes)
    const file = { relative, entry, partial, descriptor: createPartial(partial), next: 0, left: blocks, blocks }
    this.#opened.add(file)
    return file
  }

  #finish(file: PartialFile): void {
    if (fstatSync(file.descriptor).size !== file.entry.size) throw new Error('a file has not the size that it should have')
    this.#opened.delete(file)
    finishPartial(file.descriptor, file.entry)
    renameSync(file.partial, this.#options.placeOf(file.relative))
    this.#options.done(file.relative, file.entry)
  }
}

function writeWhole(descriptor: number, bytes: Buffer, position: number): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at, position + at)
}
