/**
 * Uniqueness in lists of type `set` (whole items) and `map` (their keys). The first repetition of each value is an
 * error, further ones are not reported again.
 */
import { isJsonObject } from '../../base/json.ts'
import { child, duplicate, type FieldError, index, invalid, keyed } from '../../kube/field-error.ts'
import { goMapJson } from './go-text.ts'
import type { Node } from './node.ts'

export function validateListTypes(value: unknown, node: Node, path = ''): FieldError[] {
  if (!node.listTypesBelow) return []
  const errors: FieldError[] = []
  collect(value, node, path, errors)
  return errors
}

function collect(value: unknown, node: Node, path: string, errors: FieldError[]): void {
  if (!node.listTypesBelow) return
  if (Array.isArray(value)) {
    if (node.listType === 'set') addRepeated(value, value, path, errors)
    else if (node.listType === 'map') addRepeatedKeys(value, node.listMapKeys, path, errors)
    if (node.items !== undefined) for (let i = 0; i < value.length; i++) collect(value[i], node.items, index(path, i), errors)
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      if (typeof node.additional === 'object') collect(value[key], node.additional, keyed(path, key), errors)
      const property = node.properties?.get(key)
      if (property !== undefined) collect(value[key], property, child(path, key), errors)
    }
  }
}

/** `shown[i]` is what the message names for item i. */
function addRepeated(items: readonly unknown[], shown: readonly unknown[], path: string, errors: FieldError[]): void {
  const times = new Map<string, number>()
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    const identity = item === undefined ? 'absent' : `${typeof item}${goMapJson(item)}`
    const seen = times.get(identity) ?? 0
    times.set(identity, seen + 1)
    if (seen === 1) errors.push(duplicate(index(path, i), shown[i]))
  }
}

function addRepeatedKeys(list: readonly unknown[], keys: readonly string[], path: string, errors: FieldError[]): void {
  const wrong = list.findIndex((item) => item !== null && !isJsonObject(item))
  if (wrong >= 0) {
    errors.push(invalid(index(path, wrong), list[wrong], 'must be an object for an array of list-type map'))
    return
  }
  const chosen = list.map((item) =>
    isJsonObject(item)
      ? Object.fromEntries(
          [...keys]
            .sort()
            .filter((k) => Object.hasOwn(item, k))
            .map((k) => [k, item[k]]),
        )
      : {},
  )
  addRepeated(chosen, chosen, path, errors)
}
