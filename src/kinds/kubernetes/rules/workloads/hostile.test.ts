/** Rules applied to absurd objects: any shape the schema allows, and shapes that it does not. They never throw. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepClone, deepFreeze, type Json } from '../../../../base/json.ts'
import { fieldErrorMessage } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { Schema } from '../../../../kube/schema.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import { decodeTyped } from '../../decode-json.ts'
import { schemaFor } from '../../schemas.ts'
import { workloadRules } from './index.ts'

const DOORS = ['', 'status', 'ephemeralcontainers', 'resize']
const context = (operation: 'create' | 'update', subresource = ''): RuleContext => ({
  operation,
  subresource,
  now: '2026-01-02T03:04:05Z',
  user: { name: 'admin', groups: [] },
})

/** Everything a server does with an object, on creation and through every kind of update. */
function exercise(rules: KindRules, object: KubeObject, other: KubeObject): void {
  const fresh = deepClone(object)
  rules.applyDefaults?.(fresh, 'v1')
  const once = deepClone(fresh)
  rules.applyDefaults?.(fresh, 'v1')
  assert.deepEqual(fresh, once, 'defaults are the same the second time')
  rules.prepareForCreate?.(fresh, context('create'))
  for (const error of rules.validateCreate?.(fresh, context('create')) ?? []) assert.notEqual(fieldErrorMessage(error), '')
  rules.warnings?.(fresh, undefined, context('create'))
  rules.selectableFields?.(fresh)
  rules.graceOnDelete?.(fresh, undefined)
  const old = deepFreeze(deepClone(fresh))
  for (const door of DOORS) {
    const next = deepClone(other)
    rules.applyDefaults?.(next, 'v1')
    rules.prepareForUpdate?.(next, old, context('update', door))
    for (const error of rules.validateUpdate?.(next, old, context('update', door)) ?? []) assert.notEqual(fieldErrorMessage(error), '')
    rules.warnings?.(next, old, context('update', door))
  }
}

const word = fc.oneof(
  fc.constantFrom('', 'a', 'Always', 'Never', 'Indexed', 'In', 'Exists', '../x', '/x', 'x:y', '__proto__', 'constructor', '\u0000', 'é'),
  fc.string({ maxLength: 8 }),
)
const amount = fc.constantFrom('0', '1', '-1', '100m', '1Gi', '1n', '999999999999999999999999')

/** Values of a schema's shape: few fields at a time, so that the deep ones are reached. */
function shaped(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if ((schema.definition ?? '').endsWith('.Quantity')) return amount
  if ((schema.definition ?? '').endsWith('.IntOrString')) return fc.oneof(fc.integer({ min: -5, max: 200 }), word)
  switch (schema.type) {
    case 'string':
      return schema.format === 'date-time' ? fc.constant('2020-01-01T00:00:00Z') : word
    case 'integer':
      return fc.constantFrom(-1, 0, 1, 80, 2 ** 31 - 1, -(2 ** 31))
    case 'boolean':
      return fc.boolean()
    case 'array': {
      const { items } = schema
      // Made on demand: the schemas are deep, and most of them end up unused.
      return items === undefined || depth <= 0 ? fc.constant([]) : fc.nat({ max: 2 }).chain((length) => lists(items, depth - 1, length))
    }
    default:
      return objectOf(schema, depth)
  }
}

const lists = (items: Schema, depth: number, length: number): fc.Arbitrary<unknown> =>
  length === 0 ? fc.constant([]) : fc.array(shaped(items, depth), { minLength: length, maxLength: length })

function objectOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const { properties, additionalProperties } = schema
  if (depth <= 0) return fc.constant({})
  if (properties === undefined) {
    const value = typeof additionalProperties === 'object' ? shaped(additionalProperties, depth - 1) : word
    return fc.dictionary(fc.oneof(word, fc.constantFrom('cpu', 'memory', 'hugepages-2Mi', 'a/b')), value, { maxKeys: 2 })
  }
  return fc
    .subarray(Object.keys(properties), { maxLength: Math.min(5, Object.keys(properties).length) })
    .chain((keys) =>
      fc
        .tuple(...keys.map((key) => shaped(properties[key] as Schema, depth - 1)))
        .map((values) => Object.fromEntries(keys.map((key, i) => [key, values[i]]))),
    )
}

describe('hostile objects', () => {
  for (const [name, rules] of Object.entries(workloadRules)) {
    const [group = '', kind = ''] = name.split('/')
    const gvk = { group, version: 'v1', kind }
    const schema = schemaFor(group, 'v1', kind)

    it(`of kind ${kind} in any shape that decodes`, () => {
      assert.ok(schema)
      const objects = shaped(schema, 9).map(
        (value) => decodeTyped(gvk, { ...(value as object), metadata: { name: 'a', uid: 'u' } } as Json).object,
      )
      fc.assert(
        fc.property(objects, objects, (object, other) => exercise(rules, object, other)),
        { numRuns: 40 },
      )
    })

    it(`of kind ${kind} in shapes that never decode`, () => {
      const parts = fc.letrec((tie) => ({
        value: fc.oneof({ maxDepth: 5 }, word, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('fields')),
        list: fc.array(tie('value'), { maxLength: 3 }),
        fields: fc.dictionary(
          fc.oneof(word, fc.constantFrom('spec', 'template', 'containers', 'volumes', 'resources', 'limits', 'metadata', 'labels', 'env')),
          tie('value'),
          { maxKeys: 4 },
        ),
      }))
      const objects = fc
        .tuple(parts.value, parts.value, parts.value)
        .map(([spec, status, template]) => ({ apiVersion: 'v1', kind, metadata: {}, spec, status, template }) as unknown as KubeObject)
      fc.assert(
        fc.property(objects, objects, (object, other) => exercise(rules, object, other)),
        { numRuns: 40 },
      )
    })
  }

  it('with very many parts are judged whole', () => {
    const many = <T>(of: (i: number) => T): T[] => Array.from({ length: 5_000 }, (_, i) => of(i))
    const pod: KubeObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: {
        containers: [{ name: 'c', image: 'x', ports: many(() => ({ containerPort: 1 })), volumeMounts: many(() => ({})) }],
        volumes: [{ name: 'v', configMap: { name: 'x', items: many((i) => ({ key: 'k', path: `p${i}` })) } }],
        tolerations: many((i) => ({ key: `k${i}`, operator: 'Exists' })),
        topologySpreadConstraints: many((i) => ({ topologyKey: `k${i}` })),
      },
    }
    const rules = workloadRules['/Pod']
    assert.ok(rules)
    const fresh = deepClone(pod)
    rules.applyDefaults?.(fresh, 'v1')
    // Four errors per empty mount except for the first path, and two per constraint.
    assert.equal(rules.validateCreate?.(fresh, context('create')).length, 5_000 * 4 - 1 + 5_000 * 2)
    exercise(rules, pod, deepClone(pod))
  })
})
