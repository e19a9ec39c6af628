/** The spec of a claim inside another object: an ephemeral volume's template, or one of a StatefulSet's. */
import { deepEqual } from '../../../../base/json.ts'
import { type FieldError, forbidden, invalid, required } from '../../../../kube/field-error.ts'
import { checkDns1123Subdomain, nameIsDnsLabel, nameIsDnsSubdomain } from '../../../../kube/names.ts'
import { resourceQuantityErrors } from '../core/resources.ts'
import { type Fields, fieldsOf, isSet, maybeObject, maybeString, raw, string, strings } from '../fields.ts'
import { labelErrors, labelSelectorErrors } from '../formats.ts'
import { annotationErrors } from './annotations.ts'
import { appendAll, forbidEach, invalidEach, unsupported } from './errors.ts'
import { hasFraction, isPositive, toQuantity } from './quantities.ts'

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
const VOLUME_MODES = ['Block', 'Filesystem']
/** Fields of ObjectMeta that a template may not set, in the order of the struct. */
const FORBIDDEN_META = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uID',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
]

export function claimTemplateErrors(path: string, template: Fields): FieldError[] {
  const metadata = fieldsOf(raw(template, 'metadata'))
  return [
    ...annotationErrors(`${path}.metadata.annotations`, metadata),
    ...labelErrors(`${path}.metadata.labels`, metadata, 'labels'),
    ...forbidEach(
      FORBIDDEN_META.map((key) => isSet(metadata, key === 'uID' ? 'uid' : key) && `${path}.metadata.${key}`),
      'cannot be set',
    ),
    ...claimSpecErrors(`${path}.spec`, fieldsOf(raw(template, 'spec'))),
  ]
}

export function claimSpecErrors(path: string, spec: Fields): FieldError[] {
  const modes = strings(spec, 'accessModes')
  const className = string(spec, 'storageClassName')
  const volumeMode = maybeString(spec, 'volumeMode')
  const attributesClass = string(spec, 'volumeAttributesClassName')
  const errors: FieldError[] = []
  if (modes.length === 0) errors.push(required(`${path}.accessModes`, 'at least 1 access mode is required'))
  appendAll(errors, labelSelectorErrors(`${path}.selector`, maybeObject(spec, 'selector')))
  for (const mode of modes) if (!ACCESS_MODES.includes(mode)) errors.push(unsupported(`${path}.accessModes`, mode, ACCESS_MODES))
  if (modes.includes('ReadWriteOncePod') && modes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode))) {
    errors.push(forbidden(`${path}.accessModes`, 'may not use ReadWriteOncePod with other access modes'))
  }
  appendAll(errors, storageErrors(`${path}.resources[storage]`, spec))
  if (className !== '') appendAll(errors, invalidEach(`${path}.storageClassName`, className, nameIsDnsSubdomain(className, false)))
  if (volumeMode !== undefined && !VOLUME_MODES.includes(volumeMode))
    errors.push(unsupported(`${path}.volumeMode`, volumeMode, VOLUME_MODES))
  appendAll(errors, dataSourceErrors(path, spec))
  if (attributesClass !== '') {
    appendAll(errors, invalidEach(`${path}.volumeAttributesClassName`, attributesClass, nameIsDnsSubdomain(attributesClass, false)))
  }
  return errors
}

function storageErrors(path: string, spec: Fields): FieldError[] {
  const storage = maybeString(maybeObject(maybeObject(spec, 'resources'), 'requests'), 'storage')
  if (storage === undefined) return [required(path)]
  if (!isPositive(toQuantity(storage))) return [invalid(path, storage, 'must be greater than zero')]
  return resourceQuantityErrors(path, 'storage', storage)
}

function dataSourceErrors(path: string, spec: Fields): FieldError[] {
  const [source, ref] = [maybeObject(spec, 'dataSource'), maybeObject(spec, 'dataSourceRef')]
  const errors: FieldError[] = []
  if (source !== undefined) appendAll(errors, referenceErrors(`${path}.dataSource`, source))
  if (ref !== undefined) appendAll(errors, referenceErrors(`${path}.dataSourceRef`, ref))
  const namespace = string(ref, 'namespace')
  if (namespace !== '') {
    appendAll(errors, invalidEach(`${path}.dataSourceRef.namespace`, namespace, nameIsDnsLabel(namespace, false)))
    if (source !== undefined) errors.push(invalid(path, {}, 'may not be specified when dataSourceRef.namespace is specified'))
  } else if (source !== undefined && ref !== undefined) {
    const same = ['apiGroup', 'kind', 'name'].every((key) => deepEqual(raw(source, key), raw(ref, key)))
    if (!same) errors.push(invalid(path, {}, 'must match dataSourceRef'))
  }
  return errors
}

function referenceErrors(path: string, reference: Fields): FieldError[] {
  const [name, kind, group] = [string(reference, 'name'), string(reference, 'kind'), string(reference, 'apiGroup')]
  const errors: FieldError[] = []
  if (name === '') errors.push(required(`${path}.name`))
  if (kind === '') errors.push(required(`${path}.kind`))
  if (group === '' && kind !== 'PersistentVolumeClaim') {
    errors.push(invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
  }
  if (group !== '') appendAll(errors, invalidEach(`${path}.apiGroup`, group, checkDns1123Subdomain(group)))
  return errors
}

/** Storage is counted in bytes; a fraction only causes a warning. */
export function claimSpecWarnings(path: string, spec: Fields): string[] {
  const resources = maybeObject(spec, 'resources')
  return ['requests', 'limits'].flatMap((key) => {
    const amount = maybeString(maybeObject(resources, key), 'storage')
    return amount !== undefined && hasFraction(toQuantity(amount))
      ? [`${path}.resources.${key}[storage]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`]
      : []
  })
}
