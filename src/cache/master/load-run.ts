/**
 * One load: hands the blocks of files to the workers that own them, in small batches, a few at a time for each worker, until all
 * are there or no worker has room. A batch that fails is tried again, with the owners of then.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import { isJsonObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import { createPlacement, type Placement } from '../placement/placement.ts'
import { type BlockKey, blockCount, blockLength, blockName } from '../protocol/block.ts'
import type { FileEntry } from '../protocol/file.ts'
import type { Membership, WorkerEntry } from '../protocol/membership.ts'
import type { Pace } from './pace.ts'

export interface LoadOptions {
  membership(): Membership
  blockBytes: number
  /** On how many workers each block belongs. */
  replicas: number
  /** The same for one file, where it differs. */
  replicasOf?(file: FileEntry): number
  /** Blocks that a worker fetches at a time; absent: as many as it thinks right. */
  concurrency?: number
  /** Bounds what is read from the source. */
  pace?: Pace
  /** All loads of the cache that are under way: what is held for them is let go with the last. */
  underway: Set<LoadRun>
  /** `POST /v1/loads` of a worker; resolves to its answer. */
  askToLoad(address: string, body: object, signal: AbortSignal): Promise<unknown>
  clock: Clock
  log: Log
}

/** In bytes of blocks, counting each copy. */
export interface LoadAmounts {
  loaded: number
  noSpace: number
  failed: number
}

interface Block {
  key: BlockKey
  bytes: number
  /** Copies of blocks of the same file that are not decided yet. */
  file: { left: number }
}

interface Batch {
  blocks: Block[]
  bytes: number
}

/** The batches of one worker: those under way, and the one that is being filled. */
interface Lane {
  batch: Batch
  sending: Set<Promise<void>>
  /** It took nothing of a whole batch. */
  isFull: boolean
}

const BATCH_BLOCKS = 64
const BATCH_BYTES = 32 * 1024 * 1024
const BATCHES_PER_WORKER = 2
const TRIES = 4
const PAUSE_MS = 1000
/** Files that are looked at before others get a turn. */
const FILES_PER_TURN = 500

export class LoadRun {
  readonly amounts: LoadAmounts = { loaded: 0, noSpace: 0, failed: 0 }
  /** Files of which nothing is left to try. */
  filesDone = 0
  /** What went wrong last. */
  reason: string | undefined
  readonly #options: LoadOptions
  readonly #signal: AbortSignal
  readonly #lanes = new Map<string, Lane>()
  #placed: { epoch: number; placement: Placement } | undefined

  constructor(options: LoadOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
  }

  /** Resolves when everything was tried. Undefined stands for a file that is not wanted. */
  async load(files: Iterable<FileEntry | undefined>): Promise<void> {
    const { underway, membership } = this.#options
    underway.add(this)
    try {
      let count = 0
      for (const file of files) {
        if (file !== undefined && !(await this.#loadFile(file))) break
        if (++count % FILES_PER_TURN === 0) await new Promise<void>((resolve) => setImmediate(resolve))
      }
      for (const [worker, lane] of this.#lanes) this.#flush(worker, lane)
      await Promise.all([...this.#lanes.values()].flatMap(({ sending }) => [...sending]))
    } finally {
      underway.delete(this)
    }
    // Workers hold files for all loads together.
    if (underway.size === 0) await Promise.all(membership().workers.map(({ address }) => this.#end(address)))
  }

  /** False: nobody has room for more, or it is to end. */
  async #loadFile(entry: FileEntry): Promise<boolean> {
    const { blockBytes, concurrency, pace, replicas, replicasOf } = this.#options
    const { fileId, version, size } = entry
    const copies = replicasOf?.(entry) ?? replicas
    const atATime = concurrency === undefined && pace === undefined ? BATCHES_PER_WORKER : 1
    const count = blockCount(size, blockBytes)
    // Held until the last of its blocks was handed out.
    const file = { left: 1 }
    for (let index = 0; index < count; index++) {
      if (this.#signal.aborted || this.#isFull()) return false
      const block = { key: { fileId, version, index }, bytes: blockLength(size, blockBytes, index), file }
      for (const { name } of this.#ownersOf(block.key, copies)) {
        const lane = this.#laneOf(name)
        lane.batch.blocks.push(block)
        lane.batch.bytes += block.bytes
        file.left++
        if (lane.batch.blocks.length < BATCH_BLOCKS && lane.batch.bytes < (pace?.batchBytes ?? BATCH_BYTES)) continue
        this.#flush(name, lane)
        while (lane.sending.size >= atATime) await Promise.race(lane.sending)
      }
    }
    this.#decided(file)
    return true
  }

  #decided(file: Block['file']): void {
    file.left--
    if (file.left === 0) this.filesDone++
  }

  #isFull(): boolean {
    const { workers } = this.#options.membership()
    return workers.length > 0 && workers.every(({ name }) => this.#lanes.get(name)?.isFull === true)
  }

  #laneOf(worker: string): Lane {
    const lane = this.#lanes.get(worker) ?? { batch: { blocks: [], bytes: 0 }, sending: new Set(), isFull: false }
    this.#lanes.set(worker, lane)
    return lane
  }

  #flush(worker: string, lane: Lane): void {
    const { batch } = lane
    if (batch.blocks.length === 0) return
    lane.batch = { blocks: [], bytes: 0 }
    if (lane.isFull) {
      this.amounts.noSpace += batch.bytes
      for (const { file } of batch.blocks) this.#decided(file)
      return
    }
    const sent = this.#send(batch, worker).finally(() => lane.sending.delete(sent))
    lane.sending.add(sent)
  }

  #ownersOf(key: BlockKey, copies: number): WorkerEntry[] {
    const { epoch, workers } = this.#options.membership()
    if (this.#placed?.epoch !== epoch) this.#placed = { epoch, placement: createPlacement(workers) }
    return this.#placed.placement.ownersOf(key, copies)
  }

  /** Counts what becomes of each block. Never rejects. */
  async #send(batch: Batch, worker: string, attempt = 1): Promise<void> {
    const { membership, askToLoad, clock, concurrency, pace } = this.#options
    await pace?.take(batch.bytes, this.#signal)
    const entry = membership().workers.find(({ name, state }) => name === worker && state === 'serving')
    try {
      if (entry === undefined) throw new Error('it does not serve any more')
      const load = batch.blocks.map(({ key, bytes }) => [blockName(key), bytes])
      const body = { load, ...(concurrency === undefined ? {} : { concurrency }) }
      return this.#count(batch, worker, await askToLoad(entry.address, body, this.#signal))
    } catch (error) {
      if (this.#signal.aborted) return
      pace?.giveBack(batch.bytes)
      this.reason = `worker ${worker || '(none)'}: ${messageOf(error)}`
    }
    if (attempt === TRIES) {
      this.amounts.failed += batch.bytes
      for (const { file } of batch.blocks) this.#decided(file)
      return
    }
    await sleep(clock, PAUSE_MS * attempt, this.#signal)
    await Promise.all([...this.#byOwner(batch)].map(([owner, part]) => this.#send(part, owner, attempt + 1)))
  }

  /** Whose blocks they are now. With several copies one of the owners is enough: readers make the others. */
  #byOwner({ blocks }: Batch): Map<string, Batch> {
    const parts = new Map<string, Batch>()
    for (const block of blocks) {
      const owner = this.#ownersOf(block.key, 1)[0]?.name ?? ''
      const part = parts.get(owner) ?? { blocks: [], bytes: 0 }
      part.blocks.push(block)
      part.bytes += block.bytes
      parts.set(owner, part)
    }
    return parts
  }

  #count({ bytes, blocks }: Batch, worker: string, answer: unknown): void {
    const { loaded, fetched, noSpace, failed, reason } = isJsonObject(answer) ? answer : {}
    if (!isCount(loaded) || !isCount(noSpace) || !isCount(failed) || loaded + noSpace + failed !== bytes)
      throw new Error('its answer makes no sense')
    // What was there already, or had no room, was not read.
    if (isCount(fetched)) this.#options.pace?.giveBack(Math.max(0, bytes - fetched))
    for (const { file } of blocks) this.#decided(file)
    this.amounts.loaded += loaded
    this.amounts.noSpace += noSpace
    this.amounts.failed += failed
    if (failed > 0) this.reason = `worker ${worker}: ${typeof reason === 'string' ? reason.slice(0, 200) : 'it does not say why'}`
    if (noSpace === bytes) this.#laneOf(worker).isFull = true
  }

  /** What was held for the load may go again. It is let go later by itself, so that a failure here costs little. */
  async #end(address: string): Promise<void> {
    try {
      await this.#options.askToLoad(address, { load: [], end: true }, this.#signal)
    } catch (error) {
      this.#options.log.write('debug', 'a worker was not told of the end of a load', { error: messageOf(error) })
    }
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
