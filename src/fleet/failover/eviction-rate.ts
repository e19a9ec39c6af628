/**
 * How fast bindings may be evicted, over the whole fleet: a failing cluster must not move everything at once. Each key gets
 * its own time, in the order of asking, and keeps it until it is released.
 */
export interface EvictionRate {
  /** How long until it is this key's turn; zero: now. */
  waitMs(key: string, nowMs: number): number
  /** The key no longer needs its turn: it was used, or is not wanted any more. */
  release(key: string): void
  /** Keys that have a turn and have not used it. */
  waiting(): Iterable<string>
}

export function createEvictionRate(perSecond: number): EvictionRate {
  const turns = new Map<string, number>()
  const everyMs = perSecond > 0 ? 1000 / perSecond : Number.POSITIVE_INFINITY
  let nextMs = Number.NEGATIVE_INFINITY
  return {
    waitMs(key, nowMs) {
      let turnMs = turns.get(key)
      if (turnMs === undefined) {
        turnMs = Math.max(nowMs, nextMs)
        nextMs = turnMs + everyMs
        turns.set(key, turnMs)
      }
      return Math.max(0, turnMs - nowMs)
    },
    release: (key) => void turns.delete(key),
    waiting: () => turns.keys(),
  }
}
