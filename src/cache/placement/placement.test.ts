import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { fileIdOf } from '../protocol/file.ts'
import type { WorkerEntry } from '../protocol/membership.ts'
import { createPlacement, logarithm } from './placement.ts'

const KEY = Buffer.alloc(32, 3)
const worker = (i: number, weight = 2 ** 30): WorkerEntry => ({
  name: `demo-worker-${i}`,
  address: `10.0.0.${i}:19451`,
  node: `n${i}`,
  state: 'serving',
  weight,
})
const workers = (count: number) => Array.from({ length: count }, (_, i) => worker(i))
/** Eight blocks of each file; ids are hex of 128 bits, as those of real files. */
const blocks = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ fileId: fileIdOf(KEY, `/f${i >> 3}`), version: '01'.repeat(8), index: i & 7 }))
const sharesOf = (all: readonly WorkerEntry[], count: number) => {
  const placement = createPlacement(all)
  const shares = new Map(all.map(({ name }) => [name, 0]))
  for (const key of blocks(count)) {
    const [owner] = placement.ownersOf(key, 1)
    shares.set(owner?.name ?? '', (shares.get(owner?.name ?? '') ?? 0) + 1 / count)
  }
  return shares
}

describe('placement', () => {
  it('spreads blocks evenly over ten workers: ±3 %', () => {
    for (const [name, share] of sharesOf(workers(10), 60_000)) assert.ok(Math.abs(share * 10 - 1) < 0.03, `${name} has ${share}`)
  })

  it('gives shares in proportion to weights', () => {
    const all = [1, 2, 3, 4].map((n) => worker(n, n * 2 ** 30))
    for (const [name, share] of sharesOf(all, 40_000))
      assert.ok(Math.abs((share * 10) / Number(name.at(-1)) - 1) < 0.05, `${name} has ${share}`)
  })

  it('moves no block whose worker stays, whoever leaves, and to a newcomer only what becomes its own', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2 ** 40 }), { minLength: 2, maxLength: 8 }),
        fc.nat(),
        fc.integer({ min: 1, max: 3 }),
        (weights, pick, count) => {
          const all = weights.map((weight, i) => worker(i, weight))
          const gone = all[pick % all.length]
          const [before, after] = [createPlacement(all), createPlacement(all.filter((w) => w !== gone))]
          for (const key of blocks(24)) {
            const stay = before.ownersOf(key, all.length).filter((w) => w !== gone)
            assert.deepEqual(after.ownersOf(key, count), stay.slice(0, count))
          }
        },
      ),
    )
  })

  it('is the same whatever the order of the workers, and on every machine', () => {
    const all = workers(5)
    const key = { fileId: 'ab'.repeat(16), version: '01'.repeat(8), index: 3 }
    const names = (of: WorkerEntry[]) =>
      createPlacement(of)
        .ownersOf(key, 9)
        .map(({ name }) => name.at(-1))
        .join('')
    assert.equal(names(all), names([...all].reverse()))
    assert.equal(names(all), '21430', 'a change of this order moves every block of every cache')
  })

  it('only those that serve own blocks, and with nobody there is no owner', () => {
    const [key] = blocks(1)
    assert.ok(key !== undefined)
    assert.deepEqual(createPlacement([]).ownersOf(key, 1), [])
    assert.deepEqual(createPlacement([{ ...worker(1), state: 'leaving' }, worker(2, Number.NaN)]).ownersOf(key, 3), [worker(2, Number.NaN)])
  })

  it('the logarithm is one', () => {
    fc.assert(
      fc.property(fc.double({ min: 2 ** -53, max: 1 - 2 ** -53, noNaN: true }), (x) => {
        assert.ok(Math.abs(logarithm(x) - Math.log(x)) <= 1e-13 * Math.max(1, Math.abs(Math.log(x))))
      }),
    )
  })
})
