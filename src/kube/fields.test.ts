import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepEqual, deepFreeze } from '../base/json.ts'
import { fieldAt, fieldsAt, listAt, numberAt, textAt, withField, withoutField } from './fields.ts'

const key = fc.constantFrom('a', 'b', '__proto__', 'constructor')
const path = fc.array(key, { minLength: 1, maxLength: 4 })

describe('fields of objects of any kind', () => {
  it('are read without trusting a shape', () => {
    const object = { a: { b: [{ c: 1 }, null, 'x'], d: 'text', n: 3 } }
    assert.deepEqual(listAt(object, 'a', 'b'), [{ c: 1 }])
    assert.equal(textAt(object, 'a', 'd'), 'text')
    assert.equal(textAt(object, 'a', 'n'), undefined)
    assert.equal(numberAt(object, 'a', 'n'), 3)
    assert.deepEqual(fieldsAt(object, 'a', 'd'), {})
    assert.equal(fieldAt(object, 'toString'), undefined)
    assert.equal(fieldAt(null, 'a'), undefined)
  })

  it('are set in a copy that shares what is beside the path', () => {
    const before = deepFreeze({ spec: { replicas: 1, template: { spec: {} } }, other: { x: 1 } })
    const after = withField(before, ['spec', 'replicas'], 2)
    assert.deepEqual(after, { spec: { replicas: 2, template: { spec: {} } }, other: { x: 1 } })
    assert.equal(before.spec.replicas, 1)
    assert.equal(after.other, before.other)
    assert.equal(after.spec.template, before.spec.template)
  })

  it('are what was set, whatever the names, and gone when removed', () => {
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue()), path, fc.jsonValue(), (given, at, value) => {
        const object = deepFreeze(given)
        const set = withField(object, at, value)
        assert.ok(deepEqual(fieldAt(set, ...at), value))
        assert.equal(fieldAt(withoutField(set, ...at), ...at), undefined)
        assert.equal(Object.getPrototypeOf(set), Object.prototype)
      }),
    )
  })

  it('are the same object when there is nothing to remove', () => {
    const object = deepFreeze({ a: { b: 1 } })
    assert.equal(withoutField(object, 'a', 'c'), object)
    assert.equal(withoutField(object, 'x', 'y'), object)
  })
})
