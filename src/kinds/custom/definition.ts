/**
 * From a CustomResourceDefinition to what the server needs to serve its kind. Pure: the same object gives the same
 * definition, and the server replaces a definition as a whole when its CustomResourceDefinition changes.
 */
import { deepClone, deepEqual } from '../../base/json.ts'
import { groupVersion, type KubeObject, parseGroupVersion } from '../../kube/meta.ts'
import type { Schema } from '../../kube/schema.ts'
import { compareVersions } from '../../kube/version-order.ts'
import type { KindDefinition, KindRules, KindVersion, SubresourceInfo, TablePrinter } from '../kind.ts'
import { definitionSchema } from '../kubernetes/schemas.ts'
import { printerOf } from './columns.ts'
import { asCrd, type Crd, type CrdSpec, type CrdVersion, crdCondition, schemaOf, storageVersionOf } from './crd.ts'
import { type CompiledVersion, customResourceRules } from './custom-rules.ts'
import { openApiOf } from './openapi.ts'
import { compileStructural, type Structural } from './structural.ts'

const VERBS: readonly string[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const TERMINATING_VERBS: readonly string[] = ['delete', 'deletecollection', 'get', 'list', 'watch']
const SUBRESOURCE_VERBS: readonly string[] = ['get', 'patch', 'update']

export interface DefinitionOptions {
  /** Between the versions of one of our own kinds; absent: only apiVersion changes. The result is pruned afterwards. */
  convert?(object: KubeObject, toVersion: string): KubeObject
  /** Rules besides those of the schema; they run after it. */
  rules?: Pick<KindRules, 'validateCreate' | 'validateUpdate' | 'warnings' | 'validateName' | 'allowUnconditionalUpdate'>
  /** A table that a definition's columns cannot express; only our own server shows it. */
  table?: TablePrinter
}

/** `crd` is a CustomResourceDefinition of apiextensions.k8s.io/v1 that has passed validation. */
export function definitionOf(crd: KubeObject, options: DefinitionOptions = {}): KindDefinition {
  const { spec, status } = asCrd(crd)
  const names = status?.acceptedNames?.kind ? status.acceptedNames : spec.names
  const compiled = new Map(spec.versions.map((version) => [version.name, compileVersion(version)]))
  const { subresources, scale } = subresourcesOf(spec)
  const convert = converter(spec, compiled, options)
  return {
    group: spec.group,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === 'Namespaced',
    verbs: crdCondition(asCrd(crd), 'Terminating') ? TERMINATING_VERBS : VERBS,
    versions: spec.versions.map((version) => {
      const own = versionOf(version, spec, compiled)
      return options.table === undefined ? own : { ...own, printer: options.table }
    }),
    storageVersion: storageVersionOf(spec),
    subresources,
    ...(scale === undefined ? {} : { scale }),
    rules: withExtraRules(customResourceRules(names.kind, compiled), options.rules),
    convert,
    isSameInAllVersions: options.convert === undefined,
    readStored: storedReader({ spec, kind: names.kind, structural: compiled.get(storageVersionOf(spec))?.structural, convert }),
    publish: () => openApiOf(crd),
    builtin: false,
  }
}

/** Whether the kind is served, and whether it may still be created. */
export function crdServing(crd: KubeObject): { served: boolean; terminating: boolean } {
  const it = asCrd(crd)
  return { served: crdCondition(it, 'Established'), terminating: crdCondition(it, 'Terminating') || isDeleting(it) }
}

const isDeleting = (crd: Crd): boolean => crd.metadata.deletionTimestamp !== undefined

function compileVersion(version: CrdVersion): CompiledVersion {
  return {
    version,
    structural: compileStructural(schemaOf(version)),
    hasStatus: version.subresources?.status !== undefined,
    scale: version.subresources?.scale,
  }
}

function versionOf(version: CrdVersion, spec: CrdSpec, compiled: ReadonlyMap<string, CompiledVersion>): KindVersion {
  const structural = compiled.get(version.name)?.structural
  return {
    name: version.name,
    served: version.served === true,
    schema: linkedSchema(schemaOf(version)),
    ...(version.deprecated ? { deprecated: true, deprecationWarning: version.deprecationWarning ?? deprecationOf(version, spec) } : {}),
    ...(structural === undefined ? {} : { coerce: (object: KubeObject) => structural.coerce(object) }),
    printer: printerOf(version.additionalPrinterColumns),
  }
}

function deprecationOf(version: CrdVersion, { group, names, versions }: CrdSpec): string {
  const better = versions
    .filter((v) => v.served && !v.deprecated && compareVersions(version.name, v.name) > 0)
    .map((v) => v.name)
    .sort(compareVersions)[0]
  const message = `${group}/${version.name} ${names.kind} is deprecated`
  return better === undefined ? message : `${message}; use ${group}/${better} ${names.kind}`
}

/** Subresources belong to a kind here; no rule refuses one in a version that does not declare it, and there it has no effect. */
function subresourcesOf(spec: CrdSpec): Pick<KindDefinition, 'subresources' | 'scale'> {
  const subresources: SubresourceInfo[] = []
  if (spec.versions.some((v) => v.subresources?.status !== undefined)) subresources.push({ name: 'status', verbs: SUBRESOURCE_VERBS })
  const scale = spec.versions.find((v) => v.subresources?.scale !== undefined)?.subresources?.scale
  if (scale === undefined) return { subresources }
  subresources.push({ name: 'scale', verbs: SUBRESOURCE_VERBS, responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } })
  return { subresources, scale }
}

/** Conversion prunes by the schema of the target version, and defaults nothing, as the real server does. */
function converter(spec: CrdSpec, compiled: ReadonlyMap<string, CompiledVersion>, options: DefinitionOptions) {
  return (object: KubeObject, toApiVersion: string): KubeObject => {
    const { version } = parseGroupVersion(toApiVersion)
    const copy = deepClone(options.convert === undefined ? object : options.convert(object, version))
    copy.apiVersion = groupVersion(spec.group, version)
    compiled.get(version)?.structural.coerce(copy)
    return copy
  }
}

interface StoredReading {
  spec: CrdSpec
  kind: string
  structural: Structural | undefined
  convert(object: KubeObject, toApiVersion: string): KubeObject
}

/**
 * Objects may have been stored under another storage version or kind. Caches what each stored object read as: a list would
 * otherwise pay for every object every time.
 */
function storedReader({ spec, kind, structural, convert }: StoredReading) {
  const apiVersion = groupVersion(spec.group, storageVersionOf(spec))
  const known = new WeakMap<KubeObject, KubeObject>()
  return (object: KubeObject): KubeObject => {
    const before = known.get(object)
    if (before !== undefined) return before
    const copy = object.apiVersion === apiVersion ? deepClone(object) : convert(object, apiVersion)
    copy.kind = kind
    structural?.coerce(copy)
    structural?.applyDefaults(copy)
    const read = deepEqual(copy, object) ? object : copy
    known.set(object, read)
    return read
  }
}

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

/** The schema of the whole object: apiVersion, kind and metadata are the server's own, at the root and in embedded resources. */
function linkedSchema(schema: Schema): Schema {
  return withMeta({ ...schema, type: 'object' }, { isRoot: true, unchanged: new Set() })
}

interface Linking {
  isRoot: boolean
  /** What contains no embedded resource. Types of Kubernetes occur several times in a definition, and are looked through once. */
  unchanged: Set<Schema>
}

/** What contains no embedded resource is shared with the definition, not copied. */
function withMeta(schema: Schema, { isRoot, unchanged }: Linking): Schema {
  const inner: Linking = { isRoot: false, unchanged }
  if (unchanged.has(schema)) return schema
  const { properties, items, additionalProperties } = schema
  const below: Schema = {}
  if (properties !== undefined) {
    const entries = Object.entries(properties).map(([key, child]) => [key, withMeta(child, inner)] as const)
    if (entries.some(([key, child]) => child !== properties[key])) below.properties = Object.fromEntries(entries)
  }
  if (items !== undefined) below.items = withMeta(items, inner)
  if (typeof additionalProperties === 'object') below.additionalProperties = withMeta(additionalProperties, inner)
  if (isRoot || schema['x-kubernetes-embedded-resource'])
    return { ...schema, ...below, properties: { ...(below.properties ?? properties), ...serverFields() } }
  const isSame =
    below.properties === undefined && below.items === items && (below.additionalProperties ?? additionalProperties) === additionalProperties
  if (!isSame) return { ...schema, ...below }
  if (properties !== undefined) unchanged.add(schema)
  return schema
}

const serverFields = (): Record<string, Schema> => ({
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: definitionSchema(OBJECT_META) ?? {},
})

function withExtraRules(rules: KindRules, extra: DefinitionOptions['rules']): KindRules {
  if (extra === undefined) return rules
  return {
    ...rules,
    ...(extra.validateName === undefined ? {} : { validateName: extra.validateName }),
    ...(extra.allowUnconditionalUpdate === undefined ? {} : { allowUnconditionalUpdate: extra.allowUnconditionalUpdate }),
    validateCreate: (object, context) => [
      ...(rules.validateCreate?.(object, context) ?? []),
      ...(extra.validateCreate?.(object, context) ?? []),
    ],
    validateUpdate: (object, old, context) => [
      ...(rules.validateUpdate?.(object, old, context) ?? []),
      ...(extra.validateUpdate?.(object, old, context) ?? []),
    ],
    warnings: (object, old, context) => [
      ...(rules.warnings?.(object, old, context) ?? []),
      ...(extra.warnings?.(object, old, context) ?? []),
    ],
  }
}
