/**
 * A program of promises that follow on each other holds up everything that comes from outside: requests, timers, the disk.
 * Who works on many things asks between them, and waits for a turn of the event loop when the last one is too long ago.
 */
export interface YieldOptions {
  nowMs(): number
  /** Calls back when everybody else had a turn. */
  turn(callback: () => void): void
  /** So long may it be held. */
  maxHoldMs: number
}

/** All that wait do so for the same turn. Undefined when there is no need to. */
export function createYieldIfDue({ nowMs, turn, maxHoldMs }: YieldOptions): () => Promise<void> | undefined {
  let waiting: Promise<void> | undefined
  let turnedMs = nowMs()
  return () => {
    if (nowMs() - turnedMs < maxHoldMs) return undefined
    waiting ??= new Promise((resolve) => {
      turn(() => {
        waiting = undefined
        turnedMs = nowMs()
        resolve()
      })
    })
    return waiting
  }
}
