import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import { deepEqual, type Json } from '../../base/json.ts'
import { parseJson, printJson } from './json-document.ts'
import { parseYaml } from './yaml/document.ts'
import { printYaml } from './yaml/print.ts'

describe('JSON in a field', () => {
  const cases: [string, string][] = [
    ['{"b": 1.50, "a": [ 1, -2.0e+10 ]}', '{"b":1.50,"a":[1,-2.0e+10]}'],
    ['{"id": 12345678901234567890}', '{"id":12345678901234567890}'],
    ['{"text": "a 12 \\" 3 \\\\", "n12": "t", "\\u0041": "<&>"}', '{"text":"a 12 \\" 3 \\\\","n12":"t","A":"\\u003c\\u0026\\u003e"}'],
    ['[true, false, null, {}, []]', '[true,false,null,{},[]]'],
    ['{"__proto__": 1}', '{"__proto__":1}'],
    ['{"b": 1, "10": {"z": 1, "2": 2}, "9": 3}', '{"b":1,"10":{"z":1,"2":2},"9":3}'],
    ['{"a": "\\u0041\\/ \\u003c <"}', '{"a":"\\u0041\\/ \\u003c \\u003c"}'],
  ]
  for (const [text, wanted] of cases) it(`${text} loses its spaces alone`, () => assert.equal(printJson(parseJson(text)), wanted))

  it('means the same after it was printed', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value, undefined, 2)
        assert.ok(deepEqual(JSON.parse(printJson(parseJson(text))), JSON.parse(text)))
      }),
    )
  })

  it('may be long', () => {
    const text = JSON.stringify({ a: 'x'.repeat(1_500_000), b: '"'.repeat(100_000) })
    assert.equal(printJson(parseJson(text)), text)
  })

  for (const text of ['{', 'plain', '{"a":1}}', "{'a':1}", '['.repeat(5000)]) {
    it(`${text.slice(0, 10)} is none`, () => assert.throws(() => parseJson(text), /^Error: the text is not JSON: /))
  }
})

/** Other YAML readers handle the largest integers differently. */
const withoutLarge = (_: string, value: unknown): unknown => (typeof value === 'number' && Math.abs(value) > 2 ** 53 ? 0 : value)

describe('YAML in a field', () => {
  it('is printed with sorted keys, lists in line, and quotes where they are needed', () => {
    const text = `
# lost
server:
  listen: 80
  index: [index.html, "yes", '1', "a: b", plain text, ""]
  script: |
    one
    two
  empty: {}
  none: null
`
    assert.equal(
      printYaml(parseYaml(text)),
      `server:
  empty: {}
  index:
  - index.html
  - "yes"
  - "1"
  - 'a: b'
  - plain text
  - ""
  listen: 80
  none: null
  script: |
    one
    two
`,
    )
  })

  it('means the same after it was printed', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (value) => {
        const plain = JSON.parse(JSON.stringify(value), withoutLarge) as Json
        assert.ok(deepEqual(parseYaml(printYaml(plain)), plain))
        assert.ok(deepEqual(parse(printYaml(plain)), plain))
      }),
    )
  })

  it('that is none is refused', () => assert.throws(() => parseYaml('a: [1'), /^Error: the text is not YAML: /))
})
