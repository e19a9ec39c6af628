import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepClone, deepEqual, deepFreeze } from './json.ts'

describe('json values', () => {
  it('treats an undefined key as an absent one', () => {
    assert.ok(deepEqual({ a: 1, b: undefined }, { a: 1 }))
    assert.ok(!deepEqual({ a: 1 }, { a: 1, b: null }))
    assert.ok(!deepEqual([1], { 0: 1 }))
  })

  it('copies to an equal value that shares nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const frozen = deepFreeze(value)
        const copy = deepClone(frozen)
        assert.ok(deepEqual(copy, frozen))
        if (typeof copy === 'object' && copy !== null) assert.notEqual(copy, frozen)
      }),
    )
  })
})
