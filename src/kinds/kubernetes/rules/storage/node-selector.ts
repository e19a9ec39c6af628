/** NodeSelector: which nodes can reach a volume. */
import { child, type FieldError, forbidden, index, invalid, required } from '../../../../kube/field-error.ts'
import { checkDns1123Subdomain, checkLabelValue } from '../../../../kube/names.ts'
import { type Fields, objects, string, strings } from '../fields.ts'
import { qualifiedNameErrors } from '../formats.ts'
import { invalidEach } from '../pod/errors.ts'

/** `tolerant` accepts invalid label values, for objects that already have them. */
export function nodeSelectorErrors(path: string, selector: Fields, tolerant: boolean): FieldError[] {
  const terms = objects(selector, 'nodeSelectorTerms')
  const at = child(path, 'nodeSelectorTerms')
  if (terms.length === 0) return [required(at, 'must have at least one node selector term')]
  return terms.flatMap((term, i) => [
    ...objects(term, 'matchExpressions').flatMap((requirement, j) =>
      expressionErrors(index(child(index(at, i), 'matchExpressions'), j), requirement, tolerant),
    ),
    ...objects(term, 'matchFields').flatMap((requirement, j) => fieldErrors(index(child(index(at, i), 'matchFields'), j), requirement)),
  ])
}

function expressionErrors(path: string, requirement: Fields, tolerant: boolean): FieldError[] {
  const operator = string(requirement, 'operator')
  const values = strings(requirement, 'values')
  const at = child(path, 'values')
  const errors: FieldError[] = []
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) errors.push(required(at, "must be specified when `operator` is 'In' or 'NotIn'"))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) errors.push(forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1) errors.push(required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
  } else errors.push(invalid(child(path, 'operator'), operator, 'not a valid selector operator'))
  errors.push(...qualifiedNameErrors(child(path, 'key'), string(requirement, 'key')))
  if (!tolerant) for (const [i, value] of values.entries()) errors.push(...invalidEach(index(at, i), value, checkLabelValue(value)))
  return errors
}

function fieldErrors(path: string, requirement: Fields): FieldError[] {
  const operator = string(requirement, 'operator')
  const values = strings(requirement, 'values')
  const key = string(requirement, 'key')
  const errors: FieldError[] = []
  if (operator !== 'In' && operator !== 'NotIn') errors.push(invalid(child(path, 'operator'), operator, 'not a valid selector operator'))
  else if (values.length !== 1)
    errors.push(required(child(path, 'values'), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
  if (key !== 'metadata.name') return [...errors, invalid(child(path, 'key'), key, 'not a valid field selector key')]
  return [...errors, ...values.flatMap((value, i) => invalidEach(index(child(path, 'values'), i), value, checkDns1123Subdomain(value)))]
}
