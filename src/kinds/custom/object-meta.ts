/**
 * Metadata of custom resources and of the resources embedded in them. It passes through Go's ObjectMeta on every
 * decoding: unknown fields are dropped and named, empty ones vanish, and a wrong type makes the object undecodable.
 */
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
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
  if (!node.embedded && !node.embeddedBelow) return { unknown: [] }
  const unknown: string[] = []
  const error = visitEmbedded(value, node, path, (resource, at) => {
    for (const key of ['apiVersion', 'kind'])
      if (Object.hasOwn(resource, key) && typeof resource[key] !== 'string')
        return invalid(child(at, key), resource[key], 'must be a string')
    const before = resource.metadata
    const coerced = coerceMetadata(resource, at)
    if (coerced.error !== undefined) return invalid(child(at, 'metadata'), before, coerced.error)
    unknown.push(...coerced.unknown)
    return undefined
  })
  return error === undefined ? { unknown: unknown.sort() } : { unknown: [], error }
}

/** Calls back for each embedded resource, parents first, until one answers. */
function visitEmbedded<T>(
  value: unknown,
  node: Node,
  path: string,
  visit: (resource: Record<string, unknown>, path: string) => T | undefined,
): T | undefined {
  if (Array.isArray(value)) {
    if (node.items === undefined || !(node.items.embedded || node.items.embeddedBelow)) return undefined
    for (let i = 0; i < value.length; i++) {
      const answer = visitEmbedded(value[i], node.items, index(path, i), visit)
      if (answer !== undefined) return answer
    }
  } else if (isJsonObject(value)) {
    const answer = node.embedded ? visit(value, path) : undefined
    if (answer !== undefined || !node.embeddedBelow) return answer
    for (const key of Object.keys(value)) {
      const property = node.properties?.get(key)
      const next = property ?? (typeof node.additional === 'object' ? node.additional : undefined)
      if (next === undefined) continue
      const found = visitEmbedded(value[key], next, property === undefined ? keyed(path, key) : child(path, key), visit)
      if (found !== undefined) return found
    }
  }
  return undefined
}

/** apiVersion, kind and metadata of embedded resources must be those of an object. */
export function validateEmbedded(value: unknown, node: Node, path = ''): FieldError[] {
  if (!node.embedded && !node.embeddedBelow) return []
  const errors: FieldError[] = []
  visitEmbedded(value, node, path, (resource, at) => {
    errors.push(...validateTypeMeta(resource, at))
    if (Object.hasOwn(resource, 'metadata')) errors.push(...validateEmbeddedMeta(resource.metadata, child(at, 'metadata')))
    return undefined
  })
  return errors
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
