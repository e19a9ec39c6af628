/**
 * When a program is asked how far it is: every two seconds, and less often when nobody answers. A slot of time asks once at most;
 * what was answered last is found by counting, whichever way the clock is set. Pure.
 */
import type { Outcome } from '../../../runtime/controller.ts'
import type { Figures } from './figures.ts'

/** The outcome of asking. */
export interface Heard {
  /** When it was asked. */
  atMs: number
  /** Each is asked after the one before has answered. */
  count: number
  /** How often in a row nobody has answered with sense. */
  failures: number
  figures?: Figures
}

export type Asking =
  /** The answer will come. */
  | { is: 'running'; last: Heard | undefined }
  | { is: 'due'; last: Heard | undefined; slot: number }
  | { is: 'early'; last: Heard | undefined; inMs: number }

export const EVERY_MS = 2000
const AT_MOST_MS = 30_000
/** A program needs a moment until it listens. */
const PATIENCE = 3
/** How far a clock may be set back without forgetting the last answer. */
const SLOTS_AHEAD = 5
const SLOTS_BACK = AT_MOST_MS / EVERY_MS + SLOTS_AHEAD

export function asking(nowMs: number, outcomeOf: (slot: number) => Outcome<Heard> | undefined): Asking {
  const current = Math.floor(nowMs / EVERY_MS)
  let isRunning = false
  let last: Heard | undefined
  for (let slot = current - SLOTS_BACK; slot <= current + SLOTS_AHEAD; slot++) {
    const outcome = outcomeOf(slot)
    if (outcome?.state === 'running') isRunning = true
    if (outcome?.state === 'done' && outcome.value.count > (last?.count ?? 0)) last = outcome.value
  }
  if (isRunning) return { is: 'running', last }
  const nextSlotMs = outcomeOf(current) === undefined ? nowMs : (current + 1) * EVERY_MS
  const dueMs = Math.max(nextSlotMs, last === undefined ? nowMs : last.atMs + intervalAfter(last))
  return dueMs > nowMs ? { is: 'early', last, inMs: dueMs - nowMs } : { is: 'due', last, slot: current }
}

const intervalAfter = ({ failures }: Heard): number =>
  failures < PATIENCE ? EVERY_MS : Math.min(EVERY_MS * 2 ** (failures - PATIENCE + 1), AT_MOST_MS)

/** Whether it is time to say that nobody answers. */
export const isSilent = ({ failures }: Heard): boolean => failures >= PATIENCE

/** `figures` undefined: nobody has answered, or not with sense. */
export const heard = (figures: Figures | undefined, previous: Heard | undefined, atMs: number): Heard => ({
  atMs,
  count: (previous?.count ?? 0) + 1,
  ...(figures === undefined ? { failures: (previous?.failures ?? 0) + 1 } : { failures: 0, figures }),
})
