import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { applyLine, emptyTree, wantedOf } from './tree.ts'

const entry = (path: string, more: object = {}) => ({
  add: { path, fileId: 'a'.repeat(32), size: 1, version: 'b'.repeat(16), mtimeMs: 5.5, ...more },
})

describe('the copy of the inventory', () => {
  it('refuses what would lead out of its directory, or is no file', () => {
    const bad = ['/a/../b', '/a//b', '/', 'a', '/a/.', '/a\0', '/a\nb', `/a/${'x'.repeat(300)}`, '/other/x', '/ab']
    for (const path of bad) assert.throws(() => applyLine(emptyTree('/a'), entry(path)), path)
    for (const change of [
      { size: -1 },
      { size: 1.5 },
      { size: 2 ** 52 },
      { fileId: '../x' },
      { version: '' },
      { mtimeMs: 'x' },
      { mtimeMs: null },
    ])
      assert.throws(() => applyLine(emptyTree('/a'), entry('/a/b', change)), JSON.stringify(change))
    fc.assert(fc.property(fc.jsonValue(), (value) => assert.throws(() => applyLine(emptyTree('/'), value))))
  })

  it('follows snapshots, additions and removals', () => {
    const tree = emptyTree('/a')
    for (const line of [{ snapshot: true }, entry('/a/x'), entry('/a/y'), { remove: { path: '/a/x' } }, { revision: 7, isComplete: true }])
      applyLine(tree, line)
    assert.deepEqual([[...wantedOf(tree).files.keys()], tree.revision, tree.isComplete], [['y'], 7, true])
    applyLine(tree, { snapshot: true })
    applyLine(tree, entry('/a'))
    assert.deepEqual([...wantedOf(tree).files.keys()], ['a'], 'a sub path that is a file')
  })
})
