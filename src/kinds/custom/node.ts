/**
 * A structural schema in the form the passes walk: maps instead of records (keys come from users), limits as plain
 * numbers, and flags that let a pass skip whole subtrees. Compiled once per schema, never changed afterwards.
 */
import type { Schema } from '../../kube/schema.ts'
import { type FormatCheck, formatCheckOf, keptFormat } from './formats.ts'
import { compilePattern, type Pattern } from './go-regexp.ts'

export interface Node {
  /** Accepted JSON types; empty: any. Two for int-or-string. */
  types: readonly string[]
  format: string
  formatCheck: FormatCheck | undefined
  nullable: boolean
  properties: ReadonlyMap<string, Node> | undefined
  /** Values of other keys: a node, 'anything' (`additionalProperties: true`), 'nothing' (`false`) or undefined when not said. */
  additional: Node | 'anything' | 'nothing' | undefined
  items: Node | undefined
  preserve: boolean
  embedded: boolean
  listType: string
  listMapKeys: readonly string[]
  atomicMap: boolean
  required: readonly string[]
  default: unknown
  /** Properties with a default, and whether anything below has one. */
  defaulted: readonly [string, Node][]
  defaultsBelow: boolean
  embeddedBelow: boolean
  listTypesBelow: boolean
  enum: readonly unknown[] | undefined
  pattern: Pattern | undefined
  minLength: number | undefined
  maxLength: number | undefined
  minItems: number | undefined
  maxItems: number | undefined
  minProperties: number | undefined
  maxProperties: number | undefined
  minimum: number | undefined
  maximum: number | undefined
  exclusiveMinimum: boolean
  exclusiveMaximum: boolean
  multipleOf: number | undefined
  allOf: readonly Node[]
  anyOf: readonly Node[]
  oneOf: readonly Node[]
  not: Node | undefined
}

const NO_NODES: readonly Node[] = []

/** `keepFormats`: leave formats that the type does not know (defaults are checked so), instead of dropping them. */
export const compileNode = (schema: Schema, keepFormats = false): Node => compiler(keepFormats)(schema)

/** An object schema that occurs several times (types of Kubernetes do) is compiled once, and its node shared. */
function compiler(keepFormats: boolean): (schema: Schema) => Node {
  const known = new Map<Schema, Node>()
  const compile = (schema: Schema): Node => {
    if (schema.properties === undefined) return compiledNode(schema, keepFormats, compile)
    const node = known.get(schema) ?? compiledNode(schema, keepFormats, compile)
    known.set(schema, node)
    return node
  }
  return compile
}

function compiledNode(schema: Schema, keepFormats: boolean, compile: (schema: Schema) => Node): Node {
  const properties =
    schema.properties && Object.keys(schema.properties).length > 0
      ? new Map(Object.entries(schema.properties).map(([k, s]) => [k, compile(s)]))
      : undefined
  const additional = compileAdditional(schema.additionalProperties, compile)
  const items = schema.items === undefined ? undefined : compile(schema.items)
  const types = schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : schema.type === undefined ? [] : [schema.type]
  const format = keptFormat(schema.format ?? '', types, keepFormats)
  const children = [...(properties?.values() ?? []), ...(typeof additional === 'object' ? [additional] : []), ...(items ? [items] : [])]
  const listType = schema['x-kubernetes-list-type'] ?? ''
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  return {
    types,
    format,
    formatCheck: formatCheckOf(format),
    nullable: schema.nullable === true,
    properties,
    additional,
    items,
    preserve: schema['x-kubernetes-preserve-unknown-fields'] === true,
    embedded,
    listType,
    listMapKeys: schema['x-kubernetes-list-map-keys'] ?? [],
    atomicMap: schema['x-kubernetes-map-type'] === 'atomic',
    default: schema.default ?? undefined,
    defaulted: [...(properties ?? [])].filter(([, n]) => n.default !== undefined),
    defaultsBelow: children.some((n) => n.default !== undefined || n.defaultsBelow),
    embeddedBelow: children.some((n) => n.embedded || n.embeddedBelow),
    listTypesBelow: listType === 'set' || listType === 'map' || children.some((n) => n.listTypesBelow),
    ...valueChecks(schema, compile),
  }
}

type ValueChecks = Pick<
  Node,
  | 'required'
  | 'enum'
  | 'pattern'
  | 'minLength'
  | 'maxLength'
  | 'minItems'
  | 'maxItems'
  | 'minProperties'
  | 'maxProperties'
  | 'minimum'
  | 'maximum'
  | 'exclusiveMinimum'
  | 'exclusiveMaximum'
  | 'multipleOf'
  | 'allOf'
  | 'anyOf'
  | 'oneOf'
  | 'not'
>

function valueChecks(schema: Schema, compile: (s: Schema) => Node): ValueChecks {
  return {
    required: schema.required ?? [],
    enum: schema.enum && schema.enum.length > 0 ? schema.enum : undefined,
    pattern: schema.pattern ? compilePattern(schema.pattern) : undefined,
    minLength: schema.minLength,
    maxLength: schema.maxLength,
    minItems: schema.minItems,
    maxItems: schema.maxItems,
    minProperties: schema.minProperties,
    maxProperties: schema.maxProperties,
    minimum: schema.minimum,
    maximum: schema.maximum,
    exclusiveMinimum: schema.exclusiveMinimum === true,
    exclusiveMaximum: schema.exclusiveMaximum === true,
    multipleOf: schema.multipleOf,
    allOf: schema.allOf?.map(compile) ?? NO_NODES,
    anyOf: schema.anyOf?.map(compile) ?? NO_NODES,
    oneOf: schema.oneOf?.map(compile) ?? NO_NODES,
    not: schema.not === undefined ? undefined : compile(schema.not),
  }
}

function compileAdditional(additional: Schema | boolean | undefined, compile: (s: Schema) => Node): Node['additional'] {
  if (additional === undefined) return undefined
  if (typeof additional === 'boolean') return additional ? 'anything' : 'nothing'
  return compile(additional)
}

/** The node for the values of `key`, if the schema knows one. */
export function childNode(node: Node | undefined, key: string): Node | undefined {
  if (node === undefined) return undefined
  const property = node.properties?.get(key)
  if (property !== undefined) return property
  return typeof node.additional === 'object' ? node.additional : undefined
}
