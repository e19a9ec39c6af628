import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseRequestInfo } from '../kube/request-info.ts'

interface Expected {
  verb: string
  group?: string
  version?: string
  resource?: string
  subresource?: string
  namespace?: string
  name?: string
  rest?: string[]
}

const resources: [string, string, Expected][] = [
  ['GET', '/api/v1/pods', { verb: 'list', version: 'v1', resource: 'pods' }],
  ['GET', '/api/v1/pods/', { verb: 'list', version: 'v1', resource: 'pods' }],
  ['GET', '//api/v1/pods//', { verb: 'list', version: 'v1', resource: 'pods' }],
  ['GET', '/api//v1//pods', { verb: 'list', resource: 'v1', subresource: 'pods' }],
  ['GET', '/api/v1/pods?watch=true', { verb: 'watch', version: 'v1', resource: 'pods' }],
  ['GET', '/api/v1/pods?watch=1', { verb: 'watch', version: 'v1', resource: 'pods' }],
  ['GET', '/api/v1/pods?watch', { verb: 'watch', version: 'v1', resource: 'pods' }],
  ['GET', '/api/v1/pods?watch=false', { verb: 'list', version: 'v1', resource: 'pods' }],
  ['GET', '/api/v1/pods?watch=0', { verb: 'list', version: 'v1', resource: 'pods' }],
  ['GET', '/api/v1/watch/pods', { verb: 'watch', version: 'v1', resource: 'pods' }],
  ['GET', '/api/v1/watch/namespaces/a/pods', { verb: 'watch', version: 'v1', resource: 'pods', namespace: 'a' }],
  ['GET', '/api/v1/watch/namespaces/a/pods/p', { verb: 'watch', version: 'v1', resource: 'pods', namespace: 'a', name: 'p' }],
  ['GET', '/api/v1/namespaces/a/pods', { verb: 'list', version: 'v1', resource: 'pods', namespace: 'a' }],
  ['GET', '/api/v1/namespaces/a/pods/p', { verb: 'get', version: 'v1', resource: 'pods', namespace: 'a', name: 'p' }],
  ['HEAD', '/api/v1/namespaces/a/pods/p', { verb: 'get', version: 'v1', resource: 'pods', namespace: 'a', name: 'p' }],
  ['POST', '/api/v1/namespaces/a/pods', { verb: 'create', version: 'v1', resource: 'pods', namespace: 'a' }],
  ['PUT', '/api/v1/namespaces/a/pods/p', { verb: 'update', version: 'v1', resource: 'pods', namespace: 'a', name: 'p' }],
  ['PATCH', '/api/v1/namespaces/a/pods/p', { verb: 'patch', version: 'v1', resource: 'pods', namespace: 'a', name: 'p' }],
  ['DELETE', '/api/v1/namespaces/a/pods/p', { verb: 'delete', version: 'v1', resource: 'pods', namespace: 'a', name: 'p' }],
  ['DELETE', '/api/v1/namespaces/a/pods', { verb: 'deletecollection', version: 'v1', resource: 'pods', namespace: 'a' }],
  [
    'PUT',
    '/api/v1/namespaces/a/pods/p/status',
    { verb: 'update', version: 'v1', resource: 'pods', namespace: 'a', name: 'p', subresource: 'status' },
  ],
  [
    'GET',
    '/api/v1/namespaces/a/pods/p/proxy/x/y',
    { verb: 'get', version: 'v1', resource: 'pods', namespace: 'a', name: 'p', subresource: 'proxy', rest: ['x', 'y'] },
  ],
  ['GET', '/api/v1/namespaces', { verb: 'list', version: 'v1', resource: 'namespaces' }],
  ['GET', '/api/v1/namespaces/a', { verb: 'get', version: 'v1', resource: 'namespaces', namespace: 'a', name: 'a' }],
  [
    'PUT',
    '/api/v1/namespaces/a/finalize',
    { verb: 'update', version: 'v1', resource: 'namespaces', namespace: 'a', name: 'a', subresource: 'finalize' },
  ],
  [
    'GET',
    '/api/v1/namespaces/a/status',
    { verb: 'get', version: 'v1', resource: 'namespaces', namespace: 'a', name: 'a', subresource: 'status' },
  ],
  [
    'PATCH',
    '/apis/apps/v1/namespaces/a/deployments/d/scale',
    { verb: 'patch', group: 'apps', version: 'v1', resource: 'deployments', namespace: 'a', name: 'd', subresource: 'scale' },
  ],
  ['GET', '/apis/apps/v1/deployments', { verb: 'list', group: 'apps', version: 'v1', resource: 'deployments' }],
  ['GET', '/api/v1/pods/p%2fq', { verb: 'get', version: 'v1', resource: 'pods', name: 'p', subresource: 'q' }],
  ['GET', '/api/v1/pods/%zz', { verb: 'get', version: 'v1', resource: 'pods', name: '%zz' }],
  ['FOO', '/api/v1/pods', { verb: 'foo', version: 'v1', resource: 'pods' }],
  ['constructor', '/api/v1/pods', { verb: 'constructor', version: 'v1', resource: 'pods' }],
  ['__proto__', '/api/v1/pods/p', { verb: '__proto__', version: 'v1', resource: 'pods', name: 'p' }],
]

const paths: [string, string][] = [
  ['GET', '/'],
  ['GET', ''],
  ['GET', '/healthz'],
  ['GET', '/api'],
  ['GET', '/api/v1'],
  ['GET', '/apis'],
  ['GET', '/apis/apps'],
  ['GET', '/apis/apps/v1'],
  ['GET', '/api/v1/watch'],
  ['POST', '/apis/apps/v1/watch'],
  ['GET', '/openapi/v3/apis/apps/v1'],
  ['GET', '?x=1'],
]

describe('parseRequestInfo', () => {
  for (const [method, url, expected] of resources)
    it(`reads ${method} ${url}`, () => {
      const { isResource, verb, group, version, resource, subresource, namespace, name, rest } = parseRequestInfo(method, url)
      assert.deepEqual(
        { isResource, verb, group, version, resource, subresource, namespace, name, rest },
        { isResource: true, group: '', version: '', resource: '', subresource: '', namespace: '', name: '', rest: [], ...expected },
      )
    })

  for (const [method, url] of paths)
    it(`takes ${method} ${JSON.stringify(url)} for a path`, () => {
      const info = parseRequestInfo(method, url)
      assert.equal(info.isResource, false)
      assert.equal(info.verb, method.toLowerCase())
      assert.equal(info.path, url.split('?')[0])
    })

  it('never throws, and says only strings, whatever is asked', () => {
    const part = fc.oneof(
      fc.constantFrom('api', 'apis', 'v1', 'watch', 'namespaces', 'status', '..', '%2e%2e', '%', '__proto__', 'constructor', '\u0000', ''),
      fc.string({ unit: 'binary', maxLength: 12 }),
    )
    const url = fc
      .tuple(fc.array(part, { maxLength: 9 }), fc.option(fc.string({ maxLength: 30 })))
      .map(([parts, query]) => `/${parts.join('/')}${query === null ? '' : `?${query}`}`)
    fc.assert(
      fc.property(
        fc.oneof(fc.constantFrom('GET', 'POST', 'DELETE', 'constructor', '__proto__', 'toString'), fc.string()),
        url,
        (method, target) => {
          const info = parseRequestInfo(method, target)
          const { verb, group, version, resource, subresource, namespace, name, rest } = info
          for (const text of [verb, group, version, resource, subresource, namespace, name, ...rest]) assert.equal(typeof text, 'string')
          assert.equal(info.path.includes('?'), false)
          if (info.isResource) assert.match(info.path, /^\/*(a|%61)/i)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('takes a very long path without trouble', () => {
    const info = parseRequestInfo('GET', `/api/v1${'/x'.repeat(200_000)}`)
    assert.equal(info.resource, 'x')
    assert.equal(info.rest.length, 199_997)
    // Quadratic work on a run of slashes would not finish in reasonable time.
    assert.equal(parseRequestInfo('GET', `/api/v1/pods${'/'.repeat(200_000)}x`).rest.at(-1), 'x')
  })
})

describe('a query', () => {
  const queries: [string, [string, string][]][] = [
    [
      'limit=1&watch',
      [
        ['limit', '1'],
        ['watch', ''],
      ],
    ],
    ['limit=%zz&a=b', [['a', 'b']]],
    ['limit=1;limit=2&a=b', [['a', 'b']]],
    ['%zz=1', []],
    ['a=%41%20+', [['a', 'A  ']]],
  ]
  for (const [text, pairs] of queries)
    it(`of ${text} says what can be read`, () => assert.deepEqual([...parseRequestInfo('GET', `/api/v1/pods?${text}`).query], pairs))
})
