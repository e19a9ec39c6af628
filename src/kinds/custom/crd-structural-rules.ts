/**
 * What makes a schema structural: every field is specified outside of logical junctors with a type, and inside them
 * only values are restricted. Errors come sorted by their text, as the real server sorts them.
 */
import { deepEqual } from '../../base/json.ts'
import { child, type FieldError, fieldErrorMessage, forbidden, index, invalid, keyed, required } from '../../kube/field-error.ts'
import { additionalOf, itemListOf, itemOf, propertiesOf, propertyOf, type RawSchema } from './crd-schema.ts'
import { compilePattern } from './go-regexp.ts'

type Level = 'root' | 'item' | 'field'

/** Why a schema cannot even be read as a structural one; these overlap with other rules and are reported only on their own. */
export function structuralInitError(s: RawSchema | undefined): string | undefined {
  if (s === undefined) return undefined
  for (const [key, isSet] of [
    ['id', Boolean(s.id)],
    ['schema', Boolean(s.$schema)],
    ['$ref', Boolean(s.$ref)],
    ['patternProperties', Object.keys(s.patternProperties ?? {}).length > 0],
    ['dependencies', Object.keys(s.dependencies ?? {}).length > 0],
    ['additionalItems', s.additionalItems !== undefined],
    ['definitions', Object.keys(s.definitions ?? {}).length > 0],
  ] as const)
    if (isSet) return `OpenAPIV3Schema '${key}' is not supported`
  if (s['x-kubernetes-preserve-unknown-fields'] === false)
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  if (itemListOf(s).length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  const below = [
    itemOf(s),
    additionalOf(s),
    s.not,
    ...(s.allOf ?? []),
    ...(s.anyOf ?? []),
    ...(s.oneOf ?? []),
    ...propertiesOf(s).map(([, p]) => p),
  ]
  for (const schema of below) {
    const error = structuralInitError(schema)
    if (error !== undefined) return error
  }
  return undefined
}

export function validateStructural(s: RawSchema, path: string): FieldError[] {
  const errors = [...invariants(s, 'root', path), ...completeness(s, s, { own: path, value: path })]
  return errors
    .map((error) => ({ error, text: fieldErrorMessage(error) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ error }) => error)
}

const TYPE_MISSING: Record<Level, string> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

function invariants(s: RawSchema | undefined, level: Level, path: string): FieldError[] {
  if (s === undefined) return []
  const errors: FieldError[] = []
  const type = s.type ?? ''
  const isEmbedded = s['x-kubernetes-embedded-resource'] === true
  const isIntOrString = s['x-kubernetes-int-or-string'] === true
  const preserves = s['x-kubernetes-preserve-unknown-fields'] === true
  if (type === 'array' && s.items === undefined) errors.push(required(child(path, 'items'), 'must be specified'))
  errors.push(...invariants(itemOf(s), 'item', child(path, 'items')))
  for (const [key, property] of propertiesOf(s)) errors.push(...invariants(property, 'field', keyed(child(path, 'properties'), key)))
  if (s.additionalProperties !== undefined) {
    if (level === 'root') errors.push(forbidden(child(path, 'additionalProperties'), 'must not be used at the root'))
    errors.push(...invariants(additionalOf(s), 'field', child(path, 'additionalProperties')))
  }
  for (const extension of ['preserve-unknown-fields', 'embedded-resource'] as const)
    if (isIntOrString && s[`x-kubernetes-${extension}`] === true)
      errors.push(invalid(child(path, `x-kubernetes-${extension}`), true, 'must be false if x-kubernetes-int-or-string is true'))
  errors.push(...valueValidation(s, { anyOf: isIntOrStringAnyOf(s.anyOf), firstAllOf: isIntOrStringAnyOf(s.allOf?.[0]?.anyOf) }, path))
  if (isEmbedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === '' ? required(child(path, 'type'), detail) : invalid(child(path, 'type'), type, detail))
  } else if (type === '' && !isIntOrString && !preserves) errors.push(required(child(path, 'type'), TYPE_MISSING[level]))
  if (isEmbedded && s.additionalProperties !== undefined)
    errors.push(forbidden(child(path, 'additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set'))
  if (level === 'root' && type !== '' && type !== 'object') errors.push(invalid(child(path, 'type'), type, 'must be object at the root'))
  errors.push(...metaInvariants(s, level, path))
  if (isEmbedded && !preserves && propertiesOf(s).length === 0)
    errors.push(
      required(
        child(path, 'properties'),
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    )
  return errors
}

/** At the root the schema may only restrict the name: the rest of metadata is the server's. */
function metaInvariants(s: RawSchema, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = []
  const checksMeta = level === 'root' || s['x-kubernetes-embedded-resource'] === true
  const at = (key: string) => keyed(child(path, 'properties'), key)
  for (const key of ['kind', 'apiVersion']) {
    const property = propertyOf(s, key)
    if (property !== undefined && checksMeta && property.type !== 'string')
      errors.push(invalid(child(at(key), 'type'), property.type ?? '', 'must be string'))
  }
  const metadata = propertyOf(s, 'metadata')
  if (metadata === undefined) return errors
  if (checksMeta && metadata.type !== 'object') errors.push(invalid(child(at('metadata'), 'type'), metadata.type ?? '', 'must be object'))
  if (level === 'root' && !restrictsOnlyNames(metadata))
    errors.push(
      forbidden(at('metadata'), 'must not specify anything other than name and generateName, but metadata is implicitly specified'),
    )
  return errors
}

function restrictsOnlyNames(metadata: RawSchema): boolean {
  const { type: _type, default: _default, properties, ...rest } = metadata
  const names = Object.keys(properties ?? {})
  if (names.some((name) => name !== 'name' && name !== 'generateName')) return false
  return Object.values(rest).every((value) => value === undefined || (Array.isArray(value) && value.length === 0))
}

const INT_OR_STRING: readonly RawSchema[] = [{ type: 'integer' }, { type: 'string' }]
const isIntOrStringAnyOf = (anyOf: RawSchema[] | undefined): boolean => deepEqual(anyOf, INT_OR_STRING)

function valueValidation(s: RawSchema, skip: { anyOf: boolean; firstAllOf: boolean }, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (!skip.anyOf) errors.push(...(s.anyOf ?? []).flatMap((part, i) => nested(part, false, index(child(path, 'anyOf'), i))))
  errors.push(...(s.allOf ?? []).flatMap((part, i) => nested(part, skip.firstAllOf && i === 0, index(child(path, 'allOf'), i))))
  errors.push(...(s.oneOf ?? []).flatMap((part, i) => nested(part, false, index(child(path, 'oneOf'), i))))
  errors.push(...nested(s.not, false, child(path, 'not')))
  if (s.pattern) {
    const { error } = compilePattern(s.pattern)
    if (error !== undefined)
      errors.push(invalid(child(path, 'pattern'), s.pattern, `must be a valid regular expression, but isn't: ${error}`))
  }
  return errors
}

/** Keywords that may not appear inside a junctor, with the word the message uses. */
const FORBIDDEN_INSIDE: readonly (readonly [string, string])[] = [
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
]

function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return value !== undefined && value !== null && value !== false && value !== ''
}

function nested(s: RawSchema | undefined, skipAnyOf: boolean, path: string): FieldError[] {
  if (s === undefined) return []
  const errors = valueValidation(s, { anyOf: skipAnyOf, firstAllOf: false }, path)
  errors.push(...nested(itemOf(s), false, child(path, 'items')))
  for (const [key, property] of propertiesOf(s)) errors.push(...nested(property, false, keyed(child(path, 'properties'), key)))
  if (s.type) errors.push(forbidden(child(path, 'type'), 'must be empty to be structural'))
  if (s.additionalProperties !== undefined && s.additionalProperties !== false)
    errors.push(forbidden(child(path, 'additionalProperties'), 'must be undefined to be structural'))
  for (const [key, detail] of FORBIDDEN_INSIDE)
    if (key === 'default' ? s.default !== undefined && s.default !== null : isSet(s[key as keyof RawSchema]))
      errors.push(forbidden(child(path, key), detail))
  if (propertyOf(s, 'metadata') !== undefined)
    errors.push(forbidden(keyed(child(path, 'properties'), 'metadata'), 'must not be specified in a nested context'))
  return errors
}

interface Paths {
  /** Of the structure, and of the values inside a junctor. */
  own: string
  value: string
}

/** Every field that a junctor at the root mentions must be specified outside of it too. */
function completeness(values: RawSchema, structure: RawSchema, at: Paths): FieldError[] {
  const errors = nestedCompleteness(values.not, structure, { ...at, value: child(at.value, 'not') })
  for (const key of ['allOf', 'anyOf', 'oneOf'] as const) {
    const path = child(at.value, key)
    errors.push(...(values[key] ?? []).flatMap((part, i) => nestedCompleteness(part, structure, { ...at, value: index(path, i) })))
  }
  return errors
}

function nestedCompleteness(values: RawSchema | undefined, structure: RawSchema | undefined, at: Paths): FieldError[] {
  if (values === undefined) return []
  if (structure === undefined) return [required(at.own, `because it is defined in ${at.value}`)]
  const errors = completeness(values, structure, at)
  errors.push(...nestedCompleteness(itemOf(values), itemOf(structure), { own: child(at.own, 'items'), value: child(at.value, 'items') }))
  for (const [key, property] of propertiesOf(values)) {
    const below = { own: keyed(child(at.own, 'properties'), key), value: keyed(child(at.value, 'properties'), key) }
    errors.push(...nestedCompleteness(property, propertyOf(structure, key), below))
  }
  return errors
}
