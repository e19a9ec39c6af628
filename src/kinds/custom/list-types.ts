/**
 * Uniqueness in lists of type `set` (whole items) and `map` (their keys). The first repetition of each value is an
 * error, further ones are not reported again.
 */
import { isJsonObject } from '../../base/json.ts'
import { child, duplicate, type FieldError, index, invalid, keyed } from '../../kube/field-error.ts'
import { goMapJson, sortKeys } from './go-text.ts'
import type { Node } from './node.ts'

export function validateListTypes(value: unknown, node: Node, path = ''): FieldError[] {
  if (!node.listTypesBelow) return []
  if (Array.isArray(value)) {
    const { items } = node
    const below = items === undefined ? [] : value.flatMap((item, i) => validateListTypes(item, items, index(path, i)))
    return [...ownErrors(value, node, path), ...below]
  }
  if (!isJsonObject(value)) return []
  return Object.keys(value).flatMap((key) => {
    const property = node.properties?.get(key)
    return [
      ...(typeof node.additional === 'object' ? validateListTypes(value[key], node.additional, keyed(path, key)) : []),
      ...(property === undefined ? [] : validateListTypes(value[key], property, child(path, key))),
    ]
  })
}

function ownErrors(list: readonly unknown[], node: Node, path: string): FieldError[] {
  if (node.listType === 'set') return repeated(list, path)
  if (node.listType !== 'map') return []
  const wrong = list.findIndex((item) => item !== null && !isJsonObject(item))
  if (wrong >= 0) return [invalid(index(path, wrong), list[wrong], 'must be an object for an array of list-type map')]
  const keys = [...node.listMapKeys].sort()
  return repeated(
    list.map((item) => (isJsonObject(item) ? Object.fromEntries(keys.filter((k) => Object.hasOwn(item, k)).map((k) => [k, item[k]])) : {})),
    path,
  )
}

function repeated(items: readonly unknown[], path: string): FieldError[] {
  const times = new Map<string, number>()
  const errors: FieldError[] = []
  for (let i = 0; i < items.length; i++) {
    const identity = `${typeof items[i]}${goMapJson(items[i])}`
    const seen = times.get(identity) ?? 0
    times.set(identity, seen + 1)
    if (seen === 1) errors.push(duplicate(index(path, i), sortKeys(items[i])))
  }
  return errors
}
