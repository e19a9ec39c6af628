import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { seededRandom } from '../../base/random.ts'
import { ensurePki, type KeyDirectory, keepPkiFresh, type Pki, PkiError } from './index.ts'

const DAY_MS = 24 * 60 * 60 * 1000

function aDirectory(): KeyDirectory & { files: Map<string, string> } {
  const files = new Map<string, string>()
  return {
    files,
    path: '/keys',
    read: async (name) => files.get(name),
    write: async (name, text) => void files.set(name, text),
  }
}

/** A clock advanced by hand; due timers run when it is advanced. */
function aClock(start: number) {
  let now = start
  const timers = new Set<{ at: number; callback: () => void }>()
  return {
    now: () => now,
    after(delayMs: number, callback: () => void) {
      const timer = { at: now + delayMs, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    move(ms: number) {
      now += ms
      for (const timer of [...timers].filter((t) => t.at <= now)) {
        timers.delete(timer)
        timer.callback()
      }
    },
    pending: () => timers.size,
  }
}

const START = Date.UTC(2026, 0, 1)
const random = seededRandom(7)

describe('the keys of a cluster', () => {
  it('are made at the first start and found again at the second', async () => {
    const directory = aDirectory()
    const clock = aClock(START)
    const first = await ensurePki({ directory, clock, random })
    assert.deepEqual([...directory.files.keys()].sort(), [
      'admin.crt',
      'admin.key',
      'admin.token',
      'apiserver.crt',
      'apiserver.key',
      'ca.crt',
      'ca.key',
      'sa.key',
      'sa.pub',
    ])
    const { issueClient: _a, ...before } = first
    const { issueClient: _b, ...after } = await ensurePki({ directory, clock, random })
    assert.deepEqual(after, before)
  })

  it('name the server by every address it has, and the administrator by group', async () => {
    const { serving, admin, authority } = await ensurePki({
      directory: aDirectory(),
      clock: aClock(START),
      random,
      hosts: ['host.example.com', '192.0.2.7'],
    })
    const server = new X509Certificate(serving.certificate)
    for (const host of ['localhost', 'kubernetes', 'kubernetes.default.svc', 'host.example.com']) assert.equal(server.checkHost(host), host)
    for (const address of ['127.0.0.1', '::1', '10.0.0.1', '192.0.2.7']) assert.equal(server.checkIP(address), address)
    assert.equal(server.checkHost('example.com'), undefined)
    assert.ok(server.verify(new X509Certificate(authority).publicKey))
    assert.ok(server.checkPrivateKey(createPrivateKey(serving.key)))
    assert.deepEqual(server.keyUsage, ['1.3.6.1.5.5.7.3.1'])
    const person = new X509Certificate(admin.certificate)
    assert.equal(person.subject, 'O=system:masters\nCN=admin')
    assert.deepEqual(person.keyUsage, ['1.3.6.1.5.5.7.3.2'])
    assert.ok(new X509Certificate(authority).ca)
    assert.ok(!server.ca)
  })

  it('are renewed when a third of their life remains: leaves after eight months, the authority after six years with the same key', async () => {
    const directory = aDirectory()
    const clock = aClock(START)
    const first = await ensurePki({ directory, clock, random })
    clock.move(242 * DAY_MS)
    assert.equal((await ensurePki({ directory, clock, random })).serving.certificate, first.serving.certificate)
    clock.move(3 * DAY_MS)
    const second = await ensurePki({ directory, clock, random })
    assert.notEqual(second.serving.certificate, first.serving.certificate)
    assert.notEqual(second.admin.key, first.admin.key)
    assert.equal(second.authority, first.authority)
    assert.equal(second.serviceAccountKey, first.serviceAccountKey)
    clock.move(7 * 365 * DAY_MS)
    const third = await ensurePki({ directory, clock, random })
    assert.notEqual(third.authority, first.authority)
    assert.ok(new X509Certificate(third.serving.certificate).verify(new X509Certificate(first.authority).publicKey))
    assert.equal(new X509Certificate(third.authority).issuer, new X509Certificate(first.authority).subject)
  })

  it('a damaged or foreign leaf is made again, also when the server got a new name', async () => {
    const directory = aDirectory()
    const options = { directory, clock: aClock(START), random }
    const first = await ensurePki(options)
    directory.files.set('apiserver.crt', 'garbage')
    assert.notEqual((await ensurePki(options)).serving.key, first.serving.key)
    directory.files.set('admin.key', first.serving.key)
    assert.notEqual((await ensurePki(options)).admin.certificate, first.admin.certificate)
    const named = await ensurePki({ ...options, hosts: ['other.example.com'] })
    assert.equal(new X509Certificate(named.serving.certificate).checkHost('other.example.com'), 'other.example.com')
    assert.equal(named.authority, first.authority)
  })

  it('a damaged authority is refused with advice', async () => {
    const damage: [string, (files: Map<string, string>) => void, RegExp][] = [
      ['a lost key', (files) => files.delete('ca.key'), /ca\.key is missing beside ca\.crt: put the file back/],
      ['a broken key', (files) => files.set('ca.key', 'x'), /ca\.key cannot be read as a private key/],
      ['a broken certificate', (files) => files.set('ca.crt', 'x'), /ca\.crt cannot be read as a certificate/],
      ['two that do not match', (files) => files.set('ca.key', files.get('sa.key') ?? ''), /do not belong together/],
    ]
    const directory = aDirectory()
    const options = { directory, clock: aClock(START), random }
    await ensurePki(options)
    const good = new Map(directory.files)
    for (const [what, break_, message] of damage) {
      directory.files.clear()
      for (const [name, text] of good) directory.files.set(name, text)
      break_(directory.files)
      await assert.rejects(ensurePki(options), (error) => error instanceof PkiError && message.test(error.message), what)
    }
  })

  it('issues client certificates for any name and groups', async () => {
    const pki = await ensurePki({ directory: aDirectory(), clock: aClock(START), random })
    const made = await pki.issueClient({ commonName: 'a, b=c + "d"', organizations: ['one', 'two, three'] })
    const certificate = new X509Certificate(made.certificate).toLegacyObject()
    assert.equal(certificate.subject.CN, 'a, b=c + "d"')
    assert.deepEqual([certificate.subject.O].flat().sort(), ['one', 'two, three'])
  })

  it('are kept fresh while the server runs, and a failure is tried again', async () => {
    const directory = aDirectory()
    const clock = aClock(START)
    const current = await ensurePki({ directory, clock, random })
    const renewed: Pki[] = []
    const errors: unknown[] = []
    const stop = keepPkiFresh({
      directory,
      clock,
      random,
      current,
      onRenewed: (pki) => renewed.push(pki),
      onError: (error) => errors.push(error),
    })
    for (let day = 0; day < 240; day++) clock.move(DAY_MS)
    assert.equal(renewed.length, 0)
    const write = directory.write
    directory.write = async () => {
      throw new Error('disk full')
    }
    for (let day = 0; day < 5; day++) clock.move(DAY_MS)
    await until(() => errors.length === 1)
    directory.write = write
    clock.move(DAY_MS)
    await until(() => renewed.length === 1)
    assert.notEqual(renewed[0]?.serving.certificate, current.serving.certificate)
    assert.ok((renewed[0]?.renewAtMs ?? 0) > clock.now())
    assert.equal(clock.pending(), 1)
    stop()
    assert.equal(clock.pending(), 0)
  })
})

/** Certificates are made on other threads: wait for them, bounded by event loop turns and not by time. */
async function until(isDone: () => boolean): Promise<void> {
  for (let i = 0; i < 100_000 && !isDone(); i++) await turn()
  assert.ok(isDone())
}
