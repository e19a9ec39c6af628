/**
 * What merging must know about a value: whether a list is atomic, what the keys of its items are, which
 * fields a struct has. Derived from a linked schema on demand (schemas may be cyclic) by the rules of the real server:
 * lists are atomic unless they say otherwise, objects granular unless they say otherwise, and an untyped value is
 * deduced from the value, with maps granular and lists atomic.
 */
import { deepFreeze, isJsonObject } from '../../base/json.ts'
import { compareStrings } from '../go-print.ts'
import type { KubeObject } from '../meta.ts'
import type { Schema } from '../schema.ts'
import { fieldElement } from './element.ts'

export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped'

/** The alternatives for a value; most types have one. */
export interface Atom {
  readonly scalar?: Scalar
  readonly list?: ListType
  readonly map?: MapType
}

export interface FieldType {
  readonly atom: Atom
  /** `f:name`, made once. */
  readonly element: string
  /** Stands in for an absent key of a list item. */
  readonly default: unknown
}

const OBJECT_META: Schema = {
  type: 'object',
  properties: {
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
    creationTimestamp: { type: 'string', format: 'date-time' },
    deletionGracePeriodSeconds: { type: 'integer' },
    deletionTimestamp: { type: 'string', format: 'date-time' },
    finalizers: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    generateName: { type: 'string' },
    generation: { type: 'integer' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    managedFields: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'atomic' },
    name: { type: 'string' },
    namespace: { type: 'string' },
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: {
          apiVersion: { type: 'string' },
          blockOwnerDeletion: { type: 'boolean' },
          controller: { type: 'boolean' },
          kind: { type: 'string' },
          name: { type: 'string' },
          uid: { type: 'string' },
        },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
    },
    resourceVersion: { type: 'string' },
    selfLink: { type: 'string' },
    uid: { type: 'string' },
  },
}

const TYPE_META: Record<string, Schema> = { apiVersion: { type: 'string' }, kind: { type: 'string' } }

/** What every object of a custom kind has, whatever its schema says about it. */
const COMMON_FIELDS: Record<string, Schema> = { ...TYPE_META, metadata: OBJECT_META }

export class MapType {
  readonly atomic: boolean
  /** A Go struct: a null field equals an absent one; which of the two appears only depends on how it is printed. */
  readonly isStruct: boolean
  readonly #schema: Schema
  readonly #preserve: boolean
  readonly #common: boolean
  readonly #fields = new Map<string, FieldType | null>()
  #unknown: Atom | null | undefined

  constructor(schema: Schema, preserve: boolean, common: boolean) {
    this.#schema = schema
    this.#preserve = preserve
    this.#common = common
    this.atomic = schema['x-kubernetes-map-type'] === 'atomic'
    this.isStruct = schema.definition !== undefined && schema.properties !== undefined
  }

  /** The declared field of that name. */
  field(name: string): FieldType | undefined {
    const known = this.#fields.get(name)
    if (known !== undefined) return known ?? undefined
    const schema = this.#declared(name)
    // Names come from input: only declared ones are cached, so memory is bounded by the schema.
    if (schema === undefined) return undefined
    const field: FieldType = { atom: atomOf(schema, this.#preserve), element: fieldElement(name), default: schema.default }
    this.#fields.set(name, field)
    return field
  }

  /** The type of undeclared fields; undefined when none are allowed. */
  get unknown(): Atom | undefined {
    if (this.#unknown === undefined) this.#unknown = this.#resolveUnknown() ?? null
    return this.#unknown ?? undefined
  }

  /** True for a map without declared fields whose values are deduced: nothing about it can have changed in a schema. */
  get isDeduced(): boolean {
    return this.unknown === DEDUCED && this.#schema.properties === undefined && !this.#common
  }

  #declared(name: string): Schema | undefined {
    if (this.#common && Object.hasOwn(COMMON_FIELDS, name)) return COMMON_FIELDS[name]
    const { properties } = this.#schema
    return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
  }

  #resolveUnknown(): Atom | undefined {
    const { additionalProperties, properties } = this.#schema
    if (additionalProperties === undefined) {
      const free = !this.#common && (properties === undefined || Object.keys(properties).length === 0)
      return this.#preserve || free ? DEDUCED : undefined
    }
    if (typeof additionalProperties === 'boolean') return additionalProperties ? DEDUCED : undefined
    return atomOf(additionalProperties, this.#preserve)
  }
}

export class ListType {
  readonly associative: boolean
  /** As declared, for messages. */
  readonly keys: readonly string[]
  /** In the order in which they stand in a path element. */
  readonly sortedKeys: readonly string[]
  readonly #items: Schema | undefined
  readonly #preserve: boolean
  #element: Atom | undefined

  constructor(schema: Schema, preserve: boolean) {
    this.#items = schema.items
    this.#preserve = preserve
    const { associative, keys } = relationshipOf(schema)
    this.associative = associative
    this.keys = keys
    this.sortedKeys = [...keys].sort(compareStrings)
  }

  get element(): Atom {
    this.#element ??= this.#items === undefined ? UNTYPED : atomOf(this.#items, this.#preserve)
    return this.#element
  }
}

function relationshipOf(schema: Schema): { associative: boolean; keys: readonly string[] } {
  const listType = schema['x-kubernetes-list-type']
  if (listType !== undefined) {
    return { associative: listType !== 'atomic', keys: listType === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [] }
  }
  const strategy = schema['x-kubernetes-patch-strategy']
  if (strategy !== 'merge' && strategy !== 'merge,retainKeys') return { associative: false, keys: [] }
  const key = schema['x-kubernetes-patch-merge-key']
  return { associative: true, keys: key === undefined ? [] : [key] }
}

const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity'
const RAW_EXTENSION = 'io.k8s.apimachinery.pkg.runtime.RawExtension'

/** Anything, as one leaf. */
const UNTYPED: Atom = {
  scalar: 'untyped',
  list: new ListType({ type: 'array' }, false),
  map: new MapType(
    { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { definition: RAW_EXTENSION } },
    false,
    false,
  ),
}

/** Anything, maps granular. */
const DEDUCED: Atom = {
  scalar: 'untyped',
  list: new ListType({ type: 'array' }, false),
  map: new MapType({ type: 'object', additionalProperties: true }, false, false),
}

// Write-once results of a pure computation, kept for as long as their schema lives.
const compiled = {
  plain: new WeakMap<Schema, Atom>(),
  preserving: new WeakMap<Schema, Atom>(),
  roots: new WeakMap<Schema, Atom>(),
  zeros: new WeakMap<Schema, Record<string, unknown>>(),
}

/** The type of a whole object. Custom kinds get their metadata from here, as they do in the real server. */
export function rootAtom(schema: Schema): Atom {
  if (schema.definition !== undefined) return atomOf(schema, false)
  let atom = compiled.roots.get(schema)
  if (atom === undefined) {
    atom = { map: new MapType(schema, schema['x-kubernetes-preserve-unknown-fields'] === true, true) }
    compiled.roots.set(schema, atom)
  }
  return atom
}

function atomOf(schema: Schema, inherited: boolean): Atom {
  // Preserving unknown fields is inherited by inline schemas, not by referenced definitions.
  const preserve = (inherited && schema.definition === undefined) || schema['x-kubernetes-preserve-unknown-fields'] === true
  const memory = preserve ? compiled.preserving : compiled.plain
  let atom = memory.get(schema)
  if (atom === undefined) {
    atom = compileAtom(schema, preserve)
    memory.set(schema, atom)
  }
  return atom
}

function compileAtom(schema: Schema, preserve: boolean): Atom {
  if (schema.definition === QUANTITY) return { scalar: 'untyped' }
  if (schema.definition === RAW_EXTENSION) return UNTYPED
  const common = schema['x-kubernetes-embedded-resource'] === true
  switch (schema.type) {
    case undefined:
      return { scalar: 'untyped', list: new ListType(schema, preserve), map: new MapType(schema, preserve, common) }
    case 'object':
      return { map: new MapType(schema, preserve, common) }
    case 'array':
      return { list: new ListType(schema, preserve) }
    case 'integer':
    case 'number':
      return { scalar: 'numeric' }
    case 'boolean':
      return { scalar: 'boolean' }
    case 'string':
      return { scalar: schema.format === undefined || schema.format === '' || schema.format === 'byte' ? 'string' : 'untyped' }
    default:
      return { scalar: 'untyped' }
  }
}

type AtomKind = 'scalar' | 'list' | 'map'

/** Which alternative of `atom` applies to a value; undefined when the value does not decide (null, or of an unrelated type). */
export function deduceKind(atom: Atom, value: unknown): AtomKind | undefined {
  if (value === undefined || value === null) return undefined
  const kind = typeof value !== 'object' ? 'scalar' : Array.isArray(value) ? 'list' : 'map'
  return atom[kind] === undefined ? undefined : kind
}

/** One alternative of a type; without a kind, the one that stands for an undecided value. */
export function alternative(atom: Atom, kind?: AtomKind): MapType | ListType | Scalar {
  return (kind === undefined ? undefined : atom[kind]) ?? atom.map ?? atom.scalar ?? atom.list ?? 'untyped'
}

/** With several alternatives, an undecided value differs from a decided one. */
export function hasAlternatives({ map, scalar, list }: Atom): boolean {
  return map !== undefined ? scalar !== undefined || list !== undefined : scalar !== undefined && list !== undefined
}

export const listOf = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : undefined)

export const mapOf = (value: unknown): Record<string, unknown> | undefined => (isJsonObject(value) ? value : undefined)

/**
 * An object of a built-in kind with nothing set: Go's zero value as JSON. Structs that are not pointers are present
 * (they have the default `{}` in OpenAPI), scalars that are always written have their zero, required lists are null.
 * Custom kinds start empty.
 */
export function zeroObject(schema: Schema, apiVersion: string, kind: string): KubeObject {
  let zero = compiled.zeros.get(schema)
  if (zero === undefined) {
    zero = deepFreeze(schema.definition === undefined ? {} : zeroStruct(schema, 0))
    compiled.zeros.set(schema, zero)
  }
  return { metadata: {}, ...zero, apiVersion, kind }
}

function zeroStruct(schema: Schema, depth: number): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (isEmptyObject(field.default) && field.type === 'object' && depth < 16) out[name] = zeroStruct(field, depth + 1)
    else if (field.default === '' || field.default === 0 || field.default === false) out[name] = field.default
    else if (schema.required?.includes(name) === true && field.type === 'array') out[name] = null
  }
  return out
}

const isEmptyObject = (value: unknown): boolean => isJsonObject(value) && Object.keys(value).length === 0
