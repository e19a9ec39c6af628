/**
 * Completes the files of a generation: what an older one has in the same version is linked, the rest is fetched block by block
 * into files of another name. A bounded number of blocks is under way, each in a buffer of its own; some of these slots take
 * small files first and the others large ones, so that neither waits for the other.
 */
import type { FileEntry } from '../protocol/file.ts'
import type { BlockFetcher } from './block-fetcher.ts'
import { type Generation, linkFrom, placeFor, recorder } from './generation.ts'
import type { Layout } from './layout.ts'
import { PartialFiles } from './partial-files.ts'
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
  const { generation, blockBytes, space, layout, id } = filling
  const reserved = space.reserve(missing.reduce((sum, [, { size }]) => sum + onDisk(size), 0))
  const ended = new AbortController()
  const stop = () => ended.abort()
  filling.signal.addEventListener('abort', stop, { once: true })
  if (filling.signal.aborted) stop()
  const files = new PartialFiles({
    ...{ layout, id, blockBytes, missing, done },
    placeOf: (relative) => placeFor(generation, relative, made),
    onBytes(length) {
      progress.doneBytes += length
      reserved.written(length)
    },
  })
  const slots = Math.max(2, Math.min(MOST_SLOTS, Math.floor(BUFFER_BYTES / blockBytes)))
  try {
    let failure: { reason: unknown } | undefined
    const ends = Array.from({ length: slots }, (_, i) =>
      runSlot(filling, { files, prefersSmall: i < slots / 4, progress, signal: ended.signal }).catch((reason: unknown) => {
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
    files.discard()
  }
}

interface Slot {
  files: PartialFiles
  prefersSmall: boolean
  progress: Progress
  signal: AbortSignal
}

/** One block after another, until there is none left. */
async function runSlot(filling: Filling, { files, prefersSmall, progress, signal }: Slot): Promise<void> {
  let buffer = Buffer.alloc(0)
  for (let count = 0; !signal.aborted; count++) {
    if (count % FILES_BETWEEN_YIELDS === 0) await filling.yieldIfDue()
    const block = files.next(prefersSmall)
    if (block === undefined) return
    if (block === 'empty') continue
    const { file, index, length } = block
    if (buffer.length < length) buffer = Buffer.allocUnsafeSlow(length)
    const into = buffer.subarray(0, length)
    await filling.fetcher.fetch({ fileId: file.entry.fileId, version: file.entry.version, index }, into, signal)
    if (signal.aborted) return
    if (!files.write(block, into)) filling.onProgress(progress)
  }
}
