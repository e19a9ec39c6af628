import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Cluster } from '../../kinds/karmada/cluster.ts'
import { manualClock } from '../../store/suite-harness.ts'
import type { ProxyTarget } from './credentials.ts'
import { createOpenTransports, type OpenTransports } from './open-transports.ts'
import { createSlots } from './slots.ts'

const MINUTE_MS = 60_000
const target = (name: string, token = 'token'): ProxyTarget => ({
  cluster: { apiVersion: '', kind: 'Cluster', metadata: { name }, spec: { syncMode: 'Push', apiEndpoint: `https://${name}` } } as Cluster,
  credentials: { token, caBundle: '' },
})

function aPool(): { transports: OpenTransports; clock: ReturnType<typeof manualClock>; log: string[] } {
  const log: string[] = []
  const clock = manualClock()
  const connect = (cluster: { metadata: { name?: string } }, { token }: { token: string }) => {
    const opened = `${cluster.metadata.name} ${token}`
    log.push(`open ${opened}`)
    return { request: () => Promise.reject(new Error('not asked')), close: async () => void log.push(`close ${opened}`) }
  }
  return { transports: createOpenTransports(connect, clock), clock, log }
}

describe('transports to members', () => {
  it('are shared, kept for a while, and closed when nobody comes', () => {
    const { transports, clock, log } = aPool()
    const [first, second] = [transports.take(target('a')), transports.take(target('a'))]
    assert.equal(first?.transport, second?.transport)
    first?.release()
    first?.release()
    clock.advance(MINUTE_MS)
    assert.deepEqual(log, ['open a token'], 'the second still uses it')
    second?.release()
    clock.advance(MINUTE_MS - 1)
    const third = transports.take(target('a'))
    clock.advance(MINUTE_MS)
    third?.release()
    assert.deepEqual(log, ['open a token'])
    clock.advance(MINUTE_MS)
    assert.deepEqual(log, ['open a token', 'close a token'])
    transports.take(target('a'))
    assert.deepEqual(log.slice(2), ['open a token'])
  })

  it('with other credentials are others; the old one lasts as long as its last user', () => {
    const { transports, log } = aPool()
    const old = transports.take(target('a', 'old'))
    transports.take(target('a', 'new'))?.release()
    assert.deepEqual(log, ['open a old', 'open a new'])
    old?.release()
    assert.deepEqual(log.slice(2), ['close a old'])
    transports.close()
    assert.deepEqual(log.slice(3), ['close a new'])
  })
})

describe('places', () => {
  it('are so many for each cluster and so many in all', () => {
    const slots = createSlots({ perCluster: 2, inAll: 3 })
    const [first] = [slots.take('a'), slots.take('a')]
    assert.equal(slots.take('a'), undefined)
    assert.notEqual(slots.take('b'), undefined)
    assert.equal(slots.take('b'), undefined)
    first?.()
    first?.()
    assert.notEqual(slots.take('b'), undefined)
    assert.equal(slots.take('a'), undefined)
  })
})
