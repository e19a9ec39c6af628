import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noteParsed, parsedOf } from './parsed-bytes.ts'

describe('what bytes say', () => {
  it('is made once, when somebody asks, and frozen', () => {
    const bytes = Buffer.from('{"a":{"b":1}}')
    let made = 0
    noteParsed(bytes, () => {
      made++
      return { a: { b: 1 } }
    })
    assert.equal(made, 0)
    const value = parsedOf(bytes) as { a: { b: number } }
    assert.deepEqual(value, { a: { b: 1 } })
    assert.equal(parsedOf(bytes), value)
    assert.equal(made, 1)
    assert.ok(Object.isFrozen(value) && Object.isFrozen(value.a))
  })

  it('is known of these bytes only, not of a part or a copy of them', () => {
    const bytes = Buffer.from('{}')
    noteParsed(bytes, () => ({}))
    assert.equal(parsedOf(bytes.subarray(0)), undefined)
    assert.equal(parsedOf(Buffer.from(bytes)), undefined)
  })
})
