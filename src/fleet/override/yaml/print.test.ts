import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseYaml } from './document.ts'
import { compareKeys } from './key-order.ts'
import { printNumber } from './number.ts'
import { printYaml } from './print.ts'

const words = (count: number, word = 'word'): string => Array.from({ length: count }, () => word).join(' ')

describe('YAML as Go writes it', () => {
  const table: [string, unknown, string][] = [
    ['a time is in quotes, as it would be read as one', { at: '2026-01-02T03:04:05Z' }, 'at: "2026-01-02T03:04:05Z"\n'],
    ['so is a day', { at: '2026-1-2' }, 'at: "2026-1-2"\n'],
    ['a day that does not exist is a text', { at: '2026-02-30' }, 'at: 2026-02-30\n'],
    ['a version is a text', { v: '1.2.3' }, 'v: 1.2.3\n'],
    ['sixties are in quotes', { t: '1:20', u: '1:70' }, 't: "1:20"\nu: 1:70\n'],
    ['truth values of old, too', { n: 'y', y: 'off' }, '"n": "y"\n"y": "off"\n'],
    ['a tab', { a: 'x\ty' }, 'a: "x\\ty"\n'],
    ['a picture', { a: '😀' }, 'a: "\\U0001F600"\n'],
    ['letters of others stay', { ä: '日本' }, 'ä: 日本\n'],
    ['a quote within', { a: "it's", b: "- it's" }, "a: it's\nb: '- it''s'\n"],
    ['a space at an end', { a: ' x', b: 'x ' }, "a: ' x'\nb: 'x '\n"],
    [
      'what begins with syntax',
      { a: '@x', b: '!x', c: '-', d: '-x', e: '? x', f: ':x' },
      "a: '@x'\nb: '!x'\nc: '-'\nd: -x\ne: '? x'\nf: :x\n",
    ],
    ['what holds it', { a: 'x: y', b: 'x #y', c: 'x#y', d: 'x:y' }, "a: 'x: y'\nb: 'x #y'\nc: x#y\nd: x:y\n"],
    [
      'the lines of a text',
      { a: 'x\ny\n', b: 'x\ny', c: 'x\n\n', d: ' x\ny\n' },
      'a: |\n  x\n  y\nb: |-\n  x\n  y\nc: |+\n  x\n\nd: |2\n   x\n  y\n',
    ],
    ['lines that end with spaces', { a: 'x \ny' }, 'a: "x \\ny"\n'],
    ['nothing in it', { a: {}, b: [], c: null, d: '' }, 'a: {}\nb: []\nc: null\nd: ""\n'],
    ['lists in lists', { a: [[1, 2], [{ b: 1, c: [3] }], []] }, 'a:\n- - 1\n  - 2\n- - b: 1\n    c:\n    - 3\n- []\n'],
    ['a list alone', ['a', { b: 'x\ny' }], '- a\n- b: |-\n    x\n    y\n'],
    ['a text alone', 'x', 'x\n'],
    ['a key of many lines', { 'a\nb': [1] }, '? |-\n  a\n  b\n: - 1\n'],
    ['a long key', { ['k'.repeat(129)]: 'v' }, `? ${'k'.repeat(129)}\n: v\n`],
    ['a long text is folded after column 80', { key: words(30) }, `key: ${words(16)}\n  ${words(14)}\n`],
    ['in single quotes, too', { key: `@ ${words(30)}` }, `key: '@ ${words(15)}\n  ${words(15)}'\n`],
    ['and in double quotes', [`\t${words(20)}  x`], `- "\\t${words(16)}\n  ${words(4)}  x"\n`],
    ['where no word ends, it is not', { key: 'x'.repeat(200) }, `key: ${'x'.repeat(200)}\n`],
  ]
  for (const [name, value, text] of table)
    it(name, () => {
      assert.equal(printYaml(value), text)
      assert.deepEqual(parseYaml(text), value)
    })

  it('numbers are whole to the digit, or in the shortest form', () => {
    const printed = [0, -0, 7, -12, 1.5, 123456.5, 1234567.5, 0.0001, 0.00001, 1e18, 1e19, 1e20, 1e21, -1e300, 5e-324].map(printNumber)
    assert.deepEqual(
      printed.join(' '),
      '0 0 7 -12 1.5 123456.5 1.2345675e+06 0.0001 1e-05 1000000000000000000 10000000000000000000 1e+20 1e+21 -1e+300 5e-324',
    )
    assert.equal(
      printYaml(parseYaml('id: 12345678901234567\nids: [18446744073709551615]')),
      'id: 12345678901234567\nids:\n- 18446744073709551615\n',
    )
  })

  it('keys: numbers in them count as numbers, letters come last', () => {
    const keys = ['item10', 'item2', 'item', 'B', 'a', '_x', '10', '9', 'item02', 'item-1', '1.0', 'ä']
    assert.deepEqual(keys.toSorted(compareKeys), ['_x', '1.0', '9', '10', 'B', 'a', 'item', 'item-1', 'item2', 'item02', 'item10', 'ä'])
  })

  it('the order of keys is one', () => {
    const key = fc.string({ unit: fc.constantFrom('0', '1', '2', '9', 'a', 'B', '-', '_', '.'), maxLength: 5 })
    fc.assert(
      fc.property(
        key,
        key,
        (a, b) => Math.sign(compareKeys(a, b)) === -Math.sign(compareKeys(b, a)) && (compareKeys(a, b) === 0) === (a === b),
      ),
    )
  })

  it('any text means the same after it was printed', () => {
    const unit = fc.constantFrom(' ', '  ', '\n', '\t', '-', ':', '#', "'", '"', '\\', 'a', 'word', '😀', '\u2028', '{', '1', '.')
    fc.assert(
      fc.property(
        fc.array(unit, { maxLength: 60 }).map((units) => units.join('')),
        (text) => {
          assert.deepEqual(parseYaml(printYaml({ a: [text], [text]: { b: text } })), { a: [text], [text]: { b: text } })
        },
      ),
    )
  })
})
