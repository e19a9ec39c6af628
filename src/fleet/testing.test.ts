import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CLUSTERS } from '../kinds/karmada/resources.ts'
import { fleetWorld } from './testing.ts'

describe('a world of the fleet', () => {
  it('has members that the hub can reach, and comes to rest', async () => {
    const world = await fleetWorld({ members: 3, cast: () => [] })
    assert.deepEqual((await world.hub.list(CLUSTERS)).map(({ metadata }) => metadata.name).sort(), ['member1', 'member2', 'member3'])
    await world.stop()
  })
})
