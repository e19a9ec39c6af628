/**
 * The end of the journal: group commit. All writes that arrive while one frame is on its way to the disk go into the next
 * frame; a frame is one write and one sync, and only then are its writes visible and acknowledged.
 * A write that the disk refuses is rolled back and the store continues; a failed sync is fatal, because then the state of the
 * disk is unknown.
 */

import { messageOf } from '../../base/error-text.ts'
import type { CommitLog, PendingWrite } from '../mvcc/pending.ts'
import { StoreUnavailableError } from '../store.ts'
import type { DiskFile } from './disk.ts'
import { encodeFrame } from './frame.ts'
import { type JournalRecord, RecordType } from './record.ts'

export interface JournalEnd {
  file: DiskFile
  generation: number
  size: number
  nextFrame: number
}

export interface WriterOptions {
  end: JournalEnd
  /** A frame is closed once it is this large. */
  maxFrameBytes: number
  /** The store can no longer know what is durable. Called once; every write from then on is refused. */
  onFatal(error: Error): void
  /** A frame was written and its writes are visible. */
  onFrame(): void
}

export class JournalWriter implements CommitLog {
  #end: JournalEnd
  readonly #options: WriterOptions
  #queue: PendingWrite[] = []
  #switch: { end: JournalEnd; onSwitch: () => void; done: () => void; failed: (error: Error) => void } | undefined
  #running: Promise<void> | undefined
  #refusal: StoreUnavailableError | undefined
  #hasFailed = false

  constructor(options: WriterOptions) {
    this.#options = options
    this.#end = options.end
  }

  get generation(): number {
    return this.#end.generation
  }

  get size(): number {
    return this.#end.size
  }

  append(write: PendingWrite): void {
    if (this.#refusal !== undefined) throw this.#refusal
    this.#queue.push(write)
    this.#wake()
  }

  /** Continues in another file, between two frames. `onSwitch` sees exactly the state that the previous files hold. */
  switchTo(end: JournalEnd, onSwitch: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#refusal !== undefined) return reject(this.#refusal)
      this.#switch = { end, onSwitch, done: resolve, failed: reject }
      this.#wake()
    })
  }

  /** Refuses new writes, and finishes those in flight. */
  async close(): Promise<void> {
    this.#refusal ??= new StoreUnavailableError('the store is closed')
    while (this.#running !== undefined) await this.#running
    if (!this.#hasFailed) await this.#seal()
    await this.#end.file.close()
  }

  /** No write follows. Also called when a sync elsewhere in the directory fails. */
  fail(error: Error): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    this.#refusal = new StoreUnavailableError(
      `the store stopped, because what is on the disk is no longer certain: ${error.message}`,
      error,
    )
    this.#options.onFatal(error)
    this.#abortAll([], this.#refusal)
    this.#switch?.failed(this.#refusal)
    this.#switch = undefined
  }

  #wake(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#queue.length > 0 || this.#switch !== undefined) this.#wake()
    })
  }

  async #run(): Promise<void> {
    // One turn of the event loop, so that all concurrent writers get into the first frame.
    await new Promise<void>((resolve) => setImmediate(resolve))
    while (this.#queue.length > 0 || this.#switch !== undefined) {
      await this.#switchIfAsked()
      const batch = this.#takeBatch()
      if (batch.length === 0) continue
      if (await this.#write(batch)) {
        this.#publish(batch)
        this.#options.onFrame()
        await new Promise<void>((resolve) => setImmediate(resolve))
      }
    }
  }

  #takeBatch(): PendingWrite[] {
    let bytes = 0
    let count = 0
    while (count < this.#queue.length && bytes < this.#options.maxFrameBytes) {
      bytes += (this.#queue[count] as PendingWrite).version.text.length
      count++
    }
    return this.#queue.splice(0, count)
  }

  /** Whether the batch is durable. If not, it has been aborted. */
  async #write(batch: readonly PendingWrite[]): Promise<boolean> {
    const { file, size, nextFrame } = this.#end
    const frame = encodeFrame(nextFrame, batch.map(recordOf))
    try {
      await file.write(frame, size)
    } catch (error) {
      await this.#takeBack(batch, error)
      return false
    }
    try {
      await file.syncData()
    } catch (error) {
      this.#queue = [...batch, ...this.#queue]
      this.fail(new Error(`the journal could not be synced: ${messageOf(error)}`, { cause: error }))
      return false
    }
    this.#end.size += frame.length
    this.#end.nextFrame++
    return true
  }

  /** The refused frame must not reappear after a crash, so the truncation is synced before anyone gets an answer. */
  async #takeBack(batch: readonly PendingWrite[], refused: unknown): Promise<void> {
    try {
      await this.#end.file.truncate(this.#end.size)
      await this.#end.file.sync()
    } catch (error) {
      this.#queue = [...batch, ...this.#queue]
      this.fail(new Error(`a refused write could not be taken back: ${messageOf(error)}`, { cause: error }))
      return
    }
    this.#abortAll(batch, new StoreUnavailableError(`the disk refused the write: ${messageOf(refused)}`, refused))
  }

  /** The revisions of all writes in flight build on the first one's, so they fail together. */
  #abortAll(batch: readonly PendingWrite[], error: Error): void {
    const writes = [...batch, ...this.#queue]
    this.#queue = []
    for (const write of writes) write.abort(error)
  }

  #publish(batch: readonly PendingWrite[]): void {
    for (const write of batch) write.publish()
  }

  async #switchIfAsked(): Promise<void> {
    const asked = this.#switch
    if (asked === undefined) return
    this.#switch = undefined
    const old = this.#end.file
    asked.onSwitch()
    this.#end = asked.end
    await old.close()
    asked.done()
  }

  /** An empty frame: after a clean stop the last acknowledged write is not the last frame, so damage to it is noticed. */
  async #seal(): Promise<void> {
    const { file, size, nextFrame } = this.#end
    try {
      await file.write(encodeFrame(nextFrame, []), size)
      await file.sync()
    } catch {
      // Nothing is lost without it, and a partial one looks like what a crash leaves.
    }
  }
}

function recordOf({ cluster, version, at }: PendingWrite): JournalRecord {
  const { key, revision, createRevision, text, isTombstone } = version
  return { type: isTombstone ? RecordType.delete : RecordType.put, cluster, revision, createRevision, at, key, value: text }
}
