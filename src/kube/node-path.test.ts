import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isAbsoluteClean, isNodePath, NODE_PATH_PREFIXES, pathOnMachine } from './node-path.ts'

const NODE = '/data/nodes/n1'

describe('a path of a node', () => {
  const cases: [string, string][] = [
    ['/runtime-mnt', `${NODE}/runtime-mnt`],
    ['/runtime-mnt/cache/shop/photos', `${NODE}/runtime-mnt/cache/shop/photos`],
    ['//runtime-mnt/./cache//x/', `${NODE}/runtime-mnt/cache/x`],
    ['/var/lib/sluice/cache/ssd', `${NODE}/var/lib/sluice/cache/ssd`],
    ['/var/lib/sluice/cached', '/var/lib/sluice/cached'],
    ['/var/lib/sluice', '/var/lib/sluice'],
    ['/runtime-mnt2', '/runtime-mnt2'],
    ['/srv/data/', '/srv/data/'],
    ['/', '/'],
  ]
  for (const [path, expected] of cases) it(`${path} is at ${expected}`, () => assert.equal(pathOnMachine(path, NODE), expected))

  it('is never outside of the directory of its node, and never in it by accident', () => {
    const part = fc.constantFrom('a', '.', '', 'runtime-mnt', 'var', 'lib', 'sluice', 'cache', '..b')
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const path = `/${parts.join('/')}`
        const at = pathOnMachine(path, NODE)
        if (isNodePath(path)) assert.ok(NODE_PATH_PREFIXES.some((prefix) => `${at}/`.startsWith(`${NODE}${prefix}/`)))
        else assert.equal(at, path)
      }),
    )
  })

  it('is absolute and does not climb', () => {
    for (const path of ['/', '/a', '/a/..b']) assert.equal(isAbsoluteClean(path), true, path)
    for (const path of ['', 'a', '/a/../b', '/..', '/a\0']) assert.equal(isAbsoluteClean(path), false, JSON.stringify(path))
  })
})
