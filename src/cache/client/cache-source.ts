/**
 * Files of a dataset as a source, read through its cache: what is cached is not read from the dataset's own sources again, and no
 * credentials of theirs are needed. Every block is checked by its CRC; a file is one version or an error.
 */

import { blockLength } from '../protocol/block.ts'
import type { FileEntry } from '../protocol/file.ts'
import { FILES_PER_PAGE } from '../sources/limits.ts'
import { assertRange } from '../sources/range.ts'
import { type ListingPage, type Range, type Source, SourceChanged, type SourceFile } from '../sources/source.ts'
import { type BlockFetcher, FileChanged } from './block-fetcher.ts'
import type { VolumeLink } from './master-link.ts'
import { emptyTree, type Wanted, wantedOf } from './tree.ts'

export interface CacheSourceOptions {
  subPath: string
  link: Pick<VolumeLink, 'update'>
  fetcher: Pick<BlockFetcher, 'fetch'>
  blockBytes: number
  close(): void
}

const POLL_SECONDS = 25
const NS_PER_MS = 1_000_000n

export function createCacheSource({ subPath, link, fetcher, blockBytes, close }: CacheSourceOptions): Source {
  const tree = emptyTree(subPath)
  let wanted: Wanted = { files: new Map(), hidden: 0, bytes: 0 }
  let pages: Iterator<ListingPage> | undefined
  let [listing, page] = [0, 0]

  async function refresh(signal: AbortSignal): Promise<void> {
    await link.update(tree, 0, signal)
    // The dataset's own sources may be being listed for the first time.
    while (!tree.isComplete) {
      signal.throwIfAborted()
      await link.update(tree, POLL_SECONDS, signal)
    }
    wanted = wantedOf(tree)
  }

  return {
    async list(cursor, signal) {
      signal.throwIfAborted()
      if (cursor === undefined) {
        await refresh(signal)
        pages = pagesOf(wanted)
        listing++
        page = 0
      } else if (cursor !== `${listing}.${page}`) throw new Error('this listing was ended; begin a new one')
      const next = pages?.next()
      if (next === undefined || next.done === true) return { files: [] }
      page++
      return { ...next.value, cursor: `${listing}.${page}` }
    },
    async stat(path, signal) {
      await refresh(signal)
      const entry = wanted.files.get(path)
      return entry && fileOf(path, entry)
    },
    async *read(file, range, signal) {
      assertRange(file, range)
      const entry = wanted.files.get(file.path)
      if (entry === undefined || entry.version !== file.etag) throw new SourceChanged(`${file.path} was changed or removed`)
      try {
        yield* blocksOf({ entry, range, fetcher, blockBytes }, signal)
      } catch (error) {
        throw error instanceof FileChanged ? new SourceChanged(error.message) : error
      }
    },
    async close() {
      pages = undefined
      close()
    },
  }
}

function* pagesOf({ files, hidden }: Wanted): Generator<ListingPage, void> {
  let some: SourceFile[] = []
  if (hidden > 0) yield { files: [], refused: [], refusedCount: hidden }
  for (const [path, entry] of files) {
    some.push(fileOf(path, entry))
    if (some.length < FILES_PER_PAGE) continue
    yield { files: some }
    some = []
  }
  yield { files: some }
}

const fileOf = (path: string, { size, version, mtimeMs }: FileEntry): SourceFile => ({
  path,
  size,
  etag: version,
  mtimeNs: String(BigInt(mtimeMs) * NS_PER_MS),
})

interface Blocks {
  entry: FileEntry
  range: Range
  fetcher: Pick<BlockFetcher, 'fetch'>
  blockBytes: number
}

/** The next block comes while the last one is used. */
async function* blocksOf({ entry, range, fetcher, blockBytes }: Blocks, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const { fileId, version, size } = entry
  const [first, end] = [Math.floor(range.start / blockBytes), Math.ceil(range.end / blockBytes)]
  const begin = (index: number): Promise<Buffer> | undefined => {
    if (index >= end) return undefined
    const buffer = Buffer.allocUnsafe(blockLength(size, blockBytes, index))
    const fetched = fetcher.fetch({ fileId, version, index }, buffer, signal).then(() => buffer)
    // It is waited for later, or not at all when the reader goes away.
    fetched.catch(() => undefined)
    return fetched
  }
  if (range.start === range.end) return
  let coming = begin(first)
  for (let index = first; coming !== undefined; index++) {
    const buffer: Buffer = await coming
    coming = begin(index + 1)
    const at = index * blockBytes
    yield buffer.subarray(Math.max(0, range.start - at), Math.min(buffer.length, range.end - at))
  }
}
