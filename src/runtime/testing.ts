/** For the runtime's own tests: a clock that the test advances. */
import type { Clock } from '../base/clock.ts'

export interface ManualClock extends Clock {
  /** Time passes, and timers fire in their order. */
  move(ms: number): void
}

export function manualClock(startMs = 0): ManualClock {
  let nowMs = startMs
  let timers: { atMs: number; callback: () => void }[] = []
  const next = (untilMs: number) => timers.filter((timer) => timer.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0]
  return {
    now: () => nowMs,
    after(delayMs, callback) {
      const timer = { atMs: nowMs + delayMs, callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    move(ms) {
      const untilMs = nowMs + ms
      for (let timer = next(untilMs); timer !== undefined; timer = next(untilMs)) {
        const due = timer
        timers = timers.filter((other) => other !== due)
        nowMs = Math.max(nowMs, due.atMs)
        due.callback()
      }
      nowMs = untilMs
    },
  }
}
