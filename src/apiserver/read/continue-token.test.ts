import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { StatusError } from '../../kube/status.ts'
import { decodeContinue, encodeContinue } from './continue-token.ts'

const PREFIX = 'configmaps/default/'
const token = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const V = 'meta.k8s.io/v1'

describe('continue tokens', () => {
  it('come back as they were made', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1 }), fc.stringMatching(/^[a-z0-9./-]{1,60}$/), (revision, name) => {
        fc.pre(!name.split('/').includes('..'))
        const made = encodeContinue(revision, PREFIX, PREFIX + name)
        assert.match(made, /^[A-Za-z0-9_-]+$/)
        assert.deepEqual(decodeContinue(made, PREFIX), { revision, after: PREFIX + name })
      }),
    )
  })

  it('with revision -1 read what is there now', () => {
    assert.deepEqual(decodeContinue(encodeContinue(-1, PREFIX, `${PREFIX}a`), PREFIX), { revision: undefined, after: `${PREFIX}a` })
  })

  it('have the form of the real server', () => {
    const made = Buffer.from(encodeContinue(7, PREFIX, `${PREFIX}a`), 'base64url').toString()
    assert.equal(made, '{"v":"meta.k8s.io/v1","rv":7,"start":"a\\u0000"}')
  })

  const refused: [string, string, RegExp][] = [
    ['nothing', '', /continue key is not valid/],
    ['noise', '%%%', /continue key is not valid/],
    ['a number', token(7), /it holds no object/],
    ['null', token(null), /it holds no object/],
    ['a list', token([]), /it holds no object/],
    ['no version', token({ rv: 1, start: 'a' }), /does not recognize this encoded version ""/],
    ['another version', token({ v: 'v9', rv: 1, start: 'a' }), /does not recognize this encoded version "v9"/],
    ['an object for a version', token({ v: {}, rv: 1, start: 'a' }), /does not recognize/],
    ['no revision', token({ v: V, start: 'a' }), /incorrect encoded start resourceVersion/],
    ['revision 0', token({ v: V, rv: 0, start: 'a' }), /incorrect encoded start resourceVersion/],
    ['a fraction', token({ v: V, rv: 1.5, start: 'a' }), /incorrect encoded start resourceVersion/],
    ['a huge revision', token({ v: V, rv: 1e300, start: 'a' }), /incorrect encoded start resourceVersion/],
    ['no start', token({ v: V, rv: 1 }), /missing start key/],
    ['a start that is no text', token({ v: V, rv: 1, start: {} }), /missing start key/],
    ['a way out', token({ v: V, rv: 1, start: '../../secrets/x' }), /goes outside the list/],
    ['one character', 'x', /illegal base64 data at input byte 0$/],
    ['a fifth character', 'YWJjZ', /illegal base64 data at input byte 4$/],
    ['a character of another alphabet', 'YW+j', /illegal base64 data at input byte 2$/],
    ['depth', Buffer.from('['.repeat(100_000)).toString('base64url'), /continue key is not valid/],
  ]
  for (const [what, text, message] of refused)
    it(`that hold ${what} are refused`, () =>
      assert.throws(
        () => decodeContinue(text, PREFIX),
        (error) => error instanceof StatusError && error.code === 400 && message.test(error.message),
      ))

  it('of any content are read or refused, and never leave the list', () => {
    const start = fc.oneof(fc.string(), fc.constantFrom('..', 'a/../b', '/', '\u0000'))
    fc.assert(
      fc.property(fc.record({ v: fc.constant(V), rv: fc.integer(), start }), (value) => {
        try {
          assert.ok(decodeContinue(token(value), PREFIX).after.startsWith(PREFIX))
        } catch (error) {
          assert.ok(error instanceof StatusError && error.code === 400, String(error))
        }
      }),
    )
  })
})
