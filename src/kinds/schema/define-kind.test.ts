import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fieldErrorMessage } from '../../kube/field-error.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { RuleContext } from '../kind.ts'
import { type Static, s } from './builder.ts'
import { defineKind, type ObjectOf } from './define-kind.ts'

const context: RuleContext = { operation: 'create', subresource: '', now: '2025-01-01T00:00:00Z', user: { name: 'u', groups: [] } }

const Widget = defineKind({
  group: 'example.test',
  kind: 'Widget',
  plural: 'widgets',
  shortNames: ['wd'],
  scope: 'Namespaced',
  versions: {
    v1: {
      storage: true,
      schema: s.object({
        spec: s.object({
          size: s.int32({ minimum: 1, description: 'How large.' }),
          color: s.withDefault(s.literals(['red', 'blue']), 'red'),
          limit: s.optional(s.quantity()),
          every: s.optional(s.duration()),
          note: s.optional(s.nullable(s.string())),
          ports: s.optional(s.array(s.object({ name: s.string(), port: s.intOrString() }), { listType: 'map', mapKeys: ['name'] })),
          labels: s.optional(s.map(s.string())),
          template: s.optional(s.embedded()),
          free: s.optional(s.anything()),
          secretName: s.optional(s.reference({ to: { group: '', kind: 'Secret' } }, { maxLength: 253 })),
          sources: s.optional(
            s.array(
              s.object({
                namespace: s.optional(s.string()),
                name: s.reference({ to: { group: 'example.test', kind: 'Source' }, namespaceField: 'namespace' }),
              }),
            ),
          ),
        }),
        status: s.optional(s.object({ ready: s.boolean(), since: s.optional(s.time()) })),
      }),
      columns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
      scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
    },
    v1alpha1: {
      deprecated: true,
      schema: s.object({ spec: s.object({ width: s.int32() }) }),
      toStored: (object) => ({ ...object, spec: { size: (object.spec as { width: number }).width } }),
      fromStored: (object) => ({ ...object, spec: { width: (object.spec as { size: number }).size } }),
    },
  },
  rules: {
    validateCreate: (object) =>
      (object.spec as { size?: number }).size === 13
        ? [{ type: 'Invalid', field: 'spec.size', value: 13, detail: 'must not be unlucky' }]
        : [],
  },
})
type Widget = ObjectOf<typeof Widget, 'v1'>

/** Fails to compile when the two types are not the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(proof: Same<A, B>): boolean => proof

describe('defineKind', () => {
  it('infers the type of stored objects', () => {
    const port = s.object({ name: s.string(), port: s.optional(s.intOrString()) })
    assert.ok(same<Static<typeof port>, { name: string; port?: number | string }>(true))
    assert.ok(same<Widget['spec']['color'], 'red' | 'blue'>(true))
    assert.ok(same<Widget['spec']['note'], string | null | undefined>(true))
    const widget: Widget = { apiVersion: 'example.test/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 1, color: 'red' } }
    assert.equal(widget.spec.size, 1)
  })

  it('names its resource in the stored version, with the type of its objects', () => {
    const { resource } = Widget
    assert.deepEqual(resource, { group: 'example.test', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true })
    assert.ok(same<NonNullable<typeof resource.objects>, Widget>(true))
  })

  it('gives a definition that a server accepts, with nothing in it that is not schema', () => {
    const { versions } = Widget.crd.spec as { versions: { schema: { openAPIV3Schema: { properties: { spec: unknown } } } }[] }
    assert.deepEqual(JSON.parse(JSON.stringify(versions[0]?.schema.openAPIV3Schema.properties.spec)).properties.secretName, {
      type: 'string',
      maxLength: 253,
    })
    assert.deepEqual(JSON.parse(JSON.stringify(versions[0]?.schema.openAPIV3Schema.properties.spec)).required, ['size'])
    assert.equal(Widget.storageVersion, 'v1')
    assert.ok(Object.isFrozen(Widget.crd.spec))
    assert.equal(Widget.crd.status, undefined)
  })

  it('lists the fields that refer to other objects', () => {
    assert.deepEqual(Widget.references, [
      { version: 'v1', path: 'spec.secretName', to: { group: '', kind: 'Secret' } },
      { version: 'v1', path: 'spec.sources[].name', to: { group: 'example.test', kind: 'Source' }, namespaceField: 'namespace' },
    ])
  })

  it('serves the kind: subresources, columns, defaults, validation, own rules', () => {
    const { definition } = Widget
    assert.deepEqual(
      definition.subresources.map((r) => r.name),
      ['status', 'scale'],
    )
    const object: KubeObject = { apiVersion: 'example.test/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 13, odd: 1 } }
    assert.deepEqual(definition.versions[0]?.coerce?.(object).unknown, ['spec.odd'])
    definition.rules.applyDefaults?.(object, 'v1')
    assert.deepEqual(object.spec, { size: 13, color: 'red' })
    assert.deepEqual((definition.rules.validateCreate?.(object, context) ?? []).map(fieldErrorMessage), [
      'spec.size: Invalid value: 13: must not be unlucky',
    ])
    assert.deepEqual(definition.versions[0]?.printer?.row(object, 0).cells, ['w', 13])
    assert.equal(definition.versions[1]?.deprecationWarning, 'example.test/v1alpha1 Widget is deprecated; use example.test/v1 Widget')
  })

  it('converts through the stored version and prunes what the target does not know', () => {
    const old: KubeObject = { apiVersion: 'example.test/v1alpha1', kind: 'Widget', metadata: { name: 'w' }, spec: { width: 3 } }
    const stored = Widget.definition.convert?.(old, 'example.test/v1')
    assert.deepEqual(stored, { ...old, apiVersion: 'example.test/v1', spec: { size: 3 } })
    assert.deepEqual(Widget.definition.convert?.(stored as KubeObject, 'example.test/v1alpha1'), old)
  })

  it('refuses a definition that no server would take', () => {
    const broken = () =>
      defineKind({
        group: 'nodot',
        kind: 'X',
        plural: 'xs',
        scope: 'Cluster',
        versions: { v1: { schema: s.object({ a: s.string({ pattern: '(' }) }) } },
      })
    assert.throws(() => broken().crd, /should be a domain with at least one dot.*missing closing \)/)
  })
})
