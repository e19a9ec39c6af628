import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Json } from '../base/json.ts'
import { parseYamlText, YamlTextError } from './yaml-text.ts'

const value = (text: string): Json => parseYamlText(text).value

describe('YAML as the API server reads it', () => {
  it('resolves plain scalars by YAML 1.1 and go-yaml', () => {
    const cases: [string, Json][] = [
      ['yes', true],
      ['on', true],
      ['n', false],
      ['tRue', 'tRue'],
      ['0777', 511],
      ['0o17', 15],
      ['0x1F', 31],
      ['0b11', 3],
      ['-0777', -511],
      ['08', 8],
      ['1_000', 1000],
      ['1__0', 10],
      ['12:30:45', '12:30:45'],
      ['2024-01-01', '2024-01-01'],
      ['1e3', 1000],
      ['1.', 1],
      ['.5', 0.5],
      ['+.5', 0.5],
      ['-0', 0],
      ['1e400', '1e400'],
      ['0.1.2', '0.1.2'],
      ['0o8', '0o8'],
      ['~', null],
      ['', null],
      ["''", ''],
      ["'1'", '1'],
      ['!!str 1', '1'],
      ['!!int "3"', 3],
      ['!!binary aGk=', 'hi'],
      ['!x b', 'b'],
      ['=', '='],
      ['100000000000000000000000', 1e23],
    ]
    for (const [text, expected] of cases) assert.deepEqual(value(`a: ${text}`), { a: expected }, text)
  })

  it('keeps whole numbers exactly, beside the value', () => {
    const { details, value: parsed } = parseYamlText('a: 9223372036854775807\nb: [18446744073709551615]')
    assert.deepEqual(details?.numbers.get(parsed as object)?.get('a'), '9223372036854775807')
    assert.deepEqual([...(details?.numbers.values() ?? [])].length, 2)
  })

  it('turns keys into text, sorts them and merges', () => {
    assert.deepEqual(value('y: 1\n1: 2\n1.5: 3'), { '1': 2, '1.5': 3, true: 1 })
    assert.deepEqual(Object.keys(value('b: 1\na: 2\n__proto__: 3') as object), ['__proto__', 'a', 'b'])
    assert.deepEqual(value('a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n  b: 3'), { a: { b: 1 }, c: { b: 1 }, d: { b: 3, e: 2 } })
    assert.throws(() => value('~: 1'), /unsupported map key/)
  })

  it('reads the first document only, and nothing as null', () => {
    assert.deepEqual(value('---\na: b\n---\n}{ not yaml'), { a: 'b' })
    assert.equal(value(''), null)
    assert.equal(value('# nothing'), null)
    assert.deepEqual(value('\ufeffa: 1\r\nb: 2\r\n'), { a: 1, b: 2 })
  })

  it('names repeated keys as the strict decoder does', () => {
    assert.deepEqual(parseYamlText('a:\n  b: 1\n  b: 2\nc: 1\nc: 2').strictErrors, [
      'yaml: unmarshal errors:\n  line 3: key "b" already set in map\n  line 5: key "c" already set in map',
    ])
    assert.deepEqual(parseYamlText('y: 1\ntrue: 2').strictErrors, ['yaml: unmarshal errors:\n  line 2: key true already set in map'])
  })

  it("says what is wrong in go-yaml's words", () => {
    const cases: [string, string][] = [
      ['a: [', 'yaml: line 1: did not find expected node content'],
      ['a: {', 'yaml: line 1: did not find expected node content'],
      ['a: b: c', 'yaml: mapping values are not allowed in this context'],
      ['a: 1\n b: 2', 'yaml: line 2: mapping values are not allowed in this context'],
      ['a:\n\t- b', 'yaml: line 2: found character that cannot start any token'],
      ['a: @x', 'yaml: found character that cannot start any token'],
      ['- a\nb: c', "yaml: line 1: did not find expected '-' indicator"],
      ['a: 1\n- b', 'yaml: line 1: did not find expected key'],
      ['data:\n  a: 1\n b: 2\n', 'yaml: line 2: did not find expected key'],
      ['a: "x', 'yaml: found unexpected end of stream'],
      ['a: *x', "yaml: unknown anchor 'x' referenced"],
      ['a: &a [*a]', "yaml: anchor 'a' value contains itself"],
      ['a: [1,2', "yaml: line 1: did not find expected ',' or ']'"],
      ['{a: b', "yaml: line 1: did not find expected ',' or '}'"],
      ['key: [a, b}', "yaml: did not find expected ',' or ']'"],
      ['a: - b', 'yaml: block sequence entries are not allowed in this context'],
      ['a: |\n b\n  c\nd', "yaml: line 5: could not find expected ':'"],
      ['a: "\\q"', 'yaml: found unknown escape character'],
      ['a: \u0001', 'yaml: control characters are not allowed'],
      ['a: .nan', 'json: unsupported value: NaN'],
    ]
    for (const [text, message] of cases) assert.throws(() => value(text), { message }, text)
  })

  it('stays small and shallow', () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefghi'.split('').map((c, i) => `${c}: &${c} [${`*${'abcdefgh'[i]},`.repeat(9)}]`),
    ].join('\n')
    assert.throws(() => value(bomb), /excessive aliasing/)
    assert.throws(() => value('['.repeat(5000)), YamlTextError)
    assert.throws(() => value(`${'['.repeat(5000)}${']'.repeat(5000)}`), YamlTextError)
  })

  it('gives back any JSON, and refuses any other text with a sentence', () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 2, withBigInt: false }), (object) => {
        const json = JSON.parse(JSON.stringify(object)) as Json
        try {
          assert.deepEqual(value(JSON.stringify(json)), json)
        } catch (error) {
          assert.ok(error instanceof YamlTextError && /control characters/.test(error.message), String(error))
        }
      }),
    )
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab:-[]{},&*!|>\'"%@ \n#?<') }), (text) => {
        try {
          value(text)
        } catch (error) {
          assert.ok(error instanceof YamlTextError, `${JSON.stringify(text)}: ${String(error)}`)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
