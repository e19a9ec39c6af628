/**
 * How far an operation is: what was done of what is to be done, how fast, and how long it will take. Counting costs nothing; the
 * rate is that of the last half minute, and only of bytes that were moved, so that what was there before does not look fast.
 */
import type { Clock } from '../../base/clock.ts'

export interface ProgressReport {
  operation: string
  /** What it does now, in a word or two: `listing`, `copying`. */
  step: string
  bytesDone: number
  bytesTotal: number
  filesDone: number
  filesTotal: number
  /** False: the totals still grow. */
  isTotalKnown: boolean
  bytesPerSecond: number
  /** Null: not known. */
  secondsLeft: number | null
  /** What it waits for, or what went wrong last. */
  message?: string
}

interface Sample {
  atMs: number
  bytes: number
}

const SAMPLE_MS = 1000
const MOST_SAMPLES = 30
const LONGEST_MESSAGE = 300

export class Progress {
  step = 'starting'
  bytesDone = 0
  bytesTotal = 0
  filesDone = 0
  filesTotal = 0
  isTotalKnown = false
  message: string | undefined
  readonly #operation: string
  readonly #clock: Clock
  #movedBytes = 0
  #samples: Sample[] = []

  constructor(operation: string, clock: Clock) {
    this.#operation = operation
    this.#clock = clock
    this.#samples.push({ atMs: clock.now(), bytes: 0 })
  }

  /** Bytes that were moved just now; they are done as well. */
  moved(bytes: number): void {
    this.bytesDone += bytes
    this.#movedBytes += bytes
    this.#sample()
  }

  report(): ProgressReport {
    this.#sample()
    const rate = this.#rate()
    const left = Math.max(0, this.bytesTotal - this.bytesDone)
    const secondsLeft = !this.isTotalKnown ? null : left === 0 ? 0 : rate > 0 ? Math.ceil(left / rate) : null
    const { step, bytesDone, bytesTotal, filesDone, filesTotal, isTotalKnown, message } = this
    return {
      operation: this.#operation,
      ...{ step, bytesDone, bytesTotal, filesDone, filesTotal, isTotalKnown },
      bytesPerSecond: Math.round(rate),
      secondsLeft,
      ...(message === undefined ? {} : { message: message.slice(0, LONGEST_MESSAGE) }),
    }
  }

  #sample(): void {
    const atMs = this.#clock.now()
    const last = this.#samples.at(-1)
    if (last !== undefined && atMs - last.atMs < SAMPLE_MS) return
    this.#samples.push({ atMs, bytes: this.#movedBytes })
    if (this.#samples.length > MOST_SAMPLES) this.#samples.shift()
  }

  #rate(): number {
    const first = this.#samples[0]
    const ms = first === undefined ? 0 : this.#clock.now() - first.atMs
    return first === undefined || ms <= 0 ? 0 : ((this.#movedBytes - first.bytes) * 1000) / ms
  }
}
