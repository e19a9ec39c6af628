import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { StatusError } from '../kube/status.ts'
import { manualClock } from '../store/suite-harness.ts'
import { createRequestLimiter } from './limits.ts'
import { DEFAULT_LIMITS } from './scope.ts'
import { CONFIG_MAPS, startTestServer } from './testing.ts'

const user = (name: string, groups: string[] = []) => ({ name, groups })
const done = async (): Promise<string> => 'done'
const isOverload = (error: unknown): boolean =>
  error instanceof StatusError && error.code === 429 && error.status.details?.retryAfterSeconds === 1

describe('the gatekeeper', () => {
  it('gives each user a burst, then a rate, and recovers with time', async () => {
    const clock = manualClock()
    const gate = createRequestLimiter({ ...DEFAULT_LIMITS, userRate: 2, userBurst: 3 }, clock)
    for (let i = 0; i < 3; i++) assert.equal(await gate.pass(user('a'), done), 'done')
    await assert.rejects(gate.pass(user('a'), done), isOverload)
    assert.equal(await gate.pass(user('b'), done), 'done', 'another user has a burst of his own')
    clock.advance(500)
    assert.equal(await gate.pass(user('a'), done), 'done')
    await assert.rejects(gate.pass(user('a'), done), isOverload)
    clock.advance(3_600_000)
    for (let i = 0; i < 3; i++) assert.equal(await gate.pass(user('a'), done), 'done')
    await assert.rejects(gate.pass(user('a'), done), isOverload)
  })

  it('exempts administrators from the rate, and nobody from the number at once', async () => {
    const gate = createRequestLimiter({ ...DEFAULT_LIMITS, userRate: 1, userBurst: 1, inFlight: 2 }, manualClock())
    const admin = user('root', ['system:masters'])
    for (let i = 0; i < 5; i++) await gate.pass(admin, done)
    const held: (() => void)[] = []
    const wait = (): Promise<void> => new Promise((resolve) => held.push(resolve))
    const running = [gate.pass(admin, wait), gate.pass(admin, wait)]
    assert.equal(gate.inFlight, 2)
    await assert.rejects(gate.pass(admin, done), isOverload)
    for (const release of held) release()
    await Promise.all(running)
    assert.equal(gate.inFlight, 0)
    assert.equal(await gate.pass(admin, done), 'done')
  })

  it('counts down also when the work fails, at once or later', async () => {
    const gate = createRequestLimiter(DEFAULT_LIMITS, manualClock())
    await assert.rejects(
      gate.pass(user('a'), () => Promise.reject(new Error('later'))),
      /later/,
    )
    await assert.rejects(
      gate.pass(user('a'), () => {
        throw new Error('at once')
      }),
      /at once/,
    )
    assert.equal(gate.inFlight, 0)
  })

  it('remembers a bounded number of users, and limits also those that come when it is full', async () => {
    const gate = createRequestLimiter({ ...DEFAULT_LIMITS, userRate: 1, userBurst: 1 }, manualClock())
    for (let i = 0; i < 10_000; i++) await gate.pass(user(`u${i}`), done)
    await gate.pass(user('new'), done)
    await assert.rejects(gate.pass(user('new'), done), isOverload)
    await assert.rejects(gate.pass(user('u9999'), done), isOverload, 'the recently seen are still known')
    assert.equal(await gate.pass(user('u0'), done), 'done', 'the least recently seen was forgotten')
  })

  it('answers 429 with Retry-After over the wire, and serves again', async () => {
    const server = await startTestServer({ limits: { userRate: 1, userBurst: 1 } })
    const as = { name: 'system:kube-controller-manager', groups: ['system:authenticated'] }
    assert.equal((await server.send('GET', CONFIG_MAPS, undefined, { as })).status, 200)
    const refused = await server.send('GET', CONFIG_MAPS, undefined, { as })
    assert.equal(refused.status, 429)
    assert.equal(refused.headers['retry-after'], '1')
    assert.equal(refused.body.reason, 'TooManyRequests')
    server.clock.advance(1000)
    assert.equal((await server.send('GET', CONFIG_MAPS, undefined, { as })).status, 200)
    server.stop()
  })
})
