/** Takes paths out of a value: fields of maps and items of associative lists. Atomic containers go as a whole. */
import { setOwn } from '../../base/json.ts'
import { fieldElement } from './element.ts'
import type { FieldSet } from './field-set.ts'
import { itemElement } from './list-item.ts'
import { type Atom, alternative, deduceKind, ListType, listOf, MapType, mapOf } from './types.ts'

/** A container that loses everything becomes null. The value must fit its type. */
export function removePaths(value: unknown, paths: FieldSet, atom: Atom): unknown {
  if (value === undefined) return undefined
  const type = alternative(atom, deduceKind(atom, value))
  if (type instanceof MapType) return removeFields(value, paths, type)
  return type instanceof ListType ? removeItems(value, paths, type) : value
}

function removeFields(value: unknown, paths: FieldSet, type: MapType): unknown {
  const map = mapOf(value)
  if (map === undefined || type.atomic) return null
  const out: Record<string, unknown> = {}
  let kept = 0
  for (const key of Object.keys(map)) {
    if (map[key] === undefined) continue
    const field = type.field(key)
    const node = paths.get(field?.element ?? fieldElement(key))
    if (node?.member === true) continue
    const atom = field?.atom ?? type.unknown
    setOwn(out, key, node?.below === undefined || atom === undefined ? map[key] : removePaths(map[key], node.below, atom))
    kept++
  }
  return kept === 0 ? null : out
}

function removeItems(value: unknown, paths: FieldSet, type: ListType): unknown {
  const list = listOf(value)
  if (list === undefined || !type.associative) return null
  const out: unknown[] = []
  for (const item of list) {
    const node = paths.get(itemElement(type, item))
    if (node?.member === true) continue
    out.push(node?.below === undefined ? item : removePaths(item, node.below, type.element))
  }
  return out.length === 0 ? null : out
}
