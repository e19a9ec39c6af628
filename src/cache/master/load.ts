/** One load that was asked for: lists the source anew if that is wanted, names what is missing, and loads the rest. */
import { sleep } from '../../base/clock.ts'
import { isJsonObject } from '../../base/json.ts'
import { isBelow } from '../config/paths.ts'
import { HttpError } from '../http/errors.ts'
import { LoadRun } from './load-run.ts'
import { type Chosen, choose, type LoadTarget, targetsOf } from './load-targets.ts'
import type { LoadsOptions } from './loads.ts'
import { Pace } from './pace.ts'

export interface LoadRequest {
  targets: readonly LoadTarget[]
  /** The source is listed first. */
  loadsMetadata: boolean
  /** Bytes per second that are read from the source, all workers together. */
  bandwidth?: number
  /** Blocks that each worker fetches at a time. */
  concurrency?: number
}

export interface LoadProgress {
  state: 'running' | 'done' | 'failed'
  step: string
  /** Bytes, each copy counted; `total` grows no more once `step` is `loading`. */
  loaded: number
  noSpace: number
  failed: number
  total: number
  filesDone: number
  filesTotal: number
  /** A few of the paths that nothing was found for. */
  missing: readonly string[]
  missingCount: number
  /** What it waits for, or what went wrong last. */
  reason?: string
}

const LOOK_MS = 1000
/** For a first listing that fails, or workers that do not come. */
const PATIENCE_MS = 300_000
const MOST_MISSING = 20
const MOST_CONCURRENCY = 256
const FILES_PER_TURN = 500

/** Throws HttpError. */
export function loadRequestOf(value: unknown): LoadRequest {
  if (!isJsonObject(value)) throw new HttpError(400, 'BadRequest', 'send {"targets": […], "loadsMetadata": true or false}')
  const { targets = [], loadsMetadata = false, bandwidth, concurrency } = value
  if (typeof loadsMetadata !== 'boolean') throw new HttpError(400, 'BadRequest', 'loadsMetadata must be true or false')
  return {
    targets: targetsOf(targets),
    loadsMetadata,
    ...(bandwidth === undefined ? {} : { bandwidth: countOf(bandwidth, 'bandwidth', Number.MAX_SAFE_INTEGER) }),
    ...(concurrency === undefined ? {} : { concurrency: countOf(concurrency, 'concurrency', MOST_CONCURRENCY) }),
  }
}

function countOf(value: unknown, name: string, most: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > most)
    throw new HttpError(400, 'BadRequest', `${name} must be a whole number from 1 to ${most}`)
  return value as number
}

export class Load {
  readonly #options: LoadsOptions
  readonly #request: LoadRequest
  #state: LoadProgress['state'] = 'running'
  #step = 'waiting'
  #reason: string | undefined
  #run: LoadRun | undefined
  #missing: readonly string[] = []
  #total = 0
  #files = 0

  constructor(options: LoadsOptions, request: LoadRequest) {
    this.#options = options
    this.#request = request
  }

  get isEnded(): boolean {
    return this.#state !== 'running'
  }

  progress(): LoadProgress {
    const { loaded, noSpace, failed } = this.#run?.amounts ?? { loaded: 0, noSpace: 0, failed: 0 }
    const reason = this.#reason ?? this.#run?.reason
    return {
      ...{ state: this.#state, step: this.#step, loaded, failed, total: this.#total },
      // Once nobody has room, the rest is not even asked for.
      noSpace: this.#state === 'done' ? Math.max(noSpace, this.#total - loaded - failed) : noSpace,
      filesDone: this.#state === 'done' ? this.#files : (this.#run?.filesDone ?? 0),
      filesTotal: this.#files,
      missing: this.#missing.slice(0, MOST_MISSING),
      missingCount: this.#missing.length,
      ...(reason === undefined ? {} : { reason }),
    }
  }

  fail(reason: string): void {
    this.#state = 'failed'
    this.#reason = reason
  }

  /** Resolves when everything was tried, or at the end of the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const { inventory, clock, replicas } = this.#options
    const { loadsMetadata, targets, bandwidth, concurrency } = this.#request
    if (loadsMetadata && !(await this.#listAnew(signal))) return
    if (!(await this.#untilReady(signal))) return
    this.#step = 'counting'
    const chosen = choose(targets, inventory, replicas)
    await this.#count(chosen, signal)
    this.#missing = chosen.missing()
    this.#step = 'loading'
    const pace = bandwidth === undefined ? undefined : new Pace(bandwidth, clock)
    this.#run = new LoadRun({ ...this.#options, replicasOf: (file) => chosen.replicasOf(file), concurrency, pace }, signal)
    await this.#run.load(chosen.files())
    if (!signal.aborted) this.#state = 'done'
  }

  /** False: it has failed, or is to end. */
  async #listAnew(signal: AbortSignal): Promise<boolean> {
    this.#step = 'listing'
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([this.#options.inventory.sync(), aborted])
    if (signal.aborted) return false
    const problem = this.#listingProblem()
    if (problem !== undefined) this.fail(problem)
    return problem === undefined
  }

  /** Of the mounts that the targets need. */
  #listingProblem(): string | undefined {
    const { targets } = this.#request
    const failed = this.#options.inventory
      .mounts()
      .find(({ path: at, state }) => state === 'failed' && targets.some(({ path }) => isBelow(path, at) || isBelow(at, path)))
    return failed && `${failed.path} cannot be listed: ${failed.reason ?? 'its source does not say why'}`
  }

  async #untilReady(signal: AbortSignal): Promise<boolean> {
    const { inventory, membership, clock } = this.#options
    let problemSinceMs = clock.now()
    while (!signal.aborted) {
      const hasWorker = membership().workers.some(({ state }) => state === 'serving')
      const problem = inventory.isComplete ? (hasWorker ? undefined : 'no worker serves yet') : this.#listingProblem()
      if (problem === undefined && inventory.isComplete) break
      this.#reason = problem ?? 'files are still being listed'
      if (problem === undefined) problemSinceMs = clock.now()
      else if (clock.now() - problemSinceMs >= PATIENCE_MS) {
        this.fail(problem)
        return false
      }
      await sleep(clock, LOOK_MS, signal)
    }
    this.#reason = undefined
    return !signal.aborted
  }

  async #count(chosen: Chosen, signal: AbortSignal): Promise<void> {
    const workers = this.#options.membership().workers.length
    let turn = 0
    for (const file of chosen.files()) {
      if (file !== undefined) {
        this.#files++
        this.#total += file.size * Math.min(chosen.replicasOf(file), workers)
      }
      if (++turn % FILES_PER_TURN !== 0) continue
      await new Promise<void>((resolve) => setImmediate(resolve))
      if (signal.aborted) return
    }
  }
}
