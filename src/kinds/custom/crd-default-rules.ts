/** Defaults in a schema must be pruned and valid by that schema: they are put into objects without being checked again. */
import { deepClone, deepEqual } from '../../base/json.ts'
import { child, type FieldError, invalid, keyed } from '../../kube/field-error.ts'
import type { Schema } from '../../kube/schema.ts'
import { itemOf, propertiesOf, type RawSchema, someSchema } from './crd-schema.ts'
import { sortKeys } from './go-text.ts'
import { compileNode } from './node.ts'
import { coerceEmbedded, validateEmbedded } from './object-meta.ts'
import { isMetaField, pruneUnknown } from './prune.ts'
import { validateValue } from './validate.ts'

export const hasDefault = (s: RawSchema): boolean => s.default !== undefined && s.default !== null

export function validateDefaults(schema: RawSchema, path: string, requirePruned: boolean): FieldError[] {
  return someSchema(schema, hasDefault) ? node(schema, path, { requirePruned, insideMeta: false, isRoot: true }) : []
}

interface Place {
  requirePruned: boolean
  insideMeta: boolean
  isRoot: boolean
}

function node(s: RawSchema, path: string, place: Place): FieldError[] {
  const isResource = place.isRoot || s['x-kubernetes-embedded-resource'] === true
  const insideMeta = place.insideMeta && !isResource
  const errors = hasDefault(s) ? ownDefault(s, child(path, 'default'), { ...place, insideMeta }) : []
  const items = itemOf(s)
  if (items !== undefined) errors.push(...node(items, child(path, 'items'), { ...place, insideMeta, isRoot: false }))
  for (const [key, property] of propertiesOf(s)) {
    const below = { ...place, insideMeta: insideMeta || (isResource && isMetaField(key)), isRoot: false }
    errors.push(...node(property, keyed(child(path, 'properties'), key), below))
  }
  return errors
}

function ownDefault(s: RawSchema, path: string, place: Place): FieldError[] {
  const compiled = compileNode(s as Schema, true)
  const errors: FieldError[] = []
  if (!place.insideMeta && place.requirePruned && !isPruned(s, place.isRoot))
    errors.push(invalid(path, sortKeys(s.default), 'must not have unknown fields'))
  const embedded = coerceEmbedded(deepClone(s.default), compiled, path)
  if (embedded.error !== undefined) return [...errors, embedded.error]
  const meta = validateEmbedded(s.default, compiled, path)
  return [...errors, ...(meta.length > 0 ? meta : validateValue(s.default, compiled, { base: path }))]
}

/** Whether pruning would leave the default of `s` as it is. */
export function isPruned(s: RawSchema, isRoot: boolean): boolean {
  const copy = deepClone(s.default)
  pruneUnknown(copy, compileNode(s as Schema, true), isRoot)
  return deepEqual(copy, s.default)
}
