/**
 * Keeps an inventory over restarts: one file, a snapshot and the changes after it, written anew when the changes outgrow the
 * snapshot. Nothing is synced but the snapshot: what a crash takes is listed again. A tail that was not written to its end is
 * cut; any other damage, another key or another format means that there is no journal. A disk that fails ends the journal, not
 * the inventory.
 */
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm, truncate } from 'node:fs/promises'
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import { decodeLine, encodeLine, type JournalHead, type JournalLine } from './journal-lines.ts'

export interface Journal {
  append(lines: readonly JournalLine[]): void
  /** Writes all anew: the mounts changed. */
  rewrite(): void
  close(revision: number): Promise<void>
}

export interface JournalOptions {
  file: string
  log: Log
  /** All that must be known now, from the head to the revision; read lazily, so that newer files may be among it. */
  snapshot: () => Iterable<JournalLine>
  /** Changes of fewer bytes are never worth a new snapshot. */
  leastChangeBytes?: number
}

export interface LoadedJournal {
  revision: number
  /** The last program to write it ended in order. */
  isClosed: boolean
}

export interface JournalReader {
  /** False: this journal is of no use. */
  onHead(head: JournalHead): boolean
  /** Whole steps only, in order. */
  onLine(line: JournalLine): void
}

const LONGEST_LINE = 64 * 1024
const LEAST_CHANGE_BYTES = 4 * 1024 * 1024
const WRITE_BYTES = 256 * 1024

export function createJournal({ file, log, snapshot, leastChangeBytes = LEAST_CHANGE_BYTES }: JournalOptions): Journal {
  let handle: FileHandle | undefined
  let pending: string[] = []
  let isRewriteDue = true
  let isBroken = false
  let snapshotBytes = 0
  let changeBytes = 0
  let working: Promise<void> | undefined

  async function writeSnapshot(): Promise<void> {
    await handle?.close()
    handle = undefined
    const temporary = `${file}.new`
    const fresh = await open(temporary, 'w', 0o600)
    try {
      snapshotBytes = await writeLines(fresh, snapshot())
      await fresh.sync()
    } finally {
      await fresh.close()
    }
    await rename(temporary, file)
    handle = await open(file, 'a')
    changeBytes = 0
  }

  async function work(): Promise<void> {
    while (!isBroken && (isRewriteDue || pending.length > 0)) {
      if (isRewriteDue) {
        isRewriteDue = false
        // What waits is in the snapshot already; to write it once more does no harm, and keeps steps whole.
        await writeSnapshot()
      }
      const text = pending.join('')
      pending = []
      await handle?.appendFile(text)
      changeBytes += text.length
      isRewriteDue ||= changeBytes > Math.max(leastChangeBytes, snapshotBytes)
    }
  }

  function wake(): void {
    working ??= work()
      .catch((error: unknown) => {
        isBroken = true
        pending = []
        log.write('warn', 'the journal of the inventory cannot be written; a restart will list again', { file, error: messageOf(error) })
      })
      .finally(() => {
        working = undefined
        if (!isBroken && (isRewriteDue || pending.length > 0)) wake()
      })
  }

  function append(lines: readonly JournalLine[]): void {
    if (isBroken) return
    for (const line of lines) pending.push(encodeLine(line))
    wake()
  }

  return {
    append,
    rewrite() {
      isRewriteDue = true
      wake()
    },
    async close(revision) {
      append([{ closed: revision }])
      while (working !== undefined) await working
      await handle?.close()
    },
  }
}

async function writeLines(handle: FileHandle, lines: Iterable<JournalLine>): Promise<number> {
  let text = ''
  let bytes = 0
  for (const line of lines) {
    text += encodeLine(line)
    if (text.length < WRITE_BYTES) continue
    bytes += text.length
    await handle.appendFile(text)
    text = ''
  }
  await handle.appendFile(text)
  return bytes + text.length
}

/** Undefined: there is none, or none of use; a useless one is removed. */
export async function loadJournal(file: string, reader: JournalReader): Promise<LoadedJournal | undefined> {
  const loaded = await load(file, reader)
  if (loaded === undefined) await rm(file, { force: true })
  else await truncate(file, loaded.goodBytes)
  return loaded
}

async function load(file: string, reader: JournalReader): Promise<(LoadedJournal & { goodBytes: number }) | undefined> {
  let step: JournalLine[] = []
  let revision: number | undefined
  let goodBytes = 0
  let isClosed = false
  let isDamaged = false
  try {
    for await (const { text, end } of linesOf(file)) {
      const line = text === undefined ? undefined : decodeLine(text)
      // Damage with anything good after it is not a tail.
      if (line !== undefined && isDamaged) return undefined
      if (line === undefined) {
        isDamaged = true
        continue
      }
      isClosed = 'closed' in line
      if ('head' in line) {
        if (goodBytes > 0 || line.head.format !== 1 || !reader.onHead(line.head)) return undefined
        goodBytes = end
      } else if (goodBytes === 0) return undefined
      else if ('revision' in line) {
        for (const done of step) reader.onLine(done)
        step = []
        revision = line.revision
        goodBytes = end
      } else if (isClosed) goodBytes = end
      else step.push(line)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return revision === undefined ? undefined : { revision, isClosed: isClosed && !isDamaged, goodBytes }
}

/** Without a text: too long to be ours, or not ended. */
async function* linesOf(file: string): AsyncGenerator<{ text?: string; end: number }, void> {
  let rest: Buffer = Buffer.alloc(0)
  let at = 0
  for await (const chunk of createReadStream(file, { highWaterMark: WRITE_BYTES }) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let from = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      yield { text: bytes.toString('utf8', from, end), end: at + end + 1 }
      from = end + 1
    }
    at += from
    rest = bytes.subarray(from)
    if (rest.length > LONGEST_LINE) {
      yield { end: at }
      at += rest.length
      rest = Buffer.alloc(0)
    }
  }
  if (rest.length > 0) yield { end: at + rest.length }
}
