/**
 * Tells a story: steps one after the other, each a deed and what must be seen of it. A line is printed when its fact has
 * been observed, never before; what is not seen in time ends the story with the step and the reason.
 */
import type { Clock } from '../../base/clock.ts'
import type { Eyes, Sight } from './sight.ts'

export interface Told {
  /** Who does or says it. */
  who: string
  says: string
  /** Beneath it. */
  more?: readonly string[]
}

export interface Step {
  /** For who hears that it failed. */
  name: string
  act?(): Promise<void>
  /** What is told once it is true; undefined while it is not. */
  sees(sight: Sight): Told | undefined
  /** What is missing, when time is over. */
  missing(sight: Sight): string
  /** Fetches what belongs beneath the line. */
  beneath?(sight: Sight): Promise<readonly string[]>
}

export class StoryError extends Error {
  constructor(step: string, reason: string) {
    super(`"${step}" was not seen: ${reason}`)
    this.name = 'StoryError'
  }
}

export interface Telling {
  eyes: Eyes
  clock: Clock
  /** How long a step may take. */
  patienceMs: number
  signal: AbortSignal
  say(told: Told, afterMs: number): void
}

/** False when it was ended before its end. */
export async function tell(steps: readonly Step[], telling: Telling): Promise<boolean> {
  const { clock, eyes, signal, say } = telling
  const beganMs = clock.now()
  for (const step of steps) {
    if (signal.aborted) return false
    await step.act?.()
    const told = await seen(step, telling)
    if (told === undefined) return false
    say({ ...told, more: step.beneath === undefined ? told.more : await step.beneath(eyes.look()) }, clock.now() - beganMs)
  }
  return true
}

/** Looks after every change. Undefined when the story was ended. */
function seen(step: Step, { eyes, clock, patienceMs, signal }: Telling): Promise<Told | undefined> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve(undefined)
    const ends: (() => void)[] = []
    const end = (): void => {
      for (const one of ends) one()
      signal.removeEventListener('abort', onAbort)
    }
    const onAbort = (): void => {
      end()
      resolve(undefined)
    }
    const look = (): void => {
      let told: Told | undefined
      try {
        told = step.sees(eyes.look())
      } catch (error) {
        end()
        reject(error)
        return
      }
      if (told === undefined) return
      end()
      resolve(told)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    ends.push(
      clock.after(patienceMs, () => {
        end()
        reject(new StoryError(step.name, `${step.missing(eyes.look())} (after ${Math.round(patienceMs / 1000)} s)`))
      }),
    )
    ends.push(eyes.onChange(look))
    look()
  })
}
