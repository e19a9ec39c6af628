import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { compilePattern } from './go-regexp.ts'

const matches = (pattern: string, text: string) => compilePattern(pattern).test(text)

describe('Go regular expressions', () => {
  it('finds a match anywhere unless anchored', () => {
    for (const [pattern, text, expected] of [
      ['b', 'abc', true],
      ['^b', 'abc', false],
      ['^$', '', true],
      ['^$', '\n', false],
      ['a$', 'a\n', false],
      ['(?m)^b$', 'a\nb\nc', true],
      ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'a-b', true],
      ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'a-', false],
      ['^(a|b)+$', 'abba', true],
      ['^a{2,3}$', 'aaaa', false],
      ['^a{2,3}$', 'aaa', true],
      ['^a{2,}$', 'aaaaa', true],
      ['^a{,3}$', 'a{,3}', true],
      ['^.$', '😀', true],
      ['^[^a]$', '\n', true],
      ['^.$', '\n', false],
      ['(?s)^.$', '\n', true],
      ['(?i)^ÄB$', 'äb', true],
      ['^\\d+\\s\\w$', '12 _', true],
      ['\\bfoo\\b', 'a foo b', true],
      ['\\bfoo\\b', 'afoob', false],
      ['^\\p{L}+$', 'žlutý', true],
      ['^[[:alpha:]_]+$', 'a_Z', true],
      ['^[]a]$', ']', true],
      ['^\\Qa.b\\E$', 'a.b', true],
      ['^\\Qa.b\\E$', 'axb', false],
      ['^\\x41\\x{42}\\103$', 'ABC', true],
      ['^(?:a*)*$', 'aaa', true],
      ['^(?P<n>a)(?<m>b)$', 'ab', true],
      ['a\\z', 'ba', true],
      ['^(|a)$', '', true],
    ] as const)
      assert.equal(matches(pattern, text), expected, `${pattern} on ${JSON.stringify(text)}`)
  })

  it('refuses what Go refuses, in its words', () => {
    for (const [pattern, error] of [
      ['[', 'missing closing ]: `[`'],
      ['a[b', 'missing closing ]: `[b`'],
      ['(a', 'missing closing ): `(a`'],
      ['a)', 'unexpected ): `a)`'],
      ['*a', 'missing argument to repetition operator: `*`'],
      ['a**', 'invalid nested repetition operator: `**`'],
      ['a{1001}', 'invalid repeat count: `{1001}`'],
      ['a{3,2}', 'invalid repeat count: `{3,2}`'],
      ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
      ['(?<!a)', 'invalid or unsupported Perl syntax: `(?<`'],
      ['(a)\\1', 'invalid escape sequence: `\\1`'],
      ['[b-a]', 'invalid character class range: `b-a`'],
      ['a\\', 'trailing backslash at end of expression: ``'],
      ['\\p{Nope}', 'invalid character class range: `\\p{Nope}`'],
    ] as const)
      assert.equal(compilePattern(pattern).error, `error parsing regexp: ${error}`, pattern)
  })

  it('takes linear time where backtracking would not end', () => {
    const long = 'a'.repeat(20_000)
    assert.equal(matches('^(a+)+$', `${long}!`), false)
    assert.equal(matches('^(a|a)*$', `${long}!`), false)
    assert.equal(matches('^(.*)*x.*y$', long), false)
    assert.equal(matches('(a?){500}a{500}!', long), false)
  })

  it('agrees with the engine of JavaScript where the two languages are the same', () => {
    const atom = fc.constantFrom('a', 'b', '[ab]', '[^a]', '.', '(?:a|bc)', '(?:ab)')
    const piece = fc.tuple(atom, fc.constantFrom('', '', '*', '+', '?', '{1,2}')).map(([a, q]) => a + q)
    const pattern = fc.tuple(fc.constantFrom('', '^'), fc.array(piece, { maxLength: 5 }), fc.constantFrom('', '$'))
    fc.assert(
      fc.property(pattern, fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n'), maxLength: 8 }), ([begin, pieces, end], text) => {
        const source = begin + pieces.join('') + end
        assert.equal(matches(source, text), new RegExp(source, 'u').test(text), `${source} on ${JSON.stringify(text)}`)
      }),
      { numRuns: 500 },
    )
  })

  it('never throws, whatever the pattern', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'ab[](){}?*+|^$\\.-,:0129pPQEdwsxi<>=!'), maxLength: 16 }),
        fc.string(),
        (pattern, text) => {
          const compiled = compilePattern(pattern)
          assert.equal(compiled.test(text) === undefined, compiled.error !== undefined)
        },
      ),
      { numRuns: 2000 },
    )
  })
})
