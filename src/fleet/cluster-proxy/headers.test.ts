import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { StatusError } from '../../kube/status.ts'
import { answeredHeaders, forwardedHeaders, impersonationOf } from './headers.ts'

const OF = { resource: { group: 'cluster.karmada.io', resource: 'clusters' }, cluster: 'member1' }

describe('what a member hears', () => {
  it('is what the request is about, and nothing of who sent it', () => {
    const sent = {
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'kubectl',
      authorization: 'Bearer of-the-hub',
      cookie: 'a=b',
      connection: 'upgrade, authorization',
      host: 'hub',
      'content-length': '12',
      'transfer-encoding': 'chunked',
      'impersonate-user': 'somebody',
      'impersonate-group': ['system:masters'],
      'impersonate-extra-scopes': ['all'],
      'impersonate-uid': '1',
      'proxy-authorization': 'Basic x',
      'x-remote-user': 'admin',
      'x-remote-group': 'system:masters',
      'x-forwarded-for': '10.0.0.1',
      'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.dG9rZW4',
      __proto__: 'x',
    }
    assert.deepEqual(forwardedHeaders(sent), { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'kubectl' })
  })

  it('never is a name that says who somebody is, whatever the name', () => {
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom('authorization', 'cookie').chain((word) => fc.mixedCase(fc.constant(word))),
      fc.string().map((end) => `impersonate-${end}`),
    )
    fc.assert(
      fc.property(fc.dictionary(name, fc.string({ unit: 'binary' })), (headers) => {
        for (const [passed, value] of Object.entries(forwardedHeaders(headers))) {
          assert.doesNotMatch(passed, /authoriz|cookie|impersonate|remote|forwarded/)
          assert.match(String(value), /^[\t\x20-\x7e]*$/)
        }
      }),
    )
  })

  it('names the caller with all groups but those that everybody has', () => {
    const user = { name: 'jane', groups: ['dev', 'a, b', 'system:authenticated'], uid: '7', extra: { scopes: ['all'] } }
    assert.deepEqual(impersonationOf(user, OF), { 'impersonate-user': 'jane', 'impersonate-group': ['dev', 'a, b'] })
    assert.deepEqual(impersonationOf({ name: 'system:anonymous', groups: ['system:unauthenticated'] }, OF), {
      'impersonate-user': 'system:anonymous',
    })
  })

  for (const name of ['', ' admin', 'admin ', 'a\r\nimpersonate-group: system:masters', 'jürgen', '\u0000', '\tadmin'])
    it(`has no way to hear of ${JSON.stringify(name)}: refused, as a user and as a group`, () => {
      for (const user of [
        { name, groups: [] },
        { name: 'jane', groups: [name] },
      ])
        assert.throws(
          () => impersonationOf(user, OF),
          (error) => error instanceof StatusError && error.code === 403,
        )
    })
})

describe('what a client hears', () => {
  it('is what the answer is about, and nothing of the connection or of other places', () => {
    const answered = {
      'content-type': 'application/json',
      warning: ['299 - "a"', '299 - "b"'],
      etag: undefined,
      'set-cookie': ['a=b'],
      'www-authenticate': 'Basic',
      location: 'https://evil',
      'content-length': '3',
      connection: 'close',
      'transfer-encoding': 'chunked',
      'strict-transport-security': 'max-age=1',
      'access-control-allow-origin': '*',
      'alt-svc': 'h3=":443"',
    }
    assert.deepEqual(answeredHeaders(answered), { 'content-type': 'application/json', warning: ['299 - "a"', '299 - "b"'] })
  })
})
