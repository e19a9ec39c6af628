/**
 * One schema per kind yields everything else: the static type (`ObjectOf`), the resource that clients and controllers name,
 * the CustomResourceDefinition, what the server needs to serve it, its printer, and the list of fields that refer to other objects.
 * Frozen. What costs time (definitions can have thousands of fields) is made when it is first asked for.
 */
import { deepClone, deepFreeze } from '../../base/json.ts'
import type { KubeObject, ObjectMeta } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Schema } from '../../kube/schema.ts'
import { crdProblems } from '../custom/crd-rules.ts'
import { type DefinitionOptions, definitionOf } from '../custom/definition.ts'
import type { Column, KindDefinition, ScaleMapping } from '../kind.ts'
import { once } from '../kubernetes/once.ts'
import { structuralType } from '../kubernetes/structural-types.ts'
import { kubernetesTypeOf, type Reference, referenceOf, type Static, type Typed } from './builder.ts'

interface KindColumn {
  name: string
  type: Column['type']
  jsonPath: string
  format?: string
  description?: string
  priority?: number
}

interface VersionSpec<N extends Typed<object>> {
  /** Everything but apiVersion, kind and metadata: usually `spec` and `status`. */
  schema: N
  description?: string
  /** Default true. */
  served?: boolean
  /** Exactly one version is stored. */
  storage?: boolean
  deprecated?: boolean
  deprecationWarning?: string
  columns?: readonly KindColumn[]
  /** Default: true when the schema has a `status`. */
  status?: boolean
  scale?: ScaleMapping
  selectableFields?: readonly string[]
  /** Between this version and the stored one, where more than apiVersion differs. Pure; get a private copy. */
  toStored?(object: KubeObject): KubeObject
  fromStored?(object: KubeObject): KubeObject
}

type Versions = Readonly<Record<string, VersionSpec<Typed<object>>>>

export interface KindSpec<V extends Versions> {
  group: string
  kind: string
  plural: string
  singular?: string
  listKind?: string
  shortNames?: readonly string[]
  categories?: readonly string[]
  scope: 'Namespaced' | 'Cluster'
  /** Versions in the order of the CustomResourceDefinition. */
  versions: V
  /** Checks that a schema cannot express. */
  rules?: DefinitionOptions['rules']
  /** The table of our own server, where it shows more than columns can. */
  table?: DefinitionOptions['table']
  annotations?: Readonly<Record<string, string>>
}

/** A field that refers to another object: `spec.sources[].name`, `spec.mounts{}.secretRef`. */
interface ReferenceField extends Reference {
  version: string
  path: string
}

export interface OwnKind<V extends Versions = Versions, T extends KubeObject = KubeObject> {
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly storageVersion: string
  /** In the stored version, with the type of its objects. */
  readonly resource: Resource<T>
  readonly crd: KubeObject
  readonly definition: KindDefinition
  readonly references: readonly ReferenceField[]
  readonly versions: V
}

type VersionObject<V extends Versions, N extends keyof V> = { apiVersion: string; kind: string; metadata: ObjectMeta } & Static<
  V[N]['schema']
>

type MarkedForStorage<V extends Versions> = { [N in keyof V]: V[N] extends { storage: true } ? N : never }[keyof V]

/** A single version need not be marked: it is the stored one. */
type StorageVersion<V extends Versions> = [MarkedForStorage<V>] extends [never] ? keyof V : MarkedForStorage<V>

/** The static type of an object of a kind in one of its versions. */
export type ObjectOf<K, N extends string> = K extends OwnKind<infer V> ? (N extends keyof V ? VersionObject<V, N> : never) : never

/** Reading `crd` throws when a server would refuse the definition: a mistake in our own code. */
export function defineKind<const V extends Versions>(spec: KindSpec<V>): OwnKind<V, VersionObject<V, StorageVersion<V>>> {
  const storageVersion = storageVersionOf(spec)
  const unchecked = once(() => deepFreeze(crdOf(spec)))
  const crd = once(() => checked(unchecked()))
  const definition = once(() => Object.freeze(definitionOf(unchecked(), { ...conversionOf(spec), rules: spec.rules, table: spec.table })))
  const references = once(() =>
    Object.freeze(Object.entries(spec.versions).flatMap(([version, { schema }]) => referencesIn(schema, version))),
  )
  return Object.freeze({
    group: spec.group,
    kind: spec.kind,
    plural: spec.plural,
    scope: spec.scope,
    storageVersion,
    resource: Object.freeze({
      group: spec.group,
      version: storageVersion,
      plural: spec.plural,
      kind: spec.kind,
      namespaced: spec.scope === 'Namespaced',
    }),
    get crd() {
      return crd()
    },
    get definition() {
      return definition()
    },
    get references() {
      return references()
    },
    versions: spec.versions,
  })
}

/** Checking costs more than everything else: a server that serves the kind itself does without, whoever writes it out does not. */
function checked(crd: KubeObject): KubeObject {
  const problems = crdProblems(crd)
  if (problems.length > 0) throw new Error(`${crd.metadata.name} is not a valid definition: ${problems.join('; ')}`)
  return crd
}

function storageVersionOf({ versions }: KindSpec<Versions>): string {
  const all = Object.entries(versions)
  return (all.find(([, { storage }]) => storage === true) ?? all[0])?.[0] ?? ''
}

function crdOf<V extends Versions>(spec: KindSpec<V>): KubeObject {
  const versions = Object.entries(spec.versions)
  const stored = versions.length === 1 ? versions[0]?.[0] : undefined
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${spec.plural}.${spec.group}`,
      ...(spec.annotations === undefined ? {} : { annotations: { ...spec.annotations } }),
    },
    spec: {
      group: spec.group,
      names: {
        kind: spec.kind,
        listKind: spec.listKind ?? `${spec.kind}List`,
        plural: spec.plural,
        singular: spec.singular ?? spec.kind.toLowerCase(),
        ...(spec.shortNames === undefined ? {} : { shortNames: [...spec.shortNames] }),
        ...(spec.categories === undefined ? {} : { categories: [...spec.categories] }),
      },
      scope: spec.scope,
      versions: versions.map(([name, version]) => crdVersion(name, version, name === stored)),
    },
  }
}

function crdVersion(name: string, v: VersionSpec<Typed<object>>, isOnly: boolean): Record<string, unknown> {
  const hasStatus = v.status ?? v.schema.properties?.status !== undefined
  return {
    name,
    served: v.served ?? true,
    storage: v.storage ?? isOnly,
    ...(v.deprecated ? { deprecated: true } : {}),
    ...(v.deprecationWarning === undefined ? {} : { deprecationWarning: v.deprecationWarning }),
    schema: { openAPIV3Schema: withTypeMeta(v) },
    ...(hasStatus || v.scale !== undefined
      ? { subresources: { ...(hasStatus ? { status: {} } : {}), ...(v.scale === undefined ? {} : { scale: { ...v.scale } }) } }
      : {}),
    ...(v.columns === undefined ? {} : { additionalPrinterColumns: v.columns.map((c) => ({ ...c })) }),
    ...(v.selectableFields === undefined ? {} : { selectableFields: v.selectableFields.map((jsonPath) => ({ jsonPath })) }),
  }
}

const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md'

/** apiVersion, kind and metadata are spelled out, as in every generated definition. */
function withTypeMeta(version: VersionSpec<Typed<object>>): Schema {
  const { properties, ...rest } = plainSchema(version.schema)
  return {
    ...rest,
    ...(version.description === undefined ? {} : { description: version.description }),
    properties: {
      apiVersion: {
        description: `The versioned schema of this representation of an object. More info: ${CONVENTIONS}#resources`,
        type: 'string',
      },
      kind: { description: `The REST resource that this object represents. More info: ${CONVENTIONS}#types-kinds`, type: 'string' },
      metadata: { type: 'object' },
      ...properties,
    },
  }
}

/** Without marks, and with the schemas of Kubernetes types where they belong: these are shared, everything else is a copy. */
function plainSchema(schema: Schema): Schema {
  const type = kubernetesTypeOf(schema)
  const own = Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, plainKeyword(keyword, value)])) as Schema
  if (type === undefined) return own
  return Object.keys(own).length === 0 ? structuralType(type) : { ...structuralType(type), ...own }
}

function plainKeyword(keyword: string, value: unknown): unknown {
  if (keyword === 'properties')
    return Object.fromEntries(Object.entries(value as Record<string, Schema>).map(([name, field]) => [name, plainSchema(field)]))
  return keyword === 'items' || (keyword === 'additionalProperties' && typeof value === 'object')
    ? plainSchema(value as Schema)
    : deepClone(value)
}

/** Conversion goes through the stored version. */
function conversionOf<V extends Versions>(spec: KindSpec<V>): Pick<DefinitionOptions, 'convert'> {
  const all: Versions = spec.versions
  if (!Object.values(all).some((v) => v.toStored !== undefined || v.fromStored !== undefined)) return {}
  return {
    convert(object, toVersion) {
      const from = object.apiVersion.slice(object.apiVersion.indexOf('/') + 1)
      const copy = deepClone(object)
      const stored = all[from]?.toStored?.(copy) ?? copy
      return all[toVersion]?.fromStored?.(stored) ?? stored
    },
  }
}

function referencesIn(schema: Schema, version: string, path = ''): ReferenceField[] {
  const reference = referenceOf(schema)
  const own = reference === undefined ? [] : [{ ...reference, version, path }]
  const below = Object.entries(schema.properties ?? {}).flatMap(([key, field]) =>
    referencesIn(field, version, path === '' ? key : `${path}.${key}`),
  )
  const items = schema.items === undefined ? [] : referencesIn(schema.items, version, `${path}[]`)
  const values = typeof schema.additionalProperties === 'object' ? referencesIn(schema.additionalProperties, version, `${path}{}`) : []
  return [...own, ...below, ...items, ...values]
}
