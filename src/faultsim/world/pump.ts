/**
 * Drives a world: everything that can run now runs, then time moves to the next timer, and so on. Between calls of the pump
 * nothing in the world runs; during them everything ambient is forbidden.
 */
import { ambient } from './ambient.ts'
import type { VirtualClock } from './virtual-clock.ts'

export interface Pump {
  /** Runs `work` inside the world to completion, letting time pass while it waits; at most `withinMs` (default 15 minutes). */
  run<T>(work: () => Promise<T> | T, withinMs?: number): Promise<T>
  /** Runs everything that can run without time passing. */
  drain(): Promise<void>
  /** Moves to the next timer and runs everything that follows from it. */
  step(): Promise<void>
  /** Number of turns so far. */
  readonly turns: number
}

/** Virtual time within which a single call must have ended. */
const CALL_WITHIN_MS = 15 * 60_000

export function createPump(clock: VirtualClock): Pump {
  let turns = 0

  async function drain(): Promise<void> {
    turns++
    await ambient.turn()
    const [refused] = ambient.takeRefusals()
    if (refused !== undefined) throw refused
  }

  async function step(): Promise<void> {
    ambient.during(() => clock.fireNext())
    await drain()
  }

  return {
    drain,
    step,
    get turns() {
      return turns
    },
    async run<T>(work: () => Promise<T> | T, withinMs = CALL_WITHIN_MS): Promise<T> {
      let outcome: { value: T } | { error: unknown } | undefined
      const settle = async (): Promise<void> => {
        try {
          outcome = { value: await work() }
        } catch (error) {
          outcome = { error }
        }
      }
      void ambient.during(settle)
      await drain()
      const deadline = clock.now() + withinMs
      while (outcome === undefined) {
        const next = clock.nextAt()
        if (next === undefined || next > deadline)
          throw new Error('a call inside the world never ends: it waits for something that nobody does')
        await step()
      }
      if ('error' in outcome) throw outcome.error
      return outcome.value
    },
  }
}
