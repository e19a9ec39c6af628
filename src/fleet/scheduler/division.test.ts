import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { divideByWeight, divideInOrder } from './division.ts'

const weighted = (weights: Record<string, number>) => Object.entries(weights).map(([name, weight]) => ({ name, weight }))
const sharesOf = (target: number, weights: Record<string, number>, uid?: string): Record<string, number> =>
  Object.fromEntries(divideByWeight(target, weighted(weights), uid).map(({ name, replicas }) => [name, replicas]))

describe('division by weight', () => {
  const table: [string, number, Record<string, number>, string | undefined, Record<string, number>][] = [
    ['9 over 1:2', 9, { a: 1, b: 2 }, undefined, { a: 3, b: 6 }],
    ['9 over 1:3', 9, { a: 1, b: 3 }, undefined, { a: 2, b: 7 }],
    ['a tie without a uid goes to the first name', 5, { m1: 1, m2: 1 }, undefined, { m1: 3, m2: 2 }],
    ['and with an empty one', 5, { m1: 1, m2: 1 }, '', { m1: 3, m2: 2 }],
    ['a tie with an odd uid goes to the last name', 5, { m1: 1, m2: 1 }, 'uid-a', { m1: 2, m2: 3 }],
    ['a tie with an even uid goes to the first name', 5, { m1: 1, m2: 1 }, 'uid-b', { m1: 3, m2: 2 }],
    ['10 over 1:1:1', 10, { a: 1, b: 1, c: 1 }, undefined, { a: 4, b: 3, c: 3 }],
    ['7 over 3:2:1', 7, { a: 3, b: 2, c: 1 }, undefined, { a: 4, b: 2, c: 1 }],
    ['2 over 10:1:1', 2, { a: 10, b: 1, c: 1 }, undefined, { a: 2, b: 0, c: 0 }],
    ['12 over 18:12:6', 12, { a: 18, b: 12, c: 6 }, undefined, { a: 6, b: 4, c: 2 }],
    ['nobody gets anything for nothing', 0, { a: 1, b: 2 }, undefined, { a: 0, b: 0 }],
    ['who has no weight gets nothing', 4, { a: 0, b: 2, c: -1 }, undefined, { a: 0, b: 4, c: 0 }],
    ['nothing is given when nobody has a weight', 4, { a: 0, b: 0 }, undefined, { a: 0, b: 0 }],
    ['names decide, not the order in which they come', 3, { z: 1, a: 1 }, undefined, { a: 2, z: 1 }],
    ['a tie between unequal weights goes to who has fewer seats', 2, { a: 3, b: 1 }, undefined, { a: 1, b: 1 }],
  ]
  for (const [name, target, weights, uid, expected] of table) it(name, () => assert.deepEqual(sharesOf(target, weights, uid), expected))

  it('takes no longer for two billion replicas', () => {
    const shares = sharesOf(2 ** 31 - 1, { a: 5, b: 3, c: 1 })
    assert.equal(
      Object.values(shares).reduce((sum, count) => sum + count),
      2 ** 31 - 1,
    )
  })
})

/** Seat by seat, as the method is defined. */
function seatBySeat(target: number, weights: readonly number[], isDescending: boolean): number[] {
  const seats = weights.map(() => 0)
  if (weights.every((weight) => weight <= 0)) return seats
  for (let left = target; left > 0; left--) {
    let best = -1
    for (const [i, weight] of weights.entries()) {
      if (weight <= 0) continue
      if (best < 0) {
        best = i
        continue
      }
      const own = weight / (2 * (seats[i] as number) + 1)
      const other = (weights[best] as number) / (2 * (seats[best] as number) + 1)
      const isFewer = (seats[i] as number) < (seats[best] as number)
      const isEven = seats[i] === seats[best]
      if (own > other || (own === other && (isFewer || (isEven && isDescending)))) best = i
    }
    seats[best] = (seats[best] as number) + 1
  }
  return seats
}

const aWeights = fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 9 })
const aTarget = fc.nat({ max: 300 })
const aUid = fc.constantFrom('', 'uid-a', 'uid-b')
const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0)

describe('division as a law', () => {
  it('is the method, seat by seat', () => {
    fc.assert(
      fc.property(aTarget, aWeights, aUid, (target, weights, uid) => {
        assert.deepEqual(divideInOrder(target, weights, uid), seatBySeat(target, weights, uid === 'uid-a'))
      }),
      { numRuns: 1000 },
    )
  })

  it('gives away exactly what there is', () => {
    fc.assert(
      fc.property(aTarget, aWeights, aUid, (target, weights, uid) => {
        assert.equal(sum(divideInOrder(target, weights, uid)), sum(weights) === 0 ? 0 : target)
      }),
    )
  })

  it('takes from nobody when there is more to give', () => {
    fc.assert(
      fc.property(aTarget, aWeights, aUid, (target, weights, uid) => {
        const more = divideInOrder(target + 1, weights, uid)
        for (const [i, seats] of divideInOrder(target, weights, uid).entries()) assert.ok((more[i] as number) >= seats)
      }),
    )
  })

  it('gives nobody with more weight less', () => {
    fc.assert(
      fc.property(aTarget, aWeights, aUid, (target, weights, uid) => {
        const seats = divideInOrder(target, weights, uid)
        for (const [i, weight] of weights.entries())
          for (const [j, other] of weights.entries()) if (weight > other) assert.ok((seats[i] as number) >= (seats[j] as number))
      }),
    )
  })

  it('gives whole quotas exactly', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 30 }),
        (weights, times) => {
          assert.deepEqual(
            divideInOrder(sum(weights) * times, weights, undefined),
            weights.map((weight) => weight * times),
          )
        },
      ),
    )
  })

  it('stays within the quota between two', () => {
    fc.assert(
      fc.property(aTarget, fc.tuple(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 99 })), (target, weights) => {
        const seats = divideInOrder(target, weights, undefined)
        for (const [i, weight] of weights.entries()) {
          const quota = (target * weight) / sum(weights)
          assert.ok(Math.abs((seats[i] as number) - quota) < 1, `${seats} for ${weights} of ${target}`)
        }
      }),
    )
  })

  it('does not look at the order in which clusters come', () => {
    const parties = fc.uniqueArray(fc.record({ name: fc.stringMatching(/^[a-z]{1,4}$/), weight: fc.nat({ max: 30 }) }), {
      selector: ({ name }) => name,
      minLength: 1,
    })
    const shuffled = parties.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })))
    fc.assert(
      fc.property(aTarget, shuffled, aUid, (target, [list, other], uid) => {
        assert.deepEqual(divideByWeight(target, list, uid), divideByWeight(target, other, uid))
      }),
    )
  })
})
