/**
 * Bounds what a start has to replay. When the journals since the last snapshot are larger than both the threshold and the
 * live data, a new journal begins and the state at that moment is written out in the background, while writes continue.
 * The previous generation is kept, as the history that watchers resume from; anything older is removed.
 */
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import { at, createJournal, journalName, type Location, listGenerations, snapshotName } from './directory.ts'
import { isDiskFull } from './disk.ts'
import { writeSnapshot } from './generation.ts'
import type { CapturedCluster } from './snapshot.ts'
import type { JournalWriter } from './writer.ts'

export interface SnapshotterOptions {
  location: Location
  clock: Clock
  writer: JournalWriter
  capture(): CapturedCluster[]
  /** Bytes of live values now. */
  liveBytes(): number
  thresholdBytes: number
  /** Bytes of journal since the newest snapshot that are in files older than the current one. */
  olderJournalBytes: number
  /** A snapshot could not be made now; it will be retried later. */
  onWarning(message: string): void
}

export class Snapshotter {
  readonly #options: SnapshotterOptions
  #olderBytes: number
  #notBefore = 0
  #running: Promise<void> | undefined
  #isClosed = false

  constructor(options: SnapshotterOptions) {
    this.#options = options
    this.#olderBytes = options.olderJournalBytes
  }

  /** Bytes of journal that a start would replay on top of the newest snapshot. */
  get journalBytes(): number {
    return this.#olderBytes + this.#options.writer.size
  }

  /** To be called when the journal has grown. */
  consider(): void {
    const { thresholdBytes, liveBytes } = this.#options
    if (this.#running !== undefined || this.#isClosed) return
    const bytes = this.journalBytes
    if (bytes <= thresholdBytes || bytes <= this.#notBefore || bytes <= liveBytes()) return
    void this.take()
  }

  /** Makes a snapshot now, or joins the one in progress. Never rejects: errors have been reported, or the store is closing. */
  take(): Promise<void> {
    this.#running ??= this.#take()
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#running = undefined
      })
    return this.#running
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
  }

  async #take(): Promise<void> {
    const { location, clock, writer } = this.#options
    const generation = writer.generation + 1
    const journal = await createJournal(location, generation, clock.now())
    const before = this.journalBytes
    let captured: CapturedCluster[] = []
    await writer.switchTo({ ...journal, generation, nextFrame: 1 }, () => {
      captured = this.#options.capture()
      this.#olderBytes = before
    })
    await writeSnapshot(location, { generation, clusters: captured, now: clock.now() }, () => {
      if (this.#isClosed) throw new Error('the store is closing')
    })
    this.#olderBytes = 0
    await this.#removeOld(generation)
  }

  /** Keeps this generation and the previous one. Files are removed one by one, oldest first, each durably before the next. */
  async #removeOld(newest: number): Promise<void> {
    const { location } = this.#options
    const { snapshots, journals } = await listGenerations(location)
    const keep = snapshots.filter((n) => n < newest).pop() ?? newest
    const old = [...snapshots.filter((n) => n < keep).map(snapshotName), ...journals.filter((n) => n < keep).map(journalName)]
    for (const name of old) {
      await location.disk.remove(at(location, name))
      await location.disk.syncDirectory(location.dir)
    }
  }

  #failed(error: unknown): void {
    const { writer, onWarning, thresholdBytes } = this.#options
    this.#notBefore = this.journalBytes + Math.ceil(thresholdBytes / 8)
    if (this.#isClosed) return
    if (isDiskFull(error)) onWarning(`a snapshot could not be written and will be tried again: ${messageOf(error)}`)
    else writer.fail(new Error(`a snapshot could not be written: ${messageOf(error)}`, { cause: error }))
  }
}
