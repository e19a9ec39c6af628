/**
 * Whether applying a configuration would change nothing: the live object has all its values, and the record of what this
 * manager applied (metadata.managedFields) names exactly its fields, so that nothing is left over from before. Pure; when in
 * doubt the answer is no, and the server finds out that nothing changes.
 */
import { deepEqual, isJsonObject } from '../base/json.ts'
import type { KubeObject } from '../kube/meta.ts'

/** Fields that identify the object; they are never owned. */
const IDENTITY = new Set(['apiVersion', 'kind'])
const METADATA_IDENTITY = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'managedFields',
  'creationTimestamp',
  'generation',
  'selfLink',
])

type Fields = Record<string, unknown>

export function holdsApplied(live: KubeObject, wanted: KubeObject, manager: string): boolean {
  const record = (live.metadata.managedFields ?? []).find((entry) => isOwn(entry, manager))
  if (record?.fieldsV1 === undefined) return false
  const { metadata, ...rest } = wanted
  const ownMetadata = Object.fromEntries(
    Object.entries(metadata).filter(([key, value]) => !METADATA_IDENTITY.has(key) && value !== undefined),
  )
  const own = Object.fromEntries(Object.entries(rest).filter(([key, value]) => !IDENTITY.has(key) && value !== undefined))
  const body = Object.keys(ownMetadata).length === 0 ? own : { ...own, metadata: ownMetadata }
  return matches(record.fieldsV1, live, body)
}

const isOwn = (entry: { manager?: string; operation?: string; subresource?: string }, manager: string): boolean =>
  entry.manager === manager && entry.operation === 'Apply' && (entry.subresource ?? '') === ''

function matches(fields: Fields, live: unknown, wanted: unknown): boolean {
  const owned = Object.keys(fields).filter((key) => key !== '.')
  // A leaf of the record: a plain value, or a list or map that is owned as a whole.
  if (owned.length === 0) return covers(live, wanted)
  if (isJsonObject(wanted)) return isJsonObject(live) && matchesMap(fields, owned, { live, wanted })
  return Array.isArray(wanted) && Array.isArray(live) && matchesList(fields, owned, { live, wanted })
}

function matchesMap(fields: Fields, owned: readonly string[], of: { live: Fields; wanted: Fields }): boolean {
  const keys = Object.keys(of.wanted).filter((key) => of.wanted[key] !== undefined)
  if (keys.length !== owned.length) return false
  return keys.every((key) => {
    const below = Object.hasOwn(fields, `f:${key}`) ? fields[`f:${key}`] : undefined
    return isJsonObject(below) && Object.hasOwn(of.live, key) && matches(below, of.live[key], of.wanted[key])
  })
}

/** Lists whose items are identified by keys (`k:`) or by value (`v:`); the order of items does not matter. */
function matchesList(fields: Fields, owned: readonly string[], of: { live: unknown[]; wanted: unknown[] }): boolean {
  if (of.wanted.length !== owned.length) return false
  return owned.every((entry) => {
    const key = parse(entry.slice(2))
    const isValue = entry.startsWith('v:')
    if (!isValue && !entry.startsWith('k:')) return false
    // A key that the configuration leaves to its default (a port's protocol) is filled in on the live item.
    const wanted = of.wanted.find((item) => (isValue ? deepEqual(item, key) : agreesWith(item, key)))
    const live = of.live.find((item) => (isValue ? deepEqual(item, key) : hasKeys(item, key)))
    const below = fields[entry]
    return wanted !== undefined && live !== undefined && isJsonObject(below) && matches(below, live, wanted)
  })
}

const hasKeys = (item: unknown, keys: unknown): boolean =>
  isJsonObject(item) && isJsonObject(keys) && Object.keys(keys).every((key) => Object.hasOwn(item, key) && deepEqual(item[key], keys[key]))

const agreesWith = (item: unknown, keys: unknown): boolean =>
  isJsonObject(item) && isJsonObject(keys) && Object.keys(keys).every((key) => !Object.hasOwn(item, key) || deepEqual(item[key], keys[key]))

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Whether `live` has everything in `wanted`; additional fields defaulted by the server do not matter. */
function covers(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(live) && live.length === wanted.length && wanted.every((item, i) => covers(live[i], item))
  if (!isJsonObject(wanted)) return deepEqual(live, wanted)
  return (
    isJsonObject(live) &&
    Object.keys(wanted).every((key) => wanted[key] === undefined || (Object.hasOwn(live, key) && covers(live[key], wanted[key])))
  )
}
