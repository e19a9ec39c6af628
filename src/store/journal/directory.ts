/**
 * The contents of a data directory, and how its files are created and removed:
 *   FORMAT      the version of everything here; written last when a directory is made, so its presence means completeness
 *   LOCK        who uses the directory, see `lock.ts`
 *   snapshot-N  the state when journal-N began
 *   journal-N   the changes from then until journal-N+1 began
 * Files get their name only when they are complete and safe on disk; `*.tmp` are leftovers of a crash.
 */

import path from 'node:path'
import { utf8Of } from '../../base/byte-text.ts'
import { type Disk, type DiskFile, errorCode } from './disk.ts'
import { encodeFrame } from './frame.ts'
import { metaRecord, RecordType } from './record.ts'
import { StoreRefusedError } from './store-error.ts'

export const FORMAT_VERSION = 1
const FORMAT = 'FORMAT'

export interface Location {
  disk: Disk
  dir: string
}

export interface Generations {
  snapshots: number[]
  journals: number[]
  leftovers: string[]
}

export const snapshotName = (generation: number): string => `snapshot-${generation}`
export const journalName = (generation: number): string => `journal-${generation}`
export const at = (location: Location, name: string): string => path.join(location.dir, name)

export async function listGenerations({ disk, dir }: Location): Promise<Generations> {
  const found: Generations = { snapshots: [], journals: [], leftovers: [] }
  for (const name of await disk.list(dir)) {
    const match = /^(snapshot|journal)-(\d{1,15})$/.exec(name)
    if (match !== null) (match[1] === 'snapshot' ? found.snapshots : found.journals).push(Number(match[2]))
    else if (/^(snapshot-\d+|journal-\d+|FORMAT)\.tmp$/.test(name)) found.leftovers.push(name)
  }
  found.snapshots.sort((a, b) => a - b)
  found.journals.sort((a, b) => a - b)
  return found
}

/** Creates a file under its final name once `fill` has written it and it is durable. Returns it open, with its length. */
export async function createSafely(
  location: Location,
  name: string,
  fill: (file: DiskFile) => Promise<number>,
): Promise<{ file: DiskFile; size: number }> {
  const { disk, dir } = location
  const temporary = at(location, `${name}.tmp`)
  await removeIfThere(location, `${name}.tmp`)
  const file = await disk.create(temporary)
  try {
    const size = await fill(file)
    await file.sync()
    await disk.rename(temporary, at(location, name))
    await disk.syncDirectory(dir)
    return { file, size }
  } catch (error) {
    await file.close()
    await removeIfThere(location, `${name}.tmp`)
    throw error
  }
}

export async function removeIfThere(location: Location, name: string): Promise<void> {
  try {
    await location.disk.remove(at(location, name))
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
}

export const journalHeader = (generation: number): string => JSON.stringify({ kind: 'journal', format: FORMAT_VERSION, generation })

/** A new journal with nothing but its header. */
export function createJournal(location: Location, generation: number, now: number): Promise<{ file: DiskFile; size: number }> {
  return createSafely(location, journalName(generation), async (file) => {
    const frame = encodeFrame(0, [metaRecord(RecordType.header, { at: now, value: utf8Of(journalHeader(generation)) })])
    await file.write(frame, 0)
    return frame.length
  })
}

/** The version in FORMAT, or undefined when there is no such file. Refuses what this program cannot read. */
export async function checkFormat(location: Location): Promise<number | undefined> {
  let text: string
  try {
    text = await readText(location, FORMAT)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
  const version = /^\d{1,9}\n?$/.test(text) ? Number(text) : undefined
  if (version === FORMAT_VERSION) return version
  const what = version === undefined ? `does not say a version but ${JSON.stringify(text.slice(0, 40))}` : `says version ${version}`
  const advice =
    version !== undefined && version > FORMAT_VERSION
      ? `It was written by a newer Sluice. Use that one, or start this one on another --data-dir; a backup of an older version can be restored there.`
      : `Choose another --data-dir, or restore a backup into a new one with \`sluice restore FILE --data-dir NEW\`.`
  throw new StoreRefusedError(
    'E_STORE_FORMAT',
    `${at(location, FORMAT)} ${what}, and this program reads version ${FORMAT_VERSION}. ${advice}`,
  )
}

export async function writeFormat(location: Location): Promise<void> {
  const { file } = await createSafely(location, FORMAT, async (f) => {
    const bytes = Buffer.from(`${FORMAT_VERSION}\n`)
    await f.write(bytes, 0)
    return bytes.length
  })
  await file.close()
}

export async function readText(location: Location, name: string): Promise<string> {
  const file = await location.disk.open(at(location, name), 'read')
  try {
    return (await file.read(0, 4096)).toString('utf8')
  } finally {
    await file.close()
  }
}
