import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepClone, type JsonObject } from '../../base/json.ts'
import { fieldErrorMessage } from '../../kube/field-error.ts'
import type { Schema } from '../../kube/schema.ts'
import { compileStructural } from './structural.ts'

const wide: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      default: {},
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 4, pattern: '^[a-z]*$', default: 'x' },
        when: { type: 'string', format: 'date-time' },
        count: { type: 'integer', format: 'int32', minimum: 0, maximum: 10.5 },
        ratio: { type: 'number', multipleOf: 0.1, nullable: true },
        port: { 'x-kubernetes-int-or-string': true },
        mode: { type: 'string', enum: ['A', 'B'], default: 'A' },
        free: { 'x-kubernetes-preserve-unknown-fields': true },
        keep: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { known: { type: 'object', properties: { z: { type: 'string' } } } },
        },
        any: { type: 'object', additionalProperties: true },
        none: { type: 'object', additionalProperties: false },
        tags: { type: 'object', additionalProperties: { type: 'object', properties: { p: { type: 'integer', default: 1 } } } },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        map: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', required: ['k'], properties: { k: { type: 'string' }, v: { type: 'integer', maximum: 3 } } },
        },
        pod: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
        one: {
          type: 'object',
          properties: { a: { type: 'string' }, b: { type: 'string' } },
          oneOf: [{ required: ['a'] }, { required: ['b'] }],
          not: { required: ['a', 'b'] },
        },
      },
    },
    status: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } },
  },
}

const structural = compileStructural(wide)
const object = (spec: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'g/v1',
  kind: 'K',
  metadata: { name: 'n' },
  spec,
  ...more,
})
const errorsOf = (value: JsonObject, old?: JsonObject) => structural.validateValues(value, old).map(fieldErrorMessage)

describe('structural schemas', () => {
  it('prunes what is not named, and says where it was', () => {
    const value = object(
      {
        zz: 1,
        keep: { any: { x: 1 }, known: { z: 'a', gone: 1 } },
        any: { a: { nested: 1 } },
        free: { x: [{ y: null }] },
        tags: { t: { p: 1, q: 2 } },
        map: [{ k: 'a', extra: 1 }],
        pod: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', odd: 1 }, spec: {} },
      },
      { top: 1, metadata: { name: 'n', odd: 1, labels: {} } },
    )
    const { unknown } = structural.coerce(value)
    assert.deepEqual(unknown, [
      'metadata.odd',
      'spec.any.a.nested',
      'spec.keep.known.gone',
      'spec.map[0].extra',
      'spec.tags.t.q',
      'spec.zz',
      'top',
      'spec.pod.metadata.odd',
    ])
    assert.deepEqual(value.metadata, { name: 'n' })
    assert.deepEqual((value.spec as JsonObject).free, { x: [{ y: null }] })
  })

  it('cannot decode malformed metadata', () => {
    assert.match(
      structural.coerce(object({}, { metadata: { name: 5 } })).error ?? '',
      /cannot unmarshal number into Go struct field .*name of type string/,
    )
    assert.match(structural.coerce(object({ pod: { kind: 5 } })).error ?? '', /^spec\.pod\.kind: Invalid value: 5: must be a string$/)
  })

  it('speaks as the real validator does', () => {
    const said = (spec: JsonObject) => errorsOf(object({ name: 'a', ...spec }))
    assert.deepEqual(said({ count: 11 }), [
      '<nil>: Invalid value: "": Maximum boundary value must be of type integer with format int32 in spec.count',
      'spec.count: Invalid value: 11: spec.count in body should be less than or equal to 10.5',
    ])
    assert.deepEqual(said({ when: 5 }), ['spec.when: Invalid value: "int64": spec.when in body must be of type date-time: "int64"'])
    assert.deepEqual(said({ none: { a: 1 } }), ['spec.none: Invalid value: "a": spec.none.a in body is a forbidden property'])
    assert.deepEqual(said({ one: { a: '', b: '' } }), [
      '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives',
      '<nil>: Invalid value: "": "spec.one" must not validate the schema (not)',
    ])
    assert.deepEqual(said({ ratio: 0.3 }), [])
    assert.deepEqual(said({ ratio: 0.25 }), ['spec.ratio: Invalid value: 0.25: spec.ratio in body should be a multiple of 0.1'])
    assert.deepEqual(said({ mode: null }), [
      'spec.mode: Invalid value: "null": spec.mode in body must be of type string: "null"',
      'spec.mode: Unsupported value: null: supported values: "A", "B"',
    ])
    assert.deepEqual(structural.validateStatusValues(object({}, { status: { n: 0 } }), object({})).map(fieldErrorMessage), [
      'status.n: Invalid value: 0: n in body should be greater than or equal to 1',
    ])
  })

  it('forgives on update what was already wrong and did not change', () => {
    const bad = object({ name: 'a', count: 99, map: [{ k: 'x', v: 9 }], set: ['a', 'a'] })
    assert.equal(errorsOf(bad).length, 3)
    assert.deepEqual(errorsOf({ ...bad, metadata: { name: 'n', labels: { a: 'b' } } }, bad), [])
    const moved = object({
      name: 'a',
      count: 99,
      map: [
        { k: 'new', v: 1 },
        { k: 'x', v: 9 },
      ],
      set: ['a', 'a'],
    })
    assert.deepEqual(errorsOf(moved, bad), [])
    const worse = object({ name: 'a', count: 98, map: [{ k: 'x', v: 9 }], set: ['a', 'a', 'a'] })
    assert.equal(errorsOf(worse, bad).length, 2)
    assert.deepEqual(structural.validateListTypes(worse, bad), [])
    assert.equal(structural.validateListTypes(worse).length, 1)
  })

  it('never throws, and pruning and defaulting settle at once, on any JSON', () => {
    const key = fc.oneof(
      fc.constantFrom(
        'apiVersion',
        'kind',
        'metadata',
        'spec',
        'status',
        'name',
        'tags',
        'map',
        'pod',
        'keep',
        'known',
        'k',
        '__proto__',
        'constructor',
      ),
      fc.string(),
    )
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, true, 0, -1, 1.5, 1e300, '', 'a', '2024-01-01T00:00:00Z'),
        fc.string(),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(key, tie('value'), { maxKeys: 6 }),
    }))
    fc.assert(
      fc.property(fc.dictionary(key, value, { maxKeys: 6 }), (raw) => {
        const once = JSON.parse(JSON.stringify(raw)) as JsonObject
        if (structural.coerce(once).error !== undefined) return
        structural.applyDefaults(once)
        const twice = deepClone(once)
        assert.deepEqual(structural.coerce(twice), { unknown: [] })
        structural.applyDefaults(twice)
        assert.deepEqual(twice, once)
        for (const error of [
          ...structural.validateValues(once),
          ...structural.validateEmbedded(once),
          ...structural.validateListTypes(once),
        ])
          assert.equal(typeof fieldErrorMessage(error), 'string')
        assert.deepEqual(structural.validateValues(once, once), [])
        assert.equal(Object.getPrototypeOf(once), Object.prototype)
      }),
      { numRuns: 500 },
    )
  })
})
