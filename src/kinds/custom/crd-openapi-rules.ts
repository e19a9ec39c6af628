/** Rules for each node of a CustomResourceDefinition's schema, structural or not: what is supported and what fits together. */
import { child, type FieldError, forbidden, index, invalid, keyed, notSupported, required } from '../../kube/field-error.ts'
import type { ValidationRule } from '../../kube/schema.ts'
import { additionalOf, followFieldPath, itemListOf, itemOf, propertiesOf, propertyOf, type RawSchema } from './crd-schema.ts'
import { structuralInitError } from './crd-structural-rules.ts'
import { isMetaField } from './prune.ts'

export const OPENAPI_TYPES: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const VALIDATION_REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

/** What existing objects may keep although new ones may not have it. */
export interface SchemaOptions {
  requireValidType: boolean
  requireAtomicSets: boolean
  requireMapKeyRules: boolean
}

interface Place extends SchemaOptions {
  /** Why no default may be given here; undefined: it may. */
  noDefaults: string | undefined
  insideMeta: boolean
  isRoot: boolean
}

export function validateOpenApiSchema(schema: RawSchema, path: string, options: SchemaOptions): FieldError[] {
  return node(schema, path, { ...options, noDefaults: undefined, insideMeta: false, isRoot: true })
}

function node(s: RawSchema | undefined, path: string, place: Place): FieldError[] {
  if (s === undefined) return []
  const below: Place = { ...place, isRoot: false }
  const errors = unsupported(s, path, place)
  if (s.uniqueItems)
    errors.push(forbidden(child(path, 'uniqueItems'), 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'))
  if (s.additionalProperties !== undefined) {
    if (propertiesOf(s).length > 0 && s.additionalProperties !== true)
      errors.push(forbidden(child(path, 'additionalProperties'), 'additionalProperties and properties are mutual exclusive'))
    const inside = place.insideMeta ? { ...below, noDefaults: 'inside additionalProperties applying to object metadata' } : below
    errors.push(...node(additionalOf(s), child(path, 'additionalProperties'), inside))
  }
  for (const [key, property] of propertiesOf(s)) {
    const isMeta = (place.isRoot || s['x-kubernetes-embedded-resource'] === true) && isMetaField(key)
    const inside: Place = { ...below, insideMeta: place.insideMeta || isMeta }
    if (isMeta && place.isRoot) inside.noDefaults = `in top-level ${key}`
    errors.push(...node(property, keyed(child(path, 'properties'), key), inside))
  }
  errors.push(...node(s.not, child(path, 'not'), below))
  for (const key of ['allOf', 'oneOf', 'anyOf'] as const)
    errors.push(...(s[key] ?? []).flatMap((part, i) => node(part, index(child(path, key), i), below)))
  for (const [key, part] of propertiesOf({ properties: s.definitions ?? {} }))
    errors.push(...node(part, keyed(child(path, 'definitions'), key), below))
  errors.push(...node(itemOf(s), child(path, 'items'), below))
  errors.push(...itemListOf(s).flatMap((part, i) => node(part, index(child(path, 'items'), i), below)))
  for (const [key, part] of Object.entries(s.dependencies ?? {}))
    if (!Array.isArray(part)) errors.push(...node(part, keyed(child(path, 'dependencies'), key), below))
  errors.push(...extensions(s, path, place))
  errors.push(...mapKeys(s, path), ...(place.requireMapKeyRules ? keyedItems(s, path) : []))
  errors.push(
    ...(s['x-kubernetes-validations'] ?? []).flatMap((rule, i) => celRule(rule, s, index(child(path, 'x-kubernetes-validations'), i))),
  )
  return errors
}

function unsupported(s: RawSchema, path: string, place: Place): FieldError[] {
  const errors: FieldError[] = []
  const no = (key: string, detail: string) => errors.push(forbidden(child(path, key), detail))
  if (place.requireValidType && s.type && !OPENAPI_TYPES.includes(s.type))
    errors.push(notSupported(child(path, 'type'), s.type, OPENAPI_TYPES))
  if (s.default !== undefined && s.default !== null && place.noDefaults !== undefined) no('default', `must not be set ${place.noDefaults}`)
  if (s.id) no('id', 'id is not supported')
  if (s.additionalItems !== undefined) no('additionalItems', 'additionalItems is not supported')
  if (Object.keys(s.patternProperties ?? {}).length > 0) no('patternProperties', 'patternProperties is not supported')
  if (Object.keys(s.definitions ?? {}).length > 0) no('definitions', 'definitions is not supported')
  if (s.dependencies !== undefined) no('dependencies', 'dependencies is not supported')
  if (s.$ref !== undefined) no('$ref', '$ref is not supported')
  if (s.type === 'null') no('type', 'type cannot be set to null, use nullable as an alternative')
  if (itemListOf(s).length > 0) no('items', 'items must be a schema object and not an array')
  if (place.insideMeta && s['x-kubernetes-embedded-resource'])
    no('x-kubernetes-embedded-resource', 'must not be used inside of resource meta')
  return errors
}

/** A NotSupported error that keeps the order of the values: this one the real server does not sort. */
const notOneOf = (field: string, value: string, values: readonly string[]): FieldError => ({
  type: 'NotSupported',
  field,
  value,
  detail: `supported values: ${values.map((v) => JSON.stringify(v)).join(', ')}`,
})

function extensions(s: RawSchema, path: string, place: Place): FieldError[] {
  const errors: FieldError[] = []
  const type = s.type ?? ''
  const mapType = s['x-kubernetes-map-type'] as string | undefined
  const listType = s['x-kubernetes-list-type'] as string | undefined
  const wrongType = (wanted: string, extension: string) => {
    const detail = `must be ${wanted} if ${extension} is specified`
    errors.push(type === '' ? required(child(path, 'type'), detail) : invalid(child(path, 'type'), type, detail))
  }
  if (s['x-kubernetes-preserve-unknown-fields'] === false)
    errors.push(invalid(child(path, 'x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'))
  if (mapType !== undefined && type !== 'object') wrongType('object', 'x-kubernetes-map-type')
  if (mapType !== undefined && mapType !== 'atomic' && mapType !== 'granular')
    errors.push(notOneOf(child(path, 'x-kubernetes-map-type'), mapType, ['atomic', 'granular']))
  if (listType !== undefined && type !== 'array') wrongType('array', 'x-kubernetes-list-type')
  else if (place.requireAtomicSets) errors.push(...atomicItems(s, path))
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType))
    errors.push(notOneOf(child(path, 'x-kubernetes-list-type'), listType, ['atomic', 'set', 'map']))
  return errors
}

/** Items of a set are compared as wholes, so nothing inside them may be merged. */
export function atomicItems(s: RawSchema, path: string): FieldError[] {
  const items = itemOf(s)
  if (s['x-kubernetes-list-type'] !== 'set' || items === undefined) return []
  const listType = items['x-kubernetes-list-type']
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic')
    return [invalid(child(path, 'items', 'x-kubernetes-list-type'), listType, detail)]
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic')
    return [invalid(child(path, 'items', 'x-kubernetes-map-type'), listType ?? null, detail)]
  return []
}

function mapKeys(s: RawSchema, path: string): FieldError[] {
  const errors: FieldError[] = []
  const listType = s['x-kubernetes-list-type']
  const keys = s['x-kubernetes-list-map-keys'] ?? []
  const typePath = child(path, 'x-kubernetes-list-type')
  const keysPath = child(path, 'x-kubernetes-list-map-keys')
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(listType === undefined ? required(typePath, detail) : invalid(typePath, listType, detail))
  }
  if (listType !== 'map') return errors
  const items = itemOf(s)
  if (keys.length === 0) errors.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'))
  if (s.items === undefined) errors.push(required(child(path, 'items'), 'must have a schema if x-kubernetes-list-type is map'))
  else if (items === undefined)
    errors.push(invalid(child(path, 'items'), s.items, 'must only have a single schema if x-kubernetes-list-type is map'))
  else if (items.type !== 'object')
    errors.push(invalid(child(path, 'items', 'type'), items.type ?? '', "must be object if parent array's x-kubernetes-list-type is map"))
  else {
    const seen = new Set<string>()
    for (const key of keys) {
      const property = propertyOf(items, key)
      if (property === undefined) errors.push(invalid(keysPath, keys, 'entries must all be names of item properties'))
      else if (property.type === 'array' || property.type === 'object') {
        const at = child(keyed(child(path, 'items', 'properties'), key), 'type')
        errors.push(invalid(at, items.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"))
      }
      if (seen.has(key)) errors.push(invalid(keysPath, keys, 'must not contain duplicate entries'))
      seen.add(key)
    }
  }
  return errors
}

/** Items of sets and maps are never null, and the keys of a map are always there. */
export function keyedItems(s: RawSchema, path: string): FieldError[] {
  const items = itemOf(s)
  const listType = s['x-kubernetes-list-type']
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return []
  const errors: FieldError[] = []
  if (items.nullable)
    errors.push(forbidden(child(path, 'items', 'nullable'), `cannot be nullable when x-kubernetes-list-type is ${listType}`))
  if (listType === 'set') return errors
  for (const key of s['x-kubernetes-list-map-keys'] ?? []) {
    const property = propertyOf(items, key)
    if (property === undefined) continue
    const at = keyed(child(path, 'items', 'properties'), key)
    if (!items.required?.includes(key) && (property.default === undefined || property.default === null))
      errors.push(
        required(
          child(at, 'default'),
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        ),
      )
    if (property.nullable)
      errors.push(forbidden(child(at, 'nullable'), 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'))
  }
  return errors
}

const hasNewline = (text: string): boolean => /[\n\r]/.test(text)

/** Form only: expressions are stored and not evaluated. */
function celRule(rule: ValidationRule, s: RawSchema, path: string): FieldError[] {
  const errors: FieldError[] = []
  const { message = '', messageExpression = '', fieldPath = '', reason } = rule
  const expression = (rule.rule ?? '').trim()
  if (expression === '') errors.push(required(child(path, 'rule'), 'rule is not specified'))
  else if (message !== '' && message.trim() === '') errors.push(invalid(child(path, 'message'), message, 'must be non-empty if specified'))
  else if (hasNewline(message.trim())) errors.push(invalid(child(path, 'message'), message, 'must not contain line breaks'))
  else if (hasNewline(expression) && message.trim() === '')
    errors.push(required(child(path, 'message'), 'message must be specified if rule contains line breaks'))
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.push(required(child(path, 'messageExpression'), 'messageExpression must be non-empty if specified'))
  if (reason !== undefined && !VALIDATION_REASONS.includes(reason))
    errors.push(notSupported(child(path, 'reason'), reason, VALIDATION_REASONS))
  if (fieldPath === '') return errors
  const at = child(path, 'fieldPath')
  if (fieldPath.trim() === '') errors.push(invalid(at, fieldPath, 'must be non-empty if specified'))
  if (hasNewline(fieldPath)) errors.push(invalid(at, fieldPath, 'must not contain line breaks'))
  if (structuralInitError(s) === undefined && followFieldPath(fieldPath, s, true).error !== undefined)
    errors.push(invalid(at, fieldPath, 'must be a valid path'))
  return errors
}
