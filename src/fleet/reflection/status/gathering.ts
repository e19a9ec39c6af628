/**
 * Lets the first of several reports wait a moment, counted from when it came, so that one write tells them all. Measured on
 * three members that report within a few milliseconds: one write of the binding instead of three. One entry per binding
 * that waits.
 */
export interface Gathering {
  /** How long this one has to wait still; 0 when it is time, and then it is forgotten. */
  waitMs(key: string, nowMs: number): number
  /** Nothing is to be written: nothing waits. */
  end(key: string): 0
}

export function createGathering(gatherMs: number): Gathering {
  const due = new Map<string, number>()
  return {
    waitMs(key, nowMs) {
      const dueMs = due.get(key) ?? nowMs + gatherMs
      // A clock that was set back must not make anybody wait longer.
      const leftMs = Math.min(dueMs - nowMs, gatherMs)
      if (leftMs > 0) due.set(key, dueMs)
      else due.delete(key)
      return Math.max(0, leftMs)
    },
    end(key) {
      due.delete(key)
      return 0
    },
  }
}
