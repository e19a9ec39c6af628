/**
 * Lets the first of several reports wait a moment, counted from when it came, so that one write contains them all; and longer
 * while a cluster has said nothing at all yet, not even that it cannot: its first word is on its way.
 * Measured with a Deployment in three members: 3 writes of binding and template instead of 8. A version of a binding waits
 * once: a write that is refused is tried again as any other. One entry per binding that is not written yet.
 */
export interface Gathering {
  /** How long this version of a binding has to wait still; 0 when it is time. */
  waitMs(key: string, version: string, at: { nowMs: number; isOutstanding: boolean }): number
  /** Nothing is to be written: nothing waits. */
  end(key: string): 0
}

/** So many times as long for a first word. */
const FOR_A_FIRST_WORD = 10

export function createGathering(gatherMs: number): Gathering {
  const waiting = new Map<string, { version: string; sinceMs: number }>()
  return {
    waitMs(key, version, { nowMs, isOutstanding }) {
      const known = waiting.get(key)
      // A clock that was set back must not make anybody wait until it is back where it was.
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
