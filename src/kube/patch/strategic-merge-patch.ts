/**
 * Strategic merge patch: a merge patch that knows from the schema which lists are merged element by element, with
 * directives for what a merge cannot say ($patch, $retainKeys, $setElementOrder/…, $deleteFromPrimitiveList/…).
 * Neither document nor patch is changed; what the patch does not touch is shared with the result.
 */
import { isJsonObject, type Json, type JsonObject, setOwn } from '../../base/json.ts'
import { goPrint } from '../go-print.ts'
import type { Schema } from '../schema.ts'
import type { ObjectPatch } from './decode.ts'
import {
  BAD_ELEMENT_ORDER,
  BAD_PRIMITIVE_LIST,
  BAD_RETAIN_KEYS,
  GO_LIST,
  GO_MAP,
  refuse,
  refuseDirective,
  refuseType,
} from './strategic-errors.ts'
import { deleteScalars, elementType, type ListMerge, mergeList } from './strategic-lists.ts'
import { orderElements, requireKey } from './strategic-order.ts'
import { type FieldStrategy, listField, objectField } from './strategic-schema.ts'

const DIRECTIVE = '$patch'
const RETAIN_KEYS = '$retainKeys'
const ELEMENT_ORDER = '$setElementOrder'
const DELETE_FROM_LIST = '$deleteFromPrimitiveList'

/** `schema` is the linked schema of the whole object. Throws StatusErrors. */
export function applyStrategicMergePatch(document: unknown, patch: ObjectPatch, schema: Schema): JsonObject {
  return mergeObjects(isJsonObject(document) ? document : {}, patch.value, schema)
}

/** The patch as messages show it: `map[spec:map[replicas:2]]`. */
export const formatObjectPatch = (patch: ObjectPatch): string => goPrint(patch.value)

type Entries = Map<string, Json | undefined>

function mergeObjects(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  if (Object.hasOwn(patch, DIRECTIVE)) return obeyDirective(patch)
  const result: Entries = new Map(Object.entries(original))
  const pending: Entries = new Map(Object.entries(patch))
  retainKeys(result, pending)
  for (const [key, order] of [...pending]) if (key.startsWith(ELEMENT_ORDER)) setElementOrder({ result, pending, schema }, key, order)
  for (const [key, value] of pending) {
    if (value === undefined) continue
    if (key.startsWith(DELETE_FROM_LIST)) deleteFromList(result, listName(key, DELETE_FROM_LIST, BAD_PRIMITIVE_LIST), value, schema)
    else mergeField(result, key, value, schema)
  }
  return toObject(result)
}

function obeyDirective(patch: JsonObject): JsonObject {
  const { [DIRECTIVE]: directive, ...rest } = patch
  if (directive === 'replace') return toObject(new Map(Object.entries(patch).filter(([key]) => key !== DIRECTIVE)))
  return directive === 'delete' ? {} : refuseDirective(directive, { ...rest, [DIRECTIVE]: directive ?? null })
}

function mergeField(result: Entries, key: string, value: Json, schema: Schema): void {
  const current = result.get(key)
  if (value === null) result.delete(key)
  else if (isJsonObject(current) && isJsonObject(value)) {
    const field = objectField(schema, key)
    result.set(key, field.strategy === 'replace' ? value : mergeObjects(current, value, field.below))
  } else if (Array.isArray(current) && Array.isArray(value)) {
    const field = listField(schema, key)
    result.set(key, field.strategy === 'merge' ? mergeList(listMerge(field), current, value) : value)
  } else {
    // Nothing to merge with. Where the type of a scalar stays the same, it cannot contain nulls anyway.
    const taken = withoutDirectives(withoutNulls(value))
    if (taken === undefined) result.delete(key)
    else result.set(key, taken)
  }
}

const listMerge = (field: FieldStrategy): ListMerge => ({
  mergeKey: field.mergeKey,
  schema: field.below,
  mergeElements: (original, patch) => mergeObjects(original, patch, field.below),
})

/** A null here removes the whole list. */
function deleteFromList(result: Entries, key: string, value: Json, schema: Schema): void {
  const current = result.get(key)
  if (value === null) result.delete(key)
  if (!Array.isArray(current) || !Array.isArray(value)) return
  const field = listField(schema, key)
  result.set(key, deleteScalars(listMerge(field), current, value))
}

/** Everything the patch does not list is removed; the patch may not set what it does not list. */
function retainKeys(result: Entries, pending: Entries): void {
  if (!pending.has(RETAIN_KEYS)) return
  const list = pending.get(RETAIN_KEYS)
  pending.delete(RETAIN_KEYS)
  const kept = new Set<Json>(Array.isArray(list) ? list : refuse(BAD_RETAIN_KEYS))
  for (const [key, value] of pending) {
    if (value === null || value === undefined || key.startsWith(DELETE_FROM_LIST) || key.startsWith(ELEMENT_ORDER)) continue
    if (!kept.has(key)) refuse(BAD_RETAIN_KEYS)
  }
  for (const key of [...result.keys()]) if (!kept.has(key)) result.delete(key)
}

interface OrderTarget {
  result: Entries
  pending: Entries
  schema: Schema
}

/** Merges the list that the directive refers to, if there is one, and puts it in order. */
function setElementOrder({ result, pending, schema }: OrderTarget, directive: string, value: Json | undefined): void {
  pending.delete(directive)
  const order: Json[] = Array.isArray(value) ? value : refuseType(GO_LIST, value)
  const key = listName(directive, ELEMENT_ORDER, BAD_ELEMENT_ORDER)
  const current = listOrNothing(result, key)
  const patch = listOrNothing(pending, key)
  const field = listField(schema, key)
  checkOrder(patch ?? [], order, field.mergeKey)
  if (current === undefined && patch === undefined) return
  const merged = mergedForOrder(current, patch, field)
  elementType(current ?? [], patch ?? [])
  result.set(key, orderElements(merged, { wanted: order, server: current ?? [], mergeKey: field.mergeKey }))
  pending.delete(key)
}

function mergedForOrder(current: Json[] | undefined, patch: Json[] | undefined, field: FieldStrategy): readonly Json[] {
  if (patch === undefined) return current ?? []
  if (current === undefined) return listWithoutDirectives(patch)
  return field.strategy === 'merge' ? mergeList(listMerge(field), current, patch) : patch
}

function listOrNothing(entries: Entries, key: string): Json[] | undefined {
  if (!entries.has(key)) return undefined
  const value = entries.get(key)
  return Array.isArray(value) ? value : refuseType(GO_LIST, value)
}

/** Elements of the patch must appear in the order list, in the same relative order; deletions do not count. */
function checkOrder(patch: readonly Json[], order: readonly Json[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return
  const remaining = mergeKey === '' ? [...patch] : patch.filter((element) => !isDeletion(element))
  let at = 0
  let next = 0
  while (at < remaining.length && next < order.length) {
    const element = remaining[at] ?? null
    if (isJsonObject(element) && Object.hasOwn(element, DIRECTIVE)) {
      at++
      continue
    }
    const same = mergeKey === '' ? element === order[next] : requireKey(element, mergeKey) === requireKey(order[next] ?? null, mergeKey)
    if (same) at++
    next++
  }
  if (at < remaining.length)
    refuse(`The order in patch list:\n${goPrint(patch)}\n doesn't match ${ELEMENT_ORDER} list:\n${goPrint(order)}\n`)
}

function isDeletion(element: Json): boolean {
  if (!isJsonObject(element)) return refuseType(GO_MAP, element)
  return Object.hasOwn(element, DIRECTIVE) && element[DIRECTIVE] === 'delete'
}

/** `$setElementOrder/ports` → `ports`. */
function listName(directive: string, prefix: string, complaint: string): string {
  const slash = directive.indexOf('/')
  return slash < 0 || directive.slice(0, slash) !== prefix ? refuse(complaint) : directive.slice(slash + 1)
}

/** Undefined when the value is nothing but a directive. */
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return listWithoutDirectives(value)
  if (!isJsonObject(value)) return value
  if (Object.hasOwn(value, DIRECTIVE)) return undefined
  const object: JsonObject = {}
  for (const [key, item] of Object.entries(value)) {
    const kept = item === undefined ? undefined : withoutDirectives(item)
    if (kept !== undefined) setOwn(object, key, kept)
  }
  return object
}

const listWithoutDirectives = (list: readonly Json[]): Json[] =>
  list.map(withoutDirectives).filter((element): element is Json => element !== undefined)

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isJsonObject(value)) return value
  const object: JsonObject = {}
  for (const [key, item] of Object.entries(value)) if (item !== null && item !== undefined) setOwn(object, key, withoutNulls(item))
  return object
}

function toObject(entries: Entries): JsonObject {
  const object: JsonObject = {}
  for (const [key, value] of entries) setOwn(object, key, value)
  return object
}
