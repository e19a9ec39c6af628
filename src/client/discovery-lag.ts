/**
 * A server shows a definition in its discovery a moment after reporting it as established, and for a moment after it is
 * gone; nothing signals when. So after definitions change, discovery is read again a few times.
 */
import type { Clock } from '../base/clock.ts'

const LAGS_MS = [1000, 5000, 20_000]

export interface RepeatedReading {
  /** Definitions have changed: reads now, and again later. */
  changed(): void
  stop(): void
}

export function repeatReading(clock: Clock, read: () => void): RepeatedReading {
  let later: (() => void)[] = []
  const stop = (): void => {
    for (const cancel of later) cancel()
    later = []
  }
  return {
    changed() {
      stop()
      read()
      later = LAGS_MS.map((ms) => (clock.background ?? clock).after(ms, read))
    },
    stop,
  }
}
