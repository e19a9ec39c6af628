import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { type FieldError, fieldErrorBody, fieldErrorMessage, fieldErrorReason } from './field-error.ts'
import type { ObjectMeta } from './meta.ts'
import { type NameCheck, nameIsDnsLabel, nameIsDnsSubdomain, nameIsPathSegment } from './names.ts'
import type { StatusCause } from './status.ts'
import { validateFieldManager, validateObjectMeta, validateObjectMetaUpdate } from './validate-meta.ts'

interface Step {
  seq: string
  name: string
  method?: string
  path?: string
  status?: number
  body?: { kind: string; metadata: ObjectMeta }
  responseBody?: { details?: { causes?: StatusCause[] } }
}

const recorded = readFileSync('test/conformance/goldens/validation.jsonl', 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line.replaceAll('<ns>', 'golden-ns')) as Step)

const CHECKS: Record<string, NameCheck> = {
  Namespace: nameIsDnsLabel,
  Service: nameIsDnsLabel,
  Role: nameIsPathSegment,
  StatefulSet: nameIsDnsLabel,
}
const PREFIXES = /^validation\/(name|label|annotation|ownerref|finalizer)/
/** Rules of single kinds that go beyond metadata. */
const OTHERS = new Set(['validation/name-cronjob-52'])

const causes = (errors: FieldError[]): StatusCause[] =>
  errors.map((e) => ({ reason: fieldErrorReason(e), message: fieldErrorBody(e), field: e.field }))

const byText = (list: StatusCause[]) => list.map((cause) => JSON.stringify(cause)).sort()

const valid: ObjectMeta = { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '5', creationTimestamp: '2024-01-01T00:00:00Z' }
const updateMessages = (next: ObjectMeta, old: ObjectMeta = valid) => validateObjectMetaUpdate(next, old).map(fieldErrorMessage)

describe('metadata', () => {
  const steps = recorded.filter((s) => s.method === 'POST' && s.status === 422 && PREFIXES.test(s.seq) && !OTHERS.has(s.seq))
  for (const { name, body, path, responseBody } of steps) {
    it(`refuses ${name} as recorded`, () => {
      assert.ok(body)
      const namespaced = path?.includes('/namespaces/') ?? false
      const meta = { ...body.metadata, ...(namespaced ? { namespace: 'ns' } : {}) }
      const errors = validateObjectMeta(meta, { namespaced, validateName: CHECKS[body.kind] ?? nameIsDnsSubdomain })
      assert.deepEqual(byText(causes(errors)), byText(responseBody?.details?.causes ?? []))
    })
  }

  it('compared more than a handful of recordings', () => assert.ok(steps.length >= 18, String(steps.length)))

  it('judges a generateName as a prefix', () => {
    assert.deepEqual(validateObjectMeta({ generateName: 'a-', name: 'a-x', namespace: 'n' }, { namespaced: true }), [])
    const errors = validateObjectMeta({ generateName: 'A_', name: 'A_x', namespace: 'n' }, { namespaced: true })
    assert.deepEqual(
      errors.map((e) => e.field),
      ['metadata.generateName', 'metadata.name'],
    )
  })

  it('wants a namespace exactly where there is one', () => {
    assert.deepEqual(validateObjectMeta({ name: 'a' }, { namespaced: true }).map(fieldErrorMessage), ['metadata.namespace: Required value'])
    assert.deepEqual(validateObjectMeta({ name: 'a', namespace: 'n' }, { namespaced: false }).map(fieldErrorMessage), [
      'metadata.namespace: Forbidden: not allowed on this type',
    ])
  })

  it('limits annotations as a whole', () => {
    const annotations = { a: 'x'.repeat(200_000), b: 'é'.repeat(40_000) }
    assert.deepEqual(validateObjectMeta({ name: 'a', annotations }, { namespaced: false }).map(fieldErrorMessage), [
      'metadata.annotations: Too long: may not be more than 262144 bytes',
    ])
  })

  it('refuses two finalizers that contradict each other', () => {
    const finalizers = ['orphan', 'foregroundDeletion']
    assert.deepEqual(validateObjectMeta({ name: 'a', finalizers }, { namespaced: false }).map(fieldErrorMessage), [
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
    ])
  })

  it('keeps identity fields as they are', () => {
    assert.deepEqual(updateMessages(valid), [])
    assert.deepEqual(updateMessages({ ...valid, uid: 'v', deletionGracePeriodSeconds: 0 }), [
      'metadata.uid: Invalid value: "v": field is immutable',
      'metadata.deletionGracePeriodSeconds: Invalid value: 0: field is immutable',
    ])
    assert.deepEqual(updateMessages({ ...valid, resourceVersion: '' }), [
      'metadata.resourceVersion: Invalid value: "": must be specified for an update',
    ])
    assert.deepEqual(updateMessages({ ...valid, generation: 1 }, { ...valid, generation: 2 }), [
      'metadata.generation: Invalid value: 1: must not be decremented',
    ])
  })

  it('lets a dying object lose finalizers but gain none', () => {
    const dying = { ...valid, deletionTimestamp: '2024-01-01T00:00:00Z', finalizers: ['example.com/f'] }
    assert.deepEqual(updateMessages({ ...dying, finalizers: [] }, dying), [])
    assert.deepEqual(updateMessages({ ...dying, finalizers: ['example.com/f', 'example.com/new'] }, dying), [
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/new"}',
    ])
  })

  it('refuses finalizers without a domain that nobody knows, where a kind wants that', () => {
    const meta = { ...valid, finalizers: ['kubernetes', 'orphan', 'a.b/c', 'bad'] }
    const expected = ['metadata.finalizers[3]: Invalid value: "bad": name is neither a standard finalizer name nor is it fully qualified']
    assert.deepEqual(validateObjectMeta(meta, { namespaced: true }), [])
    assert.deepEqual(validateObjectMeta(meta, { namespaced: true, standardFinalizers: true }).map(fieldErrorMessage), expected)
    assert.deepEqual(validateObjectMetaUpdate(meta, valid, { standardFinalizers: true }).map(fieldErrorMessage), expected)
  })

  it('knows no version in an owner that names more than a group and a version', () => {
    const owner = { apiVersion: 'a/b/c', kind: 'Pod', name: 'p', uid: 'u' }
    assert.deepEqual(validateObjectMeta({ ...valid, ownerReferences: [owner] }, { namespaced: true }).map(fieldErrorMessage), [
      'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
    ])
  })

  it('judges managers of fields', () => {
    assert.deepEqual(validateFieldManager('x'.repeat(129), 'fieldManager').map(fieldErrorMessage), [
      'fieldManager: Too long: may not be more than 128 bytes',
    ])
    assert.deepEqual(validateFieldManager('é\n', 'fieldManager').map(fieldErrorMessage), [
      'fieldManager: Invalid value: "é\\n": invalid character U+000A (at position 2)',
    ])
  })
})
