import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseRequestInfo } from '../../kube/request-info.ts'
import { StatusError } from '../../kube/status.ts'
import { memberPath } from './path.ts'

const PROXY = '/apis/cluster.karmada.io/v1alpha1/clusters/member1/proxy'
const of = (rest: string): string => memberPath(parseRequestInfo('GET', `${PROXY}${rest}`), `${PROXY}${rest}`)

describe('the path at the member', () => {
  for (const [rest, expected] of [
    ['', '/'],
    ['/', '/'],
    ['/api/v1/nodes', '/api/v1/nodes'],
    ['/api/v1/nodes/', '/api/v1/nodes/'],
    ['//api/v1', '/api/v1'],
    ['/api/v1/namespaces//pods', '/api/v1/namespaces//pods'],
    ['/api/v1/nodes?watch=true&labelSelector=a%3Db', '/api/v1/nodes?watch=true&labelSelector=a%3Db'],
    ['?a=b?c', '/?a=b?c'],
    ['/a%2Fb', '/a/b'],
    ['/a%20b', '/a%20b'],
    ['/a%0d%0aHost:%20evil', '/a%0D%0AHost%3A%20evil'],
    ['/a%3Fb%23c', '/a%3Fb%23c'],
    ['/%252e%252e/x', '/%252e%252e/x'],
    ['/http://evil/x', '/http%3A//evil/x'],
    ['//evil.example/x', '/evil.example/x'],
    ['/%2F%2Fevil/x', '/evil/x'],
    ['/@evil', '/%40evil'],
    ['/a\\..\\b', '/a%5C..%5Cb'],
    ['?x=a b\r\nHost: evil#y', '?x=a%20b%0D%0AHost:%20evil%23y'],
  ] as const)
    it(`${JSON.stringify(rest)} is ${JSON.stringify(expected)}`, () =>
      assert.equal(of(rest), expected.startsWith('?') ? `/${expected}` : expected))

  for (const rest of ['/..', '/../..', '/api/../../x', '/%2e%2e/x', '/.%2E/x', '/a/%2E/b', '/a%2f..%2fb', '/%2e%2e%2f', '/%ff'])
    it(`${rest} is refused`, () =>
      assert.throws(
        () => of(rest),
        (error) => error instanceof StatusError && error.code === 400,
      ))

  const piece = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '%2e',
      '%2E%2e',
      '/',
      '//',
      '%2f',
      '%5c',
      '\\',
      '%00',
      '%0d%0a',
      '\r\n',
      '@',
      ':',
      '?',
      '#',
      ';',
      '%25',
      'api',
    ),
    fc.constantFrom('http://evil', '//evil', 'https:%2f%2fevil', '%252e%252e%252f', '\u2025', '\ud800', ' '),
    fc.string({ unit: 'binary' }),
  )
  const HOST = 'https://member.example:6443/prefix'

  it('nothing but a path below the server of the member comes out, however it is written', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const rest = `/${pieces.join('')}`
        let path: string
        try {
          path = of(rest)
        } catch (error) {
          assert.ok(error instanceof StatusError && error.code === 400, String(error))
          return
        }
        assert.match(path, /^\/(?!\/)[\x21-\x7e]*$/)
        assert.ok(!path.includes('#'))
        // As clients, and servers that clean paths, would read it.
        const url = new URL(HOST + path)
        assert.equal(url.origin, 'https://member.example:6443')
        assert.ok(url.pathname.startsWith('/prefix/'), url.pathname)
        assert.equal(url.username + url.password + url.hash, '')
      }),
      { numRuns: 5000 },
    )
  })

  it('the member reads the parts that authorization read', () => {
    const part = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/^\.\.?$/.test(text) && !text.includes('/'))
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const path = of(`/${parts.map((text) => encodeURIComponent(text)).join('/')}`)
        assert.deepEqual(path.slice(1).split('/').map(decodeURIComponent), parts)
      }),
    )
  })
})
