/**
 * The binary form of what journals, snapshots and backups hold. A record is 32 bytes of numbers (little endian), then the
 * cluster's name, the key and the value:
 *   type u8 · cluster length u8 · key length u16 · value length u32 · revision f64 · create revision f64 · time f64
 * Records are stored in frames, see `frame.ts`. Any change here needs a new FORMAT.
 */
import { type ByteText, byteTextOf, utf8Of, writeBytes } from '../../base/byte-text.ts'

export const RecordType = {
  put: 1,
  delete: 2,
  /** First record of a file; the value is JSON that describes the file. */
  header: 3,
  /** A cluster of a snapshot and the revision it is at. */
  cluster: 4,
  /** Last record of a snapshot; the value is JSON with what must have come before. */
  end: 5,
} as const

export type RecordType = (typeof RecordType)[keyof typeof RecordType]

export interface JournalRecord {
  type: RecordType
  cluster: string
  revision: number
  createRevision: number
  /** Milliseconds since the epoch. */
  at: number
  key: string
  value: ByteText
}

const FIXED_BYTES = 32
const NO_BYTES = utf8Of('')

export function metaRecord(type: RecordType, fields: Partial<JournalRecord>): JournalRecord {
  return { type, cluster: '', revision: 0, createRevision: 0, at: 0, key: '', value: NO_BYTES, ...fields }
}

export function recordBytes(record: JournalRecord): number {
  return FIXED_BYTES + Buffer.byteLength(record.cluster) + Buffer.byteLength(record.key) + record.value.length
}

/** Writes the record at `at`, and returns where it ends. */
export function writeRecord(record: JournalRecord, target: Buffer, at: number): number {
  let end = at + FIXED_BYTES
  const clusterBytes = target.write(record.cluster, end)
  end += clusterBytes
  const keyBytes = target.write(record.key, end)
  end += keyBytes
  end += writeBytes(record.value, target, end)
  target.writeUInt8(record.type, at)
  target.writeUInt8(clusterBytes, at + 1)
  target.writeUInt16LE(keyBytes, at + 2)
  target.writeUInt32LE(record.value.length, at + 4)
  target.writeDoubleLE(record.revision, at + 8)
  target.writeDoubleLE(record.createRevision, at + 16)
  target.writeDoubleLE(record.at, at + 24)
  return end
}

/** The records of a payload whose checksum was right. Throws RangeError when they do not add up. */
export function readRecords(payload: Buffer, visit: (record: JournalRecord) => void): void {
  let at = 0
  while (at < payload.length) {
    const clusterStart = at + FIXED_BYTES
    const keyStart = clusterStart + payload.readUInt8(at + 1)
    const valueStart = keyStart + payload.readUInt16LE(at + 2)
    const end = valueStart + payload.readUInt32LE(at + 4)
    if (end > payload.length) throw new RangeError(`a record ends at byte ${end} of a frame of ${payload.length}`)
    visit({
      type: payload.readUInt8(at) as RecordType,
      cluster: payload.toString('latin1', clusterStart, keyStart),
      revision: payload.readDoubleLE(at + 8),
      createRevision: payload.readDoubleLE(at + 16),
      at: payload.readDoubleLE(at + 24),
      key: payload.toString('utf8', keyStart, valueStart),
      value: byteTextOf(payload, valueStart, end),
    })
    at = end
  }
}
