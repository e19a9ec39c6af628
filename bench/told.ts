/** For what watches tell: whoever waits for it looks again whenever something was told, and is told when a watch has failed. */
import { setTimeout as sleep } from 'node:timers/promises'

const REPORT_EVERY_MS = 10_000
/** In case what is waited for does not depend on watches alone. */
const LOOK_EVERY_MS = 1000

export class Told {
  readonly #progress: () => string
  #failure: { reason: unknown } | undefined
  #wake: () => void = () => undefined

  /** `progress`: how far it is, for people. */
  constructor(progress: () => string) {
    this.#progress = progress
  }

  /** Something was told. */
  tell(): void {
    this.#wake()
  }

  /** Nobody may be waiting when everything is stopped. */
  fail(reason: unknown): void {
    this.#failure ??= { reason }
    this.#wake()
  }

  /** Resolves when it is so; says from time to time how far it is. */
  async until(what: string, isSo: () => boolean, withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs
    let reportedMs = performance.now()
    while (!isSo()) {
      if (this.#failure !== undefined) throw this.#failure.reason
      const nowMs = performance.now()
      if (nowMs > deadline) throw new Error(`not within ${withinMs / 60_000} minutes: ${what}; ${this.#progress()}`)
      if (nowMs - reportedMs > REPORT_EVERY_MS) {
        reportedMs = nowMs
        console.error(`${what}: ${this.#progress()}`)
      }
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      await Promise.race([woken, sleep(LOOK_EVERY_MS)])
    }
  }
}
