/**
 * The schema builder of our own kinds. What it returns *is* structural schema (plain data, ready for a
 * CustomResourceDefinition) that also carries a static type: `Static<typeof X>` is the type of stored, defaulted values.
 * Marks that schemas cannot hold (optional, reference, the name of a Kubernetes type) live under symbols, which no serializer writes.
 */
import { QUANTITY_PATTERN, type Schema, type ValidationRule } from '../../kube/schema.ts'
import type { KubernetesTypes } from '../kubernetes/structural-types.ts'

/** Exists for the type checker alone. */
declare const STATIC: unique symbol
const OPTIONAL: unique symbol = Symbol('optional')
const REFERENCE: unique symbol = Symbol('reference')
const KUBERNETES: unique symbol = Symbol('kubernetes')

export type Typed<T> = Schema & { readonly [STATIC]?: T; readonly [REFERENCE]?: Reference }
export type Optional<T> = Typed<T> & { readonly [OPTIONAL]: true }
export type Static<N> = N extends Typed<infer T> ? T : never

/** A field that names another object. */
export interface Reference {
  /** The kind it names; a field name in `kindField` when the object itself states the kind. */
  to?: { group: string; kind: string }
  kindField?: string
  /** The sibling field with the namespace; absent: the referring object's own namespace, or none for cluster-scoped kinds. */
  namespaceField?: string
}

interface Common {
  description?: string
  title?: string
  rules?: readonly ValidationRule[]
}

interface StringOptions extends Common {
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
}

interface NumberOptions extends Common {
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  exclusiveMaximum?: boolean
  multipleOf?: number
}

interface ArrayOptions extends Common {
  minItems?: number
  maxItems?: number
  /** Default atomic. `map` needs the keys that identify items. */
  listType?: 'atomic' | 'set' | 'map'
  mapKeys?: readonly string[]
}

interface MapOptions extends Common {
  minProperties?: number
  maxProperties?: number
  mapType?: 'atomic' | 'granular'
}

interface ObjectOptions extends Common {
  mapType?: 'atomic' | 'granular'
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  not?: Schema
  minProperties?: number
  maxProperties?: number
}

type Fields = Readonly<Record<string, Typed<unknown>>>
type Simplify<T> = { [K in keyof T]: T[K] }
type OptionalKeys<F extends Fields> = { [K in keyof F]: F[K] extends Optional<unknown> ? K : never }[keyof F]
type StaticObject<F extends Fields> = Simplify<
  { [K in Exclude<keyof F, OptionalKeys<F>>]: Static<F[K]> } & { [K in OptionalKeys<F>]?: Static<F[K]> }
>

/** Schema keywords of the options: own names become extensions, absent ones are dropped. */
function keywords({ rules, ...options }: Common & Record<string, unknown>): Schema {
  const out: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(options)) if (value !== undefined) out[key] = value
  if (rules !== undefined && rules.length > 0) out['x-kubernetes-validations'] = rules
  return out as Schema
}

const node = <T>(schema: Schema): Typed<T> => schema as Typed<T>

function object<F extends Fields>(fields: F, { mapType, ...options }: ObjectOptions = {}): Typed<StaticObject<F>> {
  const required = Object.entries(fields)
    .filter(([, field]) => !isOptional(field) && field.default === undefined)
    .map(([name]) => name)
  return node({
    type: 'object',
    ...keywords({ ...options }),
    properties: { ...fields },
    ...(required.length > 0 ? { required } : {}),
    ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
  })
}

function array<N extends Typed<unknown>>(items: N, { listType, mapKeys, ...options }: ArrayOptions = {}): Typed<Static<N>[]> {
  return node({
    type: 'array',
    ...keywords({ ...options }),
    items,
    ...(listType === undefined ? {} : { 'x-kubernetes-list-type': listType }),
    ...(mapKeys === undefined ? {} : { 'x-kubernetes-list-map-keys': [...mapKeys] }),
  })
}

function map<N extends Typed<unknown>>(values: N, { mapType, ...options }: MapOptions = {}): Typed<Record<string, Static<N>>> {
  return node({
    type: 'object',
    ...keywords({ ...options }),
    additionalProperties: values,
    ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
  })
}

const isOptional = (field: Schema): boolean => (field as { [OPTIONAL]?: true })[OPTIONAL] === true

export const referenceOf = (field: Schema): Reference | undefined => (field as { [REFERENCE]?: Reference })[REFERENCE]

/** The Kubernetes type that the node stands for; its schema is put in when a definition is made of it. */
export const kubernetesTypeOf = (field: Schema): keyof KubernetesTypes | undefined =>
  (field as { [KUBERNETES]?: keyof KubernetesTypes })[KUBERNETES]

export const s = Object.freeze({
  object,
  array,
  map,
  string: (options: StringOptions = {}): Typed<string> => node({ type: 'string', ...keywords({ ...options }) }),
  /** One of these strings. */
  literals: <const V extends readonly string[]>(values: V, options: Common = {}): Typed<V[number]> =>
    node({ type: 'string', ...keywords({ ...options }), enum: [...values] }),
  int32: (options: NumberOptions = {}): Typed<number> => node({ type: 'integer', format: 'int32', ...keywords({ ...options }) }),
  int64: (options: NumberOptions = {}): Typed<number> => node({ type: 'integer', format: 'int64', ...keywords({ ...options }) }),
  number: (options: NumberOptions = {}): Typed<number> => node({ type: 'number', ...keywords({ ...options }) }),
  boolean: (options: Common = {}): Typed<boolean> => node({ type: 'boolean', ...keywords({ ...options }) }),
  intOrString: (options: StringOptions = {}): Typed<number | string> =>
    node({ ...keywords({ ...options }), anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true }),
  /** A Kubernetes quantity: `500m`, `2Gi`, 3. */
  quantity: (options: Common = {}): Typed<number | string> =>
    node({
      ...keywords({ ...options }),
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      pattern: QUANTITY_PATTERN,
      'x-kubernetes-int-or-string': true,
    }),
  /** A Go duration: `1h30m`. */
  duration: (options: Common = {}): Typed<string> => node({ type: 'string', format: 'duration', ...keywords({ ...options }) }),
  /** metav1.Time. */
  time: (options: Common = {}): Typed<string> => node({ type: 'string', format: 'date-time', ...keywords({ ...options }) }),
  /** Any JSON value, kept unchanged. */
  anything: (options: Common = {}): Typed<unknown> => node({ ...keywords({ ...options }), 'x-kubernetes-preserve-unknown-fields': true }),
  /** An object of which only these fields are known and everything else is kept. */
  open: <F extends Fields>(fields: F, options: ObjectOptions = {}): Typed<StaticObject<F> & Record<string, unknown>> =>
    node({ ...object(fields, options), 'x-kubernetes-preserve-unknown-fields': true }),
  /** A whole Kubernetes object inside another. */
  embedded: (options: Common = {}): Typed<{ apiVersion: string; kind: string; [field: string]: unknown }> =>
    node({
      type: 'object',
      ...keywords({ ...options }),
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    }),
  /** A type of Kubernetes: a pod template, a volume. Costs nothing until somebody needs the definition; see `kubernetesTypeOf`. */
  kubernetes: <K extends keyof KubernetesTypes>(type: K, options: Common = {}): Typed<KubernetesTypes[K]> =>
    ({ ...keywords({ ...options }), [KUBERNETES]: type }) as Typed<KubernetesTypes[K]>,
  optional: <N extends Typed<unknown>>(field: N): Optional<Static<N>> => ({ ...field, [OPTIONAL]: true }) as Optional<Static<N>>,
  /** Filled in when absent: always there once an object was stored. */
  withDefault: <N extends Typed<unknown>>(field: N, value: Static<N>): Typed<Static<N>> => node({ ...field, default: value }),
  nullable: <N extends Typed<unknown>>(field: N): Typed<Static<N> | null> => ({ ...field, nullable: true }) as Typed<Static<N> | null>,
  /** A name that refers to another object. */
  reference: (reference: Reference, options: StringOptions = {}): Typed<string> =>
    ({ type: 'string', ...keywords({ ...options }), [REFERENCE]: Object.freeze({ ...reference }) }) as Typed<string>,
})
