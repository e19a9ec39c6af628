/**
 * Delays the first of several reports for a moment, counted from its arrival, so that one write contains them all; and
 * longer while a cluster has not reported at all, not even a failure: its first report is on its way. Measured with a
 * Deployment in three members: 3 writes of binding and template instead of 8. Each version of a binding waits once: a
 * refused write is retried like any other. One entry per binding that is not written yet.
 */
export interface Gathering {
  /** How long this version of a binding still has to wait; 0 when the time is over. */
  waitMs(key: string, version: string, at: { nowMs: number; isOutstanding: boolean }): number
  /** There is nothing to write, so nothing waits. */
  end(key: string): 0
}

/** The factor by which the wait for a first report is longer. */
const FOR_A_FIRST_WORD = 10

export function createGathering(gatherMs: number): Gathering {
  const waiting = new Map<string, { version: string; sinceMs: number }>()
  return {
    waitMs(key, version, { nowMs, isOutstanding }) {
      const known = waiting.get(key)
      // After a clock was set back, nothing must wait until the clock has caught up.
      const sinceMs = known?.version === version ? Math.min(known.sinceMs, nowMs) : nowMs
      waiting.set(key, { version, sinceMs })
      const longestMs = isOutstanding ? gatherMs * FOR_A_FIRST_WORD : gatherMs
      return Math.max(0, sinceMs + longestMs - nowMs)
    },
    end(key) {
      waiting.delete(key)
      return 0
    },
  }
}
