/**
 * Time that moves only on request. Timers fire one by one, in the order of their time and, at the same time, in the order in
 * which they were set; so the same story always takes the same course.
 */
import type { Clock } from '../../base/clock.ts'

export interface VirtualClock extends Clock {
  /** The same time; its timers count as the ticking of machinery (bookmarks, ends of watches), not as work that is due. */
  readonly machinery: Clock
  /** When the next timer is due that is not machinery; undefined when none is set. */
  nextWorkAt(): number | undefined
  /** When the next timer is due; undefined when none is set. */
  nextAt(): number | undefined
  /** Moves to the next timer and calls it; false when there is none. */
  fireNext(): boolean
  /** Moves on without firing anything; must not jump over a timer. */
  moveTo(ms: number): void
  /** Timers due up to `untilMs` that are not machinery, each with the places in the code that set it. */
  describe(untilMs: number): string[]
}

interface Timer {
  atMs: number
  order: number
  callback: () => void
  isMachinery: boolean
  /** Where it was set: read only when reporting what is still busy, and never for machinery. */
  origin: Error | undefined
}

export function createVirtualClock(startMs: number): VirtualClock {
  let nowMs = startMs
  let order = 0
  /** Sorted, soonest last, so that taking the next one is a pop. */
  const timers: Timer[] = []

  const set = (isMachinery: boolean): Clock['after'] =>
    function after(delayMs, callback) {
      const origin = isMachinery ? undefined : placeOfCall()
      const timer: Timer = { atMs: nowMs + Math.max(0, delayMs), order: order++, callback, isMachinery, origin }
      timers.splice(placeFor(timers, timer), 0, timer)
      return () => {
        const at = timers.indexOf(timer)
        if (at >= 0) timers.splice(at, 1)
      }
    }
  const now = (): number => nowMs

  return {
    now,
    after: set(false),
    machinery: { now, after: set(true) },
    nextWorkAt: () => timers.findLast((timer) => !timer.isMachinery)?.atMs,
    nextAt: () => timers[timers.length - 1]?.atMs,
    fireNext() {
      const timer = timers.pop()
      if (timer === undefined) return false
      nowMs = timer.atMs
      timer.callback()
      return true
    },
    moveTo(ms) {
      const next = timers[timers.length - 1]
      if (next !== undefined && next.atMs < ms) throw new Error('a timer is due before that; fire it first')
      if (ms > nowMs) nowMs = ms
    },
    describe(untilMs) {
      const due = timers.filter((timer) => !timer.isMachinery && timer.atMs <= untilMs).reverse()
      return due.map((timer) => `timer in ${timer.atMs - nowMs} ms, set ${placesOf(timer.origin)}`)
    },
  }
}

/** A few frames are enough; many would cost more than all the rest of a timer. */
function placeOfCall(): Error {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 5
  const origin = new Error('timer')
  Error.stackTraceLimit = limit
  return origin
}

/** Where to insert: before all timers that are due earlier, or at the same time but set earlier. */
function placeFor(timers: readonly Timer[], timer: Timer): number {
  let low = 0
  let high = timers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = timers[middle] as Timer
    if (other.atMs > timer.atMs || (other.atMs === timer.atMs && other.order > timer.order)) low = middle + 1
    else high = middle
  }
  return low
}

function placesOf(origin: Error | undefined): string {
  const lines = (origin?.stack ?? '').split('\n').slice(3, 6)
  return lines.map((line) => line.trim().replace(/\(.*\/(src|test)\//, '($1/')).join(' ')
}
