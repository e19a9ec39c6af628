/**
 * Spaces the looks at one object that many others change: the first change is looked at at once, those that follow shortly
 * after it together. A look costs as much as there are others, so without it many changes would cost their square. A look
 * whose write failed is repeated as the runtime sees fit. Kept in memory only: one entry per key that is expensive.
 */
export interface Pace {
  /** How long this version of an object must still wait; 0: look now. */
  waitMs(key: string, version: string | undefined, nowMs: number): number
  looked(key: string, look: Look): void
  forget(key: string): void
}

export interface Look {
  nowMs: number
  /** How long the next look is to wait; 0: not at all. */
  pauseMs: number
  /** The version that is about to be replaced. Seen again, it has not been: then nothing waits. */
  replaces: string | undefined
}

export function createPace(): Pace {
  const looks = new Map<string, Look>()
  return {
    waitMs(key, version, nowMs) {
      const look = looks.get(key)
      // After a clock was set back, nothing must wait until the clock has caught up.
      if (look === undefined || nowMs < look.nowMs || (version !== undefined && version === look.replaces)) return 0
      return Math.max(0, look.nowMs + look.pauseMs - nowMs)
    },
    looked(key, look) {
      if (look.pauseMs > 0) looks.set(key, look)
      else looks.delete(key)
    },
    forget: (key) => void looks.delete(key),
  }
}
