/** The machine's own time. */
import type { Clock } from '../src/base/clock.ts'

export const CLOCK: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}
