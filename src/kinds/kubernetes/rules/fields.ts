/**
 * Reading fields of objects that a client sent. Decoding has already checked types against the schema, but rules must
 * not depend on it: a value of another type reads as its zero value, and nothing here throws or sees inherited keys.
 */
import { isJsonObject, setOwn } from '../../../base/json.ts'
import type { KubeObject } from '../../../kube/meta.ts'

export type Fields = Record<string, unknown>

const NOTHING: Fields = Object.freeze({})
const NO_ITEMS: readonly unknown[] = Object.freeze([])

export const isFields = (value: unknown): value is Fields => isJsonObject(value)

/** The value as an object; anything else reads as an empty one. */
export const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {})

/** The value of an own key, `undefined` when absent; `null` counts as absent, as it does in Go. */
export function field(of: unknown, key: string): unknown {
  if (typeof of !== 'object' || of === null || !Object.hasOwn(of, key)) return undefined
  return (of as Fields)[key] ?? undefined
}

/** A struct field read as Go would: never absent. Do not write to the result; use `ensureObject` for that. */
export function object(of: unknown, key: string): Fields {
  const value = field(of, key)
  return isJsonObject(value) ? value : NOTHING
}

/** A pointer field: `undefined` when nil. */
export function maybeObject(of: unknown, key: string): Fields | undefined {
  const value = field(of, key)
  return isJsonObject(value) ? value : undefined
}

export function items(of: unknown, key: string): readonly unknown[] {
  const value = field(of, key)
  return Array.isArray(value) ? value : NO_ITEMS
}

/** A list of structs; elements of another type read as empty ones, as a decoded null does, so that indices stay true. */
export function objects(of: unknown, key: string): Fields[] {
  return items(of, key).map(fieldsOf)
}

export function strings(of: unknown, key: string): string[] {
  return items(of, key).map((item) => (typeof item === 'string' ? item : ''))
}

export function integers(of: unknown, key: string): number[] {
  return items(of, key).map((item) => (typeof item === 'number' ? item : 0))
}

export function string(of: unknown, key: string): string {
  const value = field(of, key)
  return typeof value === 'string' ? value : ''
}

export function maybeString(of: unknown, key: string): string | undefined {
  const value = field(of, key)
  return typeof value === 'string' ? value : undefined
}

export function number(of: unknown, key: string): number {
  const value = field(of, key)
  return typeof value === 'number' ? value : 0
}

export function maybeNumber(of: unknown, key: string): number | undefined {
  const value = field(of, key)
  return typeof value === 'number' ? value : undefined
}

export function boolean(of: unknown, key: string): boolean {
  return field(of, key) === true
}

export function maybeBoolean(of: unknown, key: string): boolean | undefined {
  const value = field(of, key)
  return typeof value === 'boolean' ? value : undefined
}

/** An int-or-string; unset reads as the integer 0. */
export function intOrText(of: unknown, key: string): number | string {
  const value = field(of, key)
  return typeof value === 'number' || typeof value === 'string' ? value : 0
}

/** True for anything but absence: pointers, and unions identified by which member is set. */
export const isSet = (of: unknown, key: string): boolean => field(of, key) !== undefined

/** The value as sent, `null` included: for messages and copies. */
export const raw = (of: Fields | undefined, key: string): unknown => (of !== undefined && Object.hasOwn(of, key) ? of[key] : undefined)

/** A map of strings in the order sent, for messages that must follow it; keys may be anything, `__proto__` included. */
export function entries(of: unknown, key: string): [string, string][] {
  return Object.entries(object(of, key)).map(([name, item]) => [name, typeof item === 'string' ? item : ''])
}

/** Entries of a map in key order (Go's order is random, ours is stable); values of another type read as ''. */
export function stringEntries(of: unknown, key: string): readonly (readonly [string, string])[] {
  const map = object(of, key)
  return Object.keys(map)
    .sort()
    .map((name) => [name, string(map, name)] as const)
}

/** The struct at `key` for writing, made when absent. */
export function ensureObject(of: Fields | KubeObject, key: string): Fields {
  const value = field(of, key)
  if (isJsonObject(value)) return value
  const made: Fields = {}
  setOwn(of, key, made)
  return made
}

/** Structs of a list for writing: elements that are not objects are left out. */
export function writableObjects(of: unknown, key: string): Fields[] {
  return items(of, key).filter((item): item is Fields => isJsonObject(item))
}

/** `if x == "" { x = value }`. */
export function defaultString(of: Fields, key: string, value: string): void {
  if (string(of, key) === '') of[key] = value
}

/** `if x == nil { x = value }`. */
export function defaultValue(of: Fields, key: string, value: unknown): void {
  if (field(of, key) === undefined) of[key] = value
}

/** Copies a field of `from` over `to`, or removes it where `from` has none. */
export function restore(to: Fields | KubeObject, from: Fields | KubeObject, key: string): void {
  if (Object.hasOwn(from, key)) (to as Fields)[key] = (from as Fields)[key]
  else delete (to as Fields)[key]
}

const METADATA_OF_OWNERS = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const

/** For endpoints that write only a status: the rest of metadata stays as it was. */
export function restoreMetadata(to: KubeObject, from: KubeObject): void {
  for (const key of METADATA_OF_OWNERS) restore(to.metadata as Fields, from.metadata as Fields, key)
}

export const annotation = (object: KubeObject, name: string): string | undefined => maybeString(object.metadata?.annotations, name)
