/**
 * Chained promises hold up everything that comes from outside: requests, timers, the disk. Code that works through many
 * items calls this between them, and waits for a turn of the event loop when the last one was too long ago.
 */
export interface YieldOptions {
  nowMs(): number
  /** Calls back after everything else that was ready has run. */
  turn(callback: () => void): void
  /** How long the event loop may be held. */
  maxHoldMs: number
}

/** All callers wait for the same turn. Undefined when there is no need to wait. */
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
