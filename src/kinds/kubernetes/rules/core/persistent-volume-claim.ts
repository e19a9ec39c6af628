/** PersistentVolumeClaim: immutable except for its size and attributes class, which may change once bound; data sources in two fields. */

import { deepClone } from '../../../../base/json.ts'
import { child, type FieldError, forbidden, invalid, keyed, required } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkDns1123Label } from '../../../../kube/names.ts'
import { compareQuantities, formatQuantity, quantityValue, scaledValue } from '../../../../kube/quantity.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import {
  annotation,
  defaultString,
  defaultValue,
  ensureObject,
  type Fields,
  field,
  maybeObject,
  maybeString,
  object,
  restore,
  string,
  strings,
} from '../fields.ts'
import {
  dnsSubdomainErrors,
  immutableErrors,
  labelSelectorErrors,
  positiveQuantityErrors,
  qualifiedNameErrors,
  quantity,
} from '../formats.ts'
import { invalidEach, unsupported } from '../pod/errors.ts'
import { internalDiff } from '../pod/internal-json.ts'
import { semanticEqual } from '../pod/semantic.ts'
import { accessModeErrors, VOLUME_MODES } from './persistent-volume.ts'
import { isNativeResource, resourceQuantityErrors } from './resources.ts'

const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class'
const RESIZE_STATES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]

const storage = (claim: KubeObject): ReturnType<typeof quantity> =>
  quantity(object(object(object(claim, 'spec'), 'resources'), 'requests'), 'storage')

/** The old field takes only claims and snapshots; other kinds of sources must be given in the new one. */
function normalizeDataSources(spec: Fields, old: Fields | undefined): void {
  // Sources in other namespaces are not enabled: such a reference is dropped unless already present.
  if (string(object(spec, 'dataSourceRef'), 'namespace') !== '' && field(old, 'dataSourceRef') === undefined) delete spec.dataSourceRef
  const oldHas = old !== undefined && (field(old, 'dataSource') !== undefined || field(old, 'dataSourceRef') !== undefined)
  const source = maybeObject(spec, 'dataSource')
  const reference = maybeObject(spec, 'dataSourceRef')
  if (!oldHas && reference === undefined && source !== undefined && !isClaimOrSnapshot(source)) {
    delete spec.dataSource
    return
  }
  if (source !== undefined && reference === undefined) spec.dataSourceRef = plainReference(source)
  else if (reference !== undefined && source === undefined && string(reference, 'namespace') === '')
    spec.dataSource = plainReference(reference)
}

const plainReference = (from: Fields): Fields => ({
  apiGroup: field(from, 'apiGroup') ?? null,
  kind: string(from, 'kind'),
  name: string(from, 'name'),
})

const isClaimOrSnapshot = (source: Fields): boolean => {
  const group = string(source, 'apiGroup')
  const kind = string(source, 'kind')
  return (kind === 'PersistentVolumeClaim' && group === '') || (kind === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io')
}

function referenceErrors(path: string, reference: Fields, tolerant: boolean): FieldError[] {
  const [name, kind, group] = [string(reference, 'name'), string(reference, 'kind'), string(reference, 'apiGroup')]
  const errors: FieldError[] = []
  if (name === '') errors.push(required(child(path, 'name')))
  if (kind === '') errors.push(required(child(path, 'kind')))
  if (group === '' && kind !== 'PersistentVolumeClaim')
    errors.push(invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
  if (group !== '' && !tolerant) errors.push(...dnsSubdomainErrors(child(path, 'apiGroup'), group))
  const namespace = string(reference, 'namespace')
  return namespace === '' ? errors : [...errors, ...invalidEach(child(path, 'namespace'), namespace, checkDns1123Label(namespace))]
}

function dataSourceErrors(path: string, spec: Fields, tolerant: boolean): FieldError[] {
  const source = maybeObject(spec, 'dataSource')
  const reference = maybeObject(spec, 'dataSourceRef')
  const errors: FieldError[] = []
  if (source !== undefined) errors.push(...referenceErrors(child(path, 'dataSource'), source, tolerant))
  if (reference !== undefined) errors.push(...referenceErrors(child(path, 'dataSourceRef'), reference, tolerant))
  if (source === undefined || reference === undefined) return errors
  if (string(reference, 'namespace') !== '')
    errors.push(invalid(path, {}, 'may not be specified when dataSourceRef.namespace is specified'))
  else if (['apiGroup', 'kind', 'name'].some((key) => field(source, key) !== field(reference, key)))
    errors.push(invalid(path, {}, 'must match dataSourceRef'))
  return errors
}

function claimErrors(claim: KubeObject, old?: KubeObject): FieldError[] {
  const spec = object(claim, 'spec')
  const before = old === undefined ? undefined : object(old, 'spec')
  const modes = strings(spec, 'accessModes')
  const errors = modes.length === 0 ? [required('spec.accessModes', 'at least 1 access mode is required')] : []
  const tolerantSelector = before !== undefined && labelSelectorErrors('', maybeObject(before, 'selector')).length > 0
  errors.push(...labelSelectorErrors('spec.selector', maybeObject(spec, 'selector'), tolerantSelector))
  errors.push(...accessModeErrors('spec.accessModes', modes))
  const requests = object(object(spec, 'resources'), 'requests')
  const at = keyed('spec.resources', 'storage')
  if (!Object.hasOwn(requests, 'storage')) errors.push(required(at))
  else {
    const positive = positiveQuantityErrors(at, requests, 'storage')
    errors.push(...(positive.length > 0 ? positive : resourceQuantityErrors(at, 'storage', requests.storage)))
  }
  errors.push(...classNameErrors('spec.storageClassName', string(spec, 'storageClassName')))
  const mode = maybeString(spec, 'volumeMode')
  if (mode !== undefined && !VOLUME_MODES.includes(mode)) errors.push(unsupported('spec.volumeMode', mode, VOLUME_MODES))
  const tolerantGroup =
    before !== undefined && ['dataSource', 'dataSourceRef'].some((key) => field(object(before, key), 'apiGroup') !== undefined)
  errors.push(...dataSourceErrors('spec', spec, tolerantGroup))
  return [...errors, ...classNameErrors('spec.volumeAttributesClassName', string(spec, 'volumeAttributesClassName'))]
}

const classNameErrors = (path: string, name: string): FieldError[] => (name === '' ? [] : dnsSubdomainErrors(path, name))

function claimUpdateErrors(claim: KubeObject, old: KubeObject): FieldError[] {
  const errors = claimErrors(claim, old)
  const [after, before] = [deepClone(object(claim, 'spec')), deepClone(object(old, 'spec'))]
  normalizeDataSources(before, before)
  if (string(before, 'volumeName') === '') restore(before, after, 'volumeName')
  errors.push(...storageClassChange(claim, old, { after, before }))
  if (string(object(claim, 'status'), 'phase') === 'Bound') {
    const requests = maybeObject(object(after, 'resources'), 'requests')
    if (requests !== undefined) restore(requests, object(object(before, 'resources'), 'requests'), 'storage')
    restore(after, before, 'volumeAttributesClassName')
  }
  if (!semanticEqual(after, before, 'spec')) {
    const diff = internalDiff('PersistentVolumeClaimSpec', before, after)
    errors.push(
      forbidden(
        'spec',
        `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${diff}`,
      ),
    )
  }
  const capacity = quantity(object(object(old, 'status'), 'capacity'), 'storage')
  if (compareQuantities(storage(claim), storage(old)) < 0 && compareQuantities(storage(claim), capacity) <= 0)
    errors.push(forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'))
  errors.push(...immutableErrors('volumeMode', field(object(claim, 'spec'), 'volumeMode'), field(object(old, 'spec'), 'volumeMode')))
  return [...errors, ...attributesClassErrors(claim, old)]
}

/** An absent class may be filled in, from the annotation or from the default. */
function storageClassChange(claim: KubeObject, old: KubeObject, { after, before }: { after: Fields; before: Fields }): FieldError[] {
  const [oldClass, newClass] = [maybeString(before, 'storageClassName'), maybeString(after, 'storageClassName')]
  const [oldNote, newNote] = [annotation(old, BETA_CLASS), annotation(claim, BETA_CLASS)]
  if (oldNote !== undefined && oldClass === undefined && newClass === oldNote && (newNote === undefined || newNote === oldNote)) {
    delete after.storageClassName
    return []
  }
  if (newClass !== undefined && oldClass === undefined && (oldNote === undefined || newClass === oldNote)) delete after.storageClassName
  if ((oldNote ?? '') === (newNote ?? '')) return []
  return [invalid(child('metadata.annotations', BETA_CLASS), newNote ?? '', 'field is immutable')]
}

function attributesClassErrors(claim: KubeObject, old: KubeObject): FieldError[] {
  const path = 'spec.volumeAttributesClassName'
  const name = maybeString(object(claim, 'spec'), 'volumeAttributesClassName')
  if (name === maybeString(object(old, 'spec'), 'volumeAttributesClassName')) return []
  if (field(object(old, 'status'), 'currentVolumeAttributesClassName') === undefined) return []
  const when = 'is forbidden when status.currentVolumeAttributesClassName is not nil'
  if (name === undefined) return [forbidden(path, `update to nil ${when}`)]
  return name === '' ? [forbidden(path, `update to empty string ${when}`)] : []
}

function statusErrors(claim: KubeObject): FieldError[] {
  const status = object(claim, 'status')
  const errors: FieldError[] = strings(object(claim, 'spec'), 'accessModes').length === 0 ? [required('Spec.accessModes')] : []
  errors.push(...basicAmountErrors('status.capacity', object(status, 'capacity')))
  for (const [name, state] of Object.entries(object(status, 'allocatedResourceStatuses')).sort()) {
    errors.push(...resourceKeyErrors('status.allocatedResourceStatuses', name))
    if (typeof state !== 'string' || !RESIZE_STATES.includes(state))
      errors.push(unsupported('status.allocatedResourceStatuses', name, RESIZE_STATES))
  }
  const allocated = object(status, 'allocatedResources')
  for (const name of Object.keys(allocated).sort()) {
    const keyErrors = resourceKeyErrors('status.allocatedResources', name)
    const at = keyed('status.allocatedResources', name)
    errors.push(...(keyErrors.length > 0 ? keyErrors : resourceQuantityErrors(at, 'storage', allocated[name])))
  }
  return errors
}

const basicAmountErrors = (path: string, amounts: Fields): FieldError[] =>
  Object.keys(amounts)
    .sort()
    .flatMap((name) => {
      const value = quantityValue(quantity(amounts, name))
      return value < 0 ? [invalid(keyed(path, name), value, 'must be a valid resource quantity')] : []
    })

function resourceKeyErrors(path: string, name: string): FieldError[] {
  const errors = qualifiedNameErrors(path, name)
  if (errors.length > 0 || !isNativeResource(name) || name === 'storage') return errors
  return [unsupported(path, name, ['storage'])]
}

function warnings(claim: KubeObject): string[] {
  const out =
    annotation(claim, BETA_CLASS) === undefined
      ? []
      : [`metadata.annotations[${BETA_CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead`]
  for (const list of ['requests', 'limits']) {
    const amount = quantity(object(object(object(claim, 'spec'), 'resources'), list), 'storage')
    if (scaledValue(amount, -3) % 1000n !== 0n)
      out.push(
        `spec.resources.${list}[storage]: fractional byte value ${JSON.stringify(formatQuantity(amount))} is invalid, must be an integer`,
      )
  }
  return out
}

export const persistentVolumeClaimRules: KindRules = {
  applyDefaults(claim) {
    defaultString(ensureObject(claim, 'status'), 'phase', 'Pending')
    defaultValue(ensureObject(claim, 'spec'), 'volumeMode', 'Filesystem')
  },
  prepareForCreate(claim) {
    claim.status = { phase: 'Pending' }
    normalizeDataSources(ensureObject(claim, 'spec'), undefined)
  },
  prepareForUpdate(claim: KubeObject, old: KubeObject, { subresource }: RuleContext) {
    if (subresource === 'status') return restore(claim, old, 'spec')
    restore(claim, old, 'status')
    normalizeDataSources(ensureObject(claim, 'spec'), object(old, 'spec'))
  },
  validateCreate: (claim) => claimErrors(claim),
  validateUpdate: (claim, old, { subresource }) => (subresource === 'status' ? statusErrors(claim) : claimUpdateErrors(claim, old)),
  warnings: (claim, _old, { subresource }) => (subresource === 'status' ? [] : warnings(claim)),
}
