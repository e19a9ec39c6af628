import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { addAmount, amountOf, amountsOf, plainQuantity, plainSum, printAmount, readAmount } from './amounts.ts'
import { addQuantities, canonicalQuantity, formatQuantity, parseQuantity, quantityOf, scaledValue } from './quantity.ts'

const NAMES = ['cpu', 'memory', 'ephemeral-storage', 'hugepages-2Mi', 'nvidia.com/gpu', 'pods'] as const
const name = fc.constantFrom(...NAMES)
const unit = fc.constantFrom('', '', 'm', 'k', 'M', 'G', 'T', 'P', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'e3', 'u')
const text = fc.tuple(fc.bigInt(0n, 10n ** 17n), fc.constantFrom('', '.5', '.25', '.125', '.0001'), unit).map((parts) => parts.join(''))
const small = fc.tuple(fc.nat(5000), fc.constantFrom('', '.5', '.250'), unit).map((parts) => parts.join(''))
const any = fc.oneof(text, small, fc.nat(10_000).map(String))

const exactly = (resource: string, source: string | number): bigint => scaledValue(parseQuantity(source), resource === 'cpu' ? -3 : 0)
const isBinary = (resource: string): boolean =>
  resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-')

describe('amounts of resources', () => {
  it('are read as quantities are', () => {
    fc.assert(fc.property(name, any, (resource, source) => assert.equal(BigInt(readAmount(resource, source)), exactly(resource, source))))
    for (const source of [0, 1, 1.5, 0.1, 1e20, -2]) assert.equal(BigInt(readAmount('cpu', source)), exactly('cpu', source), `${source}`)
    for (const source of ['007', '+1', '-1', ' 1 ', '1.', '.5'])
      assert.equal(BigInt(readAmount('cpu', source)), exactly('cpu', source), source)
    for (const source of ['', '1x', '1.5.5', '1 m', '1.2345m5', {}, true]) assert.throws(() => readAmount('cpu', source), Error)
  })

  it('are plain numbers where they are compared, and nothing where they cannot be read', () => {
    fc.assert(fc.property(name, any, (resource, source) => assert.equal(amountOf(resource, source), Number(exactly(resource, source)))))
    for (const source of ['', '1x', '1 m']) assert.equal(amountOf('cpu', source), 0, source)
    assert.deepEqual(
      [...amountsOf({ cpu: '1500m', memory: '1Ki', pods: 3, odd: 'x' })],
      [
        ['cpu', 1500],
        ['memory', 1024],
        ['pods', 3],
        ['odd', 0],
      ],
    )
    assert.deepEqual([...amountsOf(undefined)], [])
  })

  it('are printed as quantities are', () => {
    const amount = fc.oneof(
      fc.nat(5000),
      fc.nat(),
      fc.maxSafeNat(),
      fc.nat(5000).map((n) => n * 1000 * 1024),
    )
    fc.assert(
      fc.property(name, amount, (resource, value) => {
        const quantity = quantityOf(value, isBinary(resource) ? 'BinarySI' : 'DecimalSI', resource === 'cpu' ? -3 : 0)
        assert.equal(printAmount(resource, value), formatQuantity(quantity))
        assert.equal(printAmount(resource, BigInt(value)), formatQuantity(quantity))
      }),
    )
  })

  it('are added exactly, however large', () => {
    fc.assert(fc.property(fc.maxSafeInteger(), fc.maxSafeInteger(), (a, b) => assert.equal(BigInt(addAmount(a, b)), BigInt(a) + BigInt(b))))
    assert.equal(addAmount(2n ** 60n, 1), 2n ** 60n + 1n)
  })

  it('in plain form have the sum that quantities have', () => {
    fc.assert(
      fc.property(fc.array(fc.option(any, { nil: undefined }), { maxLength: 4 }), (texts) => {
        const zero = quantityOf(0)
        const sum = texts.reduce((total, one) => (one === undefined ? total : addQuantities(total, parseQuantity(one))), zero)
        const plain = plainSum(texts)
        if (plain !== undefined) assert.equal(plain, formatQuantity({ ...sum, text: undefined } as typeof sum))
      }),
    )
    fc.assert(
      fc.property(any, (one) => {
        const plain = plainQuantity(one)
        if (plain !== undefined) assert.deepEqual({ value: plain }, canonicalQuantity(one))
      }),
    )
    assert.deepEqual(['1500m', '1000m', '1024Mi', '1.500', '0'].map(plainQuantity), ['1500m', '1', '1Gi', undefined, undefined])
    assert.equal(plainSum(['1Gi', undefined, '512Mi']), '1536Mi')
    assert.equal(plainSum(['0.5', '250m']), '750m')
    assert.equal(plainSum([]), '0')
    assert.equal(plainSum(['1e3']), undefined)
    assert.equal(plainSum([5]), undefined)
  })
})
