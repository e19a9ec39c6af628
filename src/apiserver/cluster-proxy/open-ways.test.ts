import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Cluster } from '../../kinds/karmada/cluster.ts'
import { manualClock } from '../../store/suite-harness.ts'
import type { ProxyTarget } from './credentials.ts'
import { createOpenWays, type OpenWays } from './open-ways.ts'
import { createPlaces } from './places.ts'

const MINUTE_MS = 60_000
const target = (name: string, token = 'token'): ProxyTarget => ({
  cluster: { apiVersion: '', kind: 'Cluster', metadata: { name }, spec: { syncMode: 'Push', apiEndpoint: `https://${name}` } } as Cluster,
  credentials: { token, caBundle: '' },
})

function aPlace(): { ways: OpenWays; clock: ReturnType<typeof manualClock>; told: string[] } {
  const told: string[] = []
  const clock = manualClock()
  const connect = (cluster: { metadata: { name?: string } }, { token }: { token: string }) => {
    const way = `${cluster.metadata.name} ${token}`
    told.push(`open ${way}`)
    return { request: () => Promise.reject(new Error('not asked')), close: async () => void told.push(`close ${way}`) }
  }
  return { ways: createOpenWays({ connect }, clock), clock, told }
}

describe('ways to members', () => {
  it('are shared, kept for a while, and closed when nobody comes', () => {
    const { ways, clock, told } = aPlace()
    const [first, second] = [ways.take(target('a')), ways.take(target('a'))]
    assert.equal(first?.way, second?.way)
    first?.release()
    first?.release()
    clock.advance(MINUTE_MS)
    assert.deepEqual(told, ['open a token'], 'the second still uses it')
    second?.release()
    clock.advance(MINUTE_MS - 1)
    const third = ways.take(target('a'))
    clock.advance(MINUTE_MS)
    third?.release()
    assert.deepEqual(told, ['open a token'])
    clock.advance(MINUTE_MS)
    assert.deepEqual(told, ['open a token', 'close a token'])
    ways.take(target('a'))
    assert.deepEqual(told.slice(2), ['open a token'])
  })

  it('with other credentials are others; the old one lasts as long as its last user', () => {
    const { ways, told } = aPlace()
    const old = ways.take(target('a', 'old'))
    ways.take(target('a', 'new'))?.release()
    assert.deepEqual(told, ['open a old', 'open a new'])
    old?.release()
    assert.deepEqual(told.slice(2), ['close a old'])
    ways.close()
    assert.deepEqual(told.slice(3), ['close a new'])
  })
})

describe('places', () => {
  it('are so many for each cluster and so many in all', () => {
    const places = createPlaces({ perCluster: 2, inAll: 3 })
    const [first] = [places.take('a'), places.take('a')]
    assert.equal(places.take('a'), undefined)
    assert.notEqual(places.take('b'), undefined)
    assert.equal(places.take('b'), undefined)
    first?.()
    first?.()
    assert.notEqual(places.take('b'), undefined)
    assert.equal(places.take('a'), undefined)
  })
})
