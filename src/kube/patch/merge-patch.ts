/**
 * JSON merge patch (RFC 7396) as the real server applies it. Nulls are also dropped from objects inside a list that is
 * new or replaces something other than an object. The document is never changed; what the patch does not touch is
 * shared with the result.
 */
import { isJsonObject, type Json, type JsonObject, setOwn } from '../../base/json.ts'
import { compareStrings } from '../go-print.ts'
import type { ObjectPatch } from './decode.ts'

/** Objects that were touched have their keys sorted, as the server's library writes them. */
export function applyMergePatch(document: unknown, patch: ObjectPatch): JsonObject {
  return merge(isJsonObject(document) ? document : {}, patch.value)
}

function merge(current: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(current))
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue
    if (value === null) merged.delete(key)
    else merged.set(key, mergeValue(merged.get(key), value))
  }
  return sorted(merged)
}

function mergeValue(current: Json | undefined, patch: Json): Json {
  if (!isJsonObject(current)) return withoutNulls(patch)
  return isJsonObject(patch) ? merge(current, patch) : patch
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isJsonObject(value)) return value
  const kept = Object.entries(value).filter((entry): entry is [string, Json] => entry[1] !== null && entry[1] !== undefined)
  return sorted(new Map(kept.map(([key, item]) => [key, withoutNulls(item)])))
}

function sorted(entries: ReadonlyMap<string, Json | undefined>): JsonObject {
  const object: JsonObject = {}
  const keys = [...entries.keys()].sort(compareStrings)
  for (const key of keys) setOwn(object, key, entries.get(key))
  return object
}
