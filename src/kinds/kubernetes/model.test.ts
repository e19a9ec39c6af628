import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import messagesText from './facts/messages.facts'
import { messageModel } from './model.ts'

describe('the Go structs of the built-in kinds', () => {
  it('name no type that is neither a struct of the facts nor known by name', () => {
    for (const name of Object.keys(JSON.parse(messagesText) as object)) {
      for (const field of messageModel(name)?.fields ?? assert.fail(name))
        assert.ok(field.kind !== 'message' || field.message !== undefined, `${name}.${field.name} is of a type without facts`)
    }
  })

  it('have no two fields of one JSON name or one number', () => {
    for (const name of Object.keys(JSON.parse(messagesText) as object)) {
      const model = messageModel(name) ?? assert.fail(name)
      assert.equal(model.byName.size, model.fields.length, name)
      assert.equal(model.wireByNumber.size, model.wire.length, name)
    }
  })
})
