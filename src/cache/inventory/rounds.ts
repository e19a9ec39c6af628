/**
 * When listings happen: one round at a time; the next after the interval, sooner after a failure (waiting longer each time), at
 * once when asked, and soon after a hint that something changed. Hints that never stop do not make rounds follow each other
 * without a pause.
 */
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'

export interface Rounds {
  /** Resolves when a round that began after the call has ended, or at once when closed. */
  sync(): Promise<void>
  soon(): void
  close(): Promise<void>
}

export interface RoundsOptions {
  clock: Clock
  random: Random
  /** 0: only when asked. */
  intervalMs: number
  /** Lists; false: something failed. Never rejects. */
  run: () => Promise<boolean>
}

const FIRST_RETRY_MS = 1000
const LAST_RETRY_MS = 60_000
const HINT_DELAY_MS = 200
const HINT_PAUSE_MS = 2000
/** Intervals vary by a tenth either way, so that masters started together do not list together for ever. */
const JITTER = 0.2

export function createRounds({ clock, random, intervalMs, run }: RoundsOptions): Rounds {
  let running: Promise<void> | undefined
  let waiting: (() => void)[] = []
  let isWanted = false
  let isClosed = false
  let failures = 0
  let endedAtMs = Number.NEGATIVE_INFINITY
  let cancelNext = () => {}
  let cancelHint: (() => void) | undefined

  const jittered = (ms: number): number => Math.round(ms * (1 - JITTER / 2 + JITTER * random.next()))

  function start(): void {
    if (isClosed) return
    if (running !== undefined) {
      isWanted = true
      return
    }
    cancelNext()
    isWanted = false
    const served = waiting
    waiting = []
    running = run().then((isFine) => {
      running = undefined
      endedAtMs = clock.now()
      failures = isFine ? 0 : failures + 1
      for (const resolve of served) resolve()
      next()
    })
  }

  function next(): void {
    if (isClosed) return
    if (isWanted) {
      start()
      return
    }
    const retryMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10))
    const delayMs = failures === 0 ? intervalMs : intervalMs === 0 ? retryMs : Math.min(retryMs, intervalMs)
    if (delayMs > 0) cancelNext = clock.after(jittered(delayMs), start)
  }

  return {
    sync() {
      if (isClosed) return Promise.resolve()
      return new Promise((resolve) => {
        waiting.push(resolve)
        start()
      })
    },
    soon() {
      if (isClosed || cancelHint !== undefined) return
      const delayMs = Math.max(HINT_DELAY_MS, endedAtMs + HINT_PAUSE_MS - clock.now())
      cancelHint = clock.after(delayMs, () => {
        cancelHint = undefined
        start()
      })
    },
    async close() {
      isClosed = true
      cancelNext()
      cancelHint?.()
      await running
      for (const resolve of waiting) resolve()
      waiting = []
    },
  }
}
