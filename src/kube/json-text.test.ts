import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { inexactInteger, isInexactInteger, JsonTextError, parseJsonText, refuseInexactIntegers } from './json-text.ts'

const fails = (text: string | Uint8Array, message: string) => assert.throws(() => parseJsonText(text), { name: 'JsonTextError', message })

describe('JSON texts', () => {
  it('reads what JSON.parse reads, whatever the layout', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent)
        const parsed = parseJsonText(` ${text}\n`)
        assert.deepEqual(parsed.value, JSON.parse(text))
        assert.deepEqual(parsed.duplicates, [])
        assert.deepEqual(parseJsonText(text).value, parsed.value)
      }),
    )
  })

  it('keeps keys as data whatever their name', () => {
    for (const text of ['{"__proto__":{"a":1},"constructor":2}', '{ "__proto__": {"a": 1}, "constructor": 2 }']) {
      const { value } = parseJsonText(text)
      assert.deepEqual(Object.keys(value as object), ['__proto__', 'constructor'])
      assert.equal(({} as Record<string, unknown>).a, undefined)
      assert.equal(Object.getPrototypeOf(value), Object.prototype)
    }
  })

  it('names repeated keys in the order of the text, and the last one wins', () => {
    const { value, duplicates, details } = parseJsonText('{"a":{"b":1,"b":2},"l":[{"x":1,"x":1,"x":1}],"a":{"c":3}}')
    assert.deepEqual(value, { a: { c: 3 }, l: [{ x: 1 }] })
    assert.deepEqual(duplicates, ['a.b', 'l[0].x', 'a'])
    assert.deepEqual(
      details?.entries.get(value as object)?.map(([key]) => key),
      ['a', 'l', 'a'],
    )
  })

  it('remembers numbers that say more than their value', () => {
    const { value, details } = parseJsonText('{"a":1.0,"b":1e3,"c":[9007199254740993],"d":5}')
    assert.deepEqual(
      [...(details?.numbers.get(value as object) ?? [])],
      [
        ['a', '1.0'],
        ['b', '1e3'],
      ],
    )
    assert.equal(details?.numbers.size, 2)
    assert.throws(() => refuseInexactIntegers(details), { message: inexactInteger('9007199254740993', '0') })
    assert.equal(parseJsonText('{"a":9007199254740991}').details, undefined)
    assert.ok(!isInexactInteger('18446744073709551616'))
    assert.ok(isInexactInteger('9223372036854775807'))
    assert.throws(() => refuseInexactIntegers(parseJsonText('[1e400]').details), /cannot unmarshal number 1e400/)
  })

  it("complains in Go's words", () => {
    fails('', 'unexpected end of JSON input')
    fails('{', 'unexpected end of JSON input')
    fails('{"a":1} x', "invalid character 'x' after top-level value")
    fails('{a:1}', "invalid character 'a' looking for beginning of object key string")
    fails('{"a" 1}', "invalid character '1' after object key")
    fails('{"a":1 "b"}', "invalid character '\"' after object key:value pair")
    fails('[1 2]', "invalid character '2' after array element")
    fails('[1,]', "invalid character ']' looking for beginning of value")
    fails('tru', "invalid character ' ' in literal true (expecting 'e')")
    fails('nope', "invalid character 'o' in literal null (expecting 'u')")
    fails('-x', "invalid character 'x' in numeric literal")
    fails('1.x', "invalid character 'x' after decimal point in numeric literal")
    fails('1ex', "invalid character 'x' in exponent of numeric literal")
    fails('[01]', "invalid character '1' after array element")
    fails('"a\nb"', "invalid character '\\n' in string literal")
    fails('"\\x"', "invalid character 'x' in string escape code")
    fails('"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape")
    fails("'a'", "invalid character '\\'' looking for beginning of value")
    fails('\ufeff{}', "invalid character 'ï' looking for beginning of value")
  })

  it('replaces bytes that are no UTF-8 and halves of surrogate pairs', () => {
    assert.equal(parseJsonText(Buffer.from([0x22, 0xff, 0x22])).value, '\ufffd')
    assert.equal(parseJsonText('"\\ud800x"').value, '\ufffdx')
    assert.equal(parseJsonText('"\\ud83d\\ude00"').value, '😀')
  })

  it('refuses deep nesting, however it is spelled', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
      [' [', ']'],
    ]) {
      const nested = (levels: number) => `${open?.repeat(levels)}1${close?.repeat(levels)}`
      assert.doesNotThrow(() => parseJsonText(nested(1000)))
      assert.throws(() => parseJsonText(nested(1001)), /exceeded max depth/)
      assert.throws(() => parseJsonText(nested(100_000)), /exceeded max depth/)
    }
  })

  it('refuses any other text with a sentence', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\ \n0123456789.-+eEtrufalsn') }), (text) => {
        let expected: unknown
        try {
          expected = JSON.parse(text, (_key, item) => (item === 0 || item === Infinity || item === -Infinity ? 0 : item))
        } catch {
          assert.throws(() => parseJsonText(text), JsonTextError)
          return
        }
        assert.deepEqual(parseJsonText(text).value, expected)
      }),
      { numRuns: 3000 },
    )
  })
})
