/**
 * Keeps the cache filled with everything that is mounted, as far as there is room: once when it is asked for, and with
 * `isAutomatic` by itself: when the files are listed, for files that are new, and when workers come or go.
 */
import { setMaxListeners } from 'node:events'
import { sleep } from '../../base/clock.ts'
import type { Inventory } from '../inventory/inventory.ts'
import type { FileEntry } from '../protocol/file.ts'
import { type LoadAmounts, type LoadOptions, LoadRun } from './load-run.ts'

export interface PreloadOptions extends LoadOptions {
  inventory: Pick<Inventory, 'revision' | 'isComplete' | 'since' | 'snapshot'>
  isAutomatic: boolean
}

export interface PreloadProgress extends LoadAmounts {
  /** `idle`: it was never begun. `done`: everything was tried, as the amounts say. */
  state: 'idle' | 'loading' | 'done'
  /** What it waits for, or what went wrong last. */
  reason?: string
}

const LOOK_MS = 1000
const NOTHING: LoadAmounts = { loaded: 0, noSpace: 0, failed: 0 }

export class Preload {
  readonly #options: PreloadOptions
  readonly #ending = new AbortController()
  #state: PreloadProgress['state'] = 'idle'
  #run: LoadRun | undefined
  #waitsFor: string | undefined
  #isAsked = false
  #running: Promise<void> | undefined
  /** What the last load was made of. */
  #seen: { revision: number; epoch: number } | undefined
  #stopLooking: () => void = () => undefined

  constructor(options: PreloadOptions) {
    this.#options = options
    // Two batches for each worker listen to it.
    setMaxListeners(0, this.#ending.signal)
  }

  /** For automatic loads. A look costs two comparisons: epochs and revisions have no common event. */
  start(): void {
    if (!this.#options.isAutomatic || this.#ending.signal.aborted) return
    this.#goOn()
    this.#stopLooking = this.#options.clock.after(LOOK_MS, () => this.start())
  }

  /** Loads everything; does not begin again while that is under way. */
  begin(): PreloadProgress {
    if (this.#running === undefined) {
      this.#isAsked = true
      this.#goOn()
    }
    return this.progress()
  }

  progress(): PreloadProgress {
    const reason = this.#waitsFor ?? this.#run?.reason
    return { state: this.#state, ...(this.#run?.amounts ?? NOTHING), ...(reason === undefined ? {} : { reason }) }
  }

  async close(): Promise<void> {
    this.#stopLooking()
    this.#ending.abort()
    await this.#running
  }

  #goOn(): void {
    if (this.#running !== undefined || !(this.#isAsked || this.#isDue())) return
    this.#state = 'loading'
    this.#running = this.#loadOnce().finally(() => {
      this.#running = undefined
    })
  }

  #isDue(): boolean {
    const { inventory, membership, isAutomatic } = this.#options
    return isAutomatic && (this.#seen?.revision !== inventory.revision || this.#seen.epoch !== membership().epoch)
  }

  async #loadOnce(): Promise<void> {
    const { log, membership } = this.#options
    const { signal } = this.#ending
    if (!(await this.#untilReady())) return
    const { epoch } = membership()
    const isWhole = this.#isAsked || this.#seen?.epoch !== epoch
    this.#isAsked = false
    const { revision, files } = this.#filesSince(isWhole ? undefined : this.#seen?.revision)
    this.#run = new LoadRun(this.#options, signal)
    await this.#run.load(files)
    if (signal.aborted) return
    this.#seen = { revision, epoch }
    this.#state = 'done'
    log.write('info', 'what is mounted was loaded, as far as there is room', { ...this.progress() })
  }

  /** Files are listed, and somebody serves. False: it is to end. */
  async #untilReady(): Promise<boolean> {
    const { inventory, membership, clock } = this.#options
    const { signal } = this.#ending
    for (;;) {
      const hasWorker = membership().workers.some(({ state }) => state === 'serving')
      this.#waitsFor = inventory.isComplete ? (hasWorker ? undefined : 'no worker serves yet') : 'files are still being listed'
      if (this.#waitsFor === undefined || signal.aborted) return !signal.aborted
      await sleep(clock, LOOK_MS, signal)
    }
  }

  #filesSince(since: number | undefined): { revision: number; files: Iterable<FileEntry> } {
    const { inventory } = this.#options
    const lines = since === undefined ? undefined : inventory.since(since, '/')
    if (lines === undefined) {
      const { revision, entries } = inventory.snapshot('/')
      return { revision, files: entries }
    }
    const revision = lines.flatMap((line) => ('revision' in line ? [line.revision] : [])).at(-1) ?? inventory.revision
    return { revision, files: lines.flatMap((line) => ('add' in line ? [line.add] : [])) }
  }
}
