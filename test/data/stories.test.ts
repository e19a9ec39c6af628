/** The stories of datasets on the embedded server, in virtual time. */
import { describe, it } from 'node:test'
import { EmbeddedData } from './embedded.ts'
import { AREAS } from './stories/index.ts'

const embedded = new EmbeddedData()
describe('stories of datasets', () => {
  for (const { name, stories } of AREAS)
    describe(name, () => {
      for (const story of stories) it(story.name, () => embedded.play(story))
    })
})
