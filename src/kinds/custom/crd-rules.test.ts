import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepClone, type JsonObject } from '../../base/json.ts'
import { fieldErrorMessage } from '../../kube/field-error.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { RuleContext } from '../kind.ts'
import { DecodeError, decodeTyped } from '../kubernetes/decode-json.ts'
import { crdRules } from './crd-rules.ts'
import { cleanupCrd, hasInstances, markCrdDeleting, needsCleanup, settleCrd } from './crd-status.ts'
import { crdServing, definitionOf } from './definition.ts'
import { openApiOf } from './openapi.ts'

const NOW = '2025-01-01T00:00:00Z'
const LATER = '2025-01-02T00:00:00Z'
const context = (operation: 'create' | 'update', subresource = ''): RuleContext => ({
  operation,
  subresource,
  now: NOW,
  user: { name: 'u', groups: [] },
})

const aCrd = (plural: string, kind: string, more: JsonObject = {}, schema: JsonObject = { type: 'object' }): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    ...more,
  },
})

function created(body: JsonObject): KubeObject {
  const { object } = decodeTyped({ group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' }, body)
  crdRules.applyDefaults?.(object, 'v1')
  crdRules.prepareForCreate?.(object, context('create'))
  return object
}

const problems = (body: JsonObject): string[] => (crdRules.validateCreate?.(created(body), context('create')) ?? []).map(fieldErrorMessage)
const conditionsOf = (crd: KubeObject | undefined): string[] =>
  ((crd?.status as { conditions?: { type: string; status: string; reason: string }[] })?.conditions ?? []).map(
    (c) => `${c.type}=${c.status} ${c.reason}`,
  )

describe('CustomResourceDefinitions', () => {
  it('judges schemas as the real server does', () => {
    const of = (schema: JsonObject) => problems(aCrd('xs', 'X', {}, { type: 'object', properties: { a: schema } }))
    const at = 'spec.validation.openAPIV3Schema.properties[a]'
    assert.deepEqual(of({}), [`${at}.type: Required value: must not be empty for specified object fields`])
    assert.deepEqual(of({ type: 'array' }), [`${at}.items: Required value: must be specified`])
    const root = problems(aCrd('xs', 'X', {}, { type: 'object', anyOf: [{ properties: { b: { minimum: 1 } } }] }))
    assert.deepEqual(root, [
      'spec.validation.openAPIV3Schema.properties[b]: Required value: because it is defined in spec.validation.openAPIV3Schema.anyOf[0].properties[b]',
    ])
    assert.deepEqual(of({ type: 'string', anyOf: [{ type: 'string' }] }), [
      `${at}.anyOf[0].type: Forbidden: must be empty to be structural`,
    ])
    assert.deepEqual(of({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }), [])
    assert.deepEqual(of({ type: 'string', default: 5 }), [
      `${at}.default: Invalid value: "integer": ${at}.default in body must be of type string: "integer"`.replace(
        `${at}.default in body`,
        ' in body',
      ),
    ])
    assert.deepEqual(
      of({
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', properties: { k: { type: 'string' } } },
      }),
      [
        `${at}.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      ],
    )
    assert.deepEqual(of({ type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'object' } }), [
      `${at}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`,
    ])
    assert.deepEqual(of({ type: 'object', properties: { b: { type: 'string' } }, additionalProperties: { type: 'string' } }), [
      `${at}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
    ])
  })

  it('keeps metadata to the server', () => {
    const of = (metadata: JsonObject) => problems(aCrd('xs', 'X', {}, { type: 'object', properties: { metadata } }))
    assert.deepEqual(of({ type: 'object', properties: { name: { type: 'string', maxLength: 5 } } }), [])
    assert.deepEqual(of({ type: 'object', properties: { labels: { type: 'object' } } }), [
      'spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ])
  })

  it('wants approval for groups of the community', () => {
    const body = aCrd('xs', 'X', { group: 'x.k8s.io' })
    ;(body.metadata as JsonObject).name = 'xs.x.k8s.io'
    assert.match(
      problems(body).join(),
      /^metadata\.annotations\[api-approved\.kubernetes\.io\]: Required value: protected groups must have approval/,
    )
    ;(body.metadata as JsonObject).annotations = { 'api-approved.kubernetes.io': 'unapproved, a test' }
    assert.deepEqual(problems(body), [])
    assert.ok(conditionsOf(settleCrd(created(body), [], NOW)).includes('KubernetesAPIApprovalPolicyConformant=False UnapprovedAnnotation'))
  })

  it('keeps identity and stored versions on update', () => {
    const old = settleCrd(created(aCrd('xs', 'X')), [], NOW) as KubeObject
    const next = deepClone(old)
    const spec = next.spec as { scope: string; names: { kind: string }; versions: JsonObject[] }
    spec.scope = 'Cluster'
    spec.names.kind = 'Y'
    spec.versions = [{ ...(spec.versions[0] as JsonObject), name: 'v2' }]
    crdRules.prepareForUpdate?.(next, old, context('update'))
    assert.equal(next.metadata.generation, 2)
    assert.deepEqual((next.status as { storedVersions: string[] }).storedVersions, ['v1', 'v2'])
    const errors = (crdRules.validateUpdate?.(next, old, context('update')) ?? []).map(fieldErrorMessage)
    assert.deepEqual(errors.slice(0, 2), [
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Y": field is immutable',
    ])
    assert.match(
      errors[2] ?? '',
      /^status\.storedVersions\[0\]: Invalid value: "v1": missing from spec\.versions; v1 was previously a storage version/,
    )
  })

  it('says that rules in CEL are not run', () => {
    const schema = { type: 'object', properties: { a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1' }] } } }
    const crd = created(aCrd('xs', 'X', {}, schema))
    assert.deepEqual(crdRules.warnings?.(crd, undefined, context('create')), [
      '1 x-kubernetes-validations rule is stored but not evaluated by this server',
    ])
    assert.deepEqual(crdRules.warnings?.(crd, crd, context('update')), [])
  })

  it('accepts names only once in a group, and frees them again', () => {
    const first = settleCrd(created(aCrd('xs', 'X')), [], NOW) as KubeObject
    assert.deepEqual(conditionsOf(first), ['NamesAccepted=True NoConflicts', 'Established=True InitialNamesAccepted'])
    assert.deepEqual(crdServing(first), { served: true, terminating: false })
    const second = settleCrd(created(aCrd('ys', 'X')), [first], NOW) as KubeObject
    assert.deepEqual(conditionsOf(second), ['NamesAccepted=False ListKindConflict', 'Established=False NotAccepted'])
    assert.equal((second.status as { conditions: { message: string }[] }).conditions[0]?.message, '"XList" is already in use')
    assert.equal(settleCrd(second, [first, second], NOW), undefined)
    const freed = settleCrd(second, [second], LATER)
    assert.deepEqual(conditionsOf(freed), ['NamesAccepted=True NoConflicts', 'Established=True InitialNamesAccepted'])
  })

  it('waits for its instances when deleted', () => {
    const crd = deepClone(settleCrd(created(aCrd('xs', 'X')), [], NOW) as KubeObject)
    markCrdDeleting(crd, LATER)
    assert.deepEqual(crd.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io'])
    assert.deepEqual([needsCleanup(crd), hasInstances(crd), crdServing(crd).terminating], [true, true, true])
    assert.deepEqual(definitionOf(crd).verbs.includes('create'), false)
    assert.equal(conditionsOf(cleanupCrd(crd, { step: 'started' }, LATER))[2], 'Terminating=True InstanceDeletionInProgress')
    const done = cleanupCrd(crd, { step: 'finished' }, LATER)
    assert.equal(conditionsOf(done)[2], 'Terminating=False InstanceDeletionCompleted')
    assert.deepEqual(done.metadata.finalizers, [])
  })

  it('publishes schemas with the metadata of every object', () => {
    const schema = {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { port: { 'x-kubernetes-int-or-string': true }, n: { type: 'string', nullable: true } },
          required: ['n'],
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    }
    const [published] = openApiOf(created(aCrd('xs', 'X', {}, schema)))
    assert.equal(published?.name, 'com.example.v1.X')
    const v3 = published?.v3['com.example.v1.X'] as { properties: Record<string, JsonObject> }
    assert.deepEqual(v3.properties.metadata?.allOf, [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }])
    assert.deepEqual((v3.properties.spec as { properties: JsonObject }).properties.port, {
      'x-kubernetes-int-or-string': true,
      anyOf: [{ type: 'integer' }, { type: 'string' }],
    })
    const v2 = published?.v2['com.example.v1.X'] as { properties: Record<string, JsonObject> }
    assert.deepEqual(v2.properties.free, { 'x-kubernetes-preserve-unknown-fields': true })
    assert.deepEqual(v2.properties.spec, { type: 'object', properties: { port: { 'x-kubernetes-int-or-string': true }, n: {} } })
  })

  it('never throws on a schema that decodes, however odd', () => {
    const keys = [
      'type',
      'properties',
      'items',
      'additionalProperties',
      'allOf',
      'anyOf',
      'oneOf',
      'not',
      'default',
      'enum',
      'pattern',
      'format',
      'nullable',
      'required',
      'x-kubernetes-list-type',
      'x-kubernetes-list-map-keys',
      'x-kubernetes-embedded-resource',
      'x-kubernetes-int-or-string',
      'x-kubernetes-preserve-unknown-fields',
      'x-kubernetes-validations',
      '$ref',
      'definitions',
      'metadata',
      '__proto__',
    ]
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, 1, 'object', 'array', 'string', 'map', 'set', '('),
        fc.array(tie('value'), { maxLength: 3 }),
        tie('object'),
      ),
      object: fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 5 }),
    }))
    let judged = 0
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 5 }), (schema) => {
        const body = aCrd('xs', 'X', {}, JSON.parse(JSON.stringify(schema)) as JsonObject)
        let crd: KubeObject
        try {
          crd = created(body as JsonObject)
        } catch (error) {
          assert.ok(error instanceof DecodeError, String(error))
          return
        }
        judged++
        const errors = crdRules.validateCreate?.(crd, context('create')) ?? []
        for (const error of errors) assert.equal(typeof fieldErrorMessage(error), 'string')
        if (errors.length === 0) assert.ok(definitionOf(crd).versions.length > 0 && openApiOf(crd).length > 0)
      }),
      { numRuns: 1500 },
    )
    assert.ok(judged > 100, `only ${judged} schemas decoded`)
  })
})
