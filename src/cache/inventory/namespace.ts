/**
 * The files of a dataset: listings of all mounts, merged, without any effect. Files arrive page by page and are seen at once;
 * what a listing did not name is removed when that listing has ended, never before. Where a source has both a file and files
 * below it as if it were a directory (S3 permits that), the directory is shown. The result depends on the last listings alone,
 * not on the order in which they came. A file costs 345 bytes of memory, 400 with an ETag, and 12 µs of CPU (measured with
 * 100,000 files and paths of 36 characters).
 */
import { SortedMap } from '../../base/sorted-map.ts'
import { type FileEntry, fileIdOf, versionOf } from '../protocol/file.ts'
import type { SourceFile } from '../sources/source.ts'
import type { LocatedFile, Totals } from './inventory.ts'
import { hiddenBy, isAtOrBelow, isHidden, joined, type Placed, relativeTo } from './mount-paths.ts'

export interface MountSlot extends Placed {
  /** The number of the listing under way or of the last one. */
  listing: number
  files: number
  bytes: number
  hiddenBy: readonly Placed[]
}

/** Flat, because there may be millions. */
export interface FileRecord {
  path: string
  mount: MountSlot
  listing: number
  fileId: string
  version: string
  size: number
  etag: string | undefined
  mtimeNs: string | undefined
}

/** A path that was added, changed or removed; which one, the namespace knows. */
export type Changes = string[]

export class Namespace {
  readonly #key: Uint8Array
  readonly #files = new SortedMap<FileRecord>()
  readonly #byId = new Map<string, FileRecord>()
  /** Files that have others below them: not shown. */
  readonly #covered = new Map<string, FileRecord>()
  #slots = new Map<string, MountSlot>()

  constructor(key: Uint8Array) {
    this.#key = key
  }

  slot(name: string): MountSlot | undefined {
    return this.#slots.get(name)
  }

  /** Keeps the files of mounts whose name and path stay, unless another mount hides them now. */
  setMounts(mounts: readonly Placed[]): Changes {
    const old = this.#slots
    this.#slots = new Map()
    for (const [i, { name, path }] of mounts.entries()) {
      const kept = old.get(name)
      const slot = kept?.path === path ? kept : { name, path, listing: 0, files: 0, bytes: 0, hiddenBy: [] }
      slot.hiddenBy = hiddenBy(mounts, i)
      this.#slots.set(name, slot)
    }
    const isGone = ({ mount, path }: FileRecord) => this.#slots.get(mount.name) !== mount || isHidden(path, mount.hiddenBy)
    return this.#drop('/', isGone)
  }

  /** Forgets what a mount showed: it reads something else now. */
  clear(name: string): Changes {
    const slot = this.#slots.get(name)
    return slot === undefined ? [] : this.#drop(slot.path, ({ mount }) => mount === slot)
  }

  beginListing(name: string): void {
    const slot = this.#slots.get(name)
    if (slot !== undefined) slot.listing++
  }

  add(name: string, files: readonly SourceFile[]): Changes {
    const changes: Changes = []
    const slot = this.#slots.get(name)
    if (slot !== undefined) for (const file of files) this.#put(this.#recordOf(slot, file), changes)
    return changes
  }

  /** As it was written down before: ids and versions are taken as they are. */
  restore(record: Omit<FileRecord, 'mount' | 'listing'>, mount: string): void {
    const slot = this.#slots.get(mount)
    if (slot !== undefined) this.#put({ ...record, mount: slot, listing: slot.listing }, [])
  }

  restoreRemoved(path: string): void {
    const record = this.#files.get(path)
    if (record !== undefined) this.#remove(record)
  }

  /** What the listing did not name is gone. */
  endListing(name: string): Changes {
    const slot = this.#slots.get(name)
    if (slot === undefined) return []
    return this.#drop(slot.path, ({ mount, listing }) => mount === slot && listing !== slot.listing)
  }

  get(path: string): FileRecord | undefined {
    return this.#files.get(path)
  }

  byId(fileId: string): FileRecord | undefined {
    return this.#byId.get(fileId)
  }

  /** At or below `subPath`, sorted; the namespace may change between two calls of `next`. */
  *records(subPath: string): Generator<FileRecord, void> {
    const own = subPath === '/' ? undefined : this.#files.get(subPath)
    if (own !== undefined) yield own
    const [first, end] = rangeBelow(subPath)
    for (let from = first; ; ) {
      const some = this.#files.values(from, end, RECORDS_AT_ONCE)
      yield* some
      const last = some[RECORDS_AT_ONCE - 1]
      if (last === undefined) return
      from = `${last.path}\u0000`
    }
  }

  totals(subPath = '/'): Totals {
    const totals = { files: 0, bytes: 0 }
    for (const { files, size, bytes } of subPath === '/' ? slotTotals(this.#slots) : recordTotals(this.records(subPath))) {
      totals.files += files
      totals.bytes += bytes + size
    }
    return totals
  }

  #recordOf(mount: MountSlot, file: SourceFile): FileRecord {
    const path = joined(mount.path, file.path)
    const known = this.#files.get(path) ?? this.#covered.get(path)
    const isSame = known !== undefined && known.size === file.size && known.etag === file.etag && known.mtimeNs === file.mtimeNs
    return {
      path: known?.path ?? path,
      mount,
      listing: mount.listing,
      fileId: known?.fileId ?? fileIdOf(this.#key, path),
      version: isSame ? known.version : versionOf(file),
      size: file.size,
      etag: file.etag,
      mtimeNs: file.mtimeNs,
    }
  }

  #put(record: FileRecord, changes: Changes): void {
    const { path, mount } = record
    if (isHidden(path, mount.hiddenBy)) return
    const old = this.#files.get(path)
    if (old !== undefined) {
      if (isSameFile(old, record)) {
        old.listing = record.listing
        return
      }
      this.#remove(old)
    } else if (this.#hasBelow(path)) {
      this.#covered.set(path, record)
      return
    } else this.#coverAbove(path, changes)
    this.#insert(record)
    changes.push(path)
  }

  #coverAbove(path: string, changes: Changes): void {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const above = this.#files.get(path.slice(0, end))
      if (above === undefined) continue
      this.#remove(above)
      this.#covered.set(above.path, above)
      changes.push(above.path)
    }
  }

  #hasBelow(path: string): boolean {
    const [from, end] = rangeBelow(path)
    return this.#files.values(from, end, 1).length > 0
  }

  #drop(below: string, isGone: (record: FileRecord) => boolean): Changes {
    const gone: FileRecord[] = []
    for (const record of this.records(below)) if (isGone(record)) gone.push(record)
    for (const record of gone) this.#remove(record)
    const changes = gone.map(({ path }) => path)
    for (const [path, record] of this.#covered) if (isAtOrBelow(below, path) && isGone(record)) this.#covered.delete(path)
    // A file comes to light when nothing is below it any more, nor below one that is covered itself: from the deepest on.
    for (const path of [...this.#covered.keys()].sort((a, b) => b.length - a.length)) {
      const record = this.#covered.get(path)
      if (record === undefined || this.#hasBelow(path)) continue
      this.#covered.delete(path)
      this.#put(record, changes)
    }
    return changes
  }

  #insert(record: FileRecord): void {
    this.#covered.delete(record.path)
    this.#files.set(record.path, record)
    this.#byId.set(record.fileId, record)
    record.mount.files++
    record.mount.bytes += record.size
  }

  #remove(record: FileRecord): void {
    this.#files.delete(record.path)
    this.#byId.delete(record.fileId)
    record.mount.files--
    record.mount.bytes -= record.size
  }
}

const RECORDS_AT_ONCE = 256
const NS_PER_MS = 1_000_000n

export const entryOf = ({ path, fileId, size, version, mtimeNs }: FileRecord): FileEntry => ({
  path,
  fileId,
  size,
  version,
  mtimeMs: mtimeNs === undefined ? 0 : Number(BigInt(mtimeNs) / NS_PER_MS),
})

export const locatedOf = (record: FileRecord): LocatedFile => {
  const { path, mount, size, etag, mtimeNs } = record
  const source: SourceFile = { path: relativeTo(mount.path, path), size, ...(etag && { etag }), ...(mtimeNs && { mtimeNs }) }
  return { mount: mount.name, source, entry: entryOf(record) }
}

const isSameFile = (a: FileRecord, b: FileRecord): boolean =>
  a.version === b.version && a.mtimeNs === b.mtimeNs && a.mount === b.mount && a.etag === b.etag

/** `0` follows `/`. */
const rangeBelow = (path: string): [string, string | undefined] => (path === '/' ? ['', undefined] : [`${path}/`, `${path}0`])

function* slotTotals(slots: ReadonlyMap<string, MountSlot>) {
  for (const { files, bytes } of slots.values()) yield { files, bytes, size: 0 }
}

function* recordTotals(records: Iterable<FileRecord>) {
  for (const { size } of records) yield { files: 1, bytes: 0, size }
}
