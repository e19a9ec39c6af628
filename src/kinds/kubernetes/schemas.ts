/**
 * OpenAPI definitions of the built-in kinds as linked `Schema` graphs: every `$ref` and every single `allOf` is replaced
 * by the node it means, so graphs may be cyclic. A definition is linked on first use and then shared: treat as frozen.
 * A property that adds keywords to a definition (`default: {}`, a patch strategy) gets a node of its own that shares
 * the definition's children and keeps its `definition` name.
 */
import type { Schema } from '../../kube/schema.ts'
import { once } from './once.ts'
import { openApiTexts } from './openapi-texts.ts'

type RawSchema = Omit<Schema, 'properties' | 'items' | 'additionalProperties' | 'allOf'> & {
  $ref?: string
  properties?: Record<string, RawSchema>
  items?: RawSchema
  additionalProperties?: RawSchema | boolean
  allOf?: RawSchema[]
}

const REF_PREFIX = '#/components/schemas/'
const META_GROUP = 'meta'

interface Document {
  group: string
  version: string
  definitions: () => ReadonlyMap<string, RawSchema>
  kinds: () => ReadonlyMap<string, string>
}

const documents: readonly Document[] = openApiTexts.map(({ group, version, text }) => {
  const definitions = once(() => new Map(Object.entries(JSON.parse(text) as Record<string, RawSchema>)))
  return { group, version, definitions, kinds: once(() => kindsOf(definitions())) }
})

const documentOfPrefix: ReadonlyMap<string, Document> = new Map(
  openApiTexts.flatMap(({ definitionPrefixes }, i) => {
    const document = documents[i]
    return document === undefined ? [] : definitionPrefixes.map((prefix) => [prefix, document] as const)
  }),
)

const documentOfVersion: ReadonlyMap<string, Document> = new Map(documents.map((d) => [`${d.group}/${d.version}`, d]))

/** `group/version/kind` → definition name, for the definitions of one document. */
function kindsOf(definitions: ReadonlyMap<string, RawSchema>): ReadonlyMap<string, string> {
  const kinds = new Map<string, string>()
  for (const [name, raw] of definitions) {
    for (const gvk of raw['x-kubernetes-group-version-kind'] ?? []) kinds.set(`${gvk.group}/${gvk.version}/${gvk.kind}`, name)
  }
  return kinds
}

function rawDefinition(name: string): RawSchema | undefined {
  return documentOfPrefix
    .get(name.slice(0, name.lastIndexOf('.')))
    ?.definitions()
    .get(name)
}

/** Name of the definition of a built-in kind, e.g. `io.k8s.api.core.v1.Pod`; shared meta kinds are known in every group. */
export function definitionNameFor(group: string, version: string, kind: string): string | undefined {
  const key = `${group}/${version}/${kind}`
  return (
    documentOfVersion.get(`${group}/${version}`)?.kinds().get(key) ??
    documentOfVersion.get(`${META_GROUP}/v1`)?.kinds().get(key) ??
    undefined
  )
}

/** Linked schema of a built-in kind (lists and meta kinds included), or undefined for what is not built in. */
export function schemaFor(group: string, version: string, kind: string): Schema | undefined {
  const name = definitionNameFor(group, version, kind)
  return name === undefined ? undefined : definitionSchema(name)
}

/** Write-once results of a pure computation, as in once.ts; entries exist before they are complete so that cycles close. */
const linked = new Map<string, Schema>()

/** Linked schema of a definition by its OpenAPI name. */
export function definitionSchema(name: string): Schema | undefined {
  const known = linked.get(name)
  if (known !== undefined) return known
  const raw = rawDefinition(name)
  if (raw === undefined) return undefined
  const node: Schema = { definition: name }
  linked.set(name, node)
  linkInto(node, raw)
  return node
}

/**
 * Fills `node` from `raw`. The containers are put in place before any child is linked: a cycle that reaches this node
 * again while it is being linked may copy it, and the copy shares the containers that are filled afterwards.
 */
function linkInto(node: Schema, raw: RawSchema): void {
  const { properties, items, additionalProperties, allOf, $ref: _ref, ...keywords } = raw
  Object.assign(node, keywords)
  const pending: (() => void)[] = []
  if (properties !== undefined) {
    const children: Record<string, Schema> = {}
    node.properties = children
    pending.push(() => {
      for (const [name, property] of Object.entries(properties)) children[name] = resolve(property)
    })
  }
  if (items !== undefined) node.items = placeholder(items, pending)
  if (typeof additionalProperties === 'object') node.additionalProperties = placeholder(additionalProperties, pending)
  else if (additionalProperties !== undefined) node.additionalProperties = additionalProperties
  if (allOf !== undefined) node.allOf = allOf.map((part) => placeholder(part, pending))
  for (const fill of pending) fill()
}

/** An inline schema gets a node that is filled later, a reference the shared node at once. */
function placeholder(raw: RawSchema, pending: (() => void)[]): Schema {
  if (referenceOf(raw) !== undefined) return resolve(raw)
  const node: Schema = {}
  pending.push(() => linkInto(node, raw))
  return node
}

function referenceOf(raw: RawSchema): string | undefined {
  const ref = raw.$ref ?? (raw.allOf?.length === 1 ? raw.allOf[0]?.$ref : undefined)
  return typeof ref === 'string' ? ref.slice(REF_PREFIX.length) : undefined
}

const overlays = new Map<string, Schema>()

function resolve(raw: RawSchema): Schema {
  const name = referenceOf(raw)
  if (name === undefined) {
    const node: Schema = {}
    linkInto(node, raw)
    return node
  }
  const target = definitionSchema(name) ?? { definition: name }
  const { $ref: _ref, allOf: _allOf, properties: _p, items: _i, additionalProperties: _a, ...keywords } = raw
  if (Object.keys(keywords).length === 0) return target
  const key = `${name} ${JSON.stringify(keywords)}`
  const known = overlays.get(key)
  if (known !== undefined) return known
  const overlay: Schema = { ...target, ...keywords }
  overlays.set(key, overlay)
  return overlay
}
