import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seededRandom } from '../../base/random.ts'
import { createClient } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import { TransportError } from '../../client/transport.ts'
import { aWorld, type World } from '../../faultsim/world/index.ts'
import { LEASES } from '../../kinds/kubernetes/resources.ts'
import type { Lease } from '../../kinds/kubernetes/types.ts'
import { type Leadership, leadWhenElected } from './leader.ts'

interface Candidate extends Leadership {
  story: string[]
  cut(isCut: boolean): void
}

function candidate(world: World, identity: string): Candidate {
  const story: string[] = []
  let isCut = false
  const { clock } = world
  const through: Transport = {
    async request(request) {
      if (isCut) throw new TransportError('cut off')
      return world.hub.client.raw(request)
    },
    close: async () => undefined,
  }
  const client = createClient({ transport: through, clock, random: seededRandom(2), userAgent: 'test' })
  const leadership = leadWhenElected({
    client,
    clock,
    random: seededRandom(identity.length),
    namespace: 'kube-system',
    name: 'test',
    identity,
    onStarted: () => void story.push('started'),
    onLost: () => void story.push('lost'),
    onOther: (other) => void story.push(`other ${other}`),
  })
  return Object.assign(leadership, {
    story,
    cut(next: boolean) {
      isCut = next
    },
  })
}

const holder = async (world: World): Promise<string | undefined> =>
  ((await world.hub.get(LEASES, 'kube-system/test')) as Lease | undefined)?.spec?.holderIdentity

describe('leader election', () => {
  it('has one leader, and the next one takes over when the first gives up', async () => {
    const world = await aWorld().settle()
    const a = await world.inside(() => candidate(world, 'a'))
    await world.advance(3000)
    const b = await world.inside(() => candidate(world, 'bb'))
    await world.advance(60_000)
    assert.deepEqual([a.story, b.story, await holder(world)], [['started'], ['other a'], 'a'])
    await world.inside(() => a.stop())
    await world.advance(5000)
    assert.equal(await holder(world), 'bb')
    assert.equal(((await world.hub.get(LEASES, 'kube-system/test')) as Lease).spec?.leaseTransitions, 1)
    await world.inside(() => b.stop())
    await world.stop()
  })

  it('stops leading before anybody else may begin, when it is cut off', async () => {
    const world = await aWorld().settle()
    const a = await world.inside(() => candidate(world, 'a'))
    const b = await world.inside(() => candidate(world, 'bb'))
    await world.advance(20_000)
    const [first, second] = a.isLeader ? [a, b] : [b, a]
    first.cut(true)
    let both = 0
    for (let ms = 0; ms < 40_000; ms += 250) {
      await world.advance(250)
      if (first.isLeader && second.isLeader) both++
    }
    assert.equal(both, 0)
    assert.ok(second.isLeader && !first.isLeader)
    assert.deepEqual(first.story.at(-1), 'lost')
    first.cut(false)
    await world.advance(20_000)
    assert.ok(second.isLeader && !first.isLeader)
    for (const one of [first, second]) await world.inside(() => one.stop())
    await world.stop()
  })
})
