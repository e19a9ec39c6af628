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

export interface LoadOptions {
  membership(): Membership
  blockBytes: number
  /** On how many workers each block belongs. */
  replicas: number
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

interface Batch {
  blocks: { key: BlockKey; bytes: number }[]
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

  /** Resolves when everything was tried. */
  async load(files: Iterable<FileEntry>): Promise<void> {
    let count = 0
    for (const file of files) {
      if (!(await this.#loadFile(file))) break
      if (++count % FILES_PER_TURN === 0) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    for (const [worker, lane] of this.#lanes) this.#flush(worker, lane)
    await Promise.all([...this.#lanes.values()].flatMap(({ sending }) => [...sending]))
    await Promise.all(this.#options.membership().workers.map(({ address }) => this.#end(address)))
  }

  /** False: nobody has room for more, or it is to end. */
  async #loadFile({ fileId, version, size }: FileEntry): Promise<boolean> {
    const { blockBytes } = this.#options
    for (let index = 0; index < blockCount(size, blockBytes); index++) {
      if (this.#signal.aborted || this.#isFull()) return false
      const block = { key: { fileId, version, index }, bytes: blockLength(size, blockBytes, index) }
      for (const { name } of this.#ownersOf(block.key)) {
        const lane = this.#laneOf(name)
        lane.batch.blocks.push(block)
        lane.batch.bytes += block.bytes
        if (lane.batch.blocks.length < BATCH_BLOCKS && lane.batch.bytes < BATCH_BYTES) continue
        this.#flush(name, lane)
        while (lane.sending.size >= BATCHES_PER_WORKER) await Promise.race(lane.sending)
      }
    }
    return true
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
      return
    }
    const sent = this.#send(batch, worker).finally(() => lane.sending.delete(sent))
    lane.sending.add(sent)
  }

  #ownersOf(key: BlockKey): WorkerEntry[] {
    const { epoch, workers } = this.#options.membership()
    if (this.#placed?.epoch !== epoch) this.#placed = { epoch, placement: createPlacement(workers) }
    return this.#placed.placement.ownersOf(key, this.#options.replicas)
  }

  /** Counts what becomes of each block. Never rejects. */
  async #send(batch: Batch, worker: string, attempt = 1): Promise<void> {
    const { membership, askToLoad, clock } = this.#options
    const entry = membership().workers.find(({ name, state }) => name === worker && state === 'serving')
    try {
      if (entry === undefined) throw new Error('it does not serve any more')
      const load = batch.blocks.map(({ key, bytes }) => [blockName(key), bytes])
      return this.#count(batch, worker, await askToLoad(entry.address, { load }, this.#signal))
    } catch (error) {
      if (this.#signal.aborted) return
      this.reason = `worker ${worker || '(none)'}: ${messageOf(error)}`
    }
    if (attempt === TRIES) {
      this.amounts.failed += batch.bytes
      return
    }
    await sleep(clock, PAUSE_MS * attempt, this.#signal)
    await Promise.all([...this.#byOwner(batch)].map(([owner, part]) => this.#send(part, owner, attempt + 1)))
  }

  /** Whose blocks they are now. With several copies one of the owners is enough: readers make the others. */
  #byOwner({ blocks }: Batch): Map<string, Batch> {
    const parts = new Map<string, Batch>()
    for (const block of blocks) {
      const owner = this.#ownersOf(block.key)[0]?.name ?? ''
      const part = parts.get(owner) ?? { blocks: [], bytes: 0 }
      part.blocks.push(block)
      part.bytes += block.bytes
      parts.set(owner, part)
    }
    return parts
  }

  #count({ bytes }: Batch, worker: string, answer: unknown): void {
    const { loaded, noSpace, failed, reason } = isJsonObject(answer) ? answer : {}
    if (!isCount(loaded) || !isCount(noSpace) || !isCount(failed) || loaded + noSpace + failed !== bytes)
      throw new Error('its answer makes no sense')
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
