/** StorageClass and VolumeAttributesClass: named sets of parameters for a driver, immutable. */
import { child, duplicate, type FieldError, forbidden, index, invalid, required, tooLong } from '../../../../kube/field-error.ts'
import { byteLength } from '../../../../kube/go-print.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { KindRules } from '../../../kind.ts'
import { defaultValue, type Fields, field, maybeString, objects, string, stringEntries, strings } from '../fields.ts'
import { immutableErrors, qualifiedNameErrors } from '../formats.ts'
import { unsupported } from '../pod/errors.ts'
import { semanticEqual } from '../pod/semantic.ts'
import { deprecatedNodeLabel } from './node-labels.ts'

const MAX_PARAMETERS = 512
const MAX_PARAMETER_BYTES = 256 * 1024

const driverErrors = (path: string, name: string): FieldError[] =>
  name === '' ? [required(path)] : qualifiedNameErrors(path, name.toLowerCase())

function parameterErrors(of: KubeObject, allowEmpty: boolean): FieldError[] {
  const path = 'parameters'
  const parameters = stringEntries(of, path)
  if (parameters.length > MAX_PARAMETERS) return [tooLong(path, MAX_PARAMETERS)]
  const errors: FieldError[] = []
  let size = 0
  for (const [key, value] of parameters) {
    if (key === '') errors.push(invalid(path, key, 'field can not be empty.'))
    size += byteLength(key) + byteLength(value)
  }
  if (size > MAX_PARAMETER_BYTES) errors.push(tooLong(path, MAX_PARAMETER_BYTES))
  if (!allowEmpty && parameters.length === 0) errors.push(required(path, 'must contain at least one key/value pair'))
  return errors
}

function topologyErrors(path: string, term: Fields): FieldError[] {
  const expressions = objects(term, 'matchLabelExpressions')
  const at = child(path, 'matchLabelExpressions')
  const keys = new Set<string>()
  return expressions.flatMap((expression, i) => {
    const here = index(at, i)
    const values = strings(expression, 'values')
    const key = string(expression, 'key')
    const problems: FieldError[] = values.length === 0 ? [required(child(here, 'values'))] : []
    for (const [j, value] of values.entries())
      if (values.indexOf(value) < j) problems.push(duplicate(index(child(here, 'values'), j), value))
    problems.push(...qualifiedNameErrors(child(here, 'key'), key))
    if (keys.has(key)) problems.push(duplicate(child(here, 'key'), key))
    keys.add(key)
    return problems
  })
}

function allowedTopologyErrors(storageClass: KubeObject): FieldError[] {
  const terms = objects(storageClass, 'allowedTopologies')
  // The list of seen terms starts with one empty entry per term, so that an empty term duplicates each of them.
  const seen: unknown[] = terms.map(() => ({}))
  return terms.flatMap((term, i) => {
    const path = index('allowedTopologies', i)
    const shape = Object.fromEntries(
      objects(term, 'matchLabelExpressions').map((expression) => [string(expression, 'key'), [...strings(expression, 'values')].sort()]),
    )
    const errors = topologyErrors(path, term)
    for (const other of seen) if (semanticEqual(other, shape)) errors.push(duplicate(child(path, 'matchLabelExpressions'), ''))
    seen.push(shape)
    return errors
  })
}

function storageClassErrors(storageClass: KubeObject): FieldError[] {
  const errors = [...driverErrors('provisioner', string(storageClass, 'provisioner')), ...parameterErrors(storageClass, true)]
  const policy = string(storageClass, 'reclaimPolicy')
  if (policy !== '' && !['Delete', 'Retain'].includes(policy)) errors.push(unsupported('reclaimPolicy', policy, ['Delete', 'Retain']))
  const mode = maybeString(storageClass, 'volumeBindingMode')
  const modes = ['Immediate', 'WaitForFirstConsumer']
  if (mode === undefined) errors.push(required('volumeBindingMode'))
  else if (!modes.includes(mode)) errors.push(unsupported('volumeBindingMode', mode, modes))
  return [...errors, ...allowedTopologyErrors(storageClass)]
}

export const storageClassRules: KindRules = {
  applyDefaults(storageClass) {
    defaultValue(storageClass, 'reclaimPolicy', 'Delete')
    defaultValue(storageClass, 'volumeBindingMode', 'Immediate')
  },
  validateCreate: storageClassErrors,
  validateUpdate: (storageClass, old) => [
    ...storageClassErrors(storageClass),
    ...(semanticEqual(storageClass.parameters ?? {}, old.parameters ?? {})
      ? []
      : [invalid('parameters', field(storageClass, 'parameters') ?? null, 'field is immutable')]),
    ...['provisioner', 'reclaimPolicy', 'volumeBindingMode'].flatMap((key) =>
      immutableErrors(key, field(storageClass, key), field(old, key)),
    ),
  ],
  warnings: (storageClass) =>
    objects(storageClass, 'allowedTopologies').flatMap((term, i) =>
      objects(term, 'matchLabelExpressions').flatMap((expression, j) => {
        const message = deprecatedNodeLabel(string(expression, 'key'))
        const path = child(index(child(index('allowedTopologies', i), 'matchLabelExpressions'), j), 'key')
        return message === undefined ? [] : [`${path}: ${message}`]
      }),
    ),
}

const attributesErrors = (attributes: KubeObject): FieldError[] => [
  ...driverErrors('driverName', string(attributes, 'driverName')),
  ...parameterErrors(attributes, false),
]

export const volumeAttributesClassRules: KindRules = {
  validateCreate: attributesErrors,
  validateUpdate: (attributes, old) => [
    ...(string(attributes, 'driverName') === string(old, 'driverName')
      ? []
      : [forbidden('driverName', 'updates to driverName are forbidden.')]),
    ...(semanticEqual(attributes.parameters ?? {}, old.parameters ?? {})
      ? []
      : [forbidden('parameters', 'updates to parameters are forbidden.')]),
    ...attributesErrors(attributes),
  ],
}
