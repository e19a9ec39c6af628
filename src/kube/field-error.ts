/**
 * Validation failures in Kubernetes' own words: a typed error at a field path, and its rendering into the text and
 * the causes of a Status. Rules return lists of these and never throw.
 */
import { goJson, goPrint, goQuote } from './go-print.ts'

export type FieldErrorType =
  | 'Required'
  | 'NotFound'
  | 'Duplicate'
  | 'Invalid'
  | 'NotSupported'
  | 'Forbidden'
  | 'TooLong'
  | 'TooShort'
  | 'TooMany'
  | 'TooFew'
  | 'InternalError'
  | 'TypeInvalid'

export interface FieldError {
  type: FieldErrorType
  field: string
  /** Rendered as Go would print it; use `goValue` for lists and structs. */
  value?: unknown
  detail: string
}

const TITLES: Record<FieldErrorType, string> = {
  Required: 'Required value',
  NotFound: 'Not found',
  Duplicate: 'Duplicate value',
  Invalid: 'Invalid value',
  NotSupported: 'Unsupported value',
  Forbidden: 'Forbidden',
  TooLong: 'Too long',
  TooShort: 'Too short',
  TooMany: 'Too many',
  TooFew: 'Too few',
  InternalError: 'Internal error',
  TypeInvalid: 'Invalid value',
}

const REASONS: Record<FieldErrorType, string> = {
  Required: 'FieldValueRequired',
  NotFound: 'FieldValueNotFound',
  Duplicate: 'FieldValueDuplicate',
  Invalid: 'FieldValueInvalid',
  NotSupported: 'FieldValueNotSupported',
  Forbidden: 'FieldValueForbidden',
  TooLong: 'FieldValueTooLong',
  TooShort: 'FieldValueTooShort',
  TooMany: 'FieldValueTooMany',
  TooFew: 'FieldValueTooFew',
  InternalError: 'InternalError',
  TypeInvalid: 'FieldValueTypeInvalid',
}

export const required = (field: string, detail = ''): FieldError => ({ type: 'Required', field, detail })
export const notFound = (field: string, value: unknown): FieldError => ({ type: 'NotFound', field, value, detail: '' })
export const duplicate = (field: string, value: unknown): FieldError => ({ type: 'Duplicate', field, value, detail: '' })
export const invalid = (field: string, value: unknown, detail: string): FieldError => ({ type: 'Invalid', field, value, detail })
export const typeInvalid = (field: string, value: unknown, detail: string): FieldError => ({ type: 'TypeInvalid', field, value, detail })
export const forbidden = (field: string, detail: string): FieldError => ({ type: 'Forbidden', field, detail })
export const tooLong = (field: string, maxLength: number): FieldError => ({
  type: 'TooLong',
  field,
  detail: maxLength < 0 ? 'value is too long' : `may not be more than ${maxLength} ${maxLength === 1 ? 'byte' : 'bytes'}`,
})
export const tooMany = (field: string, actual: number, max: number): FieldError => ({
  type: 'TooMany',
  field,
  value: actual,
  detail: max < 0 ? 'has too many items' : `must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
})
export const internalError = (field: string, detail: string): FieldError => ({ type: 'InternalError', field, detail })

/** `Unsupported value: "x": supported values: "A", "B"`; the list is sorted as the real server sorts it. */
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: 'NotSupported',
  field,
  value,
  detail: supported.length > 0 ? `supported values: ${[...supported].sort().map(goQuote).join(', ')}` : '',
})

const VALUELESS: ReadonlySet<FieldErrorType> = new Set(['Required', 'Forbidden', 'TooLong', 'TooShort', 'InternalError'])

/** As the value of an error: the message then contains no value. */
export const omittedValue: unique symbol = Symbol('omitted')

/** The text after the field: `Invalid value: "x": must be …`. */
export function fieldErrorBody(error: FieldError): string {
  const title = TITLES[error.type]
  const hasValue = !VALUELESS.has(error.type) && error.value !== omittedValue
  let text = hasValue ? `${title}: ${goValue(error.value)}` : title
  if (error.detail !== '') text += `: ${error.detail}`
  return text
}

export const fieldErrorMessage = (error: FieldError): string => `${error.field}: ${fieldErrorBody(error)}`

export const fieldErrorReason = (error: FieldError): string => REASONS[error.type]

/** One message for a list of errors: a single one as is, several in brackets, without duplicates. */
export function aggregateMessage(messages: readonly string[]): string {
  const unique = [...new Set(messages)]
  return unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]`
}

/** A value as field.Error prints it: strings quoted, scalars bare, everything else as JSON, nothing as null. */
function goValue(value: unknown): string {
  if (typeof value === 'string') return goQuote(value)
  if (value === undefined || value === null) return 'null'
  if (typeof value === 'number') return goPrint(value)
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  return goJson(value)
}

/** Path helpers: `child('spec', 'ports')`, `index('spec.ports', 2)`, `keyed('data', 'a.b')`. */
export const child = (path: string, ...names: string[]): string => [...(path === '' ? [] : [path]), ...names].join('.')
export const index = (path: string, i: number): string => `${path}[${i}]`
export const keyed = (path: string, key: string): string => `${path}[${key}]`
