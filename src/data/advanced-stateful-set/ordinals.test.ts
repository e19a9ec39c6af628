import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Ordinals, ordinalsOf } from '../../runtime/workloads/stateful-set/ordinals.ts'
import { aSet } from './testing.ts'

const wanted = (replicas: number, reserveOrdinals: (number | string)[] = [], start = 0): Ordinals =>
  ordinalsOf(aSet({ replicas, reserveOrdinals, ordinals: { start } }))

describe('the ordinals that a set wants', () => {
  const cases: [says: string, ordinals: Ordinals, expected: number[]][] = [
    ['are counted from 0', wanted(3), [0, 1, 2]],
    ['are counted from the first one', wanted(2, [], 5), [5, 6]],
    ['leave out those that are reserved', wanted(2, [0]), [1, 2]],
    ['leave out ranges, also overlapping ones in any order', wanted(3, ['3-5', 1, '4-6', '5']), [0, 2, 7]],
    ['leave out a range that begins before the first', wanted(2, ['0-4'], 3), [5, 6]],
    ['are none without replicas', wanted(0, [1]), []],
    ['are not changed by a reserved ordinal that is out of reach', wanted(2, [2, 9]), [0, 1]],
    ['are not changed by what cannot be read', wanted(2, [-1, 'x', '3-1', '1-', '0-99999999999', '']), [0, 1]],
  ]
  for (const [says, ordinals, expected] of cases) it(says, () => assert.deepEqual([...ordinals], expected))

  it('cost nothing when they are many, and end where names end', () => {
    const huge = wanted(2 ** 31 - 1, ['5-2000000000'])
    assert.ok(huge.has(2_000_000_001))
    assert.ok(!huge.has(7))
    assert.ok(!huge.has(2 ** 31))
    assert.equal(huge.count, 2 ** 31 - (2_000_000_000 - 5 + 1))
    const [first, second] = wanted(2, ['0-1000000000'])
    assert.deepEqual([first, second], [1_000_000_001, 1_000_000_002])
  })

  const reserved = fc.array(
    fc.oneof(
      fc.nat(30),
      fc.tuple(fc.nat(30), fc.nat(5)).map(([from, more]) => `${from}-${from + more}`),
    ),
    { maxLength: 8 },
  )
  const isReserved = (list: readonly (number | string)[], ordinal: number): boolean =>
    list.some((one) => {
      const [from = 0, to = from] = String(one).split('-').map(Number)
      return ordinal >= from && ordinal <= to
    })

  it('are as many as replicas, never reserved, and the smallest', () => {
    fc.assert(
      fc.property(fc.nat(12), reserved, fc.nat(10), (replicas, list, start) => {
        const ordinals = wanted(replicas, list, start)
        const all = [...ordinals]
        assert.equal(all.length, replicas)
        assert.equal(ordinals.count, replicas)
        const naive: number[] = []
        for (let ordinal = start; naive.length < replicas; ordinal++) if (!isReserved(list, ordinal)) naive.push(ordinal)
        assert.deepEqual(all, naive)
        for (let ordinal = 0; ordinal < 100; ordinal++) assert.equal(ordinals.has(ordinal), naive.includes(ordinal))
        for (const [index, ordinal] of all.entries()) assert.equal(ordinals.indexOf(ordinal), index)
      }),
    )
  })

  it('leave all others alone when one write reserves victims and lowers replicas by their number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.nat(5), fc.infiniteStream(fc.nat(20)), (replicas, start, draws) => {
        const before = [...wanted(replicas, [], start)]
        const victims = new Set(before.filter(() => (draws.next().value ?? 0) < 7))
        const after = [...wanted(replicas - victims.size, [...victims], start)]
        assert.deepEqual(
          after,
          before.filter((ordinal) => !victims.has(ordinal)),
        )
        assert.deepEqual([...wanted(replicas, [], start)], before, 'emptied again, the smallest come back')
      }),
    )
  })
})
