/**
 * Fields of objects whose kind is not known to the compiler: read without trusting a shape, and changed without touching
 * the original. What is not on the path is shared between the original and the copy, so cached objects stay unchanged.
 */
import { isJsonObject, setOwn } from '../base/json.ts'
import type { KubeObject } from './meta.ts'

export type Fields = Readonly<Record<string, unknown>>

const NO_FIELDS: Fields = Object.freeze({})

/** The value at `path`; undefined where anything on the way is absent or not an object. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let current = value
  for (const key of path) {
    if (!isJsonObject(current) || !Object.hasOwn(current, key)) return undefined
    current = current[key]
  }
  return current
}

/** The object at `path`, or an empty one. */
export function fieldsAt(value: unknown, ...path: readonly string[]): Fields {
  const found = fieldAt(value, ...path)
  return isJsonObject(found) ? found : NO_FIELDS
}

/** The objects of the list at `path`; entries that are not objects are left out. */
export function listAt(value: unknown, ...path: readonly string[]): readonly Fields[] {
  const found = fieldAt(value, ...path)
  return Array.isArray(found) ? found.filter(isJsonObject) : []
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = fieldAt(value, ...path)
  return typeof found === 'string' ? found : undefined
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = fieldAt(value, ...path)
  return typeof found === 'number' ? found : undefined
}

/** A copy in which `path` holds `value`; missing objects on the way are created. */
export function withField<T extends object = KubeObject>(object: T, path: readonly string[], value: unknown): T {
  return changed(object, path, value) as T
}

/** A copy without `path`; the same object when there is nothing to remove. */
export function withoutField<T extends object = KubeObject>(object: T, ...path: readonly string[]): T {
  const parent = fieldAt(object, ...path.slice(0, -1))
  const last = path.at(-1)
  if (last === undefined || !isJsonObject(parent) || !Object.hasOwn(parent, last)) return object
  return changed(object, path, undefined) as T
}

function changed(value: unknown, path: readonly string[], leaf: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return leaf
  const copy: Record<string, unknown> = {}
  const fields = isJsonObject(value) ? value : NO_FIELDS
  for (const name of Object.keys(fields)) if (name !== key || rest.length > 0 || leaf !== undefined) setOwn(copy, name, fields[name])
  if (rest.length > 0 || leaf !== undefined) setOwn(copy, key, changed(Object.hasOwn(fields, key) ? fields[key] : undefined, rest, leaf))
  return copy
}
