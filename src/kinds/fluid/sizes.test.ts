import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { durationText, parseSize, percentText, shortSizeText, sizeText } from './sizes.ts'

const KI = 1024
const MI = KI * KI
const GI = KI * MI

const SIZES: [number, string, string][] = [
  [0, '0.00B', '0B'],
  [1, '1.00B', '1B'],
  [1023, '1023.00B', '1023B'],
  [1024, '1.00KiB', '1KiB'],
  [1152, '1.12KiB', '1.125KiB'],
  [571_232_829, '544.77MiB', '544.8MiB'],
  [2 * GI, '2.00GiB', '2GiB'],
  [1.5 * GI, '1.50GiB', '1.5GiB'],
  [1.0625 * GI, '1.06GiB', '1.062GiB'],
  [1023.9999 * GI, '1024.00GiB', '1024GiB'],
  [100 * 1024 ** 5, '100.00PiB', '100PiB'],
  [4096 * 1024 ** 6, '4096.00EiB', '4096EiB'],
  [-5, '0.00B', '0B'],
  [Number.NaN, '0.00B', '0B'],
]

describe('sizes', () => {
  for (const [bytes, text, short] of SIZES)
    it(`${bytes} bytes are ${text} or ${short}`, () => assert.deepEqual([sizeText(bytes), shortSizeText(bytes)], [text, short]))

  const READ: [string, number | undefined][] = [
    ['17', 17],
    ['1k', KI],
    ['1KB', KI],
    ['1 GiB', GI],
    ['1gb', GI],
    ['0.5m', MI / 2],
    ['544.77MiB', 571_232_747],
    ['2T', 2 * 1024 ** 4],
    ['1EiB', 1024 ** 6],
    ['', undefined],
    ['[Calculating]', undefined],
    ['-1', undefined],
    ['1  GiB', undefined],
    ['1.', undefined],
    ['1e3', undefined],
    ['9'.repeat(200), undefined],
  ]
  for (const [text, bytes] of READ) it(`${JSON.stringify(text.slice(0, 20))} is ${bytes}`, () => assert.equal(parseSize(text), bytes))

  it('are read as they are written, but for the digits that are not', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (bytes) => {
        const read = parseSize(sizeText(bytes))
        assert.ok(read !== undefined && Math.abs(read - bytes) <= Math.max(1, bytes * 0.005))
        const short = parseSize(shortSizeText(bytes))
        assert.ok(short !== undefined && Math.abs(short - bytes) <= Math.max(1, bytes * 0.0005))
      }),
    )
  })
  it('of any text are a number or nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('1', '.', ' ', 'K', 'i', 'b', 'E', '-', '\n') }), (text) => {
        const bytes = parseSize(text)
        assert.ok(bytes === undefined || (Number.isInteger(bytes) && bytes >= 0))
      }),
    )
  })
})

describe('percentages and durations', () => {
  it('have one decimal', () => {
    assert.deepEqual(
      [percentText(0, 10), percentText(1, 3), percentText(1, 8), percentText(49, 400), percentText(10, 10), percentText(0, 0)],
      ['0.0%', '33.3%', '12.5%', '12.2%', '100.0%', '100.0%'],
    )
  })
  it('are whole seconds', () => {
    assert.deepEqual([0, 400, 80_000, 3_600_000, -1].map(durationText), ['0s', '0s', '1m20s', '1h0m0s', '0s'])
  })
})
