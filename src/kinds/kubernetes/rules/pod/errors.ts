/**
 * Field errors in the wording that the validation of pods and workloads shares.
 */
import { type FieldError, forbidden, invalid } from '../../../../kube/field-error.ts'

/** `Unsupported value` with the supported ones in the order given: the real server sorts only where it keeps them in a set. */
export const unsupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: 'NotSupported',
  field,
  value,
  detail: supported.length > 0 ? `supported values: ${supported.map((s) => JSON.stringify(s)).join(', ')}` : '',
})

export const nonNegative = (field: string, value: number | undefined): FieldError[] =>
  value !== undefined && value < 0 ? [invalid(field, value, 'must be greater than or equal to 0')] : []

export const positive = (field: string, value: number): FieldError[] =>
  value <= 0 ? [invalid(field, value, 'must be greater than zero')] : []

/** One error per message of a format check. */
export const invalidEach = (field: string, value: unknown, messages: readonly string[]): FieldError[] =>
  messages.map((message) => invalid(field, value, message))

/** `Forbidden` for every named field that is set. */
export const forbidEach = (paths: readonly (string | false)[], detail: string): FieldError[] =>
  paths.filter((path): path is string => path !== false).map((path) => forbidden(path, detail))

/** Adds whole lists; a call with one argument per item would overflow the stack on hostile input. */
export function appendAll<T>(target: T[], ...lists: readonly (readonly T[])[]): void {
  for (const list of lists) for (const item of list) target.push(item)
}
