/**
 * What the master knows of a dataset's files: the listings of all mounts, merged into one namespace, with revisions. Made by
 * `createInventory` (create-inventory.ts). Everything but `sync` and `close` answers from memory, at once, also while a source
 * is being listed or cannot be reached.
 */
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/random.ts'
import type { FileEntry, InventoryLine } from '../protocol/file.ts'
import type { Source, SourceFile } from '../sources/source.ts'

export interface InventoryMount {
  /** Unique among the mounts of the dataset. */
  name: string
  /** Where it appears in the dataset: absolute and clean, `/` for the root. */
  path: string
  /** The same text means the same place and the same way to read it: such a mount is kept open when mounts are set again. */
  identity: string
  /** Rejects with SourceRefused when it cannot be used as it is written; tried again with the next listing. */
  open(): Promise<Source>
}

export interface MountStatus {
  name: string
  path: string
  /** `waiting`: its source has not answered yet. `failed`: the last listing did not end; what earlier ones found is kept. */
  state: 'waiting' | 'listing' | 'listed' | 'failed'
  /** Why the last listing that ended failed, and what to do. */
  reason?: string
  /** Of the files that the dataset shows of this mount. */
  files: number
  bytes: number
  /** When the last listing that ended began, in milliseconds since 1970. */
  listedAtMs?: number
  /** Names that no file could be made of in the last listing. */
  refused: number
  /** A few of them. */
  refusedNames: readonly string[]
}

/** What a worker needs to read a file from its source. */
export interface LocatedFile {
  /** Name of the mount. */
  mount: string
  source: SourceFile
  entry: FileEntry
}

export interface Totals {
  files: number
  bytes: number
}

export interface Snapshot {
  /** Of the moment the snapshot was asked for. */
  revision: number
  isComplete: boolean
  /**
   * Sorted by path. May be read slowly, while the inventory changes: then it can contain newer entries and lack removed ones.
   * Whoever applies `since(revision)` afterwards has exactly what the inventory has.
   */
  entries: Iterable<FileEntry>
}

export interface Inventory {
  /** Grows with every change, also over restarts; no two states ever have the same. */
  readonly revision: number
  /** The first listing of every mount has ended. */
  readonly isComplete: boolean
  /**
   * What changed after `revision` at or below `subPath`, ended by the line with the revision that was reached. Undefined: the
   * revision is unknown or too old, take a snapshot.
   */
  since(revision: number, subPath: string): readonly InventoryLine[] | undefined
  snapshot(subPath: string): Snapshot
  file(fileId: string): LocatedFile | undefined
  byPath(path: string): FileEntry | undefined
  /** Of the whole dataset at no cost; of a part by counting it. */
  totals(subPath?: string): Totals
  /** In the order they were set. */
  mounts(): readonly MountStatus[]
  /** Lists every mount now. Resolves when a listing that began after the call has ended, however it ended. */
  sync(): Promise<void>
  setMounts(mounts: readonly InventoryMount[]): void
  /** Calls back after each change of revision, completeness or mount status. The returned function ends it. */
  onChange(listener: () => void): () => void
  close(): Promise<void>
}

export interface InventoryOptions {
  mounts: readonly InventoryMount[]
  /** The runtime's key: ids of files are made with it. */
  key: Uint8Array
  clock: Clock
  random: Random
  /** A file that is written and read by this inventory alone; its directory exists. Absent: a restart lists again. */
  journal?: string
  /** A backup of another inventory, for the time until the sources are listed; used when the journal has nothing. */
  backup?: string
  log: Log
  /** Between two listings; 0: mounts are listed once, and again only by `sync`. Default 60,000. */
  syncIntervalMs?: number
}
