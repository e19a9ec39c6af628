/**
 * Reads a run's log as `kubectl logs` shows it: from its beginning or its last lines, from a time, up to a size, and on as it
 * grows, across rotations. Malformed lines are left out.
 */
import { type FSWatcher, watch } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { LogReading } from '../kubelet/container-machine.ts'
import { LOG, OLD_LOG, parseLine } from './log-line.ts'

export interface LogSink {
  write(chunk: Uint8Array): boolean
  onDrain(callback: () => void): void
  end(): void
}

export interface LogSource {
  /** Of the run. */
  directory: string
  clock: Clock
  /** Whether the run may still write, and a notification when that changes. */
  isRunning(): boolean
  onChange(listener: () => void): () => void
}

const CHUNK_BYTES = 64 * 1024
/** In case the system does not report a change. */
const RESYNC_MS = 1000
const NEWLINE = 10

export function readLog(source: LogSource, reading: LogReading, sink: LogSink): () => void {
  const reader = new LogReader(source, reading, sink)
  void reader.run().finally(() => reader.stop())
  return () => reader.stop()
}

class LogReader {
  readonly #source: LogSource
  readonly #reading: LogReading
  readonly #sink: LogSink
  #isStopped = false
  #left: number
  #enqueue: (() => void) | undefined
  #watcher: FSWatcher | undefined
  #stopHearing: (() => void) | undefined
  /** Something changed since the last read. */
  #isStale = true

  constructor(source: LogSource, reading: LogReading, sink: LogSink) {
    this.#source = source
    this.#reading = reading
    this.#sink = sink
    this.#left = reading.limitBytes ?? Number.POSITIVE_INFINITY
  }

  stop(): void {
    this.#isStopped = true
    this.#watcher?.close()
    this.#stopHearing?.()
    this.#enqueue?.()
  }

  async run(): Promise<void> {
    if (this.#reading.follow) this.#startWatching()
    let place = await this.#beginning()
    try {
      while (!this.#isStopped && this.#left > 0) {
        // Checked before reading: nothing is written after the run was seen to have ended.
        const mayGrow = this.#reading.follow && this.#source.isRunning()
        this.#isStale = false
        if (place !== undefined) await this.#readToEnd(place)
        const next: Place | undefined = await this.#placeAfter(place)
        if (next !== undefined) {
          await place?.file.close()
          place = next
          continue
        }
        if (!mayGrow) break
        await this.#changed()
      }
    } finally {
      await place?.file.close()
      if (!this.#isStopped) this.#sink.end()
    }
  }

  #startWatching(): void {
    const changed = (): void => {
      this.#isStale = true
      this.#enqueue?.()
    }
    this.#stopHearing = this.#source.onChange(changed)
    try {
      this.#watcher = watch(this.#source.directory, changed)
      this.#watcher.on('error', () => this.#watcher?.close())
    } catch {
      // Then polling has to do.
    }
  }

  async #changed(): Promise<void> {
    if (this.#isStale || this.#isStopped) return
    await new Promise<void>((resolve) => {
      const cancel = this.#source.clock.after(RESYNC_MS, resolve)
      this.#enqueue = () => {
        cancel()
        resolve()
      }
    })
    this.#enqueue = undefined
  }

  /** The older file if there is one, unless the newer contains all of the last lines. */
  async #beginning(): Promise<Place | undefined> {
    const newer = await openPlace(path.join(this.#source.directory, LOG))
    const { tailLines } = this.#reading
    if (newer !== undefined && tailLines !== undefined) {
      const found = await startOfLastLines(newer.file, tailLines)
      newer.position = found.position
      if (found.missing === 0) return newer
      const older = await openPlace(path.join(this.#source.directory, OLD_LOG))
      if (older === undefined || older.inode === newer.inode) return older === undefined ? newer : closeBoth(older, newer)
      older.position = (await startOfLastLines(older.file, found.missing)).position
      await newer.file.close()
      return older
    }
    const older = await openPlace(path.join(this.#source.directory, OLD_LOG))
    if (older === undefined) return newer
    await newer?.file.close()
    return older
  }

  /** The file that follows the one being read, if there is one by now. */
  async #placeAfter(place: Place | undefined): Promise<Place | undefined> {
    const [newer, older] = await Promise.all([LOG, OLD_LOG].map((name) => inodeOf(path.join(this.#source.directory, name))))
    if (newer === undefined || newer === place?.inode) return undefined
    // Rotated twice since: the older file comes next.
    const name = place !== undefined && older !== undefined && older !== place.inode ? OLD_LOG : LOG
    return openPlace(path.join(this.#source.directory, name))
  }

  async #readToEnd(place: Place): Promise<void> {
    const buffer = Buffer.alloc(CHUNK_BYTES)
    while (!this.#isStopped && this.#left > 0) {
      const { bytesRead } = await place.file.read(buffer, 0, CHUNK_BYTES, place.position)
      if (bytesRead === 0) return
      place.position += bytesRead
      let rest: Buffer =
        place.waiting.length === 0 ? buffer.subarray(0, bytesRead) : Buffer.concat([place.waiting, buffer.subarray(0, bytesRead)])
      const shown: Buffer[] = []
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
        shown.push(...this.#show(rest.subarray(0, end)))
        rest = rest.subarray(end + 1)
      }
      const bytes = Buffer.concat(shown)
      place.waiting = Buffer.from(rest)
      if (bytes.length > 0) await this.#write(bytes)
    }
  }

  #show(raw: Buffer): Buffer[] {
    const line = parseLine(raw)
    if (line === undefined) return []
    const { stream = 'All', sinceMs, timestamps } = this.#reading
    if (stream !== 'All' && stream.toLowerCase() !== line.stream) return []
    if (sinceMs !== undefined && Date.parse(line.time) < sinceMs) return []
    const text = Buffer.from(line.text)
    return [...(timestamps ? [Buffer.from(`${line.time} `)] : []), text, ...(line.isPartial ? [] : [Buffer.from('\n')])]
  }

  async #write(bytes: Buffer): Promise<void> {
    const allowed = bytes.subarray(0, Math.min(bytes.length, this.#left))
    this.#left -= allowed.length
    if (this.#sink.write(allowed) || this.#isStopped) return
    await new Promise<void>((resolve) => {
      this.#enqueue = resolve
      this.#sink.onDrain(resolve)
    })
    this.#enqueue = undefined
  }
}

interface Place {
  file: FileHandle
  inode: number
  position: number
  /** The beginning of an incomplete line. */
  waiting: Buffer
}

async function openPlace(name: string): Promise<Place | undefined> {
  try {
    const file = await open(name, 'r')
    return { file, inode: (await file.stat()).ino, position: 0, waiting: Buffer.alloc(0) }
  } catch {
    return undefined
  }
}

const inodeOf = (name: string): Promise<number | undefined> =>
  stat(name).then(
    (found) => found.ino,
    () => undefined,
  )

/** The file was rotated between the two opens: it is read from its beginning, once. */
async function closeBoth(older: Place, newer: Place): Promise<Place> {
  await newer.file.close()
  return older
}

/** Where the last `count` lines begin, and how many of them are not in this file. */
async function startOfLastLines(file: FileHandle, count: number): Promise<{ position: number; missing: number }> {
  const { size } = await file.stat()
  if (count === 0) return { position: size, missing: 0 }
  const buffer = Buffer.alloc(CHUNK_BYTES)
  let seen = 0
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - CHUNK_BYTES)
    const { bytesRead } = await file.read(buffer, 0, end - start, start)
    for (let i = bytesRead - 1; i >= 0; i--) {
      // The newline that ends the file ends its last line; every other one comes before a line.
      if (buffer[i] !== NEWLINE || start + i === size - 1) continue
      if (++seen === count) return { position: start + i + 1, missing: 0 }
    }
    end = start
  }
  const lines = size === 0 ? 0 : seen + 1
  return { position: 0, missing: Math.max(0, count - lines) }
}
