/** The stories of the gate on the embedded hub. What they leave is quiet at the end, after a restart too. */
import { after, describe, it } from 'node:test'
import { EmbeddedFleet } from '../fleet/embedded.ts'
import { AREAS } from './stories/index.ts'

const fleet = new EmbeddedFleet({ endsQuiet: true })
describe('stories of the gate', () => {
  after(() => fleet.stop())
  for (const { name, stories } of AREAS)
    describe(name, () => {
      for (const story of stories) it(story.name, () => fleet.play(story))
    })
})
