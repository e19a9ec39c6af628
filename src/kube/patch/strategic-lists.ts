/** Lists that a strategic merge patch merges: of scalars as sets, of objects by their merge key. */
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { goPrint } from '../go-print.ts'
import type { Schema } from '../schema.ts'
import { goType, NO_LIST_OF_LISTS, refuse, refuseDirective, refuseMissingKey } from './strategic-errors.ts'
import { identity, orderElements, requireKey } from './strategic-order.ts'
import { goKind } from './strategic-schema.ts'

export interface ListMerge {
  mergeKey: string
  /** Of an element. */
  schema: Schema
  mergeElements(original: JsonObject, patch: JsonObject): JsonObject
}

export function mergeList(how: ListMerge, original: readonly Json[], patch: readonly Json[]): Json[] {
  if (original.length === 0 && patch.length === 0) return []
  if (elementType(original, patch) !== 'object') {
    const merged = [...new Set([...original, ...patch])]
    return orderElements(merged, { wanted: patch, server: original, mergeKey: '' })
  }
  const { mergeKey } = how
  if (mergeKey === '') refuse(`cannot merge lists without merge key for ${goKind(how.schema)}`)
  const special = obeyElementDirectives(original, patch, mergeKey)
  const merged = mergeByKey(how, special.original, special.patch)
  return orderElements(merged, { wanted: special.patch, server: special.original, mergeKey })
}

export function deleteScalars(how: ListMerge, original: readonly Json[], unwanted: readonly Json[]): Json[] {
  if (original.length === 0 && unwanted.length === 0) return []
  if (elementType(original, unwanted) === 'object') return mergeList(how, original, unwanted)
  const gone = new Set(unwanted)
  return original.filter((value) => !gone.has(value))
}

/** All elements must have one type, which may not be a list. */
export function elementType(...lists: (readonly Json[])[]): 'object' | 'scalar' {
  let type: string | undefined
  let first: Json | undefined
  for (const element of lists.flat()) {
    const current = goType(element)
    if (type === undefined) {
      if (Array.isArray(element)) refuse(NO_LIST_OF_LISTS)
      type = current
      first = element
    } else if (type !== current) refuse(`list element types are not identical: ${goPrint(lists)}`)
  }
  if (type === undefined) return refuse('no elements in any of the given slices')
  return isJsonObject(first) ? 'object' : 'scalar'
}

interface Lists {
  original: Json[]
  patch: Json[]
}

function obeyElementDirectives(original: readonly Json[], patch: readonly Json[], mergeKey: string): Lists {
  let kept = [...original]
  const plain: Json[] = []
  let replace = false
  for (const element of patch) {
    const directive = isJsonObject(element) && Object.hasOwn(element, '$patch') ? element.$patch : undefined
    if (!isJsonObject(element) || directive === undefined) plain.push(element)
    else if (directive === 'delete') {
      if (!Object.hasOwn(element, mergeKey)) refuseMissingKey(element, mergeKey)
      kept = kept.filter((item) => identity(item, mergeKey) !== element[mergeKey])
    } else if (directive === 'replace') replace = true
    else if (directive === 'merge') refuse('merging lists cannot yet be specified in the patch')
    else refuseDirective(directive, element)
  }
  return replace ? { original: plain, patch: [] } : { original: kept, patch: plain }
}

function mergeByKey(how: ListMerge, original: readonly Json[], patch: readonly Json[]): Json[] {
  const merged = [...original]
  const at = new Map<Json | undefined, number>()
  for (const [i, element] of merged.entries()) {
    const id = identity(element, how.mergeKey)
    if (!at.has(id)) at.set(id, i)
  }
  for (const element of patch) {
    const id = requireKey(element, how.mergeKey)
    const position = at.get(id)
    const current = position === undefined ? undefined : merged[position]
    if (position !== undefined && isJsonObject(current) && isJsonObject(element)) merged[position] = how.mergeElements(current, element)
    else at.set(id, merged.push(element) - 1)
  }
  return merged
}
