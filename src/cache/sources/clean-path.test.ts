import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { cleanPath, isCleanSegment, showName } from './clean-path.ts'

describe('names of sources', () => {
  for (const path of ['a', 'a/b/c.txt', 'ä/日本.bin', '.hidden', '..a', 'a..', 'a b', 'a\\b', '😀', '__proto__']) {
    it(`takes ${path} as it is`, () => assert.equal(cleanPath(path), path))
  }
  const refused = [
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    './a',
    'a/.',
    'a\nb',
    'a\u0000',
    'a\u007f',
    'a\u009b',
    '\ud800',
    '\udc00a',
  ]
  for (const path of refused) it(`refuses ${showName(path)}`, () => assert.equal(cleanPath(path), undefined))

  it('refuses what Linux could not hold', () => {
    assert.equal(isCleanSegment('x'.repeat(255)), true)
    assert.equal(isCleanSegment('x'.repeat(256)), false)
    assert.equal(isCleanSegment('é'.repeat(128)), false)
    assert.equal(cleanPath(Array(65).fill('a').join('/')), undefined)
    assert.equal(cleanPath(Array(20).fill('x'.repeat(254)).join('/')), undefined)
  })

  it('never lets a path lead elsewhere', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('.', '/', 'a', '\\', '\u0000', '\u0085') }), (path) => {
        const clean = cleanPath(path)
        if (clean === undefined) return
        assert.equal(new URL(`file:///root/${clean.replaceAll('\\', '%5C')}`).pathname.startsWith('/root/'), true)
        assert.equal(clean, path)
      }),
    )
  })

  it('shows names without control characters, and not all of a long one', () => {
    const shown = showName(`\u001b[2J\u009b${'x'.repeat(5000)}`)
    assert.equal(shown.length < 120, true)
    assert.equal(
      [...shown].every((c) => c >= ' ' && (c < '\u007f' || c > '\u009f')),
      true,
    )
  })
})
