import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { formatDuration, humanDuration, parseDuration } from './go-duration.ts'
import { goJson, goPrint, goQuote } from './go-print.ts'
import { formatInstant, formatMicroInstant, isZeroTime, parseMicroTime, parseTime, timeToMs } from './go-time.ts'
import { percentOf, scaledIntOrPercent } from './int-or-string.ts'

const LAYOUT = '"2006-01-02T15:04:05Z07:00"'

describe('times', () => {
  const GOOD: [string, string][] = [
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59Z'],
    ['2024-01-01T00:30:00+01:00', '2023-12-31T23:30:00Z'],
    ['2024-01-01T00:00:00.999999999Z', '2024-01-01T00:00:00Z'],
    ['2024-01-01T1:00:00Z', '2024-01-01T01:00:00Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['1969-12-31T23:59:59.5Z', '1969-12-31T23:59:59Z'],
  ]
  for (const [text, written] of GOOD)
    it(`reads ${text}`, () => assert.equal(formatInstant(parseTime(text).value ?? { seconds: 0, nanos: 0 }), written))

  const BAD: [string, string][] = [
    ['yesterday', ` as ${LAYOUT}: cannot parse "yesterday" as "2006"`],
    ['2024-01-01', ` as ${LAYOUT}: cannot parse "" as "T"`],
    ['2024-13-01T00:00:00Z', ': month out of range'],
    ['2023-02-29T00:00:00Z', ': day out of range'],
    ['2024-01-01T24:00:00Z', ': hour out of range'],
    ['2024-01-01T00:00:60Z', ': second out of range'],
    ['2024-01-01T00:00:00', ` as ${LAYOUT}: cannot parse "" as "Z07:00"`],
    ['2024-01-01T00:00:00Zx', ': extra text: "x"'],
  ]
  for (const [text, rest] of BAD)
    it(`refuses ${text} in Go's words`, () => assert.equal(parseTime(text).error, `parsing time "${text}"${rest}`))

  it('wants six decimals of a MicroTime', () => {
    const read = parseMicroTime('2024-01-01T00:00:01.000001Z').value
    assert.equal(read && formatMicroInstant(read), '2024-01-01T00:00:01.000001Z')
    assert.match(parseMicroTime('2024-01-01T00:00:01Z').error ?? '', /cannot parse "Z" as "\.000000"$/)
  })

  it('knows the zero time', () => {
    const zero = parseTime('0001-01-01T00:00:00Z').value
    assert.ok(zero && isZeroTime(zero))
    assert.equal(timeToMs('0001-01-01T00:00:00Z'), undefined)
    assert.equal(timeToMs(null), undefined)
  })

  it('agrees with the platform on every instant', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0100-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true }),
        (date) => {
          assert.equal(timeToMs(date.toISOString()), date.getTime())
          const read = parseTime(date.toISOString()).value
          assert.equal(read && formatInstant(read), `${date.toISOString().slice(0, 19)}Z`)
        },
      ),
    )
  })
})

describe('durations', () => {
  const GOOD: [string, string][] = [
    ['1h', '1h0m0s'],
    ['90m', '1h30m0s'],
    ['1.5s', '1.5s'],
    ['100ms', '100ms'],
    ['1us', '1µs'],
    ['-2m', '-2m0s'],
    ['0', '0s'],
    ['1h1h', '2h0m0s'],
  ]
  for (const [text, written] of GOOD) it(`reads ${text}`, () => assert.equal(formatDuration(parseDuration(text).value ?? -1n), written))

  const BAD: [string, string][] = [
    ['', 'time: invalid duration ""'],
    ['1', 'time: missing unit in duration "1"'],
    ['1x', 'time: unknown unit "x" in duration "1x"'],
    ['h', 'time: invalid duration "h"'],
    ['9999999h', 'time: invalid duration "9999999h"'],
  ]
  for (const [text, message] of BAD) it(`refuses ${JSON.stringify(text)}`, () => assert.equal(parseDuration(text).error, message))

  it('reads its own print', () => {
    fc.assert(fc.property(fc.bigInt(-(2n ** 62n), 2n ** 62n), (d) => assert.equal(parseDuration(formatDuration(d)).value, d)))
  })

  const AGES: [number, string][] = [
    [-2500, '<invalid>'],
    [-1500, '0s'],
    [119, '119s'],
    [45, '45s'],
    [303, '5m3s'],
    [600, '10m'],
    [10_800, '3h'],
    [12_000, '3h20m'],
    [172_800, '2d'],
    [187_200, '2d4h'],
    [86_400 * 400, '400d'],
    [86_400 * 800, '2y70d'],
    [86_400 * 4000, '10y'],
  ]
  for (const [amount, expected] of AGES)
    it(`shows ${amount} as ${expected}`, () => {
      const ms = amount < 0 ? amount : amount * 1000
      assert.equal(humanDuration(ms), expected)
    })
})

describe('int or string', () => {
  it('scales percentages and takes numbers as they are', () => {
    assert.equal(scaledIntOrPercent('25%', 10, true).value, 3)
    assert.equal(scaledIntOrPercent('25%', 10, false).value, 2)
    assert.equal(scaledIntOrPercent(4, 10, false).value, 4)
    assert.equal(percentOf('30%'), 30)
  })

  it("refuses the rest in Go's words", () => {
    assert.equal(scaledIntOrPercent(undefined, 1, true).error, 'nil value for IntOrString')
    assert.equal(scaledIntOrPercent('3', 1, true).error, 'invalid value for IntOrString: invalid type: string is not a percentage')
    assert.equal(
      scaledIntOrPercent('x%', 1, true).error,
      'invalid value for IntOrString: invalid value "x%": strconv.Atoi: parsing "x": invalid syntax',
    )
  })
})

describe('values as Go prints them', () => {
  it('quotes', () => {
    assert.equal(goQuote('a"\\\n\u0001\u007fé\u200b\u{10ffff}'), '"a\\"\\\\\\n\\x01\\x7fé\\u200b\\U0010ffff"')
  })
  it('prints maps sorted, lists by spaces and nothing as nil', () => {
    assert.equal(goPrint({ b: [1, 'x', null], a: { c: 1.5, d: 1234567.5 } }), 'map[a:map[c:1.5 d:1.2345675e+06] b:[1 x <nil>]]')
  })
  it('escapes what could be HTML in JSON', () => {
    assert.equal(goJson({ a: '<&>' }), '{"a":"\\u003c\\u0026\\u003e"}')
  })
})
