/**
 * The queue of a controller: each key at most once, never two workers on the same key, failed keys return with growing
 * delays. Keys added while being processed are processed again afterwards. Keys of higher priority are taken first, and
 * every tenth turn goes to the others, so that no key starves.
 */
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Priority } from './controller.ts'
import { createRankedKeys, type RankedKeys } from './ranked-keys.ts'

export interface WorkQueue {
  readonly depth: number
  /** To be processed as soon as possible; the priority of a waiting key is only ever raised. */
  add(key: string, priority?: Priority): void
  /** To be processed after `delayMs`; an earlier time for the same key wins. */
  addAfter(key: string, delayMs: number): void
  /** After a failure: with a delay that doubles each time up to a cap, without limit on attempts. */
  addFailed(key: string): void
  /** After a success: the next failure starts from the shortest delay again. */
  forget(key: string): void
  /** The next key, or undefined when none is ready. The caller must call `done` for it. */
  take(): string | undefined
  done(key: string): void
  /** Keys that wait for their delay to pass. */
  readonly waiting: number
  close(): void
}

export interface WorkQueueOptions {
  clock: Clock
  random: Random
  minDelayMs?: number
  maxDelayMs?: number
  /** Among keys of one priority the highest rank is taken first (default: all equal). Evaluated when a key becomes ready. */
  rankOf?(key: string): number
  /** Called when a key becomes available. */
  onReady(): void
  /** Called for each key taken, with how long it was ready. */
  onTaken?(waitedMs: number): void
}

const ORDER: readonly Priority[] = ['high', 'normal', 'low']
/** Every so many turns a lower priority goes first: `normal` and `low` alternately. */
const OTHERS_EVERY = 10
const OTHERS: readonly (readonly Priority[])[] = [
  ['normal', 'low', 'high'],
  ['low', 'normal', 'high'],
]

const higher = (a: Priority, b: Priority | undefined): Priority => (b !== undefined && ORDER.indexOf(b) <= ORDER.indexOf(a) ? b : a)

const orderOf = (turn: number): readonly Priority[] =>
  turn % OTHERS_EVERY === 0 ? (OTHERS[(turn / OTHERS_EVERY) % OTHERS.length] ?? ORDER) : ORDER

export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { clock, random, onReady } = options
  const minDelayMs = options.minDelayMs ?? 50
  const maxDelayMs = options.maxDelayMs ?? 60_000
  const rankOf = options.rankOf ?? (() => 0)
  const ready: Record<Priority, RankedKeys> = { high: createRankedKeys(), normal: createRankedKeys(), low: createRankedKeys() }
  const working = new Set<string>()
  const again = new Map<string, Priority>()
  const failures = new Map<string, number>()
  const timers = new Map<string, { atMs: number; cancel: () => void }>()
  let isClosed = false
  let turns = 0
  const readyAt = (key: string): Priority | undefined => ORDER.find((priority) => ready[priority].has(key))

  const add = (key: string, priority: Priority = 'normal'): void => {
    if (isClosed) return
    const timer = timers.get(key)
    if (timer !== undefined) {
      timer.cancel()
      timers.delete(key)
    }
    if (working.has(key)) {
      again.set(key, higher(priority, again.get(key)))
      return
    }
    const before = readyAt(key)
    if (before !== undefined && higher(priority, before) === before) return
    const sinceMs = before === undefined ? undefined : ready[before].remove(key)
    ready[priority].add(key, { rank: rankOf(key), sinceMs: sinceMs ?? clock.now() })
    onReady()
  }
  const addAfter = (key: string, delayMs: number): void => {
    if (isClosed) return
    if (delayMs <= 0) {
      add(key)
      return
    }
    if (readyAt(key) !== undefined || again.has(key)) return
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
      return ORDER.reduce((sum, priority) => sum + ready[priority].size, 0)
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
      const order = orderOf(++turns)
      for (const priority of order) {
        const key = ready[priority].first()
        if (key === undefined) continue
        const sinceMs = ready[priority].remove(key) ?? clock.now()
        working.add(key)
        options.onTaken?.(clock.now() - sinceMs)
        return key
      }
      return undefined
    },
    done(key) {
      working.delete(key)
      const priority = again.get(key)
      again.delete(key)
      if (priority !== undefined) add(key, priority)
    },
    close() {
      isClosed = true
      for (const { cancel } of timers.values()) cancel()
      timers.clear()
      for (const priority of ORDER) ready[priority].clear()
      again.clear()
      failures.clear()
    },
  }
}
