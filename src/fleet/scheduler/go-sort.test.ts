import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { sortedLikeGo } from './go-sort.ts'
import { heapSort } from './heap.ts'

/** Sorted with the heaviest first: the original position of each. */
const orderOf = (weights: readonly number[]): number[] =>
  sortedLikeGo(
    weights.map((weight, place) => ({ weight, place })),
    (a, b) => a.weight > b.weight,
  ).map(({ place }) => place)

/** Lists of all lengths, with many equals, rising, falling and almost sorted; the same ones that were given to Go. */
function* lists(): Generator<number[]> {
  let seed = 1
  const next = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed >>> 8
  }
  for (let n = 0; n < 4000; n++) {
    let size = (next() % 400) + 1
    if (n % 4 === 0) size = (next() % 30) + 1
    let kinds = (next() % 6) + 1
    if (n % 7 === 0) kinds = 100_000
    const mode = next() % 4
    yield Array.from({ length: size }, (_, i) => {
      const random = next() % kinds
      if (mode === 1) return size - Math.floor(i / kinds)
      if (mode === 2) return Math.floor(i / kinds)
      return mode === 3 && i % 17 !== 0 ? 5 : random
    })
  }
}

describe("the order in which Go's sort leaves a list", () => {
  // Printed by a short program that uses the `sort` package of Go 1.26.
  const table: [string, number[], number[]][] = [
    ['one is lighter than the rest', [1, ...Array<number>(15).fill(5)], [8, 9, 2, 3, 4, 5, 1, 6, 15, 7, 10, 11, 12, 13, 14, 0]],
    [
      'rising in threes',
      [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6],
      [19, 18, 17, 16, 15, 12, 14, 13, 10, 9, 11, 8, 7, 6, 5, 4, 3, 0, 2, 1],
    ],
    ['up to a dozen, equals stay as they were', [1, ...Array<number>(11).fill(5)], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0]],
  ]
  for (const [name, weights, expected] of table) it(name, () => assert.deepEqual(orderOf(weights), expected))

  it('is the same for thousands of lists', () => {
    let hash = 14695981039346656037n
    for (const list of lists()) for (const place of orderOf(list)) hash = BigInt.asUintN(64, (hash ^ BigInt(place)) * 1099511628211n)
    assert.equal(hash, 690485180050341041n)
  })

  it('is an order, and nobody is lost', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 9 }), { maxLength: 300 }), (weights) => {
        const order = orderOf(weights)
        assert.deepEqual(
          order.map((place) => weights[place]),
          [...weights].sort((a, b) => b - a),
        )
        assert.equal(new Set(order).size, weights.length)
      }),
    )
  })

  it('by a heap, only of a part', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 50 }), { minLength: 2 }), fc.nat(), fc.nat(), (list, a, b) => {
        const [begin, end] = [a % list.length, b % list.length].sort((x, y) => x - y) as [number, number]
        const sorted = [...list]
        heapSort(sorted, begin, end, (x, y) => x < y)
        assert.deepEqual(sorted, [...list.slice(0, begin), ...list.slice(begin, end).sort((x, y) => x - y), ...list.slice(end)])
      }),
    )
  })
})
