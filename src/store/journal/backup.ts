/**
 * Backups: the state of all clusters at one moment, in the form of a snapshot, and how to restore it into a new directory.
 * Objects come back unchanged, with the revisions they had. Only the cluster's own revision changes: it jumps ahead
 * of everything the lost store may have handed out, and nothing before the jump can be read or watched from, so that a
 * client which remembers the lost store has to start over instead of being misled.
 */
import path from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { StoreCore } from '../mvcc/store-core.ts'
import type { Store } from '../store.ts'
import { checkFormat, type Location, writeFormat } from './directory.ts'
import type { Disk } from './disk.ts'
import { removeUnfinished, writeGeneration } from './generation.ts'
import { acquireLock, machineProcesses, type ProcessTable } from './lock.ts'
import { nodeDisk } from './node-disk.ts'
import { captureStore, readSnapshot, type SnapshotHeader, snapshotFrames } from './snapshot.ts'
import { DamagedFileError, explained, StoreRefusedError } from './store-error.ts'

export interface BackupSummary {
  bytes: number
  clusters: { name: string; revision: number; objects: number }[]
  /** Milliseconds since the epoch. */
  takenAt: number
}

/** Takes chunks in order; the next one comes when the promise has settled, so a slow sink slows the backup, not the store. */
export type BackupSink = (chunk: Uint8Array) => Promise<void>

export async function backup(store: Store, sink: BackupSink, clock: Clock): Promise<BackupSummary> {
  const takenAt = clock.now()
  const captured = captureStore(store)
  let bytes = 0
  for (const frame of snapshotFrames(captured, { generation: 0, takenAt })) {
    await sink(frame)
    bytes += frame.length
  }
  return { bytes, clusters: captured.map(({ name, revision, objects }) => ({ name, revision, objects })), takenAt }
}

export interface RestoreOptions {
  clock: Clock
  /** Revisions move ahead at least by this, to a multiple of it. Default 1,000,000. */
  revisionJump?: number
  disk?: Disk
  processes?: ProcessTable
}

/** More writes than one store can make in a second, so that the jump exceeds whatever was written since the backup. */
const REVISIONS_PER_SECOND = 10_000
export const DEFAULT_JUMP = 1_000_000

/** Restores a backup into a directory that holds no store yet. */
export async function restoreBackup(file: string, newDir: string, options: RestoreOptions): Promise<BackupSummary> {
  const { clock, disk = nodeDisk, processes = machineProcesses() } = options
  const location: Location = { disk, dir: newDir }
  const loaded = await readBackup(disk, file, clock)
  try {
    await disk.makeDirectory(newDir)
    return await restoreInto(location, loaded, { ...options, processes })
  } catch (error) {
    throw explained(error, newDir)
  }
}

type LoadedBackup = Awaited<ReturnType<typeof readBackup>>

async function restoreInto(
  location: Location,
  loaded: LoadedBackup,
  options: RestoreOptions & { processes: ProcessTable },
): Promise<BackupSummary> {
  const { clock } = options
  const unlock = await acquireLock(location, options.processes)
  try {
    await mustBeFree(location)
    const elapsedMs = Math.max(0, clock.now() - loaded.header.takenAt)
    const jump = { step: options.revisionJump ?? DEFAULT_JUMP, least: Math.ceil((elapsedMs / 1000) * REVISIONS_PER_SECOND) }
    const clusters = captureStore(loaded.core).map((c) => ({ ...c, revision: jumpAhead(c.revision, jump) }))
    await writeGeneration(location, { generation: 1, clusters, now: clock.now() })
    await writeFormat(location)
    const summary = clusters.map(({ name, revision, objects }) => ({ name, revision, objects }))
    return { bytes: loaded.bytes, clusters: summary, takenAt: loaded.header.takenAt }
  } finally {
    await unlock()
  }
}

/** The next multiple of `step` that is ahead by at least `step` and `least`. */
export function jumpAhead(revision: number, { step, least }: { step: number; least: number }): number {
  return Math.ceil((revision + Math.max(step, least)) / step) * step
}

async function readBackup(disk: Disk, name: string, clock: Clock): Promise<{ core: StoreCore; header: SnapshotHeader; bytes: number }> {
  const core = new StoreCore({ clock }, { append: () => {} })
  const file = await disk.open(name, 'read')
  try {
    const header = await readSnapshot(file, name, {
      onCluster: (cluster, revision) => core.cluster(cluster).resetTo(revision),
      onObject: ({ cluster, key, revision, createRevision, value }) =>
        core.cluster(cluster).load({ key, revision, createRevision, text: value, isTombstone: false }),
    })
    return { core, header, bytes: await file.size() }
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error
    throw new StoreRefusedError('E_BACKUP_DAMAGED', `${error.message}. Nothing was restored; use another backup.`, error)
  } finally {
    await file.close()
  }
}

async function mustBeFree(location: Location): Promise<void> {
  if ((await checkFormat(location)) === undefined) return removeUnfinished(location)
  throw new StoreRefusedError(
    'E_STORE_NOT_EMPTY',
    `${path.resolve(location.dir)} holds a store already. A backup is restored into a new directory: choose another --data-dir.`,
  )
}
