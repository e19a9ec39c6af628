/**
 * `npm run test:kube:fleet`: the stories of the fleet with real kube-apiservers as hub and members. Several play at once in
 * one running fleet; those that change a cluster for all play alone, at the end. `-- --only TEXT` chooses by name.
 */
import { parseArgs } from 'node:util'
import { type RealFleet, startRealFleet } from '../fleet/real.ts'
import { AREAS } from '../fleet/stories/index.ts'
import type { FleetStory } from '../fleet/story.ts'
import { missingAssets } from '../machine/assets.ts'
import { runProgram } from '../machine/interrupt.ts'

const AT_ONCE = 6

interface Chosen {
  title: string
  mark: string
  story: FleetStory
}

await runProgram(async (later) => {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
  const missing = missingAssets(['kubectl'])
  if (missing !== undefined) {
    console.log(missing)
    return 1
  }
  const all = AREAS.flatMap(({ name, stories }) => stories.map((story) => ({ title: `${name}: ${story.name}`, story })))
  const chosen = all.map((one, i) => ({ ...one, mark: `s${i + 1}x` })).filter(({ title }) => title.includes(values.only))
  for (const { title } of chosen.filter(({ story }) => story.needs === 'pods'))
    console.log(`skipped: ${title}: members here have no controllers and run no pods`)
  const playable = chosen.filter(({ story }) => story.needs === undefined)
  const fleet = await startRealFleet(later)
  const failed = [
    ...(await playAll(
      fleet,
      playable.filter(({ story }) => !story.alone),
      AT_ONCE,
    )),
    ...(await playAll(
      fleet,
      playable.filter(({ story }) => story.alone),
      1,
    )),
  ]
  if (failed.length > 0) console.log(`the end of what the controllers said:\n${fleet.log().split('\n').slice(-40).join('\n')}`)
  for (const { title, why } of failed) console.log(`failed: ${title}\t${why}`)
  console.log(`${playable.length - failed.length} passed, ${failed.length} failed`)
  return failed.length === 0 && playable.length > 0 ? 0 : 1
})

/** Returns those that failed, each with the reason in one line. */
async function playAll(fleet: RealFleet, stories: readonly Chosen[], atOnce: number): Promise<{ title: string; why: string }[]> {
  const left = [...stories]
  const failed: { title: string; why: string }[] = []
  const worker = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const began = Date.now()
      const error = await fleet.play(one.story, one.mark).then(
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
