/**
 * Checks of single fields that many kinds share, as lists of field errors: names, labels, selectors, amounts and
 * immutability. The wording is the real server's.
 */
import { deepEqual } from '../../../base/json.ts'
import { child, type FieldError, forbidden, index, invalid, required } from '../../../kube/field-error.ts'
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkLabelValue,
  checkPortName,
  checkPortNumber,
  checkQualifiedName,
} from '../../../kube/names.ts'
import { type Quantity, quantitySign, tryParseQuantity } from '../../../kube/quantity.ts'
import { type Fields, field, objects, string, stringEntries, strings } from './fields.ts'
import { invalidEach } from './pod/errors.ts'

export const dnsLabelErrors = (path: string, value: string): FieldError[] => invalidEach(path, value, checkDns1123Label(value))

export const dnsSubdomainErrors = (path: string, value: string): FieldError[] => invalidEach(path, value, checkDns1123Subdomain(value))

export const qualifiedNameErrors = (path: string, value: string): FieldError[] => invalidEach(path, value, checkQualifiedName(value))

export const portNumberErrors = (path: string, value: number): FieldError[] => invalidEach(path, value, checkPortNumber(value))

/** An int-or-string port; absent reads as the number 0. */
export function portNumberOrNameErrors(path: string, value: unknown): FieldError[] {
  if (typeof value === 'string') return invalidEach(path, value, checkPortName(value))
  return portNumberErrors(path, typeof value === 'number' ? value : 0)
}

export const immutableErrors = (path: string, value: unknown, old: unknown): FieldError[] =>
  deepEqual(value, old) ? [] : [invalid(path, value, 'field is immutable')]

/** A map of labels: errors name the map's path, not the key. */
export function labelErrors(path: string, of: unknown, key: string): FieldError[] {
  return stringEntries(of, key).flatMap(([name, value]) => [
    ...qualifiedNameErrors(path, name),
    ...invalidEach(path, value, checkLabelValue(value)),
  ])
}

/** A LabelSelector. `tolerant` accepts invalid values, for objects that already have them. */
export function labelSelectorErrors(path: string, selector: Fields | undefined, tolerant = false): FieldError[] {
  if (selector === undefined) return []
  return [
    ...labelErrors(child(path, 'matchLabels'), selector, 'matchLabels'),
    ...objects(selector, 'matchExpressions').flatMap((requirement, i) =>
      requirementErrors(index(child(path, 'matchExpressions'), i), requirement, tolerant),
    ),
  ]
}

function requirementErrors(path: string, requirement: Fields, tolerant: boolean): FieldError[] {
  const operator = string(requirement, 'operator')
  const values = strings(requirement, 'values')
  const errors: FieldError[] = []
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) errors.push(required(child(path, 'values'), "must be specified when `operator` is 'In' or 'NotIn'"))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      errors.push(forbidden(child(path, 'values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
  } else errors.push(invalid(child(path, 'operator'), operator, 'not a valid selector operator'))
  errors.push(...qualifiedNameErrors(child(path, 'key'), string(requirement, 'key')))
  if (tolerant) return errors
  return [...errors, ...values.flatMap((value, i) => invalidEach(index(child(path, 'values'), i), value, checkLabelValue(value)))]
}

const ZERO: Quantity = Object.freeze({ unscaled: 0n, scale: 0, format: 'DecimalSI' })

/** The quantity at `key`; what cannot be parsed counts as zero, Go's zero value. */
export function quantity(of: unknown, key: string): Quantity {
  const value = field(of, key)
  if (typeof value !== 'string' && typeof value !== 'number') return ZERO
  return tryParseQuantity(value).value ?? ZERO
}

export const positiveQuantityErrors = (path: string, of: unknown, key: string): FieldError[] =>
  quantitySign(quantity(of, key)) <= 0 ? [invalid(path, string(of, key) || '0', 'must be greater than zero')] : []
