import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Fields, shapeOf } from './fields.ts'
import { answerOf } from './testing.ts'

const entriesOf = (fields: Fields): [string, number][] => {
  const entries: [string, number][] = []
  for (let place = 0; place < fields.places; place++) {
    if (fields.valueAt(place) !== undefined) entries.push([fields.keyAt(place) as string, fields.valueAt(place) as number])
  }
  return entries
}

describe('fields of a table', () => {
  it('are a map, whatever is done to them and however they began', () => {
    const key = fc.nat(30).map((n) => `k${n}`)
    const change = fc.tuple(key, fc.option(fc.nat(9), { nil: undefined }))
    fc.assert(
      fc.property(fc.uniqueArray(key), fc.array(change, { maxLength: 200 }), (first, changes) => {
        const shape = shapeOf(first)
        const fields = Fields.withShape(
          shape,
          first.map((_, i) => (i % 3 === 0 ? undefined : i)),
        )
        const twin = Fields.withShape(
          shape,
          first.map(() => 1),
        )
        const known = new Map(first.flatMap((name, i) => (i % 3 === 0 ? [] : [[name, i] as const])))
        for (const [name, value] of changes) {
          if (value === undefined) {
            fields.remove(name)
            known.delete(name)
          } else {
            assert.equal(fields.set(name, value), !known.has(name))
            known.set(name, value)
          }
          assert.equal(fields.get(name), value)
        }
        assert.equal(fields.size, known.size)
        assert.deepEqual(new Map(entriesOf(fields)), known)
        assert.deepEqual(
          entriesOf(twin),
          first.map((name) => [name, 1]),
        )
      }),
    )
  })

  it('do not keep the places of fields that were removed', () => {
    const fields = Fields.empty()
    for (let i = 0; i < 10_000; i++) {
      fields.set(`k${i}`, i)
      if (i >= 3) fields.remove(`k${i - 3}`)
    }
    assert.deepEqual(
      entriesOf(fields).map(([name]) => name),
      ['k9997', 'k9998', 'k9999'],
    )
    assert.ok(fields.places < 50, `${fields.places} places`)
  })

  it('may be removed while a script walks over them', () => {
    const walk = (how: string) => `
      local t = { a = 1, b = 2, c = 3 }
      t.d = 4
      local seen = ""
      ${how}
      return seen .. tostring(next(t))`
    assert.equal(answerOf(walk('for key in pairs(t) do seen = seen .. key; t[key] = nil end')), 'abcdnil')
    assert.equal(answerOf(walk('local k = next(t); while k do seen = seen .. k; t[k] = nil; k = next(t, k) end')), 'abcdnil')
  })

  it('of constructors are nobody else’s', () => {
    const script = `
      local function make() return { a = 1, b = nil, ["c"] = 3 } end
      local first, second = make(), make()
      first.x, first.a = 9, 8
      local keys = ""
      for key, value in pairs(second) do keys = keys .. key .. value end
      return { first = first, keys = keys }`
    assert.deepEqual(answerOf(script), { first: { a: 8, c: 3, x: 9 }, keys: 'a1c3' })
    assert.deepEqual(answerOf('return { a = 1, a = 2 }'), { a: 2 })
  })
})
