/**
 * Plays a story: steps one after the other, each an action and its expected result. A line is printed when its fact has been
 * observed, never before; if it is not observed in time, the story ends with the step and the reason.
 */
import type { Clock } from '../../base/clock.ts'
import type { OpenedChapter, StoryLine, StoryStep } from '../../runtime/seams/story.ts'

export class StoryError extends Error {
  constructor(step: string, reason: string) {
    super(`"${step}" was not seen: ${reason}`)
    this.name = 'StoryError'
  }
}

export interface PlayOptions {
  clock: Clock
  /** How long a step may take. */
  patienceMs: number
  signal: AbortSignal
  say(line: StoryLine, afterMs: number): void
}

/** False when it was interrupted. */
export async function playSteps(chapter: OpenedChapter, options: PlayOptions): Promise<boolean> {
  const { clock, signal, say } = options
  const beganMs = clock.now()
  for (const step of chapter.steps) {
    if (signal.aborted) return false
    await step.act?.()
    const result = await seen(step, chapter, options)
    if (result === undefined) return false
    say({ ...result, more: step.beneath === undefined ? result.more : await step.beneath(chapter.look()) }, clock.now() - beganMs)
  }
  return true
}

/** Checks after every change. Undefined when the story was interrupted. */
function seen(
  step: StoryStep,
  viewer: Pick<OpenedChapter, 'look' | 'onChange'>,
  { clock, patienceMs, signal }: PlayOptions,
): Promise<StoryLine | undefined> {
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
      let result: StoryLine | undefined
      try {
        result = step.sees(viewer.look())
      } catch (error) {
        end()
        reject(error)
        return
      }
      if (result === undefined) return
      end()
      resolve(result)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    ends.push(
      clock.after(patienceMs, () => {
        end()
        reject(new StoryError(step.name, `${step.missing(viewer.look())} (after ${Math.round(patienceMs / 1000)} s)`))
      }),
    )
    ends.push(viewer.onChange(look))
    look()
  })
}
