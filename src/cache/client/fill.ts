/**
 * Completes the files of a generation: what an older one has in the same version is linked, the rest is fetched block by block
 * into files of another name. A bounded number of blocks is under way, each in a buffer of its own; some of these slots take
 * small files first and the others large ones, so that neither waits for the other.
 */
import { closeSync, fstatSync, mkdirSync, renameSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { blockCount, blockLength } from '../protocol/block.ts'
import type { FileEntry } from '../protocol/file.ts'
import type { BlockFetcher } from './block-fetcher.ts'
import { createPartial, finishPartial, type Generation, linkFrom, placeFor, recorder } from './generation.ts'
import type { Layout } from './layout.ts'
import { onDisk, type Space } from './space.ts'
import type { Wanted } from './tree.ts'

export interface Progress {
  doneBytes: number
  doneFiles: number
}

export interface Filling {
  layout: Layout
  id: string
  generation: Generation
  /** Complete ones, the newest first. */
  older: readonly Generation[]
  wanted: Wanted
  blockBytes: number
  fetcher: BlockFetcher
  space: Space
  onProgress(progress: Progress): void
  /** Lets other things happen between files that need no waiting. */
  yieldIfDue(): Promise<void>
  signal: AbortSignal
}

const BUFFER_BYTES = 64 * 1024 * 1024
const MOST_SLOTS = 8
const FILES_BETWEEN_YIELDS = 200

interface Open {
  relative: string
  entry: FileEntry
  descriptor: number
  partial: string
  next: number
  left: number
  blocks: number
}

export async function fillGeneration(filling: Filling): Promise<void> {
  const { generation, wanted, older, layout, id } = filling
  const record = recorder(layout, id, generation)
  const progress: Progress = { doneBytes: 0, doneFiles: 0 }
  const made = new Set<string>()
  for (const [relative, { version }] of [...generation.files]) {
    const entry = wanted.files.get(relative)
    if (entry === undefined || entry.version !== version) record.remove(relative)
  }
  const done = (relative: string, entry: FileEntry, mtimeMs = entry.mtimeMs) => {
    record.add(relative, { version: entry.version, size: entry.size, mtimeMs })
    progress.doneFiles++
    filling.onProgress(progress)
  }
  const missing: [string, FileEntry][] = []
  let count = 0
  for (const [relative, entry] of wanted.files) {
    if (++count % FILES_BETWEEN_YIELDS === 0) await filling.yieldIfDue()
    if (generation.files.has(relative)) {
      progress.doneFiles++
      progress.doneBytes += entry.size
      continue
    }
    const like = older.find(({ files }) => files.get(relative)?.version === entry.version)
    if (like !== undefined && linkFrom(like, relative, placeFor(generation, relative, made))) {
      progress.doneBytes += entry.size
      done(relative, entry, like.files.get(relative)?.mtimeMs)
    } else missing.push([relative, entry])
  }
  filling.onProgress(progress)
  await fetchAll(filling, { missing, progress, made, done })
  record.finish()
}

interface Fetching {
  missing: readonly [string, FileEntry][]
  progress: Progress
  made: Set<string>
  done(relative: string, entry: FileEntry): void
}

async function fetchAll(filling: Filling, { missing, progress, made, done }: Fetching): Promise<void> {
  const { generation, blockBytes, fetcher, space, layout, id } = filling
  const reserved = space.reserve(missing.reduce((sum, [, { size }]) => sum + onDisk(size), 0))
  const small = missing.filter(([, { size }]) => size <= blockBytes).reverse()
  const large = missing.filter(([, { size }]) => size > blockBytes).reverse()
  const ended = new AbortController()
  const stop = () => ended.abort()
  filling.signal.addEventListener('abort', stop, { once: true })
  if (filling.signal.aborted) stop()
  mkdirSync(layout.partial, { recursive: true })
  const opened = new Set<Open>()
  let serial = 0
  let current: Open | undefined

  const open = ([relative, entry]: [string, FileEntry]): Open => {
    const partial = path.join(layout.partial, `${id}-${serial++}`)
    const blocks = blockCount(entry.size, blockBytes)
    const file = { relative, entry, partial, descriptor: createPartial(partial), next: 0, left: blocks, blocks }
    opened.add(file)
    return file
  }
  const finish = (file: Open): void => {
    if (fstatSync(file.descriptor).size !== file.entry.size) throw new Error('a file has not the size that it should have')
    opened.delete(file)
    finishPartial(file.descriptor, file.entry)
    renameSync(file.partial, placeFor(generation, file.relative, made))
    done(file.relative, file.entry)
  }
  const nextLarge = (): Open | undefined => {
    if (current === undefined || current.next >= current.blocks) {
      const file = large.pop()
      current = file === undefined ? undefined : open(file)
    }
    return current
  }
  const nextSmall = (): Open | undefined => {
    const file = small.pop()
    return file === undefined ? undefined : open(file)
  }

  async function slot(isForSmall: boolean): Promise<void> {
    let buffer = Buffer.alloc(0)
    for (let count = 0; !ended.signal.aborted; count++) {
      if (count % FILES_BETWEEN_YIELDS === 0) await filling.yieldIfDue()
      const file = isForSmall ? (nextSmall() ?? nextLarge()) : (nextLarge() ?? nextSmall())
      if (file === undefined) return
      if (file.blocks === 0) {
        finish(file)
        continue
      }
      const index = file.next++
      const length = blockLength(file.entry.size, blockBytes, index)
      if (buffer.length < length) buffer = Buffer.allocUnsafeSlow(length)
      const into = buffer.subarray(0, length)
      await fetcher.fetch({ fileId: file.entry.fileId, version: file.entry.version, index }, into, ended.signal)
      if (ended.signal.aborted) return
      writeWhole(file.descriptor, into, index * blockBytes)
      progress.doneBytes += length
      reserved.written(length)
      if (--file.left === 0) finish(file)
      else filling.onProgress(progress)
    }
  }

  const slots = Math.max(2, Math.min(MOST_SLOTS, Math.floor(BUFFER_BYTES / blockBytes)))
  try {
    let failure: { reason: unknown } | undefined
    const ends = Array.from({ length: slots }, (_, i) =>
      slot(i < slots / 4).catch((reason: unknown) => {
        // The first says why; the others were stopped by it.
        failure ??= { reason }
        stop()
      }),
    )
    await Promise.all(ends)
    if (failure !== undefined) throw failure.reason
    if (filling.signal.aborted) throw new Error('ended')
  } finally {
    filling.signal.removeEventListener('abort', stop)
    reserved.release()
    for (const { descriptor, partial } of opened) {
      closeSync(descriptor)
      rmSync(partial, { force: true })
    }
  }
}

function writeWhole(descriptor: number, bytes: Buffer, position: number): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at, position + at)
}
