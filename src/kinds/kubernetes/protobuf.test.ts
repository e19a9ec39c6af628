import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { goldenObjects } from '../../../test/conformance/recorded.ts'
import type { Json } from '../../base/json.ts'
import { type KubeObject, parseGroupVersion } from '../../kube/meta.ts'
import { bootstrapObjects } from './bootstrap.ts'
import { DecodeError, decodeTyped } from './decode-json.ts'
import { messageFor } from './message-names.ts'
import type { FieldModel, MessageModel } from './model.ts'
import { decodeProtobuf, encodeProtobuf } from './protobuf.ts'
import { builtinKinds } from './registry.ts'

const gvkOf = (object: { apiVersion?: unknown; kind?: unknown }) => ({
  ...parseGroupVersion(String(object.apiVersion)),
  kind: String(object.kind),
})

function roundTrip(object: KubeObject): { object: KubeObject } | undefined {
  const model = messageFor(gvkOf(object))
  return model === undefined ? undefined : decodeProtobuf(encodeProtobuf(object, model))
}

const NESTED_TYPES = /List$|^StatefulSet$/

/** Nested objects have no apiVersion and kind on the wire. */
function withoutNestedTypes(value: Json, isRoot = true): Json {
  if (Array.isArray(value)) return value.map((item) => withoutNestedTypes(item, false))
  if (typeof value !== 'object' || value === null) return value
  const { kind, apiVersion, ...rest } = value
  const isObject = !isRoot && typeof kind === 'string' && typeof apiVersion === 'string' && 'metadata' in value
  const kept = isObject ? rest : value
  return Object.fromEntries(Object.entries(kept).map(([key, item]) => [key, withoutNestedTypes(item as Json, false)]))
}

describe('protobuf', () => {
  it('gives back every recorded object', () => {
    let checked = 0
    const objects = [...goldenObjects(), ...bootstrapObjects({ now: '2025-06-01T00:00:00Z' })] as unknown as KubeObject[]
    for (const object of objects) {
      const back = roundTrip(object)
      if (back === undefined) continue
      const expected = NESTED_TYPES.test(object.kind) ? withoutNestedTypes(object as unknown as Json) : object
      assert.deepEqual(back.object, expected)
      checked++
    }
    assert.ok(checked > 1000, `${checked} objects`)
  })

  it('reads the documented wire form', () => {
    // Envelope {1: {1: "v1", 2: "ConfigMap"}, 2: raw}, raw {1: metadata {1: "a"}, 2: {1: "k", 2: "v"}}, and an unknown field 99.
    const raw = Buffer.concat([Buffer.from('0a030a0161', 'hex'), Buffer.from('12060a016b120176', 'hex'), Buffer.from('9a060178', 'hex')])
    const type = Buffer.from('0a0276311209436f6e6669674d6170', 'hex')
    const body = Buffer.concat([
      Buffer.from('6b387300', 'hex'),
      Buffer.from([0x0a, type.length]),
      type,
      Buffer.from([0x12, raw.length]),
      raw,
    ])
    assert.deepEqual(decodeProtobuf(body).object, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'v' } })
  })

  it('takes what the envelope leaves out from the fallback', () => {
    const fallback = { group: '', version: 'v1', kind: 'DeleteOptions' }
    const body = Buffer.from('6b3873001202081e', 'hex')
    assert.deepEqual(decodeProtobuf(body, fallback).object, { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 30 })
    assert.throws(() => decodeProtobuf(body), /Object 'Kind' is missing/)
  })

  it('says what is wrong with a body', () => {
    const fails = (bytes: Uint8Array, message: RegExp) =>
      assert.throws(
        () => decodeProtobuf(bytes),
        (error) => error instanceof DecodeError && message.test(error.message),
      )
    fails(new Uint8Array(), /^empty data$/)
    fails(Buffer.from('{}'), /does not appear to be a protobuf message, expected prefix \[107 56 115 0\]/)
    fails(Buffer.from('k8s\0'), /^empty body$/)
    fails(Buffer.from('6b387300ffffffffffffffffffffff', 'hex'), /integer overflow/)
    fails(Buffer.from('6b38730012ffffffff07', 'hex'), /unexpected EOF/)
    fails(Buffer.from('6b3873000a08', 'hex'), /unexpected EOF/)
    fails(Buffer.from('6b3873000c', 'hex'), /end group/)
    const config = roundTripBytes({ apiVersion: 'v1', kind: 'Nope', metadata: {} })
    fails(config, /no kind "Nope" is registered for version "v1"/)
  })
})

function roundTripBytes(object: KubeObject): Buffer {
  const model = messageFor({ group: '', version: 'v1', kind: 'ConfigMap' })
  assert.ok(model !== undefined)
  return encodeProtobuf(object, model)
}

const text = fc.string({ maxLength: 8, unit: 'grapheme' })

function itemArbitrary(field: FieldModel, depth: number): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case 'string':
      return text
    case 'bool':
      return fc.boolean()
    case 'int32':
      return fc.integer()
    case 'int64':
      return fc.maxSafeInteger()
    case 'double':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n))
    case 'bytes':
      return fc.uint8Array({ maxLength: 9 }).map((b) => Buffer.from(b).toString('base64'))
    case 'time':
      return fc.constantFrom('2024-02-29T23:59:59Z', '1969-12-31T23:59:59Z', '2024-05-05T01:02:03+02:00')
    case 'microTime':
      return fc.constantFrom('2024-02-29T23:59:59.000001Z', '1969-12-31T23:59:59.999999Z')
    case 'quantity':
      return fc.constantFrom('0', '1500m', '1.5', '1Gi', '1024Mi', '100k', 12, '1e3')
    case 'intOrString':
      return fc.oneof(fc.integer(), text)
    case 'raw':
      return fc.jsonValue({ maxDepth: 2, noUnicodeString: false }).filter((v) => v !== null)
    case 'strings':
      return fc.array(text, { maxLength: 2 })
    case 'schemaOrBool':
      return depth <= 0 ? fc.boolean() : fc.oneof(fc.boolean(), messageArbitrary(field.message, depth - 1))
    case 'schemaOrList':
      return fc.array(messageArbitrary(field.message, depth - 1), { minLength: 1, maxLength: 2 })
    case 'schemaOrStrings':
      return fc.array(text, { minLength: 1, maxLength: 2 })
    default:
      return messageArbitrary(field.message, depth - 1)
  }
}

function messageArbitrary(model: MessageModel | undefined, depth: number): fc.Arbitrary<Record<string, unknown>> {
  if (model === undefined || depth <= 0) return fc.constant({})
  const fields = model.fields.filter((f) => f.name !== 'kind' && f.name !== 'apiVersion')
  return fc
    .subarray(fields, { maxLength: Math.min(5, fields.length) })
    .chain((chosen) => fc.record(Object.fromEntries(chosen.map((field) => [field.name, fieldArbitrary(field, depth)]))))
}

function fieldArbitrary(field: FieldModel, depth: number): fc.Arbitrary<unknown> {
  const item = itemArbitrary(field, depth)
  if (field.shape === 'list') return fc.array(item, { maxLength: 2 })
  if (field.shape === 'map')
    return fc.dictionary(fc.oneof(text, fc.constant('__proto__'), fc.constant('constructor')), item, { maxKeys: 2 })
  return item
}

describe('protobuf of anything a struct can hold', () => {
  const kinds = builtinKinds({ rulesFor: () => ({}), printerFor: () => undefined })
  const models = kinds.flatMap((k) =>
    k.versions.map((v) => ({
      gvk: { group: k.group, version: v.name, kind: k.kind },
      apiVersion: k.group === '' ? v.name : `${k.group}/${v.name}`,
    })),
  )

  it('is what typed JSON decoding gives, for every kind', () => {
    for (const { gvk, apiVersion } of models) {
      const model = messageFor(gvk)
      assert.ok(model !== undefined)
      fc.assert(
        fc.property(messageArbitrary(model, 6), (body) => {
          const typed = decodeTyped(gvk, { ...body, kind: gvk.kind, apiVersion } as Json).object
          const back = decodeProtobuf(encodeProtobuf(typed, model)).object
          assert.deepEqual(back, typed)
          assert.deepEqual(decodeTyped(gvk, typed as unknown as Json).object, typed)
        }),
        { numRuns: 25 },
      )
    }
  })

  it('refuses or accepts damaged bytes, and never does anything else', () => {
    const samples = goldenObjects()
      .filter((o) => messageFor(gvkOf(o)) !== undefined)
      .filter((_, i) => i % 40 === 0) as unknown as KubeObject[]
    let refused = 0
    fc.assert(
      fc.property(fc.constantFrom(...samples), fc.nat(), fc.nat({ max: 255 }), fc.boolean(), (object, at, byte, cut) => {
        const model = messageFor(gvkOf(object))
        assert.ok(model !== undefined)
        const bytes = Buffer.from(encodeProtobuf(object, model))
        const place = 4 + (at % (bytes.length - 4))
        bytes[place] = byte
        try {
          decodeProtobuf(cut ? bytes.subarray(0, place) : bytes, gvkOf(object))
        } catch (error) {
          assert.ok(error instanceof DecodeError, String(error))
          refused++
        }
      }),
      { numRuns: 3000 },
    )
    assert.ok(refused > 500, `${refused} refused`)
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
  })

  it('refuses endless nesting', () => {
    let schema: Buffer = Buffer.alloc(0)
    for (let i = 0; i < 3000; i++) schema = wrap(28, schema)
    const gvk = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' }
    const body = [1, 4, 7, 2].reduce<Buffer>((inner, number) => wrap(number, inner), schema)
    assert.throws(() => decodeProtobuf(Buffer.concat([Buffer.from('k8s\0'), wrap(2, body)]), gvk), /exceeded max depth/)
  })
})

/** A length-delimited field around bytes. */
function wrap(number: number, inner: Buffer): Buffer {
  const varint = (n: number): number[] => (n < 0x80 ? [n] : [(n & 0x7f) | 0x80, ...varint(n >>> 7)])
  return Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(inner.length)]), inner])
}
