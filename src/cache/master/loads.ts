/**
 * Loads that were asked for, by ids of those who ask: each brings the files of its targets into the cache as far as there is room,
 * and drives nothing out. Whoever asks must go on asking how far it is: a load that nobody asks for any more is ended.
 */
import { setMaxListeners } from 'node:events'
import { messageOf } from '../../base/error-text.ts'
import { HttpError } from '../http/errors.ts'
import type { Inventory } from '../inventory/inventory.ts'
import { Load, type LoadProgress, type LoadRequest } from './load.ts'
import type { LoadOptions } from './load-run.ts'

export interface LoadsOptions extends LoadOptions {
  inventory: Pick<Inventory, 'isComplete' | 'mounts' | 'sync' | 'byPath' | 'snapshot' | 'onChange'>
}

interface Kept {
  load: Load
  ended: Promise<void>
  ending: AbortController
  stopWaiting(): void
}

/** More at a time would only share the same reads. */
const MOST_LOADS = 64
/** Whoever asks does so every second; a restart of it takes less. */
const SILENT_MS = 120_000

export class Loads {
  readonly #options: LoadsOptions
  readonly #kept = new Map<string, Kept>()
  #isClosed = false

  constructor(options: LoadsOptions) {
    this.#options = options
  }

  /** Begins it, unless it is under way or has ended. */
  begin(id: string, request: LoadRequest): LoadProgress {
    const known = this.#kept.get(id)
    if (known === undefined) this.#start(id, request)
    return this.progress(id)
  }

  progress(id: string): LoadProgress {
    const kept = this.#kept.get(id)
    if (kept === undefined) throw new HttpError(404, 'NoSuchLoad', 'there is no such load: begin it')
    this.#wait(id, kept)
    return kept.load.progress()
  }

  async end(id: string): Promise<void> {
    const kept = this.#kept.get(id)
    if (kept === undefined) return
    this.#kept.delete(id)
    kept.stopWaiting()
    kept.ending.abort()
    await kept.ended
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#kept.keys()].map((id) => this.end(id)))
  }

  #start(id: string, request: LoadRequest): void {
    if (this.#isClosed) throw new HttpError(503, 'Ending', 'the master ends: ask the next one')
    if (this.#kept.size >= MOST_LOADS)
      throw new HttpError(503, 'TooMany', `${MOST_LOADS} loads are under way: try again when one has ended`)
    const ending = new AbortController()
    // Batches for each worker listen to it.
    setMaxListeners(0, ending.signal)
    const load = new Load(this.#options, request)
    const ended = load.run(ending.signal).catch((error: unknown) => {
      load.fail(messageOf(error))
      this.#options.log.write('error', 'a load has failed', { error: messageOf(error) })
    })
    this.#kept.set(id, { load, ended, ending, stopWaiting: () => undefined })
  }

  #wait(id: string, kept: Kept): void {
    kept.stopWaiting()
    kept.stopWaiting = this.#options.clock.after(SILENT_MS, () => {
      if (!kept.load.isEnded) this.#options.log.write('info', 'a load is ended: nobody asks how far it is', { load: id })
      void this.end(id)
    })
  }
}
