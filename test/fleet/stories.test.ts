/** The stories of the fleet on the embedded hub. */
import { after, describe, it } from 'node:test'
import { EmbeddedFleet } from './embedded.ts'
import { AREAS } from './stories/index.ts'

const fleet = new EmbeddedFleet()
describe('stories of the fleet', () => {
  after(() => fleet.stop())
  for (const { name, stories } of AREAS)
    describe(name, () => {
      after(() => fleet.stop())
      for (const story of stories) it(story.name, () => fleet.play(story))
    })
})
