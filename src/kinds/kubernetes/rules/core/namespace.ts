/**
 * Namespace: carries its own name as a label, and is held by `spec.finalizers`, which only `finalize` changes.
 */
import { setOwn } from '../../../../base/json.ts'
import { child, type FieldError, index, invalid } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { nameIsDnsLabel } from '../../../../kube/names.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import { ensureObject, object, restore, string, strings } from '../fields.ts'
import { qualifiedNameErrors } from '../formats.ts'

const NAME_LABEL = 'kubernetes.io/metadata.name'
const KUBERNETES = 'kubernetes'
const STANDARD_FINALIZERS = [KUBERNETES, 'orphan', 'foregroundDeletion']

function applyDefaults(namespace: KubeObject): void {
  labelWithName(namespace)
  const status = ensureObject(namespace, 'status')
  if (string(status, 'phase') === '') status.phase = 'Active'
}

function labelWithName(namespace: KubeObject): void {
  const name = namespace.metadata.name ?? ''
  if (name === '') return
  namespace.metadata.labels ??= {}
  setOwn(namespace.metadata.labels, NAME_LABEL, name)
}

function prepareForCreate(namespace: KubeObject): void {
  labelWithName(namespace)
  namespace.status = { phase: 'Active' }
  const spec = ensureObject(namespace, 'spec')
  const finalizers = strings(spec, 'finalizers')
  if (!finalizers.includes(KUBERNETES)) spec.finalizers = [...finalizers, KUBERNETES]
}

function prepareForUpdate(namespace: KubeObject, old: KubeObject, { subresource }: RuleContext): void {
  labelWithName(namespace)
  restore(namespace, old, subresource === 'status' ? 'spec' : 'status')
  if (subresource !== '') return
  restore(ensureObject(namespace, 'spec'), object(old, 'spec'), 'finalizers')
}

function finalizerErrors(path: string, name: string): FieldError[] {
  const errors = qualifiedNameErrors(path, name)
  if (!name.includes('/') && !STANDARD_FINALIZERS.includes(name))
    errors.push(invalid(path, name, 'name is neither a standard finalizer name nor is it fully qualified'))
  return errors
}

function validateCreate(namespace: KubeObject): FieldError[] {
  return strings(object(namespace, 'spec'), 'finalizers').flatMap((name) => finalizerErrors('spec.finalizers', name))
}

function validateUpdate(namespace: KubeObject, _old: KubeObject, { subresource }: RuleContext): FieldError[] {
  if (subresource === 'status') return phaseErrors(namespace)
  if (subresource === 'finalize')
    return strings(object(namespace, 'spec'), 'finalizers').flatMap((name, i) => finalizerErrors(index('spec.finalizers', i), name))
  return validateCreate(namespace)
}

function phaseErrors(namespace: KubeObject): FieldError[] {
  const phase = string(object(namespace, 'status'), 'phase')
  const path = child('status', 'Phase')
  const deleted = namespace.metadata.deletionTimestamp !== undefined
  if (!deleted && phase !== 'Active') return [invalid(path, phase, "may only be 'Active' if `deletionTimestamp` is empty")]
  if (deleted && phase !== 'Terminating') return [invalid(path, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")]
  return []
}

export const namespaceRules: KindRules = {
  applyDefaults,
  prepareForCreate,
  prepareForUpdate,
  validateCreate,
  validateUpdate,
  validateName: nameIsDnsLabel,
  holdsDeletion: (namespace) => strings(object(namespace, 'spec'), 'finalizers').length > 0,
  markDeleting(namespace) {
    ensureObject(namespace, 'status').phase = 'Terminating'
  },
  selectableFieldNames: ['status.phase'],
  selectableFields: (namespace) => ({ 'status.phase': string(object(namespace, 'status'), 'phase') }),
}
