import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createPatch } from 'rfc6902'
import { deepEqual, deepFreeze, isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { StatusError } from '../status.ts'
import { parseJsonPatch, parseObjectPatch } from './decode.ts'
import { applyJsonPatch } from './json-patch.ts'
import { applyMergePatch } from './merge-patch.ts'

const jsonPatch = (document: Json, operations: unknown): Json =>
  applyJsonPatch(deepFreeze(document), parseJsonPatch(JSON.stringify(operations)))
const mergePatch = (document: Json, patch: unknown): Json => applyMergePatch(deepFreeze(document), parseObjectPatch(JSON.stringify(patch)))

const refusal = (code: number, message: RegExp) => (error: unknown) =>
  error instanceof StatusError && error.code === code && message.test(error.message)

/** Objects without nulls at any level of maps: what the API stores, and what a merge patch can express. */
const { documents } = fc.letrec<{ value: Json; documents: JsonObject }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, fc.constantFrom<Json>(0, 1, 'x', true), fc.array(fc.nat(3), { maxLength: 3 }), tie('documents')),
  documents: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'x/y', 'm~n', ''), tie('value'), { maxKeys: 4 }),
}))

describe('JSON patch', () => {
  const APPLIED: [string, Json, unknown, Json][] = [
    ['adds a key', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
    ['replaces an absent key', {}, [{ op: 'replace', path: '/a', value: 1 }], { a: 1 }],
    ['inserts into a list', { l: [1, 3] }, [{ op: 'add', path: '/l/1', value: 2 }], { l: [1, 2, 3] }],
    ['appends to a list', { l: [1] }, [{ op: 'add', path: '/l/-', value: 2 }], { l: [1, 2] }],
    ['counts from the end', { l: [1, 2] }, [{ op: 'remove', path: '/l/-1' }], { l: [1] }],
    ['unescapes keys', { 'x/y~z': 1 }, [{ op: 'remove', path: '/x~1y~0z' }], {}],
    ['moves', { a: { b: 1 } }, [{ op: 'move', from: '/a/b', path: '/c' }], { a: {}, c: 1 }],
    [
      'copies without sharing',
      { a: { b: 1 } },
      [
        { op: 'copy', from: '/a', path: '/c' },
        { op: 'add', path: '/c/d', value: 2 },
      ],
      { a: { b: 1 }, c: { b: 1, d: 2 } },
    ],
    ['sets null for a missing value', {}, [{ op: 'add', path: '/a' }], { a: null }],
    ['takes a missing key for null in a test', {}, [{ op: 'test', path: '/a', value: null }], {}],
    ['tests deeply', { a: { b: [1] } }, [{ op: 'test', path: '/a', value: { b: [1] } }], { a: { b: [1] } }],
    ['replaces everything', { a: 1 }, [{ op: 'replace', path: '', value: { b: 1 } }], { b: 1 }],
    ['does nothing for null', { a: 1 }, null, { a: 1 }],
  ]
  for (const [what, document, operations, result] of APPLIED) it(what, () => assert.deepEqual(jsonPatch(document, operations), result))

  const FAILING: [string, unknown][] = [
    ['removing what is absent', { op: 'remove', path: '/zz' }],
    ['a path through a scalar', { op: 'add', path: '/a/b', value: 1 }],
    ['a path through null', { op: 'add', path: '/n/b', value: 1 }],
    ['an index out of range', { op: 'add', path: '/l/5', value: 1 }],
    ['an index that is none', { op: 'add', path: '/l/x', value: 1 }],
    ['a test that does not hold', { op: 'test', path: '/a', value: 2 }],
    ['an unknown operation', { op: 'zap', path: '/a' }],
    ['no path', { op: 'add', value: 1 }],
    ['adding at the root', { op: 'add', path: '', value: {} }],
    ['moving a parent into its child', { op: 'move', from: '/o', path: '/o/x' }],
    ['null for an operation', null],
  ]
  for (const [what, operation] of FAILING)
    it(`answers 422 to ${what}`, () =>
      assert.throws(
        () => jsonPatch({ a: 1, n: null, l: [1], o: {} }, [operation]),
        refusal(422, /^the server rejected our request due to an error in our request$/),
      ))

  it('refuses what is no patch', () => {
    assert.throws(
      () => parseJsonPatch('{"op":"add"}'),
      refusal(400, /^error decoding patch: json: cannot unmarshal object into Go value of type \[\]handlers\.jsonPatchOp$/),
    )
    assert.throws(() => parseJsonPatch('["x"]'), refusal(400, /cannot unmarshal string into Go value of type handlers\.jsonPatchOp$/))
    assert.throws(
      () => parseJsonPatch('[{"path":1}]'),
      refusal(400, /cannot unmarshal number into Go struct field jsonPatchOp\.path of type string$/),
    )
    assert.throws(() => parseJsonPatch('[{'), refusal(400, /^error decoding patch: unexpected end of JSON input$/))
  })

  it('notes fields an operation does not have, and repeated ones', () => {
    assert.deepEqual(parseJsonPatch('[{"op":"test","path":"/a","x":1,"op":"test"}]').strictErrors, [
      'json patch duplicate field "[0].op"',
      'json patch unknown field "[0].x"',
    ])
  })

  it('allows ten thousand operations and not one more', () => {
    const operations = (n: number) => Array.from({ length: n }, () => ({ op: 'test', path: '/a', value: 1 }))
    assert.deepEqual(jsonPatch({ a: 1 }, operations(10_000)), { a: 1 })
    assert.throws(
      () => jsonPatch({ a: 1 }, operations(10_001)),
      refusal(413, /^Request entity is too large: The allowed maximum operations in a JSON patch is 10000, got 10001$/),
    )
  })

  it('does not let copies double without end', () => {
    const operations = Array.from({ length: 60 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }))
    assert.throws(() => jsonPatch({ a: ['x'] }, operations), refusal(422, /rejected/))
  })

  it('applies the difference of two documents', () => {
    fc.assert(
      fc.property(documents, documents, (before, after) => {
        // createPatch skips __proto__, as it should; ours must not.
        fc.pre(!mentionsProto(before) && !mentionsProto(after))
        assert.ok(deepEqual(jsonPatch(before, createPatch(before, after)), after))
      }),
    )
  })

  it('never changes a prototype', () => {
    const result = jsonPatch({}, [
      { op: 'add', path: '/__proto__', value: { polluted: 1 } },
      { op: 'add', path: '/__proto__/more', value: 2 },
    ])
    assert.ok(isJsonObject(result) && Object.hasOwn(result, '__proto__'))
    assert.equal(JSON.stringify(result), '{"__proto__":{"more":2,"polluted":1}}')
    assert.equal(Reflect.get({}, 'polluted'), undefined)
    assert.throws(() => jsonPatch({}, [{ op: 'add', path: '/constructor/prototype/x', value: 1 }]), refusal(422, /rejected/))
  })

  it('shares what it did not touch', () => {
    const untouched = { deep: [1] }
    const result = jsonPatch({ a: 1, untouched }, [{ op: 'replace', path: '/a', value: 2 }])
    assert.equal(isJsonObject(result) && result.untouched, untouched)
  })
})

const mentionsProto = (value: Json | undefined): boolean =>
  isJsonObject(value)
    ? Object.entries(value).some(([key, item]) => key === '__proto__' || mentionsProto(item))
    : Array.isArray(value) && value.some(mentionsProto)

/** The merge patch that leads from one document to another. */
function difference(before: JsonObject, after: JsonObject): JsonObject {
  const patch = new Map<string, Json>()
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) patch.set(key, null)
  for (const [key, value = null] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined
    if (isJsonObject(value) && isJsonObject(old)) patch.set(key, difference(old, value))
    else if (!deepEqual(old, value)) patch.set(key, value)
  }
  return Object.fromEntries(patch)
}

describe('merge patch', () => {
  const APPLIED: [string, Json, unknown, Json][] = [
    ['sets and removes', { a: 1, b: 2 }, { a: 3, b: null, c: null }, { a: 3 }],
    ['merges objects', { a: { x: 1, y: 2 } }, { a: { x: null, z: 3 } }, { a: { y: 2, z: 3 } }],
    ['replaces lists', { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ['drops nulls of what is new', {}, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    ['drops nulls inside lists that replace lists', { a: [] }, { a: [{ b: null, c: 1 }, null] }, { a: [{ c: 1 }, null] }],
    ['keeps nulls inside a list that replaces an object', { a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }],
    ['fills in for null', { a: null }, { a: { b: 1 } }, { a: { b: 1 } }],
  ]
  for (const [what, document, patch, result] of APPLIED) it(what, () => assert.deepEqual(mergePatch(document, patch), result))

  it('refuses what is no patch', () => {
    assert.throws(
      () => parseObjectPatch('[1]'),
      refusal(400, /^error decoding patch: json: cannot unmarshal array into Go value of type map\[string\]interface \{\}$/),
    )
    assert.throws(() => parseObjectPatch('{"data":'), refusal(400, /^error decoding patch: unexpected end of JSON input$/))
    assert.throws(() => parseObjectPatch('null'), refusal(400, /^Invalid JSON Patch$/))
    assert.throws(() => parseObjectPatch('[1]', 'strategic'), refusal(400, /^json: cannot unmarshal array into Go value of type map/))
  })

  it('applies the difference of two documents', () => {
    fc.assert(
      fc.property(documents, documents, (before, after) => {
        const patch = JSON.stringify(difference(before, after))
        assert.ok(deepEqual(applyMergePatch(deepFreeze(before), parseObjectPatch(patch)), after), patch)
      }),
    )
  })

  it('never changes a prototype', () => {
    const result = applyMergePatch({}, parseObjectPatch('{"__proto__":{"polluted":1},"a":{"__proto__":{"b":null,"c":1}}}'))
    assert.equal(JSON.stringify(result), '{"__proto__":{"polluted":1},"a":{"__proto__":{"c":1}}}')
    assert.equal(Reflect.get({}, 'polluted'), undefined)
  })
})
