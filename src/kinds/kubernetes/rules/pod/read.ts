/**
 * Reading decoded objects without trusting their shape: an absent field is the zero value of its type, and a field of
 * an unexpected type reads as absent. Rules look at objects through these functions only, so they never throw.
 */
import { isJsonObject } from '../../../../base/json.ts'

export type Fields = Record<string, unknown>

export const isFields = (value: unknown): value is Fields => isJsonObject(value)

/** The value as an object; anything else reads as an empty one. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

const own = (from: Fields | undefined, key: string): unknown => (from !== undefined && Object.hasOwn(from, key) ? from[key] : undefined)

export function text(from: Fields | undefined, key: string): string {
  const value = own(from, key)
  return typeof value === 'string' ? value : ''
}

/** A pointer to a string: undefined when unset, which differs from ''. */
export function textOrUnset(from: Fields | undefined, key: string): string | undefined {
  const value = own(from, key)
  return typeof value === 'string' ? value : undefined
}

export function integer(from: Fields | undefined, key: string): number {
  const value = own(from, key)
  return typeof value === 'number' ? value : 0
}

export function integerOrUnset(from: Fields | undefined, key: string): number | undefined {
  const value = own(from, key)
  return typeof value === 'number' ? value : undefined
}

export const flag = (from: Fields | undefined, key: string): boolean => own(from, key) === true

export function flagOrUnset(from: Fields | undefined, key: string): boolean | undefined {
  const value = own(from, key)
  return typeof value === 'boolean' ? value : undefined
}

/** A nested object; undefined when unset. */
export function fields(from: Fields | undefined, key: string): Fields | undefined {
  const value = own(from, key)
  return isFields(value) ? value : undefined
}

/** A list of objects; an element of another type counts as an empty object, as a decoded null does. */
export function items(from: Fields | undefined, key: string): Fields[] {
  const value = own(from, key)
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

export function texts(from: Fields | undefined, key: string): string[] {
  const value = own(from, key)
  return Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? item : '')) : []
}

export function integers(from: Fields | undefined, key: string): number[] {
  const value = own(from, key)
  return Array.isArray(value) ? value.map((item) => (typeof item === 'number' ? item : 0)) : []
}

/** A map of strings as entries, in the order sent; keys may be anything, `__proto__` included. */
export function entries(from: Fields | undefined, key: string): [string, string][] {
  const value = own(from, key)
  return isFields(value) ? Object.entries(value).map(([name, item]) => [name, typeof item === 'string' ? item : '']) : []
}

/** An int-or-string; unset reads as the integer 0. */
export function intOrText(from: Fields | undefined, key: string): number | string {
  const value = own(from, key)
  return typeof value === 'number' || typeof value === 'string' ? value : 0
}

/** True for anything but absence: pointers, and unions told apart by which member is set. */
export const isSet = (from: Fields | undefined, key: string): boolean => {
  const value = own(from, key)
  return value !== undefined && value !== null
}

/** The raw value, for messages and copies. */
export const raw = (from: Fields | undefined, key: string): unknown => own(from, key)
