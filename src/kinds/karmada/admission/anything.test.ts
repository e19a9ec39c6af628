import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Schema } from '../../../kube/schema.ts'
import type { OwnKind } from '../../schema/define-kind.ts'
import { karmadaKinds } from '../index.ts'
import { admit } from './testing.ts'

const contentSchema = (kind: OwnKind): Schema => {
  const { properties = {}, ...rest } = (kind.versions[kind.storageVersion]?.schema ?? {}) as Schema
  return { ...rest, properties }
}

const text = fc.oneof(
  fc.constantFrom('', 'a', 'b', 'cluster', 'region', '/x', 'x y', 'https://example.com', '*'),
  fc.string({ maxLength: 8 }),
)

/** Values that a schema accepts, biased towards small and repeated ones. */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...(schema.enum as unknown[]))
  if (schema['x-kubernetes-embedded-resource'])
    return fc.record({ apiVersion: fc.constant('v1'), kind: fc.constant('ConfigMap'), metadata: fc.record({ name: fc.constant('a') }) })
  if (schema.format === 'date-time') return fc.constant('2025-01-01T00:00:00Z')
  if (schema.format === 'byte') return fc.constant('QUJD')
  if (schema['x-kubernetes-int-or-string']) return fc.constantFrom(1, '500m', '2Gi', '0')
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'integer') return fc.integer({ min: schema.minimum ?? -3, max: schema.maximum ?? 40 })
  if (schema.type === 'string') {
    if (schema.pattern !== undefined) return fc.constantFrom('Ready', 'Scheduled')
    return text.filter((value) => value.length >= (schema.minLength ?? 0) && value.length <= (schema.maxLength ?? 99))
  }
  if (schema.type === 'array') return fc.array(valuesOf(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 3 })
  if (typeof schema.additionalProperties === 'object')
    return fc.dictionary(text, valuesOf(schema.additionalProperties), { maxKeys: 2, noNullPrototype: true })
  if (schema.properties !== undefined) {
    const fields = Object.fromEntries(Object.entries(schema.properties).map(([key, field]) => [key, valuesOf(field)]))
    const requiredKeys = [...(schema.required ?? [])]
    const needed = Object.fromEntries(requiredKeys.map((key) => [key, fields[key] ?? fc.constant(null)]))
    return fc.oneof(fc.record(fields, { requiredKeys, noNullPrototype: true }), fc.record(needed, { noNullPrototype: true }))
  }
  return fc.jsonValue({ maxDepth: 1 })
}

/** The same with one random value replaced by any other. */
const spoilt = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(values, fc.jsonValue({ maxDepth: 2 }), fc.array(fc.nat(9), { maxLength: 7 }))
    .map(([value, other, path]) => spoil(value, other, path))

function spoil(value: unknown, other: unknown, path: readonly number[]): unknown {
  const [step, ...rest] = path
  if (step === undefined || typeof value !== 'object' || value === null) return other
  const keys = Object.keys(value)
  const key = keys[step % Math.max(1, keys.length)]
  if (key === undefined) return other
  const below = spoil((value as Record<string, unknown>)[key], other, rest)
  return Array.isArray(value) ? value.map((item, i) => (String(i) === key ? below : item)) : { ...value, [key]: below }
}

const asContent = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : { spec: value }

for (const kind of karmadaKinds)
  describe(`${kind.kind}, whatever it says`, () => {
    const values = valuesOf(contentSchema(kind))

    it('is judged without failing, and stays as it is when it comes again', async () => {
      let accepted = 0
      await fc.assert(
        fc.asyncProperty(values, async (value) => {
          const { object, schema, refused } = await admit(kind, asContent(value))
          assert.deepEqual(schema, [])
          if (refused.length > 0) return
          accepted++
          const { apiVersion: _, kind: __, metadata, ...content } = object
          const again = await admit(kind, content, { old: object, metadata })
          assert.deepEqual(again, { object, schema: [], refused: [] })
        }),
        { numRuns: 60 },
      )
      assert.ok(accepted > 0, 'some are accepted')
    })

    it('is refused and nothing worse when a value is of the wrong shape', async () => {
      await fc.assert(
        fc.asyncProperty(spoilt(values), async (value) => {
          const { schema, refused } = await admit(kind, asContent(value))
          for (const message of [...schema, ...refused]) assert.match(message, /^[\s\S]+: [\s\S]+/)
        }),
        { numRuns: 100 },
      )
    })
  })
