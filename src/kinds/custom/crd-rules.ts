/**
 * The rules of CustomResourceDefinitions themselves (apiextensions.k8s.io/v1): defaults, what a write may change, and
 * validation in the real server's words. Rules in CEL are accepted and stored; a warning says that they are not run.
 */
import { deepClone, deepEqual } from '../../base/json.ts'
import { type FieldError, fieldErrorMessage, invalid, keyed, required } from '../../kube/field-error.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { validateImmutable } from '../../kube/validate-meta.ts'
import type { KindRules, RuleContext } from '../kind.ts'
import { asCrd, type Crd, type CrdSpec, crdCondition, storageVersionOf } from './crd.ts'
import { approvalOf, isProtectedGroup } from './crd-approval.ts'
import { hasRecognizedReviewVersion } from './crd-conversion-rules.ts'
import { hasDefault, isPruned } from './crd-default-rules.ts'
import { atomicItems, keyedItems, OPENAPI_TYPES } from './crd-openapi-rules.ts'
import { type RawSchema, someSchema } from './crd-schema.ts'
import { type SpecOptions, validateNames, validateSpec } from './crd-spec-rules.ts'
import { markCrdDeleting } from './crd-status.ts'
import { isKnownFormat } from './formats.ts'

const APPROVED_ANNOTATION = 'api-approved.kubernetes.io'

export const crdRules: KindRules = {
  applyDefaults(object) {
    const crd = asCrd(object)
    applySpecDefaults(crd.spec)
    const storage = storageVersionOf(crd.spec)
    if (storage !== '' && crd.status !== undefined && (crd.status.storedVersions ?? []).length === 0) crd.status.storedVersions = [storage]
  },
  prepareForCreate(object) {
    const crd = asCrd(object)
    const storage = storageVersionOf(crd.spec)
    crd.status = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: storage === '' ? null : [storage] }
    crd.metadata.generation = 1
  },
  prepareForUpdate(object, old, context) {
    const crd = asCrd(object)
    const oldCrd = asCrd(old)
    if (context.subresource === 'status') {
      crd.spec = deepClone(oldCrd.spec)
      return
    }
    crd.status = deepClone(oldCrd.status)
    const changed = !deepEqual(crd.spec, oldCrd.spec)
    crd.metadata.generation = (oldCrd.metadata.generation ?? 0) + (changed ? 1 : 0)
    addStoredVersion(crd)
  },
  validateCreate(object) {
    const crd = asCrd(object)
    const errors: FieldError[] = []
    const name = crd.metadata.name ?? ''
    if (name !== `${crd.spec.names?.plural ?? ''}.${crd.spec.group ?? ''}`)
      errors.push(invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group'))
    return [...errors, ...validateAll(crd, undefined)]
  },
  validateUpdate(object, old, context) {
    const crd = asCrd(object)
    if (context.subresource === 'status') return validateNames(crd.status?.acceptedNames, 'status.acceptedNames')
    return validateAll(crd, asCrd(old))
  },
  warnings(object, old, context) {
    if (context.subresource === 'status') return []
    return crdWarnings(asCrd(object).spec, old === undefined ? undefined : asCrd(old).spec)
  },
  allowCreateOnUpdate: false,
  allowUnconditionalUpdate: false,
  markDeleting: (object, now) => markCrdDeleting(object, now),
  endsByOwnFinalizer: true,
}

function applySpecDefaults(spec: CrdSpec): void {
  const names = spec.names
  if (names !== undefined) {
    if (!names.singular && names.kind) names.singular = names.kind.toLowerCase()
    if (!names.listKind && names.kind) names.listKind = `${names.kind}List`
  }
  spec.conversion ??= { strategy: 'None' }
  const service = spec.conversion.webhook?.clientConfig?.service
  if (service !== undefined) service.port ??= 443
}

/** A version in which objects are stored stays listed until someone has migrated them and removes it. */
function addStoredVersion(crd: Crd): void {
  const storage = storageVersionOf(crd.spec)
  const stored = crd.status?.storedVersions ?? []
  if (storage !== '' && !stored.includes(storage)) crd.status = { ...crd.status, storedVersions: [...stored, storage] }
}

function validateAll(crd: Crd, old: Crd | undefined): FieldError[] {
  const errors = validateSpec(crd.spec, optionsFor(crd, old))
  if (old !== undefined) errors.push(...validateUnchanged(crd, old))
  errors.push(...validateNames(crd.status?.acceptedNames, 'status.acceptedNames'))
  errors.push(...validateStoredVersions(crd))
  errors.push(...validateApproval(crd, old))
  if (crd.spec.preserveUnknownFields && !old?.spec.preserveUnknownFields)
    errors.push(
      invalid(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    )
  return errors
}

/** Rules that an existing object already violates are not enforced. */
function optionsFor(crd: Crd, old: Crd | undefined): SpecOptions {
  const schemas = (old?.spec.versions ?? []).map((v) => v.schema?.openAPIV3Schema as RawSchema | undefined)
  const none = (test: (s: RawSchema) => boolean) => !schemas.some((s) => someSchema(s, test))
  const mayKeep = (old?.spec.versions ?? []).filter((before) => {
    const after = crd.spec.versions?.find((v) => v.name === before.name)
    return (before.selectableFields ?? []).length > 8 && deepEqual(after?.selectableFields, before.selectableFields)
  })
  return {
    requireValidType: none((s) => Boolean(s.type) && !OPENAPI_TYPES.includes(s.type ?? '')),
    requireAtomicSets: none((s) => atomicItems(s, '').length > 0),
    requireMapKeyRules: none((s) => keyedItems(s, '').length > 0),
    requirePrunedDefaults: none((s) => hasDefault(s) && !isPruned(s, false)),
    requireRecognizedReviewVersion: hasRecognizedReviewVersion(old?.spec.conversion?.webhook?.conversionReviewVersions),
    allowInvalidCaBundle: old === undefined || !crdCondition(old, 'Established'),
    mayKeepSelectableFields: new Set(mayKeep.flatMap((v) => [v.name, ''])),
  }
}

function validateUnchanged({ spec }: Crd, old: Crd): FieldError[] {
  const errors: FieldError[] = []
  if (crdCondition(old, 'Established')) {
    errors.push(...validateImmutable(spec.scope, old.spec.scope, 'spec.scope'))
    errors.push(...validateImmutable(spec.names.kind, old.spec.names.kind, 'spec.names.kind'))
  }
  errors.push(...validateImmutable(spec.group, old.spec.group, 'spec.group'))
  return [...errors, ...validateImmutable(spec.names.plural, old.spec.names.plural, 'spec.names.plural')]
}

function validateStoredVersions(crd: Crd): FieldError[] {
  const stored = crd.status?.storedVersions ?? []
  const path = 'status.storedVersions'
  if (stored.length === 0) return [invalid(path, crd.status?.storedVersions ?? null, 'must have at least one stored version')]
  const names = (crd.spec.versions ?? []).map((v) => v.name)
  const errors: FieldError[] = []
  // A version is matched once: a second one of its name no longer finds it.
  const left = new Set(stored)
  for (const { name, storage } of crd.spec.versions ?? [])
    if (!left.delete(name) && storage) errors.push(invalid(path, stored, `must have the storage version ${name}`))
  for (const [i, version] of stored.entries())
    if (!names.includes(version))
      errors.push(
        invalid(
          `${path}[${i}]`,
          version,
          `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`,
        ),
      )
  return errors
}

function validateApproval(crd: Crd, old: Crd | undefined): FieldError[] {
  if (!isProtectedGroup(crd.spec.group ?? '')) return []
  const { state, reason } = approvalOf(crd)
  if (old !== undefined && approvalOf(old).state === state) return []
  const path = keyed('metadata.annotations', APPROVED_ANNOTATION)
  if (state === 'missing') return [required(path, reason)]
  return state === 'invalid' ? [invalid(path, crd.metadata.annotations?.[APPROVED_ANNOTATION] ?? '', reason)] : []
}

function crdWarnings(spec: CrdSpec, old: CrdSpec | undefined): string[] {
  const known = new Set(old === undefined ? [] : unknownFormats(old))
  const warnings = unknownFormats(spec)
    .filter((format) => !known.has(format))
    .map((format) => `unrecognized format ${JSON.stringify(format)}`)
  const rules = celRuleCount(spec)
  if (rules > 0 && rules !== (old === undefined ? 0 : celRuleCount(old)))
    warnings.push(`${rules} x-kubernetes-validations ${rules === 1 ? 'rule is' : 'rules are'} stored but not evaluated by this server`)
  return warnings
}

/** Schemas, each once however many versions share it. */
function schemasOf(spec: CrdSpec): RawSchema[] {
  const schemas = (spec.versions ?? []).flatMap((v) =>
    v.schema?.openAPIV3Schema === undefined ? [] : [v.schema.openAPIV3Schema as RawSchema],
  )
  return schemas.every((s) => deepEqual(s, schemas[0])) ? schemas.slice(0, 1) : schemas
}

function unknownFormats(spec: CrdSpec): string[] {
  const found: string[] = []
  for (const schema of schemasOf(spec))
    someSchema(schema, (s) => {
      if (s.format && !isKnownFormat(s.format, s.type ?? '')) found.push(s.format)
      return false
    })
  return found
}

function celRuleCount(spec: CrdSpec): number {
  let count = 0
  for (const schema of schemasOf(spec))
    someSchema(schema, (s) => {
      count += s['x-kubernetes-validations']?.length ?? 0
      return false
    })
  return count
}

/** The errors of a definition that did not come through a request (one of our own); empty when there are none. */
export function crdProblems(crd: KubeObject): string[] {
  const copy = deepClone(crd)
  const context: RuleContext = { operation: 'create', subresource: '', now: '', user: { name: '', groups: [] } }
  crdRules.applyDefaults?.(copy, 'v1')
  crdRules.prepareForCreate?.(copy, context)
  return (crdRules.validateCreate?.(copy, context) ?? []).map(fieldErrorMessage)
}
