/** A cluster's own clock: it can be set forward or back, as by a person or a time server. Timers are not affected. */
import type { Clock } from '../../base/clock.ts'
import type { VirtualClock } from './virtual-clock.ts'

export interface SkewedClock extends Clock {
  /** The same time, for what ticks without being work. */
  readonly machinery: Clock
  jump(ms: number): void
}

export function skewed(clock: VirtualClock): SkewedClock {
  let offsetMs = 0
  const now = (): number => clock.now() + offsetMs
  const machinery: Clock = { now, after: (delayMs, callback) => clock.machinery.after(delayMs, callback) }
  return {
    now,
    after: (delayMs, callback) => clock.after(delayMs, callback),
    machinery,
    background: machinery,
    jump(ms) {
      offsetMs += ms
    },
  }
}
