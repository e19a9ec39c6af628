/** Plays stories in a real fleet: several at once, and those that must not meet others alone, at the end. */
import type { RealFleet } from './real.ts'
import type { FleetArea, FleetStory } from './story.ts'

const AT_ONCE = 6

export interface Chosen {
  title: string
  mark: string
  story: FleetStory
}

export interface Failed {
  title: string
  /** In one line. */
  why: string
}

/** `prefix` is for titles and, with its first letter, for marks: those of fleets that share members must differ. */
export const storiesOf = (areas: readonly FleetArea[], prefix = ''): Chosen[] =>
  areas
    .flatMap(({ name, stories }) => stories.map((story) => ({ title: `${prefix}${name}: ${story.name}`, story })))
    .map((one, i) => ({ ...one, mark: `${prefix.slice(0, 1) || 's'}${i + 1}x` }))

export async function playAll(fleet: RealFleet, chosen: readonly Chosen[]): Promise<Failed[]> {
  const together = chosen.filter(({ story }) => story.alone === undefined)
  const alone = chosen.filter(({ story }) => story.alone !== undefined)
  const play = ({ story, mark }: Chosen): Promise<void> => fleet.play(story, mark)
  return [...(await playAtOnce(play, together, AT_ONCE)), ...(await playAtOnce(play, alone, 1))]
}

/** A line for each, as it ends. */
export async function playAtOnce<T extends { title: string }>(
  play: (one: T) => Promise<void>,
  stories: readonly T[],
  atOnce: number,
): Promise<Failed[]> {
  const left = [...stories]
  const failed: Failed[] = []
  const worker = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const began = Date.now()
      const error = await play(one).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      if (error !== undefined) failed.push({ title: one.title, why: textOf(error).split('\n', 1)[0] ?? '' })
      const seconds = ((Date.now() - began) / 1000).toFixed(1)
      console.log(error === undefined ? `ok   ${one.title} (${seconds} s)` : `FAIL ${one.title} (${seconds} s)\n${textOf(error)}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return failed
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
