import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepFreeze } from '../../../base/json.ts'
import type { EncodeOptions } from './json.ts'
import { run } from './testing.ts'

const encode = (body: string, args: readonly unknown[], options: EncodeOptions): unknown =>
  run(
    body,
    args.map((arg) => deepFreeze(arg)),
  ).json(1, options)
const struct: EncodeOptions = { root: 'struct' }

describe('lua json', () => {
  it('gives back the very same object when nothing changed', () => {
    const object = { kind: 'X', spec: { list: [], map: {}, deep: [{ a: null, b: [[]] }] } }
    assert.equal(
      encode('local n = #arg1.spec.deep; for _ in pairs(arg1.spec) do n = n + 1 end; return arg1', [object], {
        root: 'struct',
        references: [object],
      }),
      object,
    )
  })

  it('copies only what changed', () => {
    const object = { spec: { replicas: 1, template: { a: {} } }, status: { x: [] } }
    const result = encode('arg1.spec.replicas = 5; return arg1', [object], { root: 'struct', references: [object] }) as typeof object
    assert.deepEqual(result, { spec: { replicas: 5, template: { a: {} } }, status: { x: [] } })
    assert.equal(result.spec.template, object.spec.template)
    assert.equal(result.status, object.status)
    assert.equal(object.spec.replicas, 1)
  })

  it('leaves out null and empty fields without references', () => {
    const status = { a: {}, b: [], c: null, d: { e: {}, f: 1 }, g: [{}, { h: 1 }], i: { j: null } }
    assert.deepEqual(encode('return arg1', [status], struct), { d: { f: 1 }, g: [{ h: 1 }] })
  })

  it('an empty result is what is expected', () => {
    assert.deepEqual(encode('return {}', [], struct), {})
    assert.deepEqual(encode('return {}', [], { root: 'list' }), [])
  })

  it('empty tables are repaired by path, indexes left out', () => {
    const observed = { spec: { containers: [{ name: 'a', env: [], security: {} }], volumes: [] } }
    const desired = { spec: { containers: [{ name: 'a' }, { name: 'b' }] } }
    const body = `
      arg1.spec.containers[2].env = {}
      arg1.spec.containers[2].security = {}
      arg1.spec.containers[2].unknown = {}
      arg1.spec.volumes = arg2.spec.volumes
      return arg1`
    assert.deepEqual(encode(body, [desired, observed], { root: 'struct', references: [desired, observed] }), {
      spec: { containers: [{ name: 'a' }, { name: 'b', env: [], security: {} }], volumes: [] },
    })
  })

  it('what is moved to another path is judged there', () => {
    const object = { from: { empty: {} }, to: { kept: 1 } }
    assert.deepEqual(encode('arg1.to.moved = arg1.from.empty; return arg1', [object], { root: 'struct', references: [object] }), {
      from: { empty: {} },
      to: { kept: 1 },
    })
  })

  it('numbers stay whole, and list-like tables are lists', () => {
    assert.equal(
      JSON.stringify(encode('return {n = 3 * 1.0, f = 0.5, l = {1, 2}, o = {a = true}}', [], struct)),
      '{"n":3,"f":0.5,"l":[1,2],"o":{"a":true}}',
    )
  })

  for (const [name, body, message] of [
    ['functions', 'return {f = print}', 'cannot encode function to JSON'],
    ['mixed keys', 'return {1, a = 2}', 'cannot encode mixed or invalid key types'],
    ['gaps', 'return {[1] = 1, [3] = 3, [2] = nil, [5] = 5}', 'cannot encode mixed or invalid key types'],
    ['numbers that are none', 'return {n = 0/0}', 'cannot encode NaN to JSON'],
    ['tables in themselves', 'local t = {}; t.t = t; return t', 'cannot encode recursively nested tables to JSON'],
  ] as const) {
    it(`refuses ${name}`, () => assert.throws(() => encode(body, [], struct), { message }))
  }

  it('hostile keys are keys', () => {
    const object = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as object
    const result = encode('arg1.extra = arg1["__proto__"].polluted; return arg1', [object], struct) as object
    assert.equal(JSON.stringify(result), '{"__proto__":{"polluted":true},"constructor":1,"extra":true}')
    assert.equal(({} as { polluted?: boolean }).polluted, undefined)
    assert.equal(
      encode(
        'return {a = arg1.toString == nil, b = arg1.hasOwnProperty == nil, c = arg1.__proto__ == nil}',
        [{ x: 1 }],
        struct,
      )?.toString(),
      '[object Object]',
    )
    assert.deepEqual(encode('return {a = arg1.toString == nil, b = arg1.length == nil}', [[1]], struct), { a: true, b: true })
  })

  it('any JSON survives the way in and out, read or copied', () => {
    const copy = `
      local function copy(v) if type(v) ~= "table" then return v end local t = {} for k, x in pairs(v) do t[k] = copy(x) end return t end
      return {v = copy(arg1), same = arg1}`
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean())
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('value'), { minLength: 1, maxLength: 4 }),
        fc.dictionary(fc.string(), tie('value'), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
      ),
    }))
    fc.assert(
      fc.property(value, (json) => {
        const plain = JSON.parse(JSON.stringify({ json })) as { json: unknown }
        const result = encode(copy, [plain.json], struct) as { v: unknown; same: unknown }
        assert.deepEqual(JSON.parse(JSON.stringify(result.v)), plain.json)
        assert.deepEqual(JSON.parse(JSON.stringify(result.same)), plain.json)
      }),
    )
  })
})
