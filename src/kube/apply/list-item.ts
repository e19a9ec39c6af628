/** How an item of an associative list is named in a path: by the values of its keys, or by itself in a set. */

import { goQuote } from '../go-print.ts'
import { keyElement, valueElement } from './element.ts'
import { elementJson } from './go-text.ts'
import { ShapeError } from './shape-error.ts'
import { type ListType, mapOf } from './types.ts'

export function itemElement(list: ListType, item: unknown): string {
  if (!list.associative) throw new ShapeError('invalid indexing of non-associative list')
  return list.keys.length > 0 ? keyedElement(list, item) : setElement(item)
}

function setElement(item: unknown): string {
  if (item === null) throw new ShapeError("associative list without keys has an element that's an explicit null")
  if (Array.isArray(item)) throw new ShapeError('not supported: associative list with lists as elements')
  if (typeof item === 'object') throw new ShapeError("associative list without keys has an element that's a map type")
  return valueElement(item)
}

function keyedElement(list: ListType, item: unknown): string {
  if (item === null || item === undefined) throw new ShapeError('associative list with keys may not have a null element')
  const map = mapOf(item)
  if (map === undefined) throw new ShapeError('associative list with keys may not have non-map elements')
  const { sortedKeys } = list
  if (sortedKeys.length === 1) {
    const name = sortedKeys[0] ?? ''
    const value = Object.hasOwn(map, name) ? map[name] : undefined
    // By far the most frequent key is one string.
    if (typeof value === 'string') return `k:{${elementJson(name)}:${elementJson(value)}}`
  }
  const fields: [string, unknown][] = []
  for (const name of sortedKeys) {
    const value = Object.hasOwn(map, name) ? map[name] : undefined
    const used = value === undefined ? list.element.map?.field(name)?.default : value
    if (used !== undefined && (used !== null || value === null)) fields.push([name, used])
  }
  if (fields.length === 0) {
    const keys = `[${list.keys.map(goQuote).join(' ')}]`
    throw new ShapeError(
      `associative list with keys has an element that omits all key fields ${keys} (and doesn't have default values for any key fields)`,
    )
  }
  return keyElement(fields)
}
