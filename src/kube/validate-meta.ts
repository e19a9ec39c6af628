/**
 * Validation of metadata, the same for every kind: on creation after the name was generated, and on update against
 * the stored object. The order of the errors is the real server's.
 */
import { deepEqual } from '../base/json.ts'
import { child, type FieldError, forbidden, index, invalid, required, tooLong } from './field-error.ts'
import { byteLength, compareStrings, goQuote } from './go-print.ts'
import { unicodeName } from './json-path-parse.ts'
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from './meta.ts'
import { parseGroupVersion } from './meta.ts'
import { checkQualifiedName, type NameCheck, nameIsDnsLabel, nameIsDnsSubdomain, unprintableCharacters } from './names.ts'
import { validateLabels } from './selector.ts'

export const FIELD_IMMUTABLE = 'field is immutable'
const ANNOTATIONS_LIMIT_BYTES = 256 * 1024
const FIELD_MANAGER_LIMIT_BYTES = 128
const SUBRESOURCE_LIMIT_BYTES = 256
const ORPHAN = 'orphan'
const FOREGROUND = 'foregroundDeletion'
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', ORPHAN, FOREGROUND])

export interface MetaRules {
  namespaced: boolean
  /** Default: a DNS subdomain. */
  validateName?: NameCheck
  /** Default: `metadata`. */
  path?: string
  /** A finalizer without a domain must be one that Kubernetes knows (default: any qualified name is accepted). */
  standardFinalizers?: boolean
}

/** On creation; a generateName has been turned into a name already. */
export function validateObjectMeta(meta: ObjectMeta, rules: MetaRules): FieldError[] {
  const path = rules.path ?? 'metadata'
  const checkName = rules.validateName ?? nameIsDnsSubdomain
  const errors: FieldError[] = []
  const { generateName = '', name = '', namespace = '' } = meta
  if (generateName !== '')
    for (const message of checkName(generateName, true)) errors.push(invalid(child(path, 'generateName'), generateName, message))
  if (name === '') errors.push(required(child(path, 'name'), 'name or generateName is required'))
  else for (const message of checkName(name, false)) errors.push(invalid(child(path, 'name'), name, message))
  if (!rules.namespaced) {
    if (namespace !== '') errors.push(forbidden(child(path, 'namespace'), 'not allowed on this type'))
  } else if (namespace === '') errors.push(required(child(path, 'namespace')))
  else for (const message of nameIsDnsLabel(namespace, false)) errors.push(invalid(child(path, 'namespace'), namespace, message))
  if ((meta.generation ?? 0) < 0) errors.push(invalid(child(path, 'generation'), meta.generation, 'must be greater than or equal to 0'))
  errors.push(...validateLabels(meta.labels, child(path, 'labels')))
  errors.push(...validateAnnotations(meta.annotations, child(path, 'annotations')))
  errors.push(...validateOwnerReferences(meta.ownerReferences, child(path, 'ownerReferences')))
  errors.push(...validateFinalizers(meta.finalizers, child(path, 'finalizers')))
  errors.push(...validateManagedFields(meta.managedFields, child(path, 'managedFields')))
  if (rules.standardFinalizers) errors.push(...validateStandardFinalizers(meta.finalizers, child(path, 'finalizers')))
  return errors
}

/** On update. Finalizers of the new object are not validated again, except that an object being deleted may gain none. */
export function validateObjectMetaUpdate(
  next: ObjectMeta,
  old: ObjectMeta,
  rules: Pick<MetaRules, 'path' | 'standardFinalizers'> = {},
): FieldError[] {
  const path = rules.path ?? 'metadata'
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined) errors.push(...validateNoNewFinalizers(next, old, child(path, 'finalizers')))
  if ((next.resourceVersion ?? '') === '') errors.push(invalid(child(path, 'resourceVersion'), '', 'must be specified for an update'))
  if ((next.generation ?? 0) < (old.generation ?? 0))
    errors.push(invalid(child(path, 'generation'), next.generation ?? 0, 'must not be decremented'))
  for (const field of ['name', 'namespace', 'uid'] as const)
    errors.push(...validateImmutable(next[field] ?? '', old[field] ?? '', child(path, field)))
  for (const field of ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const)
    errors.push(...validateImmutable(next[field] ?? null, old[field] ?? null, child(path, field)))
  errors.push(...validateLabels(next.labels, child(path, 'labels')))
  errors.push(...validateAnnotations(next.annotations, child(path, 'annotations')))
  errors.push(...validateOwnerReferences(next.ownerReferences, child(path, 'ownerReferences')))
  errors.push(...validateManagedFields(next.managedFields, child(path, 'managedFields')))
  if (rules.standardFinalizers) errors.push(...validateStandardFinalizers(next.finalizers, child(path, 'finalizers')))
  return errors
}

/** A field that may not change: one error at `path` when it did. */
export function validateImmutable(next: unknown, old: unknown, path: string): FieldError[] {
  return deepEqual(next, old) ? [] : [invalid(path, next, FIELD_IMMUTABLE)]
}

/** Keys are qualified names in any case; all keys and values together have a limit. */
export function validateAnnotations(annotations: Record<string, string> | undefined | null, path: string): FieldError[] {
  const errors: FieldError[] = []
  let size = 0
  for (const [key, value] of Object.entries(annotations ?? {})) {
    for (const message of checkQualifiedName(key.toLowerCase())) errors.push(invalid(path, key, message))
    size += byteLength(key) + byteLength(value)
  }
  if (size > ANNOTATIONS_LIMIT_BYTES) errors.push(tooLong(path, ANNOTATIONS_LIMIT_BYTES))
  return errors
}

function validateOwnerReferences(references: readonly OwnerReference[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = []
  let controller = ''
  for (const reference of references ?? []) {
    errors.push(...validateOwnerReference(reference, path))
    if (reference.controller !== true) continue
    const name = `${reference.kind}/${reference.name}`
    if (controller === '') controller = name
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`
      errors.push(invalid(path, (references ?? []).map(inWireOrder), detail))
    }
  }
  return errors
}

function validateOwnerReference(reference: OwnerReference, path: string): FieldError[] {
  const errors: FieldError[] = []
  const { group, version } = ownerGroupVersion(reference.apiVersion ?? '')
  if (version === '') errors.push(invalid(child(path, 'apiVersion'), reference.apiVersion ?? '', 'version must not be empty'))
  for (const field of ['kind', 'name', 'uid'] as const)
    if ((reference[field] ?? '') === '') errors.push(invalid(child(path, field), '', 'must not be empty'))
  if (group === '' && version === 'v1' && reference.kind === 'Event')
    errors.push(invalid(path, inWireOrder(reference), '/v1, Kind=Event is disallowed from being an owner'))
  return errors
}

/** Anything that is not a group and version is read as empty. */
function ownerGroupVersion(apiVersion: string): { group: string; version: string } {
  return apiVersion.split('/').length > 2 ? { group: '', version: '' } : parseGroupVersion(apiVersion)
}

/** Keys in the order Go writes the struct, whatever order they were sent in. */
function inWireOrder(reference: OwnerReference): OwnerReference {
  const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = reference
  return {
    apiVersion: apiVersion ?? '',
    kind: kind ?? '',
    name: name ?? '',
    uid: uid ?? '',
    ...(controller === undefined ? {} : { controller }),
    ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
  }
}

function validateFinalizers(finalizers: readonly string[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const finalizer of finalizers ?? [])
    for (const message of checkQualifiedName(finalizer)) errors.push(invalid(path, finalizer, message))
  if (finalizers?.includes(ORPHAN) && finalizers.includes(FOREGROUND))
    errors.push(invalid(path, finalizers, `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`))
  return errors
}

function validateStandardFinalizers(finalizers: readonly string[] | undefined, path: string): FieldError[] {
  return (finalizers ?? []).flatMap((finalizer, at) =>
    finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)
      ? []
      : [invalid(index(path, at), finalizer, 'name is neither a standard finalizer name nor is it fully qualified')],
  )
}

function validateNoNewFinalizers(next: ObjectMeta, old: ObjectMeta, path: string): FieldError[] {
  const known = new Set(old.finalizers ?? [])
  const added = [...new Set(next.finalizers ?? [])].filter((finalizer) => !known.has(finalizer)).sort(compareStrings)
  if (added.length === 0) return []
  const list = `[]string{${added.map(goQuote).join(', ')}}`
  return [forbidden(path, `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`)]
}

/** The name of a field manager, in options and in managedFields alike. */
export function validateFieldManager(manager: string, path: string): FieldError[] {
  const errors = byteLength(manager) > FIELD_MANAGER_LIMIT_BYTES ? [tooLong(path, FIELD_MANAGER_LIMIT_BYTES)] : []
  for (const { char, position } of unprintableCharacters(manager))
    errors.push(invalid(path, manager, `invalid character ${unicodeName(char)} (at position ${position})`))
  return errors
}

function validateManagedFields(entries: readonly ManagedFieldsEntry[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const [i, entry] of (entries ?? []).entries()) {
    const at = index(path, i)
    if (entry.operation !== 'Apply' && entry.operation !== 'Update')
      errors.push(invalid(child(at, 'operation'), entry.operation ?? '', 'must be `Apply` or `Update`'))
    const fieldsType: string = entry.fieldsType ?? ''
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') errors.push(invalid(child(at, 'fieldsType'), fieldsType, 'must be `FieldsV1`'))
    errors.push(...validateFieldManager(entry.manager ?? '', child(at, 'manager')))
    if (byteLength(entry.subresource ?? '') > SUBRESOURCE_LIMIT_BYTES)
      errors.push(tooLong(child(at, 'subresource'), SUBRESOURCE_LIMIT_BYTES))
  }
  return errors
}
