import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto'
import { lookup } from 'node:dns'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { request as requestHttp } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { request as requestHttps } from 'node:https'
import { connect, createServer, Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as setTimeoutOfModule } from 'node:timers'
import { setTimeout as sleepForReal } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { parseYamlText } from '../../kube/yaml-text.ts'
import { AmbientUseError, aWorld, type World } from './index.ts'

const forbidden: [string, () => unknown, RegExp][] = [
  ['Date.now()', () => Date.now(), /Date\.now\(\) was used inside a world, where time is a value: ask the Clock/],
  ['new Date()', () => new Date(), /new Date\(\) .* ask the Clock/],
  ['Date()', () => Date(), /Date\(\) .* ask the Clock/],
  ['performance.now()', () => performance.now(), /ask the Clock/],
  ['process.hrtime()', () => process.hrtime(), /ask the Clock/],
  ['process.hrtime.bigint()', () => process.hrtime.bigint(), /ask the Clock/],
  ['Math.random()', () => Math.random(), /draw from the Random you were given/],
  ['crypto.randomUUID()', () => randomUUID(), /draw from the Random/],
  ['crypto.randomBytes()', () => randomBytes(4), /draw from the Random/],
  ['crypto.randomInt()', () => randomInt(4), /draw from the Random/],
  ['globalThis.crypto.randomUUID()', () => crypto.randomUUID(), /draw from the Random/],
  ['globalThis.crypto.getRandomValues()', () => crypto.getRandomValues(new Uint8Array(1)), /draw from the Random/],
  ['setTimeout()', () => setTimeout(() => undefined, 1), /clock\.after/],
  ['setInterval()', () => setInterval(() => undefined, 1), /clock\.after/],
  ['setImmediate()', () => setImmediate(() => undefined), /clock\.after/],
  ['timers.setTimeout()', () => setTimeoutOfModule(() => undefined, 1), /clock\.after/],
  ['timers/promises', () => sleepForReal(1), /clock\.after/],
  ['AbortSignal.timeout()', () => AbortSignal.timeout(1), /clock\.after/],
  ['fs.readFileSync()', () => readFileSync('/etc/hostname'), /there is no disk/],
  ['fs/promises', () => readFile('/etc/hostname'), /there is no disk/],
  ['net.connect()', () => connect(1), /there is no network/],
  ['net.createServer()', () => createServer(), /there is no network/],
  ['net.Socket.connect()', () => new Socket().connect(1), /there is no network/],
  ['tls.connect()', () => connectTls(1), /there is no network/],
  ['http.request()', () => requestHttp('http://localhost:1'), /there is no network/],
  ['https.request()', () => requestHttps('https://localhost:1'), /there is no network/],
  ['http2.connect()', () => connectHttp2('http://localhost:1'), /there is no network/],
  ['dns.lookup()', () => lookup('localhost', () => undefined), /there is no network/],
  ['fetch()', () => fetch('http://localhost:1'), /there is no network/],
  ['child_process', () => execFileSync('true'), /there are no other processes/],
  ['process.env', () => process.env.HOME, /there is no environment/],
]

describe('ambient use inside a world', () => {
  let world: World
  before(async () => {
    world = await aWorld().settle()
  })
  after(() => world.stop())

  for (const [name, use, message] of forbidden)
    it(`refuses ${name}`, async () => {
      await assert.rejects(
        world.inside(() => use() as Promise<unknown>),
        (error) => error instanceof AmbientUseError && message.test(error.message),
      )
    })

  it('is seen even where the culprit swallows the error', async () => {
    const swallow = async (): Promise<void> => {
      await Promise.resolve()
      try {
        Math.random()
      } catch (error) {
        assert.ok(error instanceof AmbientUseError)
      }
    }
    await assert.rejects(world.inside(swallow), /Math\.random\(\)/)
  })

  it('allows what depends on nothing: dates from numbers, parsing, hashes', async () => {
    const made = await world.inside(() => [
      new Date(0).toISOString(),
      Date.parse('1970-01-01T00:00:01Z'),
      createHash('sha256').update('').digest('hex').slice(0, 8),
    ])
    assert.deepEqual(made, ['1970-01-01T00:00:00.000Z', 1000, 'e3b0c442'])
    await world.inside(() => assert.ok(new Date(0) instanceof Date))
    assert.deepEqual(await world.inside(() => parseYamlText('a: 1').value), { a: 1 })
  })

  it('leaves the machine to everybody outside of the world', async () => {
    assert.ok(Date.now() > world.clock.now() - 10 * 365 * 86_400_000 && new Date() instanceof Date)
    assert.equal(randomBytes(4).length, 4)
    assert.ok(readFileSync('/etc/hosts').length > 0)
    await sleepForReal(1)
    assert.equal(typeof process.env.PATH, 'string')
  })
})
