/**
 * The queue of a controller: each key at most once, never two workers on the same key, failures come back later each
 * time. Keys added while they are being worked on are worked on again afterwards.
 */
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'

export interface WorkQueue {
  readonly depth: number
  /** To be worked on as soon as possible. */
  add(key: string): void
  /** To be worked on after `delayMs`; an earlier time for the same key wins. */
  addAfter(key: string, delayMs: number): void
  /** After a failure: with a delay that doubles each time up to a cap, for as long as it takes. */
  addFailed(key: string): void
  /** After a success: the next failure starts from the shortest delay again. */
  forget(key: string): void
  /** The next key, or undefined when there is none now. The caller must `done` it. */
  take(): string | undefined
  done(key: string): void
  /** Keys that wait for their time. */
  readonly waiting: number
  close(): void
}

export interface WorkQueueOptions {
  clock: Clock
  random: Random
  minDelayMs?: number
  maxDelayMs?: number
  /** Called when a key becomes available. */
  onReady(): void
}

export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { clock, random, onReady } = options
  const minDelayMs = options.minDelayMs ?? 50
  const maxDelayMs = options.maxDelayMs ?? 60_000
  const ready = new Set<string>()
  const working = new Set<string>()
  const again = new Set<string>()
  const failures = new Map<string, number>()
  const timers = new Map<string, { atMs: number; cancel: () => void }>()
  let isClosed = false

  const add = (key: string): void => {
    if (isClosed) return
    const timer = timers.get(key)
    if (timer !== undefined) {
      timer.cancel()
      timers.delete(key)
    }
    if (working.has(key)) {
      again.add(key)
      return
    }
    if (ready.has(key)) return
    ready.add(key)
    onReady()
  }
  const addAfter = (key: string, delayMs: number): void => {
    if (isClosed) return
    if (delayMs <= 0) {
      add(key)
      return
    }
    if (ready.has(key) || again.has(key)) return
    const atMs = clock.now() + delayMs
    const known = timers.get(key)
    if (known !== undefined) {
      if (known.atMs <= atMs) return
      known.cancel()
    }
    const cancel = clock.after(delayMs, () => {
      timers.delete(key)
      add(key)
    })
    timers.set(key, { atMs, cancel })
  }

  return {
    get depth() {
      return ready.size
    },
    get waiting() {
      return timers.size
    },
    add,
    addAfter,
    addFailed(key) {
      const count = failures.get(key) ?? 0
      failures.set(key, count + 1)
      addAfter(key, Math.min(maxDelayMs, minDelayMs * 2 ** Math.min(count, 30)) * (0.75 + random.next() / 2))
    },
    forget: (key) => void failures.delete(key),
    take() {
      for (const key of ready) {
        ready.delete(key)
        working.add(key)
        return key
      }
      return undefined
    },
    done(key) {
      working.delete(key)
      if (again.delete(key)) add(key)
    },
    close() {
      isClosed = true
      for (const { cancel } of timers.values()) cancel()
      timers.clear()
      ready.clear()
      again.clear()
      failures.clear()
    },
  }
}
