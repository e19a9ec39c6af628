/**
 * The durable store: everything in memory, every change in a journal before it is acknowledged, snapshots so that a start
 * stays short. See `directory.ts` for the files, `writer.ts` for group commit, `load.ts` for reading them back.
 */
import type { Clock } from '../../base/clock.ts'
import type { CommitLog } from '../mvcc/pending.ts'
import { type CoreOptions, StoreCore } from '../mvcc/store-core.ts'
import type { Store } from '../store.ts'
import { at, checkFormat, type Generations, journalName, type Location, listGenerations, snapshotName, writeFormat } from './directory.ts'
import type { Disk } from './disk.ts'
import { removeUnfinished, writeGeneration } from './generation.ts'
import { chooseBase, type LoadedJournal, loadJournals, loadSnapshot } from './load.ts'
import { acquireLock, machineProcesses, type ProcessTable } from './lock.ts'
import { nodeDisk } from './node-disk.ts'
import { captureStore } from './snapshot.ts'
import { Snapshotter } from './snapshotter.ts'
import { DamagedFileError, explained, StoreRefusedError } from './store-error.ts'
import { type JournalEnd, JournalWriter } from './writer.ts'

export interface JournalOptions extends CoreOptions {
  /** The data directory; created if absent. */
  dir: string
  clock: Clock
  /**
   * A sync failed, so the state of the disk is unknown: the process must end. Called once, before the writes in flight
   * are refused.
   */
  onFatal(error: Error): void
  /** A problem that the store copes with, such as no space for a snapshot. Default: ignored. */
  onWarning?(message: string): void
  /** Journals may grow to this size, or to that of the live data, before a snapshot is made. Default 64 MiB. */
  snapshotAfterBytes?: number
  /** A group of writes is closed once it is this large. Default 4 MiB. */
  maxFrameBytes?: number
  /** For tests. Default: the real disk and the processes of this machine. */
  disk?: Disk
  processes?: ProcessTable
}

export interface JournalStats {
  generation: number
  /** What a start would replay on top of the newest snapshot. */
  journalBytes: number
  /** Bytes that a crash had left of an unacknowledged write, cut off when the store was opened. */
  tornBytes: number
}

export interface JournalStore extends Store {
  stats(): JournalStats
  /** Makes a snapshot now. Resolves when it is durable, or when a warning or a fatal error was reported. */
  snapshot(): Promise<void>
}

export async function openJournalStore(options: JournalOptions): Promise<JournalStore> {
  const location: Location = { disk: options.disk ?? nodeDisk, dir: options.dir }
  try {
    await location.disk.makeDirectory(location.dir)
    const unlock = await acquireLock(location, options.processes ?? machineProcesses())
    try {
      return await openLocked(location, options, unlock)
    } catch (error) {
      await unlock()
      throw error
    }
  } catch (error) {
    throw explained(error, location.dir)
  }
}

async function openLocked(location: Location, options: JournalOptions, unlock: () => Promise<void>): Promise<JournalStore> {
  const isNew = (await checkFormat(location)) === undefined
  if (isNew) await initialize(location, options.clock)
  const log = new LateLog()
  const core = new StoreCore(options, log)
  const generations = await listGenerations(location)
  const { journals, base } = await loadAll(location, generations, core)
  const tornBytes = journals.reduce((sum, journal) => sum + journal.tornBytes, 0)
  await removeStrays(location, generations, base)
  const end = await openEnd(location, journals)
  const newestSnapshot = Math.max(...generations.snapshots)
  const writer = new JournalWriter({
    end,
    maxFrameBytes: options.maxFrameBytes ?? 4 * 1024 * 1024,
    onFatal: options.onFatal,
    onFrame: () => snapshotter.consider(),
  })
  const snapshotter = new Snapshotter({
    location,
    clock: options.clock,
    writer,
    capture: () => captureStore(core),
    liveBytes: () => core.liveBytes,
    thresholdBytes: options.snapshotAfterBytes ?? 64 * 1024 * 1024,
    olderJournalBytes: journals.slice(0, -1).reduce((sum, j) => (j.generation >= newestSnapshot ? sum + j.size : sum), 0),
    onWarning: options.onWarning ?? (() => {}),
  })
  log.target = writer
  snapshotter.consider()
  return journalStore({ core, writer, snapshotter, unlock, tornBytes })
}

interface Parts {
  core: StoreCore
  writer: JournalWriter
  snapshotter: Snapshotter
  unlock(): Promise<void>
  tornBytes: number
}

function journalStore({ core, writer, snapshotter, unlock, tornBytes }: Parts): JournalStore {
  let closing: Promise<void> | undefined
  const close = async () => {
    await snapshotter.close()
    await writer.close()
    core.close()
    await unlock()
  }
  return {
    cluster: (name) => core.cluster(name),
    clusterNames: () => core.clusterNames(),
    stats: () => ({ generation: writer.generation, journalBytes: snapshotter.journalBytes, tornBytes }),
    snapshot: () => snapshotter.take(),
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

/** The core needs its log before the journal is open; nothing is written until it is. */
class LateLog implements CommitLog {
  target: CommitLog | undefined
  append(write: Parameters<CommitLog['append']>[0]): void {
    if (this.target === undefined) throw new Error('the store is still opening')
    this.target.append(write)
  }
}

/** Turns a directory into a data directory. FORMAT comes last: until then, anything there was left by an interrupted attempt. */
async function initialize(location: Location, clock: Clock): Promise<void> {
  await removeUnfinished(location)
  await writeGeneration(location, { generation: 1, clusters: [], now: clock.now() })
  await writeFormat(location)
}

async function loadAll(
  location: Location,
  generations: Generations,
  core: StoreCore,
): Promise<{ base: number; journals: LoadedJournal[] }> {
  const base = chooseBase(generations)
  if (base === undefined) {
    const found = [...generations.snapshots.map(snapshotName), ...generations.journals.map(journalName)].join(', ') || 'none'
    throw new StoreRefusedError('E_STORE_DAMAGED', `${location.dir} lacks files of the store (found: ${found}). ${REPAIR_ADVICE}`)
  }
  try {
    await loadSnapshot(location, base, core)
    return { base, journals: await loadJournals(location, { from: base, to: Math.max(...generations.journals) }, core) }
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error
    throw new StoreRefusedError('E_STORE_DAMAGED', `${error.message}. ${REPAIR_ADVICE}`, error)
  }
}

const REPAIR_ADVICE =
  'Restore a backup into a new directory with `sluice restore FILE --data-dir NEW`, or keep what is intact with `sluice repair --data-dir D`, which sets the damaged files aside.'

/**
 * Makes the last journal ready for writing. What was replayed may so far be in the operating system's cache only (the
 * previous process was killed), and must be durable before anyone sees it.
 */
async function openEnd(location: Location, journals: readonly LoadedJournal[]): Promise<JournalEnd> {
  let end: JournalEnd | undefined
  for (const { generation, size, nextFrame, tornBytes } of journals) {
    await end?.file.close()
    const file = await location.disk.open(at(location, journalName(generation)), 'write')
    if (tornBytes > 0) await file.truncate(size)
    await file.sync()
    end = { file, generation, size, nextFrame }
  }
  await location.disk.syncDirectory(location.dir)
  return end as JournalEnd
}

/** Removes what a crash left half created or half deleted. */
async function removeStrays(location: Location, found: Generations, base: number): Promise<void> {
  const old = [...found.snapshots.filter((n) => n < base).map(snapshotName), ...found.journals.filter((n) => n < base).map(journalName)]
  for (const name of [...found.leftovers, ...old]) await location.disk.remove(at(location, name))
}
