/** So many bytes in a second on average, in small batches. What was taken and not used is given back. */
import { type Clock, sleep } from '../../base/clock.ts'

/** A batch is half a second of it. */
const BATCHES_PER_SECOND = 2

export class Pace {
  /** A batch should not have more. */
  readonly batchBytes: number
  readonly #bytesPerMs: number
  readonly #clock: Clock
  /** When what was taken so far is used up. */
  #untilMs: number

  constructor(bytesPerSecond: number, clock: Clock) {
    this.#bytesPerMs = bytesPerSecond / 1000
    this.#clock = clock
    this.#untilMs = clock.now()
    this.batchBytes = Math.max(1, Math.floor(bytesPerSecond / BATCHES_PER_SECOND))
  }

  /** Resolves when they may be read, or at once when the signal aborts. The first are free. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    const fromMs = Math.max(this.#clock.now(), this.#untilMs)
    this.#untilMs = fromMs + bytes / this.#bytesPerMs
    for (let waitMs = fromMs - this.#clock.now(); waitMs > 0 && !signal.aborted; waitMs = fromMs - this.#clock.now())
      await sleep(this.#clock, waitMs, signal)
  }

  giveBack(bytes: number): void {
    this.#untilMs -= bytes / this.#bytesPerMs
  }
}
