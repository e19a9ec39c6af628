/** Node and pod affinity: terms, weights, selectors. */
import { type FieldError, forbidden, invalid, required } from '../../../../kube/field-error.ts'
import { checkLabelValue, checkQualifiedName, nameIsDnsLabel, nameIsDnsSubdomain } from '../../../../kube/names.ts'
import { type Fields, maybeObject, number, objects, string, strings } from '../fields.ts'
import { labelSelectorErrors } from '../formats.ts'
import { appendAll, invalidEach } from './errors.ts'
import type { PodOptions } from './options.ts'
import { matchLabelKeyErrors } from './topology-spread.ts'

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'

export function validateAffinity(path: string, spec: Fields, options: PodOptions): FieldError[] {
  const affinity = maybeObject(spec, 'affinity')
  if (affinity === undefined) return []
  const tolerant = options.allowInvalidAffinitySelector
  return [
    ...nodeAffinityErrors(`${path}.nodeAffinity`, maybeObject(affinity, 'nodeAffinity'), options.allowInvalidRequiredNodeAffinity),
    ...podAffinityErrors(`${path}.podAffinity`, maybeObject(affinity, 'podAffinity'), tolerant),
    ...podAffinityErrors(`${path}.podAntiAffinity`, maybeObject(affinity, 'podAntiAffinity'), tolerant),
  ]
}

function nodeAffinityErrors(path: string, affinity: Fields | undefined, tolerant: boolean): FieldError[] {
  const errors: FieldError[] = []
  const selector = maybeObject(affinity, REQUIRED)
  if (selector !== undefined) {
    const terms = objects(selector, 'nodeSelectorTerms')
    const at = `${path}.${REQUIRED}.nodeSelectorTerms`
    if (terms.length === 0) errors.push(required(at, 'must have at least one node selector term'))
    terms.forEach((term, i) => {
      appendAll(errors, nodeTermErrors(`${at}[${i}]`, term, tolerant))
    })
  }
  objects(affinity, PREFERRED).forEach((term, i) => {
    const at = `${path}.${PREFERRED}[${i}]`
    appendAll(errors, weightErrors(at, term), nodeTermErrors(`${at}.preference`, maybeObject(term, 'preference') ?? {}, true))
  })
  return errors
}

const weightErrors = (at: string, term: Fields): FieldError[] => {
  const weight = number(term, 'weight')
  return weight <= 0 || weight > 100 ? [invalid(`${at}.weight`, weight, 'must be in the range 1-100')] : []
}

const nodeTermErrors = (path: string, term: Fields, tolerant: boolean): FieldError[] => [
  ...objects(term, 'matchExpressions').flatMap((r, i) => nodeRequirementErrors(`${path}.matchExpressions[${i}]`, r, tolerant)),
  ...objects(term, 'matchFields').flatMap((r, i) => nodeFieldErrors(`${path}.matchFields[${i}]`, r)),
]

function nodeRequirementErrors(path: string, requirement: Fields, tolerant: boolean): FieldError[] {
  const [operator, key, values] = [string(requirement, 'operator'), string(requirement, 'key'), strings(requirement, 'values')]
  const errors = nodeOperatorErrors(path, operator, values)
  appendAll(errors, invalidEach(`${path}.key`, key, checkQualifiedName(key)))
  if (tolerant) return errors
  return [...errors, ...nodeValueErrors(`${path}.values`, values)]
}

const nodeValueErrors = (path: string, values: readonly string[]): FieldError[] =>
  values.flatMap((value, i) => invalidEach(`${path}[${i}]`, value, checkLabelValue(value)))

function nodeOperatorErrors(path: string, operator: string, values: readonly string[]): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length === 0 ? [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")] : []
    case 'Exists':
    case 'DoesNotExist':
      return values.length > 0 ? [forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")] : []
    case 'Gt':
    case 'Lt':
      return values.length !== 1 ? [required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")] : []
    default:
      return [invalid(`${path}.operator`, operator, 'not a valid selector operator')]
  }
}

/** The name is the only node field that can be selected by. */
function nodeFieldErrors(path: string, requirement: Fields): FieldError[] {
  const [operator, key, values] = [string(requirement, 'operator'), string(requirement, 'key'), strings(requirement, 'values')]
  const errors: FieldError[] = []
  if (operator !== 'In' && operator !== 'NotIn') errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'))
  else if (values.length !== 1) {
    errors.push(required(`${path}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
  }
  if (key !== 'metadata.name') return [...errors, invalid(`${path}.key`, key, 'not a valid field selector key')]
  return [...errors, ...values.flatMap((value, i) => invalidEach(`${path}.values[${i}]`, value, nameIsDnsSubdomain(value, false)))]
}

function podAffinityErrors(path: string, affinity: Fields | undefined, tolerant: boolean): FieldError[] {
  return [
    ...objects(affinity, REQUIRED).flatMap((term, i) => podTermErrors(`${path}.${REQUIRED}[${i}]`, term, tolerant)),
    ...objects(affinity, PREFERRED).flatMap((term, i) => {
      const at = `${path}.${PREFERRED}[${i}]`
      return [...weightErrors(at, term), ...podTermErrors(`${at}.podAffinityTerm`, maybeObject(term, 'podAffinityTerm') ?? {}, tolerant)]
    }),
  ]
}

function podTermErrors(path: string, term: Fields, tolerant: boolean): FieldError[] {
  const topologyKey = string(term, 'topologyKey')
  return [
    ...podTermSelectorErrors(path, term, tolerant),
    ...strings(term, 'namespaces').flatMap((name) => invalidEach(`${path}.namespace`, name, nameIsDnsLabel(name, false))),
    ...matchLabelKeyErrors(path, term),
    ...(topologyKey === '' ? [required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...invalidEach(`${path}.topologyKey`, topologyKey, checkQualifiedName(topologyKey)),
  ]
}

const podTermSelectorErrors = (path: string, term: Fields, tolerant: boolean): FieldError[] => [
  ...labelSelectorErrors(`${path}.labelSelector`, maybeObject(term, 'labelSelector'), tolerant),
  ...labelSelectorErrors(`${path}.namespaceSelector`, maybeObject(term, 'namespaceSelector'), tolerant),
]

/** Errors in the selectors of pod affinity only: an object stored with them may keep them. */
export function affinitySelectorErrors(spec: Fields): FieldError[] {
  const affinity = maybeObject(spec, 'affinity')
  return ['podAffinity', 'podAntiAffinity'].flatMap((key) => {
    const part = maybeObject(affinity, key)
    const terms = [...objects(part, REQUIRED), ...objects(part, PREFERRED).map((term) => maybeObject(term, 'podAffinityTerm') ?? {})]
    return terms.flatMap((term) => podTermSelectorErrors('', term, false))
  })
}

/** Invalid label values in required node affinity. */
export const requiredNodeAffinityErrors = (spec: Fields): FieldError[] =>
  objects(maybeObject(maybeObject(maybeObject(spec, 'affinity'), 'nodeAffinity'), REQUIRED), 'nodeSelectorTerms').flatMap((term) =>
    objects(term, 'matchExpressions').flatMap((requirement) => nodeValueErrors('', strings(requirement, 'values'))),
  )
