/**
 * Rules validate what a hostile client sent: whatever has the shape of a kind's schema (and, for most kinds, whatever has not)
 * must be answered with errors, never with an exception, and must not reach the prototype of objects.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepClone, deepFreeze, type Json } from '../../../base/json.ts'
import { fieldErrorMessage } from '../../../kube/field-error.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Schema } from '../../../kube/schema.ts'
import type { KindDefinition, RuleContext } from '../../kind.ts'
import { DecodeError, decodeTyped } from '../decode-json.ts'
import { builtinKinds } from '../registry.ts'
import { rulesFor } from './index.ts'

const kinds = builtinKinds({ rulesFor, printerFor: () => undefined }).filter((kind) => kind.verbs.includes('get'))
const NOW = '2025-06-01T10:20:30Z'
const RUNS = 25

const TEXTS = [
  '',
  'a',
  'A_b',
  'a.example.com',
  'x/y/z',
  '__proto__',
  'constructor',
  '10.0.0.1',
  'fe80::1',
  '10.0.0.0/8',
  'None',
  '5',
  '1Gi',
  '-1',
  '\u0000',
  '\ud800',
  'x'.repeat(300),
]
const text = fc.constantFrom(...TEXTS)
const integer = fc.constantFrom(-1, 0, 1, 80, 65536, 2 ** 31 - 1)

/** Values that roughly fit a schema: beyond three levels everything is left out. */
function fitting(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string') return fc.oneof(integer, text)
  switch (schema.type) {
    case 'string':
      return schema.format === 'date-time' ? fc.constant(NOW) : text
    case 'integer':
    case 'number':
      return integer
    case 'boolean':
      return fc.boolean()
    case 'array':
      return depth <= 0 ? fc.constant([]) : fc.array(fitting(schema.items ?? {}, depth - 1), { maxLength: 2 })
    default:
      return fittingObject(schema, depth)
  }
}

function fittingObject(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (depth <= 0) return fc.constant({})
  const { properties, additionalProperties } = schema
  if (properties !== undefined)
    return fc.record(Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, fitting(one, depth - 1)])), {
      requiredKeys: [],
    })
  if (typeof additionalProperties === 'object') return fc.dictionary(text, fitting(additionalProperties, depth - 1), { maxKeys: 2 })
  return fc.constant({})
}

function objectOf(kind: KindDefinition, depth: number): fc.Arbitrary<Record<string, unknown>> {
  const version = kind.versions[0]
  const properties = Object.entries(version?.schema.properties ?? {}).filter(([name]) => !['apiVersion', 'kind', 'metadata'].includes(name))
  const labels = fc.dictionary(text, text, { maxKeys: 2 })
  return fc.record({
    apiVersion: fc.constant(kind.group === '' ? version?.name : `${kind.group}/${version?.name}`),
    kind: fc.constant(kind.kind),
    metadata: fc.record({ name: text, namespace: text, labels, annotations: labels }, { requiredKeys: ['name'] }),
    ...Object.fromEntries(properties.map(([name, one]) => [name, fitting(one, depth)])),
  })
}

/** Every entry point of the rules, for one object and its previous state. */
function throughAllRules(kind: KindDefinition, next: KubeObject, old: KubeObject): void {
  const { rules } = kind
  const version = kind.versions[0]?.name ?? ''
  const user = { name: 'u', groups: ['g'] }
  const created = deepClone(next)
  const context: RuleContext = { operation: 'create', subresource: '', now: NOW, user }
  rules.applyDefaults?.(created, version)
  const defaulted = deepClone(created)
  rules.applyDefaults?.(created, version)
  assert.deepEqual(created, defaulted, `${kind.kind}: defaulting twice changes more`)
  rules.prepareForCreate?.(created, context)
  for (const error of rules.validateCreate?.(created, context) ?? []) assert.equal(typeof fieldErrorMessage(error), 'string')
  rules.warnings?.(created, undefined, context)
  rules.selectableFields?.(created)
  rules.validateName?.(created.metadata.name ?? '', false)
  rules.holdsDeletion?.(created)
  for (const subresource of ['', 'status', 'approval', 'finalize']) {
    const changed = deepClone(next)
    const update: RuleContext = { operation: 'update', subresource, now: NOW, user }
    rules.applyDefaults?.(changed, version)
    rules.prepareForUpdate?.(changed, old, update)
    for (const error of rules.validateUpdate?.(changed, old, update) ?? []) assert.equal(typeof fieldErrorMessage(error), 'string')
    rules.warnings?.(changed, old, update)
  }
}

function decoded(kind: KindDefinition, value: Record<string, unknown>): KubeObject | undefined {
  try {
    return decodeTyped({ group: kind.group, version: kind.versions[0]?.name ?? '', kind: kind.kind }, value as Json).object
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** These two are converted between versions by decoding again, which refuses malformed values. */
const NEEDS_SHAPE = new Set(['HorizontalPodAutoscaler', 'Event'])

describe('rules of hostile objects', () => {
  it('answer objects of the right shape without an exception', () => {
    let judged = 0
    for (const kind of kinds)
      fc.assert(
        fc.property(objectOf(kind, 4), objectOf(kind, 4), (next, old) => {
          const [object, before] = [decoded(kind, next), decoded(kind, old)]
          if (object === undefined || before === undefined) return
          judged++
          throughAllRules(kind, object, deepFreeze(before))
        }),
        { numRuns: RUNS, seed: 36 },
      )
    assert.ok(judged > kinds.length * 5, `${judged} objects were judged`)
  })

  it('answer objects of any shape without an exception', () => {
    for (const kind of kinds) {
      if (NEEDS_SHAPE.has(kind.kind)) continue
      const names = Object.keys(kind.versions[0]?.schema.properties ?? {})
      const anything = fc.dictionary(fc.constantFrom(...names, 'x'), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 5 })
      fc.assert(
        fc.property(anything, anything, (next, old) => {
          const shell = { apiVersion: 'v1', kind: kind.kind, metadata: { name: 'a' } }
          throughAllRules(
            kind,
            { ...next, ...shell, metadata: { ...shell.metadata } } as KubeObject,
            deepFreeze({ ...old, ...shell } as KubeObject),
          )
        }),
        { numRuns: RUNS, seed: 36 },
      )
    }
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
  })
})
