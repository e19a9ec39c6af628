/**
 * From files to state. The oldest complete generation is the base, so that history from before a restart can still be
 * watched; every journal from there on is replayed. Only the end of the last file may be broken: that is what a
 * crash leaves of a write that was never acknowledged.
 */

import { readUtf8 } from '../../base/byte-text.ts'
import { messageOf } from '../../base/error-text.ts'
import type { StoreCore } from '../mvcc/store-core.ts'
import { at, type Generations, journalHeader, journalName, type Location, snapshotName } from './directory.ts'
import type { DiskFile } from './disk.ts'
import { type FramesEnd, findIntactFrame, readFrames } from './frame.ts'
import { type JournalRecord, RecordType, readRecords } from './record.ts'
import { readSnapshot } from './snapshot.ts'
import { DamagedFileError } from './store-error.ts'

export interface LoadedJournal {
  generation: number
  /** Where its good frames end. */
  size: number
  nextFrame: number
  /** It contains no change. */
  isEmpty: boolean
  /** Bytes after `size` that a crash left; they must be cut off before more is written. */
  tornBytes: number
}

/** The generation to start from: the oldest snapshot from which journals lead without a gap to the newest. */
export function chooseBase({ snapshots, journals }: Generations): number | undefined {
  const newest = journals[journals.length - 1]
  if (newest === undefined) return undefined
  const known = new Set(journals)
  const isComplete = (from: number): boolean => {
    for (let n = from; n <= newest; n++) if (!known.has(n)) return false
    return from <= newest
  }
  return snapshots.find(isComplete)
}

export async function loadSnapshot(location: Location, generation: number, core: StoreCore): Promise<void> {
  const name = snapshotName(generation)
  await withFile(location, name, async (file) => {
    const header = await readSnapshot(file, at(location, name), {
      onCluster: (cluster, revision) => core.cluster(cluster).resetTo(revision),
      onObject: ({ cluster, key, revision, createRevision, value }) =>
        core.cluster(cluster).load({ key, revision, createRevision, text: value, isTombstone: false }),
    })
    if (header.generation !== generation)
      throw new DamagedFileError(at(location, name), 0, `its header says generation ${header.generation}`)
  })
}

/** Replays a journal. Throws DamagedFileError, with everything before the fault applied. */
async function loadJournal(location: Location, generation: number, core: StoreCore): Promise<LoadedJournal> {
  const name = at(location, journalName(generation))
  return withFile(location, journalName(generation), async (file) => {
    let records = 0
    const end = await readFrames(file, (frame) => {
      try {
        if (frame.number === 0) checkHeader(frame.payload, generation)
        else if (frame.payload.length > 0) {
          readRecords(frame.payload, (record) => replay(core, record))
          records++
        }
      } catch (error) {
        throw new DamagedFileError(name, frame.offset, messageOf(error))
      }
    })
    const tear = await whereTorn(file, end)
    if (tear !== undefined) throw new DamagedFileError(name, end.offset, tear)
    return { generation, isEmpty: records === 0, size: end.offset, nextFrame: end.next, tornBytes: (await file.size()) - end.offset }
  })
}

/** Replays journals in order. A torn end is what a crash leaves, unless something was written after it. */
export async function loadJournals(location: Location, range: { from: number; to: number }, core: StoreCore): Promise<LoadedJournal[]> {
  const journals: LoadedJournal[] = []
  for (let generation = range.from; generation <= range.to; generation++) {
    const torn = journals.find((journal) => journal.tornBytes > 0)
    const journal = await loadJournal(location, generation, core)
    if (torn !== undefined && !journal.isEmpty) {
      throw new DamagedFileError(
        at(location, journalName(torn.generation)),
        torn.size,
        `it is cut off, and ${journalName(generation)} goes on after it`,
      )
    }
    journals.push(journal)
  }
  return journals
}

/** Why the end of the journal cannot be the result of a crash; undefined when it can, or when nothing is wrong. */
async function whereTorn(file: DiskFile, end: FramesEnd): Promise<string | undefined> {
  if (end.damage === undefined) return undefined
  if (end.next === 0) return `${end.damage}, and it is the header`
  const intact = await findIntactFrame(file, end.offset + 1)
  return intact === undefined ? undefined : `${end.damage}, and intact writes follow it at byte ${intact}`
}

function replay(core: StoreCore, record: JournalRecord): void {
  const { type, cluster, key, revision, createRevision, value } = record
  if (type !== RecordType.put && type !== RecordType.delete) throw new RangeError(`it holds a record of type ${type}`)
  const fields = { key, revision, createRevision, text: value, isTombstone: type === RecordType.delete }
  core.cluster(cluster).replay(fields, record.at)
}

function checkHeader(payload: Buffer, generation: number): void {
  let said = 'nothing'
  readRecords(payload, ({ type, value }) => {
    if (type === RecordType.header) said = readUtf8(value)
  })
  const header = journalHeader(generation)
  if (said !== header) throw new RangeError(`its header says ${said}, not ${header}`)
}

async function withFile<T>(location: Location, name: string, use: (file: DiskFile) => Promise<T>): Promise<T> {
  const file = await location.disk.open(at(location, name), 'read')
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}
