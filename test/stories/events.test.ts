import { describe } from 'node:test'
import { formatTime } from '../../src/base/clock.ts'
import { anEvent } from '../../src/faultsim/builders/index.ts'
import { expectGone, expectThere } from '../../src/faultsim/expect/index.ts'
import { story } from '../../src/faultsim/story.ts'
import { EVENTS } from '../../src/kinds/kubernetes/resources.ts'

const MINUTE_MS = 60_000

describe('events', () => {
  story('go an hour after they were last seen, and no sooner', async (world) => {
    const { hub, clock } = world
    await hub.create(anEvent('default/once'))
    await hub.create(anEvent('default/often'))
    await world.advance(30 * MINUTE_MS)
    await hub.patch(EVENTS, 'default/often', { lastTimestamp: formatTime(clock.now()), count: 2 })
    await world.advance(29 * MINUTE_MS)
    await expectThere(hub, EVENTS, 'default/once')
    await world.advance(2 * MINUTE_MS)
    await expectGone(hub, EVENTS, 'default/once')
    await expectThere(hub, EVENTS, 'default/often')
    await world.advance(30 * MINUTE_MS)
    await expectGone(hub, EVENTS, 'default/often')
  })

  story('do not stay because they claim to come from the future', async (world) => {
    const { hub } = world
    await hub.create(anEvent('default/prophecy', { lastTimestamp: '2999-01-01T00:00:00Z' }))
    await world.advance(61 * MINUTE_MS)
    await expectGone(hub, EVENTS, 'default/prophecy')
  })

  story('keep their hour over a restart of the controllers', async (world) => {
    const { hub } = world
    await hub.create(anEvent('default/once'))
    await world.advance(50 * MINUTE_MS)
    await world.restartControllers()
    await world.advance(9 * MINUTE_MS)
    await expectThere(hub, EVENTS, 'default/once')
    await world.advance(2 * MINUTE_MS)
    await expectGone(hub, EVENTS, 'default/once')
  })
})
