/**
 * Metadata of custom resources and of the resources embedded in them. It passes through Go's ObjectMeta on every
 * decoding: unknown fields are dropped and reported, empty ones vanish, and a wrong type makes the object undecodable.
 */
import type { Json, JsonObject } from '../../base/json.ts'
import { child, type FieldError, index, invalid, keyed, required } from '../../kube/field-error.ts'
import type { ObjectMeta } from '../../kube/meta.ts'
import { checkDns1035Label, nameIsPathSegment } from '../../kube/names.ts'
import { validateObjectMeta } from '../../kube/validate-meta.ts'
import { DecodeError, decodeAs } from '../kubernetes/decode-json.ts'
import { messageModel } from '../kubernetes/model.ts'
import type { Node } from './node.ts'

const OBJECT_META = 'k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta'

interface Coerced {
  meta?: JsonObject
  unknown: string[]
  error?: string
}

/** What Go's ObjectMeta makes of a value. */
function throughObjectMeta(value: unknown): Coerced {
  const model = messageModel(OBJECT_META)
  if (model === undefined) throw new Error(`the facts hold no message ${OBJECT_META}`)
  try {
    const { object, unknownFields } = decodeAs(model, value as Json)
    const meta = object as unknown as JsonObject
    if (meta.creationTimestamp === null) delete meta.creationTimestamp
    return { meta, unknown: unknownFields }
  } catch (error) {
    if (error instanceof DecodeError) return { unknown: [], error: error.message }
    throw error
  }
}

/** Normalizes `metadata` of an object in place. */
export function coerceMetadata(object: Record<string, unknown>, path: string): { unknown: string[]; error?: string } {
  if (!Object.hasOwn(object, 'metadata')) return { unknown: [] }
  const { meta, unknown, error } = throughObjectMeta(object.metadata)
  if (error !== undefined) return { unknown: [], error }
  object.metadata = meta
  return { unknown: unknown.map((field) => `${child(path, 'metadata')}.${field}`) }
}

/** Normalizes every embedded resource below `value`; stops at the first that cannot be decoded. */
export function coerceEmbedded(value: unknown, node: Node, path = ''): { unknown: string[]; error?: FieldError } {
  const unknown: string[] = []
  for (const { resource, at } of embeddedIn(value, node, path)) {
    for (const key of ['apiVersion', 'kind'])
      if (Object.hasOwn(resource, key) && typeof resource[key] !== 'string')
        return { unknown: [], error: invalid(child(at, key), resource[key], 'must be a string') }
    const before = resource.metadata
    const coerced = coerceMetadata(resource, at)
    if (coerced.error !== undefined) return { unknown: [], error: invalid(child(at, 'metadata'), before, coerced.error) }
    unknown.push(...coerced.unknown)
  }
  return { unknown: unknown.sort() }
}

interface EmbeddedResource {
  resource: Record<string, unknown>
  at: string
}

/** Every embedded resource, parents first. */
function embeddedIn(value: unknown, node: Node, path: string): EmbeddedResource[] {
  if ((!node.embedded && !node.embeddedBelow) || typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) {
    const { items } = node
    return items === undefined ? [] : value.flatMap((item, i) => embeddedIn(item, items, index(path, i)))
  }
  const object = value as Record<string, unknown>
  const below = !node.embeddedBelow
    ? []
    : Object.keys(object).flatMap((key) => {
        const property = node.properties?.get(key)
        const next = property ?? (typeof node.additional === 'object' ? node.additional : undefined)
        return next === undefined ? [] : embeddedIn(object[key], next, property === undefined ? keyed(path, key) : child(path, key))
      })
  return node.embedded ? [{ resource: object, at: path }, ...below] : below
}

/** apiVersion, kind and metadata of embedded resources must be those of an object. */
export function validateEmbedded(value: unknown, node: Node, path = ''): FieldError[] {
  return embeddedIn(value, node, path).flatMap(({ resource, at }) => [
    ...validateTypeMeta(resource, at),
    ...(Object.hasOwn(resource, 'metadata') ? validateEmbeddedMeta(resource.metadata, child(at, 'metadata')) : []),
  ])
}

function validateTypeMeta(resource: Record<string, unknown>, path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const key of ['apiVersion', 'kind']) if (!Object.hasOwn(resource, key)) errors.push(required(child(path, key)))
  for (const key of ['apiVersion', 'kind']) {
    if (!Object.hasOwn(resource, key)) continue
    const value = resource[key]
    const at = child(path, key)
    if (typeof value !== 'string') errors.push(invalid(at, value, 'must be a string'))
    else if (value === '') errors.push(invalid(at, value, 'must not be empty'))
    else if (key === 'apiVersion') {
      if (value.split('/').length > 2) errors.push(invalid(at, value, `unexpected GroupVersion string: ${value}`))
    } else {
      const wrong = checkDns1035Label(value.toLowerCase())
      if (wrong.length > 0) errors.push(invalid(at, value, `may have mixed case, but should otherwise match: ${wrong.join(',')}`))
    }
  }
  return errors
}

function validateEmbeddedMeta(value: unknown, path: string): FieldError[] {
  const { meta, error } = throughObjectMeta(value)
  if (meta === undefined) return [invalid(path, value, error ?? '')]
  const typed = meta as ObjectMeta
  const named = { ...typed, name: typed.name === undefined || typed.name === '' ? 'fakename' : typed.name }
  return validateObjectMeta(named, { namespaced: (typed.namespace ?? '') !== '', validateName: nameIsPathSegment, path })
}
