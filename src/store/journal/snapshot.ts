/**
 * The state of a whole store at one moment, as a stream of frames: a header, each cluster with its revision and its live
 * values, and a trailer that states what must have come before it. Snapshots and backups are the same bytes.
 * Taking the state is one synchronous step that copies references only; writing it out then disturbs no writer.
 */

import { crc32 } from 'node:zlib'
import { type ByteText, readUtf8, utf8Of } from '../../base/byte-text.ts'
import { messageOf } from '../../base/error-text.ts'
import type { Store, Version } from '../store.ts'
import { FORMAT_VERSION } from './directory.ts'
import type { DiskFile } from './disk.ts'
import { encodeFrame, type Frame, frameChecksum, readFrames } from './frame.ts'
import { type JournalRecord, metaRecord, RecordType, readRecords, recordBytes } from './record.ts'
import { DamagedFileError } from './store-error.ts'

const FRAME_BYTES = 256 * 1024

export interface CapturedCluster {
  name: string
  revision: number
  objects: number
  /** Live values, in key order inside a bucket. */
  buckets: Version[][]
}

export interface SnapshotHeader {
  kind: 'snapshot'
  format: number
  /** The journal that follows it; 0 for a backup. */
  generation: number
  /** When the state was taken, in milliseconds since the epoch. */
  takenAt: number
}

export function captureStore(store: Pick<Store, 'cluster' | 'clusterNames'>): CapturedCluster[] {
  return store.clusterNames().map((name) => {
    const cluster = store.cluster(name)
    const buckets = cluster.buckets().map((bucket) => cluster.range(`${bucket}/`).versions)
    return { name, revision: cluster.revision, objects: buckets.reduce((sum, bucket) => sum + bucket.length, 0), buckets }
  })
}

/** The frames of a snapshot, one at a time, so that memory stays bounded whatever its size. */
export function* snapshotFrames(clusters: readonly CapturedCluster[], origin: { generation: number; takenAt: number }): Generator<Buffer> {
  const header: SnapshotHeader = { kind: 'snapshot', format: FORMAT_VERSION, ...origin }
  let number = 0
  let objects = 0
  let sum = 0
  const next = (records: JournalRecord[]): Buffer => {
    const frame = encodeFrame(number++, records)
    sum = chain(sum, frameChecksum(frame))
    return frame
  }
  yield next([metaRecord(RecordType.header, { at: origin.takenAt, value: utf8Of(JSON.stringify(header)) })])
  for (const { name: cluster, revision, buckets } of clusters) {
    let records = [metaRecord(RecordType.cluster, { cluster, revision })]
    let bytes = 0
    for (const bucket of buckets) {
      for (const { key, revision, createRevision, text: value } of bucket) {
        const record: JournalRecord = { type: RecordType.put, cluster, revision, createRevision, at: 0, key, value }
        records.push(record)
        objects++
        bytes += recordBytes(record)
        if (bytes < FRAME_BYTES) continue
        yield next(records)
        records = []
        bytes = 0
      }
    }
    yield next(records)
  }
  const end = { clusters: clusters.length, objects, sum }
  yield encodeFrame(number, [metaRecord(RecordType.end, { value: utf8Of(JSON.stringify(end)) })])
}

export interface SnapshotVisitor {
  onCluster(name: string, revision: number): void
  onObject(record: JournalRecord): void
}

/** Reads and verifies a whole snapshot. Throws DamagedFileError, and then the values visited so far must be discarded. */
export async function readSnapshot(file: DiskFile, name: string, visitor: SnapshotVisitor): Promise<SnapshotHeader> {
  const reading = new SnapshotReading(visitor)
  const end = await readFrames(file, (frame) => {
    try {
      reading.accept(frame)
    } catch (error) {
      throw new DamagedFileError(name, frame.offset, messageOf(error))
    }
  })
  if (end.damage !== undefined) throw new DamagedFileError(name, end.offset, end.damage)
  if (reading.header === undefined || !reading.isComplete) throw new DamagedFileError(name, end.offset, 'it ends before its end record')
  return reading.header
}

class SnapshotReading {
  header: SnapshotHeader | undefined
  isComplete = false
  readonly #visitor: SnapshotVisitor
  readonly #clusters = new Map<string, number>()
  #objects = 0
  #sum = 0

  constructor(visitor: SnapshotVisitor) {
    this.#visitor = visitor
  }

  accept(frame: Frame): void {
    if (this.isComplete) throw new RangeError('something follows its end record')
    readRecords(frame.payload, (record) => this.#acceptRecord(record, frame.number))
    this.#sum = chain(this.#sum, frame.checksum)
  }

  #acceptRecord(record: JournalRecord, frame: number): void {
    if ((frame === 0) !== (record.type === RecordType.header)) throw new RangeError('it does not begin with a header')
    if (record.type === RecordType.header) this.header = parseHeader(record.value)
    else if (record.type === RecordType.cluster) this.#acceptCluster(record)
    else if (record.type === RecordType.put) this.#acceptObject(record)
    else if (record.type === RecordType.end) this.#acceptEnd(record.value)
    else throw new RangeError(`it holds a record of type ${record.type}`)
  }

  #acceptCluster({ cluster, revision }: JournalRecord): void {
    if (!Number.isSafeInteger(revision) || revision < 1) throw new RangeError(`${cluster} is at revision ${revision}`)
    this.#clusters.set(cluster, revision)
    this.#visitor.onCluster(cluster, revision)
  }

  #acceptObject(record: JournalRecord): void {
    const { cluster, key, revision, createRevision } = record
    const newest = this.#clusters.get(cluster) ?? 0
    const isPossible = Number.isSafeInteger(revision) && createRevision >= 1 && createRevision <= revision && revision <= newest
    if (!isPossible) throw new RangeError(`${key} of ${cluster} is at revision ${revision}, and the cluster at ${newest}`)
    this.#objects++
    this.#visitor.onObject(record)
  }

  #acceptEnd(value: ByteText): void {
    this.isComplete = true
    const expected = JSON.stringify({ clusters: this.#clusters.size, objects: this.#objects, sum: this.#sum })
    const said = readUtf8(value)
    if (said !== expected) throw new RangeError(`its end record says ${said}, and it holds ${expected}`)
  }
}

function parseHeader(value: ByteText): SnapshotHeader {
  const text = readUtf8(value)
  const header = JSON.parse(text) as Partial<SnapshotHeader> | null
  if (header?.kind !== 'snapshot') throw new RangeError(`its header is not that of a snapshot: ${text.slice(0, 100)}`)
  if (header.format !== FORMAT_VERSION) throw new RangeError(`it has format ${header.format}, and this program reads ${FORMAT_VERSION}`)
  return { kind: 'snapshot', format: FORMAT_VERSION, generation: Number(header.generation), takenAt: Number(header.takenAt) }
}

function chain(sum: number, checksum: number): number {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32LE(checksum)
  return crc32(bytes, sum)
}
