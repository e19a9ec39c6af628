import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../../base/random.ts'
import type { KubeObject, ObjectMeta } from '../../kube/meta.ts'
import { StatusError } from '../../kube/status.ts'
import { createAuthenticator } from './authenticate.ts'
import { createAuthorizer } from './authorizer.ts'
import { readSigningKey, signJwt } from './jwt.ts'
import { memoryReader } from './memory-reader.ts'
import { createRbac } from './rbac.ts'
import { createReviews } from './reviews.ts'
import { createServiceAccountTokens, DEFAULT_ISSUER } from './service-account-token.ts'

const pem = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const object = (kind: string, metadata: ObjectMeta, more: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata,
  ...more,
})
const START = Date.UTC(2026, 0, 1)

function aCluster() {
  let now = START
  const clock = { now: () => now, after: () => () => undefined }
  const { reader, put, remove } = memoryReader()
  const core = (resource: string) => ({ group: '', resource })
  put(core('serviceaccounts'), object('ServiceAccount', { namespace: 'n', name: 's', uid: 'sa-1' }))
  put(core('pods'), object('Pod', { namespace: 'n', name: 'p', uid: 'pod-1' }, { spec: { serviceAccountName: 's', nodeName: 'w' } }))
  put(core('secrets'), object('Secret', { namespace: 'n', name: 'x', uid: 'secret-1' }))
  put(core('nodes'), object('Node', { name: 'w', uid: 'node-1' }))
  const key = readSigningKey(pem())
  const serviceAccounts = createServiceAccountTokens({ keys: [key], read: reader, clock, random: seededRandom(1) })
  const admin = { name: 'admin', groups: ['system:masters'] }
  const authenticator = createAuthenticator({ serviceAccounts, staticTokens: [{ token: 'secret-token', user: admin }] })
  const authorizer = createAuthorizer(createRbac(), reader)
  const warnings: string[] = []
  const reviews = createReviews({ authorizer, authenticator, serviceAccounts, read: reader, clock })
  const request = (spec: Record<string, unknown>, metadata: ObjectMeta = {}) => {
    const review = reviews.get('/serviceaccounts/token')
    assert.ok(review !== undefined)
    const context = { user: admin, namespace: 'n', name: 's', warn: (text: string) => void warnings.push(text) }
    return review({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec }, context)
  }
  const tokenFor = (ref?: { kind: string; name: string; uid?: string }, more = {}): string => {
    const { status } = request({ boundObjectRef: ref === undefined ? undefined : { apiVersion: 'v1', ...ref }, ...more })
    return (status as { token: string }).token
  }
  const pass = (ms: number): void => {
    now += ms
  }
  return { key, put, remove, core, authenticator, serviceAccounts, request, tokenFor, pass }
}

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

describe('a service account token', () => {
  it('has the claims of a bound token', () => {
    const { tokenFor } = aCluster()
    const { jti, ...claims } = claimsOf(tokenFor({ kind: 'Pod', name: 'p' }))
    assert.match(jti, /^[0-9a-f-]{36}$/)
    assert.deepEqual(claims, {
      aud: [DEFAULT_ISSUER],
      exp: START / 1000 + 3600,
      iat: START / 1000,
      iss: DEFAULT_ISSUER,
      'kubernetes.io': {
        namespace: 'n',
        node: { name: 'w', uid: 'node-1' },
        pod: { name: 'p', uid: 'pod-1' },
        serviceaccount: { name: 's', uid: 'sa-1' },
      },
      nbf: START / 1000,
      sub: 'system:serviceaccount:n:s',
    })
  })

  it('names its user, groups and what it is bound to', () => {
    const { authenticator, tokenFor } = aCluster()
    const token = tokenFor({ kind: 'Pod', name: 'p' })
    assert.deepEqual(authenticator.authenticate(bearer(token)), {
      name: 'system:serviceaccount:n:s',
      uid: 'sa-1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:n', 'system:authenticated'],
      extra: {
        'authentication.kubernetes.io/pod-name': ['p'],
        'authentication.kubernetes.io/pod-uid': ['pod-1'],
        'authentication.kubernetes.io/credential-id': [`JTI=${claimsOf(token).jti}`],
        'authentication.kubernetes.io/node-name': ['w'],
        'authentication.kubernetes.io/node-uid': ['node-1'],
      },
    })
  })

  it('is good for a year when a kubelet asks for a pod in the usual way, and says when to warn', () => {
    const { tokenFor, request } = aCluster()
    const claims = claimsOf(tokenFor({ kind: 'Pod', name: 'p' }, { expirationSeconds: 3607 }))
    assert.equal(claims.exp - claims.iat, 365 * 24 * 3600)
    assert.equal(claims['kubernetes.io'].warnafter - claims.iat, 3607)
    assert.equal(claimsOf(tokenFor(undefined, { expirationSeconds: 3607 }))['kubernetes.io'].warnafter, undefined)
    const { status } = request({ expirationSeconds: 3607, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } })
    assert.equal((status as { expirationTimestamp: string }).expirationTimestamp, '2026-01-01T01:00:07Z')
  })

  const ends: [string, { kind: string; name: string } | undefined, (c: ReturnType<typeof aCluster>) => void, RegExp][] = [
    ['its time is up, with a minute of grace', undefined, (c) => c.pass(3_661_000), /service account token has expired/],
    ['its account is gone', undefined, (c) => c.remove(c.core('serviceaccounts'), 'n', 's'), /serviceaccounts "s" not found/],
    [
      'its account is another of the same name',
      undefined,
      (c) => c.put(c.core('serviceaccounts'), object('ServiceAccount', { namespace: 'n', name: 's', uid: 'sa-2' })),
      /service account UID \(sa-2\) does not match claim \(sa-1\)/,
    ],
    [
      'its pod is gone',
      { kind: 'Pod', name: 'p' },
      (c) => c.remove(c.core('pods'), 'n', 'p'),
      /service account token has been invalidated/,
    ],
    [
      'its pod has been going for more than a minute',
      { kind: 'Pod', name: 'p' },
      (c) => {
        c.put(c.core('pods'), object('Pod', { namespace: 'n', name: 'p', uid: 'pod-1', deletionTimestamp: '2026-01-01T00:00:00Z' }))
        c.pass(61_000)
      },
      /service account token has been invalidated/,
    ],
    [
      'its secret is another of the same name',
      { kind: 'Secret', name: 'x' },
      (c) => c.put(c.core('secrets'), object('Secret', { namespace: 'n', name: 'x', uid: 'secret-2' })),
      /secret UID \(secret-2\) does not match service account secret ref claim \(secret-1\)/,
    ],
    [
      'its node is gone',
      { kind: 'Node', name: 'w' },
      (c) => c.remove(c.core('nodes'), '', 'w'),
      /service account token has been invalidated/,
    ],
  ]
  for (const [why, ref, end, message] of ends) {
    it(`ends when ${why}`, () => {
      const c = aCluster()
      const token = c.tokenFor(ref)
      c.pass(1000)
      assert.equal(c.authenticator.authenticate(bearer(token)).uid, 'sa-1')
      end(c)
      assert.throws(
        () => c.authenticator.authenticate(bearer(token)),
        (e) => e instanceof StatusError && e.code === 401,
      )
      const verdict = c.authenticator.authenticateToken(token)
      assert.ok('error' in verdict)
      assert.match(verdict.error, message)
    })
  }

  it('survives the node of its pod: that is information, not a binding', () => {
    const c = aCluster()
    const token = c.tokenFor({ kind: 'Pod', name: 'p' })
    c.remove(c.core('nodes'), '', 'w')
    assert.equal(c.authenticator.authenticate(bearer(token)).uid, 'sa-1')
  })

  it('is worth nothing when anything about it was changed', () => {
    const { authenticator, tokenFor, key } = aCluster()
    const token = tokenFor()
    const [head = '', body = '', signature = ''] = token.split('.')
    const claims = { ...claimsOf(token), sub: 'system:serviceaccount:kube-system:admin' }
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const stranger = readSigningKey(pem())
    const forged = [
      `${head}.${encoded(claims)}.${signature}`,
      `${encoded({ alg: 'none' })}.${body}.`,
      `${encoded({ alg: 'none', kid: key.id })}.${body}.${signature}`,
      `${encoded({ alg: 'HS256', kid: key.id })}.${body}.${signature}`,
      signJwt(claims, stranger),
      signJwt(claims, { ...stranger, id: key.id }),
      `${head}.${body}.${signature.slice(2)}`,
      `${head}.${body}`,
      `${token}.x`,
    ]
    for (const wrong of forged) assert.ok('error' in authenticator.authenticateToken(wrong), wrong)
    assert.ok('user' in authenticator.authenticateToken(token))
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom('A', 'z', '.', '_', '\u0000'), (at, letter) => {
        if (token[at] === letter) return
        const verdict = authenticator.authenticateToken(`${token.slice(0, at)}${letter}${token.slice(at + 1)}`)
        // The last letter of a segment has unused bits, so a change there may change nothing.
        if ('user' in verdict) assert.equal(verdict.user.name, 'system:serviceaccount:n:s')
      }),
    )
  })

  it('may live in a Secret, as long as the Secret holds it', () => {
    const c = aCluster()
    const claim = 'kubernetes.io/serviceaccount/'
    const token = signJwt(
      {
        iss: 'kubernetes/serviceaccount',
        sub: 'system:serviceaccount:n:s',
        [`${claim}namespace`]: 'n',
        [`${claim}secret.name`]: 'x',
        [`${claim}service-account.name`]: 's',
        [`${claim}service-account.uid`]: 'sa-1',
      },
      c.key,
    )
    const refused = c.authenticator.authenticateToken(token)
    assert.ok('error' in refused && /Token does not match server's copy/.test(refused.error))
    const data = { token: Buffer.from(token).toString('base64') }
    c.put(c.core('secrets'), object('Secret', { namespace: 'n', name: 'x' }, { data }))
    assert.equal(c.authenticator.authenticate(bearer(token)).name, 'system:serviceaccount:n:s')
  })

  it('is described to relying parties', () => {
    const { serviceAccounts, key } = aCluster()
    const { configuration, keys } = serviceAccounts.discovery('https://10.0.0.1/openid/v1/jwks')
    assert.equal(configuration.issuer, DEFAULT_ISSUER)
    const [jwk] = keys.keys as Record<string, string>[]
    assert.equal(jwk?.kid, key.id)
    assert.equal(jwk?.crv, 'P-256')
    assert.equal(jwk?.d, undefined)
  })
})

describe('a token request', () => {
  const refusal = (run: () => unknown): StatusError => {
    try {
      run()
    } catch (error) {
      if (error instanceof StatusError) return error
      throw error
    }
    return assert.fail('was not refused')
  }
  const table: [string, Record<string, unknown>, ObjectMeta, number, RegExp][] = [
    ['too long', { expirationSeconds: 2 ** 32 + 1 }, {}, 422, /may not specify a duration larger than 2\^32 seconds/],
    ['another name', {}, { name: 'z' }, 422, /metadata\.name: Invalid value: "z": must match the service account name if specified/],
    [
      'another uid',
      {},
      { uid: 'sa-0' },
      409,
      /the UID in the token request \(sa-0\) does not match the UID of the service account \(sa-1\)/,
    ],
    [
      'a pod of another uid',
      { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'q' } },
      {},
      409,
      /Operation cannot be fulfilled on Pod "p": the UID in the bound object reference \(q\) does not match the UID in record/,
    ],
  ]
  for (const [name, spec, metadata, code, message] of table) {
    it(`is refused: ${name}`, () => {
      const error = refusal(() => aCluster().request(spec, metadata))
      assert.equal(error.code, code)
      assert.match(error.message, message)
    })
  }

  it('is refused for a pod that runs as somebody else', () => {
    const c = aCluster()
    c.put(c.core('pods'), object('Pod', { namespace: 'n', name: 'p', uid: 'pod-1' }, { spec: { serviceAccountName: 'other' } }))
    const error = refusal(() => c.tokenFor({ kind: 'Pod', name: 'p' }))
    assert.equal(error.message, 'cannot bind token for serviceaccount "s" to pod running with different serviceaccount name.')
  })
})

describe('authentication', () => {
  const admin = { commonName: 'admin', organizations: ['system:masters'], sha256: 'ab' }
  const adminUser = {
    name: 'admin',
    groups: ['system:masters', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ab'] },
  }
  it('takes the first good credential', () => {
    const { authenticator } = aCluster()
    assert.deepEqual(authenticator.authenticate({ headers: {}, peer: admin }), adminUser)
    assert.deepEqual(authenticator.authenticate({ ...bearer('rubbish'), peer: admin }), adminUser)
    assert.equal(authenticator.authenticate({ ...bearer('secret-token'), refusedPeer: 'foreign' }).name, 'admin')
    assert.deepEqual(authenticator.authenticate(bearer('secret-token')).groups, ['system:masters', 'system:authenticated'])
    assert.equal(authenticator.authenticate({ headers: { authorization: 'bearer  ' } }).name, 'system:anonymous')
    assert.deepEqual(authenticator.authenticate({ headers: {}, as: { name: 'c', groups: [] } }), {
      name: 'c',
      groups: ['system:authenticated'],
    })
  })
  it('refuses bad ones and calls the rest anonymous', () => {
    const { authenticator } = aCluster()
    const isUnauthorized = (e: unknown) => e instanceof StatusError && e.code === 401
    for (const token of ['x', 'secret-toke', 'secret-token2', 'a.b.c', 'x'.repeat(100_000)])
      assert.throws(() => authenticator.authenticate(bearer(token)), isUnauthorized)
    assert.throws(() => authenticator.authenticate({ headers: {}, refusedPeer: 'foreign' }), isUnauthorized)
    for (const headers of [{}, { authorization: 'Basic eDp5' }, { authorization: '' }])
      assert.deepEqual(authenticator.authenticate({ headers }), { name: 'system:anonymous', groups: ['system:unauthenticated'] })
  })
})
