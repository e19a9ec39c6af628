import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { countIndexes, countShared, firstMissing, formatIntervals, hasIndex, intervalsOf, parseIntervals, union } from './intervals.ts'

const indexSets = fc.uniqueArray(fc.nat(30), { maxLength: 20 })

describe('intervals of indexes', () => {
  for (const [indexes, text] of [
    [[], ''],
    [[3], '3'],
    [[4, 3], '3,4'],
    [[0, 1, 2, 5, 7, 8], '0-2,5,7,8'],
  ] as const)
    it(`writes ${JSON.stringify(indexes)} as "${text}"`, () => assert.equal(formatIntervals(intervalsOf(indexes)), text))

  it('reads what it can', () => {
    assert.deepEqual(parseIntervals('0,2-4,x,7-,9-8,-1,12-99', 20), [
      { first: 0, last: 0 },
      { first: 2, last: 4 },
      { first: 12, last: 19 },
    ])
    assert.deepEqual(parseIntervals(undefined, 5), [])
    assert.deepEqual(parseIntervals('5,6', 5), [])
  })

  it('is a set', () => {
    fc.assert(
      fc.property(indexSets, indexSets, fc.nat(35), fc.nat(40), (left, right, count, completions) => {
        const [a, b] = [intervalsOf(left), intervalsOf(right)]
        const both = new Set([...left, ...right])
        assert.deepEqual(union(a, b), intervalsOf(both))
        assert.equal(countIndexes(union(a, b)), both.size)
        assert.equal(countShared(a, b), left.filter((index) => right.includes(index)).length)
        for (let index = 0; index < 32; index++) assert.equal(hasIndex(a, index), left.includes(index))
        assert.deepEqual(parseIntervals(formatIntervals(a), 31), a)
        const missing = Array.from({ length: completions }, (_, index) => index).filter((index) => !left.includes(index))
        assert.deepEqual(firstMissing(a, count, completions), missing.slice(0, count))
      }),
    )
  })
})
