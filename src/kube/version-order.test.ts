import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { compareVersions } from './version-order.ts'

const ORDERED = [
  'v10',
  'v2',
  'v1',
  'v0',
  'v11beta2',
  'v10beta3',
  'v3beta1',
  'v1beta0',
  'v12alpha1',
  'v11alpha2',
  'foo1',
  'foo10',
  'v',
  'v1beta',
]

describe('compareVersions', () => {
  it("sorts as Kubernetes' documentation does, from any order", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(ORDERED, { minLength: ORDERED.length }), (shuffled) => {
        assert.deepEqual([...shuffled].sort(compareVersions), ORDERED)
      }),
    )
  })

  it('is an order: antisymmetric, and equal only to what says the same', () => {
    const version = fc.oneof(fc.constantFrom(...ORDERED), fc.string({ maxLength: 5 }))
    fc.assert(
      fc.property(version, version, (a, b) => {
        assert.equal(Math.sign(compareVersions(a, b)) + Math.sign(compareVersions(b, a)), 0)
        // Except for leading zeros, which are insignificant.
        if (!/0\d/.test(a) && !/0\d/.test(b)) assert.equal(compareVersions(a, b) === 0, a === b)
      }),
    )
  })
})
