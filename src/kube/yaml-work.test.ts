import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countedWork } from '../base/testing.ts'
import { parseYamlText, YamlTextError } from './yaml-text.ts'

/** Numbers of equal length, so that twice the lines are twice the characters. */
const lines = (count: number, of: (i: number) => string): string => Array.from({ length: count }, (_, i) => of(i + 1000)).join('\n')

/** Texts of any size, of everything that YAML can repeat. */
const TEXTS: readonly (readonly [string, (size: number) => string])[] = [
  ['aliases in a list', (n) => `a: &a 1\nb: [${'*a,'.repeat(n)}]`],
  ['aliases as values', (n) => `a: &a 1\n${lines(n, (i) => `k${i}: *a`)}`],
  ['aliases as keys', (n) => `a: &a x\nb:\n${'  ? *a\n  : 1\n'.repeat(n)}`],
  ['aliases of a map', (n) => `a: &a {b: 1, c: 2}\nb: [${'*a,'.repeat(n)}]`],
  ['an anchor for every alias', (n) => lines(n, (i) => `a${i}: &a${i} x\nb${i}: *a${i}`)],
  ['one anchor, defined again and again', (n) => lines(n, (i) => `a${i}: &a x${i}\nb${i}: *a`)],
  ['aliases of what does not exist', (n) => `a: [${'*a,'.repeat(n)}]`],
  ['merges of one map', (n) => `a: &a {b: 1}\nc:\n${'  <<: *a\n'.repeat(n)}`],
  ['a merge of a list', (n) => `a: &a {b: 1}\nc:\n  <<: [${'*a,'.repeat(n)}]`],
  ['a merge in every map', (n) => `a: &a {b: 1}\n${lines(n, (i) => `k${i}: {<<: *a, c: 2}`)}`],
  ['a chain of merges', (n) => `a1000: &a1000 {k: v}\n${lines(n, (i) => `a${i + 1}: &a${i + 1} {<<: *a${i}, k${i}: v}`)}`],
  ['a chain of lists', (n) => `a1000: &a1000 [v]\n${lines(n, (i) => `a${i + 1}: &a${i + 1} [*a${i}]`)}`],
  ['a tree of lists', (n) => `a1000: &a1000 [v, v]\n${lines(n, (i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)}`],
  ['a map that merges itself', (n) => `a: &a {${'<<: *a, '.repeat(n)}}`],
  ['repeated keys', (n) => 'a: b\n'.repeat(n)],
  ['a list', (n) => `a:\n${'- b\n'.repeat(n)}`],
  ['a map', (n) => lines(n, (i) => `k${i}: v`)],
  ['comments', (n) => `${'# x\n'.repeat(n)}a: b\n${'  # x\n'.repeat(n)}`],
  ['blank lines', (n) => `${'\n'.repeat(n)}a: b`],
  ['lines of blanks', (n) => `${' \t\r\n'.repeat(n)}a: b`],
  ['directives', (n) => `${'%X y\n'.repeat(n)}--- a`],
  ['documents', (n) => '--- a\n'.repeat(n)],
  ['text over many lines', (n) => `a: |\n${'  y\n'.repeat(n)}b: x\n${'  y\n'.repeat(n)}`],
  ['blanks', (n) => `a:${' '.repeat(n)}b`],
  ['digits', (n) => `a: ${'1'.repeat(n)}\nb: 0x${'f'.repeat(n)}\nc: 0${'7'.repeat(n)}\nd: ${'1_'.repeat(n)}`],
  ['escapes', (n) => `a: "${'\\x41'.repeat(n)}"`],
  ['mistakes', (n) => 'a: "\\q"\n'.repeat(n)],
  ['brackets that are never closed', (n) => `a: {${'b: c,'.repeat(n)}`],
]

function workOf(text: string): number {
  return countedWork(() => {
    try {
      parseYamlText(text)
    } catch (error) {
      assert.ok(error instanceof YamlTextError, String(error))
    }
  })
}

describe('a YAML text twice as long', () => {
  for (const [what, textOf] of TEXTS) {
    // Chains are cut off at a depth of 300.
    const size = what.startsWith('a chain') ? 400 : 100
    it(`of ${what} is at most twice the work`, () => {
      const [once, twice] = [workOf(textOf(size)), workOf(textOf(2 * size))]
      assert.ok(twice <= 2.1 * once + 2000, `${once} and ${twice}`)
    })
  }
})

describe('aliases', () => {
  const value = (text: string): unknown => parseYamlText(text).value

  it('stand for the last anchor of that name before them', () => {
    assert.deepEqual(value('a: &x 1\nb: *x\nc: &x 2\nd: *x'), { a: 1, b: 1, c: 2, d: 2 })
    assert.throws(() => value('a: *x\nb: &x 1'), /unknown anchor 'x' referenced/)
    assert.deepEqual(value('? &k a\n: *k'), { a: 'a' })
    assert.throws(() => value('a: &x {b: &x [*x]}'), /anchor 'x' value contains itself/)
  })

  it('may add a hundred thousand values to a document, and as many as it has', () => {
    const document = (values: number): string => `a: &a [${'1,'.repeat(999)}]\nb: [${'*a,'.repeat(values / 1000)}]`
    assert.equal((value(document(100_000)) as { b: unknown[] }).b.length, 100)
    assert.throws(() => value(document(103_000)), /excessive aliasing/)
    const own = '1,'.repeat(50_000)
    assert.equal((value(`${document(140_000)}\nc: [${own}]`) as { b: unknown[] }).b.length, 140)
  })

  it('cost as many characters as they stand for', () => {
    const document = (count: number): string => `a: &a ${'x'.repeat(30_000)}\nb: [${'*a,'.repeat(count)}]`
    assert.equal((value(document(100)) as { b: unknown[] }).b.length, 100)
    assert.throws(() => value(document(110)), /excessive aliasing/)
    const keys = `a: &a {${'k'.repeat(30_000)}: 1}\nb: [${'{<<: *a},'.repeat(110)}]`
    assert.throws(() => value(keys), /excessive aliasing/)
    const named = `a: &a ${'k'.repeat(900)}\nb:\n${'- ? *a\n  : 1\n'.repeat(4000)}`
    assert.throws(() => value(named), /excessive aliasing/)
  })

  it('merge no deeper than maps nest', () => {
    const chain = (count: number): string => `a1000: &a1000 {k: v}\n${lines(count, (i) => `a${i + 1}: &a${i + 1} {<<: *a${i}, k${i}: v}`)}`
    assert.equal(Object.keys((value(chain(200)) as Record<string, object>).a1200 ?? {}).length, 201)
    assert.throws(() => value(chain(400)), /exceeded max depth of 300/)
  })

  it('lead to a hundred complaints about repeated keys at most', () => {
    const [complaint = ''] = parseYamlText(`a: &a {b: 1}\nc: {${'<<: *a,'.repeat(5000)}}`).strictErrors
    assert.equal(complaint.split('\n').length, 101)
  })
})
