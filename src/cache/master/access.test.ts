import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { cacheAudience } from '../../kube/cache-audience.ts'
import { HttpError } from '../http/errors.ts'
import { readTicket } from '../protocol/ticket.ts'
import { handClock } from '../testing.ts'
import { createAccess, readGrants } from './access.ts'
import { checkToken, issuerOf, readKeySet } from './jwt.ts'
import { createTokenVerifier } from './token-verifier.ts'

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwkOf = (kid: string, key: KeyObject) => ({ ...key.export({ format: 'jwk' }), kid, use: 'sig' })
const keySet = {
  keys: [
    jwkOf('e', ec.publicKey),
    jwkOf('r', rsa.publicKey),
    { kty: 'oct', kid: 'o', k: 'AAAA' },
    { kty: 'EC', kid: 'x', crv: 'P-256', x: '!' },
    5,
  ],
}
const keys = readKeySet(keySet)
const clock = handClock()
const seconds = () => clock.now() / 1000
const audience = cacheAudience({ namespace: 'owner', name: 'demo' })
const issuer = 'https://kubernetes.default.svc'
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const claims = () => ({
  iss: issuer,
  aud: [audience],
  exp: seconds() + 600,
  nbf: seconds(),
  'kubernetes.io': { namespace: 'team-a' },
})

function token(change: object = {}, as: { alg?: string; kid?: string } = {}): string {
  const alg = as.alg ?? 'ES256'
  const kid = as.kid ?? (alg === 'ES256' ? 'e' : 'r')
  const signed = `${encode({ alg, kid })}.${encode({ ...claims(), ...change })}`
  const signature =
    alg === 'ES256'
      ? sign('sha256', Buffer.from(signed), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' })
      : sign('sha256', Buffer.from(signed), rsa.privateKey)
  return `${signed}.${signature.toString('base64url')}`
}
const check = (text: string) => checkToken(text, keys, { issuer, audience, nowMs: clock.now() })

describe('tokens', () => {
  it('are taken when the cluster signed them, either way', () => {
    assert.deepEqual(
      keys.map(({ id }) => id),
      ['e', 'r'],
    )
    assert.deepEqual(check(token()), { namespace: 'team-a' })
    assert.deepEqual(check(token({}, { alg: 'RS256' })), { namespace: 'team-a' })
    assert.equal(issuerOf(token()), issuer)
  })

  const REFUSED: [string, () => string, RegExp][] = [
    ['another audience', () => token({ aud: ['api'] }), /not for sluice/],
    ['another cache', () => token({ aud: [cacheAudience({ namespace: 'owner', name: 'other' })] }), /not for sluice/],
    ['any cache', () => token({ aud: ['sluice.dev/cache'] }), /not for sluice/],
    ['no audience', () => token({ aud: undefined }), /not for sluice/],
    ['another issuer', () => token({ iss: 'https://evil' }), /another issuer/],
    ['an old one', () => token({ exp: seconds() - 100 }), /expired/],
    ['one that never expires', () => token({ exp: undefined }), /expired/],
    ['a future one', () => token({ nbf: seconds() + 1000 }), /not valid yet/],
    ['one without a namespace', () => token({ 'kubernetes.io': {} }), /no namespace/],
    ['an unknown key', () => token({}, { alg: 'ES256', kid: 'zz' }), /does not publish/],
    ['the key of another algorithm', () => token({}, { alg: 'ES256', kid: 'r' }), /does not publish/],
    ['alg none', () => `${encode({ alg: 'none', kid: 'e' })}.${encode(claims())}.AA`, /does not publish/],
    [
      'a MAC made of the public key',
      () => {
        const signed = `${encode({ alg: 'HS256', kid: 'r' })}.${encode(claims())}`
        return `${signed}.${createHmac('sha256', rsa.publicKey.export({ type: 'spki', format: 'pem' }))
          .update(signed)
          .digest('base64url')}`
      },
      /does not publish/,
    ],
    [
      'changed claims',
      () => token().replace(/\.[^.]+\./, `.${encode({ ...claims(), 'kubernetes.io': { namespace: 'other' } })}.`),
      /signature/,
    ],
    ['a short signature', () => token().replace(/[^.]+$/, 'AAAA'), /signature/],
    ['nonsense', () => 'a.b.c', /not a service-account token/],
  ]
  for (const [what, make, message] of REFUSED)
    it(`are refused: ${what}`, () => {
      const verdict = check(make())
      assert.match('error' in verdict ? verdict.error : 'taken', message)
    })

  it('are refused or taken, never thrown at', () => {
    fc.assert(fc.property(fc.string(), (text) => 'error' in check(text)))
    fc.assert(fc.property(fc.jsonValue(), (value) => Array.isArray(readKeySet(value))))
  })
})

describe('the verifier', () => {
  it('fetches keys when one is unknown, at most once a minute, one request for all', async () => {
    let fetches = 0
    let current: unknown = { keys: [] }
    const fetchKeys = async () => {
      fetches++
      return current
    }
    const verifier = createTokenVerifier({ clock, audience, issuer: async () => issuer, fetchKeys })
    const [first] = await Promise.all([verifier.verify(token()), verifier.verify(token())])
    assert.match('error' in first ? first.error : '', /does not publish/)
    assert.equal(fetches, 1)
    current = keySet
    assert.ok('error' in (await verifier.verify(token())))
    assert.equal(fetches, 1)
    clock.advance(60_000)
    assert.deepEqual(await verifier.verify(token()), { namespace: 'team-a' })
    assert.equal(fetches, 2)
  })

  it('says when keys cannot be read', async () => {
    const verifier = createTokenVerifier({
      clock,
      audience,
      issuer: async () => issuer,
      fetchKeys: () => Promise.reject(new Error('no route')),
    })
    assert.deepEqual(await verifier.verify(token()), { error: 'the keys of the cluster cannot be read: no route' })
  })
})

describe('tickets', () => {
  const key = Buffer.alloc(32, 1)
  const access = (own: string, isWritable = false) =>
    createAccess({
      key,
      namespace: own,
      nowMs: () => clock.now(),
      isWritable: () => isWritable,
      verifier: { verify: async (text) => (text === 'good' ? { namespace: 'team-a' } : { error: 'bad token' }) },
      grants: async () =>
        readGrants('[{"namespace":"team-a","subPath":"/images"},{"namespace":"team-b","subPath":"/"},{"namespace":"team-a"},7]'),
    })
  const refused = (status: number) => (error: unknown) => error instanceof HttpError && error.status === status

  it('open what a namespace owns or was granted', async () => {
    const own = await access('team-a').ticket({ token: 'good', subPath: '/anything', mode: 'read' })
    assert.deepEqual(readTicket(key, own.ticket, seconds()), {
      namespace: 'team-a',
      subPath: '/anything',
      mode: 'read',
      expiresAt: own.expiresAt,
    })
    const granted = await access('owner').ticket({ token: 'good', subPath: '/images/train' })
    assert.equal(readTicket(key, granted.ticket, seconds())?.subPath, '/images/train')
    assert.equal(readTicket(key, granted.ticket, seconds() + 3601), undefined)
    assert.ok((await access('team-a', true).ticket({ token: 'good', subPath: '/', mode: 'write' })).ticket)
  })

  it('open nothing else', async () => {
    const ask = (value: unknown, own = 'owner', isWritable = false) => access(own, isWritable).ticket(value)
    await assert.rejects(ask({ token: 'forged', subPath: '/images' }), refused(401))
    for (const subPath of ['/', '/imagesX', '/other']) await assert.rejects(ask({ token: 'good', subPath }), refused(403))
    await assert.rejects(ask({ token: 'good', subPath: '/images', mode: 'write' }, 'owner', true), refused(403))
    await assert.rejects(ask({ token: 'good', subPath: '/images', mode: 'write' }, 'team-a'), refused(403))
    for (const value of [null, {}, { token: 1 }, { token: 'good', subPath: '/../x' }, { token: 'good', mode: 'all' }])
      await assert.rejects(ask(value), (error) => refused(400)(error) || refused(401)(error) || refused(403)(error))
  })
})
