/**
 * The inventory as a file that outlives its dataset: lines of JSON, compressed. It holds names, sizes and versions, and neither
 * credentials nor ids, which are made anew with the key of whoever restores it. A backup comes from a directory that others may
 * write: every line is checked, everything is bounded, and what is damaged anywhere is no backup.
 */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { isJsonObject } from '../../base/json.ts'
import { datasetPath, isBelow } from '../config/paths.ts'
import { LONGEST_ETAG, MOST_FILES } from '../sources/limits.ts'
import type { Inventory } from './inventory.ts'

export interface BackupMount {
  name: string
  path: string
}

export interface BackupFile {
  path: string
  /** Name of its mount. */
  mount: string
  size: number
  etag?: string
  mtimeNs?: string
}

/** The first line, then files, then how many there were. */
export type BackupLine =
  | { head: { format: 1; mounts: readonly BackupMount[] } }
  | { file: readonly [path: string, mount: string, size: number, etag: string | null, mtimeNs: string | null] }
  | { end: { files: number; bytes: number } }

export interface BackupReader {
  onMounts(mounts: readonly BackupMount[]): void
  onFile(file: BackupFile): void
}

export interface BackupTotals {
  files: number
  bytes: number
}

export class BadBackup extends Error {
  override readonly name = 'BadBackup'
}

const LONGEST_LINE = 16 * 1024
const MOST_MOUNTS = 256
/** Unpacked: as much as as many files may have. */
const MOST_BYTES = 4 * 1024 ** 3
const DIGITS = /^[0-9]{1,20}$/

export function* backupLines(inventory: Pick<Inventory, 'mounts' | 'snapshot' | 'file'>): Generator<BackupLine> {
  yield { head: { format: 1, mounts: inventory.mounts().map(({ name, path }) => ({ name, path })) } }
  const totals = { files: 0, bytes: 0 }
  for (const { fileId } of inventory.snapshot('/').entries) {
    const located = inventory.file(fileId)
    // It has gone meanwhile.
    if (located === undefined) continue
    const { mount, entry, source } = located
    totals.files++
    totals.bytes += entry.size
    yield { file: [entry.path, mount, entry.size, source.etag ?? null, source.mtimeNs ?? null] }
  }
  yield { end: totals }
}

/** Rejects with BadBackup, or with why it cannot be read. */
export async function readBackup(file: string, reader: BackupReader): Promise<BackupTotals> {
  const check = createBackupCheck(reader)
  // Not to wait for the writer of a pipe.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!(await handle.stat()).isFile()) throw new BadBackup('it is no regular file')
    const packed = handle.createReadStream({ autoClose: false })
    const unpacked = createGunzip()
    packed.on('error', (error) => unpacked.destroy(error))
    try {
      for await (const line of linesOf(packed.pipe(unpacked))) check.line(line)
    } finally {
      packed.destroy()
      unpacked.destroy()
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code?.startsWith('Z_') ? new BadBackup('it is damaged') : error
  } finally {
    await handle.close()
  }
  return check.end()
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0)
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) throw new BadBackup(`it has more than ${MOST_BYTES} bytes`)
    const whole = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let from = 0
    for (let end = whole.indexOf(10); end >= 0; end = whole.indexOf(10, from)) {
      yield whole.toString('utf8', from, end)
      from = end + 1
    }
    rest = whole.subarray(from)
    if (rest.length > LONGEST_LINE) throw new BadBackup('a line is too long')
  }
  if (rest.length > 0) throw new BadBackup('it was not written to its end')
}

/** Checks lines in their order, and hands on what they say. */
export function createBackupCheck(reader: BackupReader): { line(text: string): void; end(): BackupTotals } {
  const totals = { files: 0, bytes: 0 }
  let mounts: ReadonlyMap<string, string> | undefined
  let isEnded = false
  return {
    line(text) {
      const line = parsed(text)
      if (isEnded) throw new BadBackup('there is something after its end')
      if (mounts === undefined) {
        const listed = mountsOf(line.head)
        mounts = new Map(listed.map(({ name, path }) => [name, path]))
        reader.onMounts(listed)
      } else if (Object.hasOwn(line, 'file')) {
        const file = fileOf(line.file, mounts)
        totals.files++
        totals.bytes += file.size
        if (totals.files > MOST_FILES) throw new BadBackup(`it has more than ${MOST_FILES} files`)
        reader.onFile(file)
      } else {
        isEnded = isJsonObject(line.end) && line.end.files === totals.files && line.end.bytes === totals.bytes
        if (!isEnded) throw new BadBackup('its end does not fit what is in it')
      }
    },
    end() {
      if (!isEnded) throw new BadBackup('it was not written to its end')
      return totals
    },
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new BadBackup('a line of it is no JSON object')
}

function mountsOf(head: unknown): BackupMount[] {
  if (!isJsonObject(head) || head.format !== 1 || !Array.isArray(head.mounts) || head.mounts.length > MOST_MOUNTS)
    throw new BadBackup('it is none of this cache, or of a later version')
  return head.mounts.map((mount: unknown) => {
    const { name, path } = isJsonObject(mount) ? mount : {}
    if (typeof name !== 'string' || typeof path !== 'string' || datasetPath(path) !== path) throw new BadBackup('a mount of it is none')
    return { name, path }
  })
}

function fileOf(value: unknown, mounts: ReadonlyMap<string, string>): BackupFile {
  const [path, mount, size, etag, mtimeNs] = Array.isArray(value) ? (value as unknown[]) : []
  const at = typeof mount === 'string' ? mounts.get(mount) : undefined
  const isFine =
    typeof path === 'string' &&
    path !== '/' &&
    datasetPath(path) === path &&
    at !== undefined &&
    isBelow(path, at) &&
    Number.isSafeInteger(size) &&
    (size as number) >= 0 &&
    (etag === null || (typeof etag === 'string' && etag.length <= LONGEST_ETAG)) &&
    (mtimeNs === null || (typeof mtimeNs === 'string' && DIGITS.test(mtimeNs)))
  if (!isFine) throw new BadBackup('a file of it can be none')
  return {
    ...{ path, mount: mount as string, size: size as number },
    ...(typeof etag === 'string' ? { etag } : {}),
    ...(typeof mtimeNs === 'string' ? { mtimeNs } : {}),
  }
}
