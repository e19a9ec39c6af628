/**
 * `npm run test:kube:fleet`: the stories of the fleet with real kube-apiservers as hub and members. Several play at once in
 * one running fleet; those that change a cluster for all play alone, at the end. `-- --only TEXT` chooses by name.
 */
import { parseArgs } from 'node:util'
import { playAll, storiesOf } from '../fleet/play-all.ts'
import { startRealFleet } from '../fleet/real.ts'
import { AREAS } from '../fleet/stories/index.ts'
import { missingAssets } from '../machine/assets.ts'
import { runProgram } from '../machine/interrupt.ts'

await runProgram(async (later) => {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
  const missing = missingAssets(['kubectl'])
  if (missing !== undefined) {
    console.log(missing)
    return 1
  }
  const chosen = storiesOf(AREAS).filter(({ title }) => title.includes(values.only))
  for (const { title } of chosen.filter(({ story }) => story.needs === 'pods'))
    console.log(`skipped: ${title}: members here have no controllers and run no pods`)
  const playable = chosen.filter(({ story }) => story.needs !== 'pods')
  const fleet = await startRealFleet(later)
  const failed = await playAll(fleet, playable)
  if (failed.length > 0) console.log(`the end of what the controllers said:\n${fleet.log().split('\n').slice(-40).join('\n')}`)
  for (const { title, why } of failed) console.log(`failed: ${title}\t${why}`)
  console.log(`${playable.length - failed.length} passed, ${failed.length} failed`)
  return failed.length === 0 && playable.length > 0 ? 0 : 1
})
