/**
 * When an ended container may start again: at once the first time, then after 10 s, 20 s, … 5 min; reset after ten
 * minutes of running. Derived from the times of the runs themselves, so nothing is remembered and a restart of the
 * kubelet changes nothing. Pure.
 */
import type { End } from './containers.ts'

const FIRST_MS = 10_000
const MAX_MS = 300_000
const RESET_MS = 600_000

/** The pause after `end`; `before` is how the previous run ended, if there was one and it is known. */
export function pauseAfter(end: End, before: Pick<End, 'finishedAtMs'> | undefined, attempt: number): number {
  if (end.finishedAtMs - end.startedAtMs > RESET_MS) return 0
  if (attempt === 0) return 0
  if (before === undefined) return steps(attempt - 1)
  const paused = end.startedAtMs - before.finishedAtMs
  let pause = FIRST_MS
  while (pause <= paused && pause < MAX_MS) pause = Math.min(MAX_MS, pause * 2)
  return pause
}

function steps(doublings: number): number {
  return Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(doublings, 10))
}
