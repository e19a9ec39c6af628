/**
 * JSONSchemaProps as users write it into a CustomResourceDefinition: wider than a structural schema, because the rules
 * must see what they forbid. Walks, and the form in which messages print one.
 */
import { isJsonObject } from '../../base/json.ts'
import type { Schema, ValidationRule } from '../../kube/schema.ts'
import { sortKeys } from './go-text.ts'

export type RawSchema = Omit<Schema, 'items' | 'additionalProperties' | 'properties' | 'allOf' | 'anyOf' | 'oneOf' | 'not' | 'type'> & {
  id?: string
  $schema?: string
  $ref?: string
  type?: string
  items?: RawSchema | RawSchema[]
  additionalProperties?: RawSchema | boolean
  properties?: Record<string, RawSchema>
  allOf?: RawSchema[]
  anyOf?: RawSchema[]
  oneOf?: RawSchema[]
  not?: RawSchema
  definitions?: Record<string, RawSchema>
  patternProperties?: Record<string, RawSchema>
  dependencies?: Record<string, RawSchema | string[]>
  additionalItems?: RawSchema | boolean
}

export const itemOf = (s: RawSchema): RawSchema | undefined => (isJsonObject(s.items) ? (s.items as RawSchema) : undefined)
export const itemListOf = (s: RawSchema): RawSchema[] => (Array.isArray(s.items) ? s.items : [])
export const additionalOf = (s: RawSchema): RawSchema | undefined =>
  isJsonObject(s.additionalProperties) ? (s.additionalProperties as RawSchema) : undefined

/** Properties in a fixed order, so that messages do not change from run to run. */
export function propertiesOf(s: { properties?: Record<string, RawSchema> }): [string, RawSchema][] {
  return Object.entries(s.properties ?? {}).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}

export const propertyOf = (s: RawSchema | undefined, name: string): RawSchema | undefined =>
  s?.properties !== undefined && Object.hasOwn(s.properties, name) ? s.properties[name] : undefined

/** True as soon as `test` holds for the schema or anything in it. */
export function someSchema(s: RawSchema | undefined, test: (s: RawSchema) => boolean): boolean {
  if (s === undefined) return false
  return test(s) || childrenOf(s).some((child) => someSchema(child, test))
}

function childrenOf(s: RawSchema): RawSchema[] {
  const values = (map: Record<string, unknown> | undefined) => Object.values(map ?? {}).filter(isJsonObject) as RawSchema[]
  return [
    ...([s.items, s.not, s.additionalProperties, s.additionalItems].filter(isJsonObject) as RawSchema[]),
    ...itemListOf(s),
    ...(s.allOf ?? []),
    ...(s.anyOf ?? []),
    ...(s.oneOf ?? []),
    ...values(s.properties),
    ...values(s.patternProperties),
    ...values(s.definitions),
    ...values(s.dependencies),
  ]
}

const defined = (value: unknown): boolean => value !== undefined && value !== null
const list = <T>(values: T[] | undefined, print: (value: T) => unknown): unknown => (values === undefined ? null : values.map(print))
const map = <T>(values: Record<string, T> | undefined, print: (value: T) => unknown): unknown =>
  values === undefined ? null : sortKeys(Object.fromEntries(Object.entries(values).map(([k, v]) => [k, print(v)])))

function printOrBool(value: RawSchema | boolean | undefined): unknown {
  if (value === undefined) return null
  return typeof value === 'boolean' ? { Allows: value, Schema: null } : { Allows: true, Schema: printSchema(value) }
}

/** The internal Go struct as encoding/json prints it: every field, Go's names. */
export function printSchema(s: RawSchema): Record<string, unknown> {
  return {
    ID: s.id ?? '',
    Schema: s.$schema ?? '',
    Ref: s.$ref ?? null,
    Description: s.description ?? '',
    Type: s.type ?? '',
    Nullable: s.nullable === true,
    Format: s.format ?? '',
    Title: s.title ?? '',
    Default: sortKeys(s.default ?? null),
    ...printLimits(s),
    Items:
      s.items === undefined
        ? null
        : {
            Schema: itemOf(s) ? printSchema(itemOf(s) as RawSchema) : null,
            JSONSchemas: Array.isArray(s.items) ? s.items.map(printSchema) : null,
          },
    AllOf: list(s.allOf, printSchema),
    OneOf: list(s.oneOf, printSchema),
    AnyOf: list(s.anyOf, printSchema),
    Not: s.not === undefined ? null : printSchema(s.not),
    Properties: map(s.properties, printSchema),
    AdditionalProperties: printOrBool(s.additionalProperties),
    PatternProperties: map(s.patternProperties, printSchema),
    Dependencies: map(s.dependencies, (d) =>
      Array.isArray(d) ? { Schema: null, Property: d } : { Schema: printSchema(d), Property: null },
    ),
    AdditionalItems: printOrBool(s.additionalItems),
    Definitions: map(s.definitions, printSchema),
    ExternalDocs: s.externalDocs ?? null,
    Example: sortKeys(s.example ?? null),
    XPreserveUnknownFields: s['x-kubernetes-preserve-unknown-fields'] ?? null,
    XEmbeddedResource: s['x-kubernetes-embedded-resource'] === true,
    XIntOrString: s['x-kubernetes-int-or-string'] === true,
    XListMapKeys: s['x-kubernetes-list-map-keys'] ?? null,
    XListType: s['x-kubernetes-list-type'] ?? null,
    XMapType: s['x-kubernetes-map-type'] ?? null,
    XValidations: list(s['x-kubernetes-validations'], printRule),
  }
}

function printLimits(s: RawSchema): Record<string, unknown> {
  return {
    Maximum: s.maximum ?? null,
    ExclusiveMaximum: s.exclusiveMaximum === true,
    Minimum: s.minimum ?? null,
    ExclusiveMinimum: s.exclusiveMinimum === true,
    MaxLength: s.maxLength ?? null,
    MinLength: s.minLength ?? null,
    Pattern: s.pattern ?? '',
    MaxItems: s.maxItems ?? null,
    MinItems: s.minItems ?? null,
    UniqueItems: s.uniqueItems === true,
    MultipleOf: s.multipleOf ?? null,
    Enum: s.enum ?? null,
    MaxProperties: s.maxProperties ?? null,
    MinProperties: s.minProperties ?? null,
    Required: s.required ?? null,
  }
}

const printRule = (rule: ValidationRule): Record<string, unknown> => ({
  Rule: rule.rule,
  Message: rule.message ?? '',
  MessageExpression: rule.messageExpression ?? '',
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath ?? '',
  OptionalOldSelf: rule.optionalOldSelf ?? null,
})

/** Names of the fields that are set, in Go's order: for the rule about the root of a schema. What they contain is not printed. */
export function setFieldsOf(s: RawSchema): string[] {
  const { properties, items } = s
  const flat = { ...s, ...(isJsonObject(properties) ? { properties: {} } : {}), ...(isJsonObject(items) ? { items: {} } : {}) }
  return Object.entries(printSchema(flat))
    .filter(([, value]) => defined(value) && value !== '' && value !== false)
    .map(([name]) => name)
}

export type FieldPathResult = { path: string; schema: RawSchema; error?: undefined } | { error: string }

/** Follows `.spec.color` or `['a']` through a schema. */
export function followFieldPath(jsonPath: string, root: RawSchema, allowsArrays: boolean): FieldPathResult {
  let schema: RawSchema | undefined = root
  let path = ''
  const tokens = [...jsonPath.matchAll(/'(?:\\'|[^'])*'|[.[\]]|[^.[\]]+/g)].map((match) => match[0])
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]
    let name = tokens[++i]
    if (token === '[') {
      if (!allowsArrays) return { error: 'array notation is not allowed' }
      if (name === undefined) return { error: 'unexpected end of JSON path' }
      if (!/^'.*'$/s.test(name) || name.length < 2) return { error: `expected single quoted string but got ${name}` }
      name = name.slice(1, -1).replaceAll("\\'", "'")
    } else if (token !== '.') return { error: `expected [ or . but got: ${token}` }
    else if (name === undefined) return { error: 'unexpected end of JSON path' }
    if (schema?.properties !== undefined) {
      schema = propertyOf(schema, name)
      path = path === '' ? name : `${path}.${name}`
    } else if (schema?.additionalProperties !== undefined) {
      schema = additionalOf(schema)
      path = `${path}[${name}]`
    } else return { error: 'does not refer to a valid field' }
    if (schema === undefined) return { error: 'does not refer to a valid field' }
    if (token === '[') {
      const closing = tokens[++i]
      if (closing === undefined) return { error: 'unexpected end of JSON path' }
      if (closing !== ']') return { error: `expected ] but got ${closing}` }
    }
  }
  return { path, schema }
}
