/**
 * The schemas that a server publishes for a custom kind, as components of OpenAPI v3 and definitions of v2: what
 * `kubectl explain` prints and clients validate with. v2 has no junctors, no nullable and no preserved fields, so there a
 * schema says less rather than something wrong.
 */
import { deepClone, deepEqual } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Schema } from '../../kube/schema.ts'
import type { PublishedVersion } from '../kind.ts'
import { asCrd, type CrdSpec, type CrdVersion, schemaOf } from './crd.ts'

type Published = Record<string, unknown>

const V3 = '#/components/schemas/'
const V2 = '#/definitions/'
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'
const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md'
const API_VERSION = `The versioned schema of this representation of an object. Servers convert known schemas to the latest internal value and may reject unknown ones. More info: ${CONVENTIONS}#resources`
const KIND = `The REST resource that this object represents. Servers may infer it from the endpoint that the client sends requests to. Cannot be updated. In CamelCase. More info: ${CONVENTIONS}#types-kinds`
const METADATA = `Standard object metadata. More info: ${CONVENTIONS}#metadata`
const LIST_METADATA = `Standard list metadata. More info: ${CONVENTIONS}#types-kinds`

/** One entry per served version. */
export function openApiOf(crd: KubeObject): PublishedVersion[] {
  const { spec } = asCrd(crd)
  return spec.versions.filter((v) => v.served).map((version) => publish(spec, version))
}

function publish(spec: CrdSpec, version: CrdVersion): PublishedVersion {
  const { kind } = spec.names
  const listKind = spec.names.listKind ?? `${kind}List`
  const prefix = `${spec.group.split('.').reverse().join('.')}.${version.name}.`
  const [name, listName] = [prefix + kind, prefix + listKind]
  const of = (isV2: boolean): Record<string, Published> => ({
    [name]: { ...kindSchema(schemaOf(version), isV2), ...extensions(spec, version, kind) },
    [listName]: { ...listSchema(spec, { kind, listKind, itemName: name }, isV2), ...extensions(spec, version, listKind) },
  })
  const subresources = (['status', 'scale'] as const).filter((part) => version.subresources?.[part] !== undefined)
  return { version: version.name, name, listName, subresources, v3: of(false), v2: of(true) }
}

function extensions(spec: CrdSpec, version: CrdVersion, kind: string): Published {
  const fields = (version.selectableFields ?? []).map(({ jsonPath }) => ({ fieldPath: jsonPath.replace(/^\./, '') }))
  return {
    'x-kubernetes-group-version-kind': [{ group: spec.group, kind, version: version.name }],
    ...(fields.length === 0 ? {} : { 'x-kubernetes-selectable-fields': fields }),
  }
}

/** v3 wraps a reference that has siblings; v2 writes them side by side. */
function reference(name: string, description: string, isV2: boolean): Published {
  return isV2 ? { $ref: V2 + name, description } : { allOf: [{ $ref: V3 + name }], description }
}

const typeMeta = (): Published => ({
  apiVersion: { description: API_VERSION, type: 'string' },
  kind: { description: KIND, type: 'string' },
})

function kindSchema(schema: Schema, isV2: boolean): Published {
  if (Object.keys(schema).length === 0 || (isV2 && schema['x-kubernetes-preserve-unknown-fields'])) return { type: 'object' }
  const published = publishNode(isV2 ? narrowToV2(schema) : schema, isV2)
  published.properties = {
    ...(published.properties as Published | undefined),
    ...typeMeta(),
    metadata: reference(`${META}ObjectMeta`, METADATA, isV2),
  }
  return published
}

function listSchema(spec: CrdSpec, of: { kind: string; listKind: string; itemName: string }, isV2: boolean): Published {
  return {
    description: `${of.listKind} is a list of ${of.kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      ...typeMeta(),
      items: {
        description: `List of ${spec.names.plural}. More info: ${CONVENTIONS}`,
        type: 'array',
        items: { $ref: (isV2 ? V2 : V3) + of.itemName },
      },
      metadata: reference(`${META}ListMeta`, LIST_METADATA, isV2),
    },
  }
}

/** A copy in which embedded resources show their metadata and int-or-string its two types. */
function publishNode(schema: Schema, isV2: boolean): Published {
  const out: Published = deepClone({ ...schema, properties: undefined, items: undefined, additionalProperties: undefined }) as Published
  for (const key of ['properties', 'items', 'additionalProperties']) delete out[key]
  if (schema.properties !== undefined)
    out.properties = Object.fromEntries(Object.entries(schema.properties).map(([k, s]) => [k, publishNode(s, isV2)]))
  if (schema.items !== undefined) out.items = publishNode(schema.items, isV2)
  if (typeof schema.additionalProperties === 'object') out.additionalProperties = publishNode(schema.additionalProperties, isV2)
  else if (schema.additionalProperties !== undefined) out.additionalProperties = schema.additionalProperties
  if (schema['x-kubernetes-int-or-string'] && !isV2) unfoldIntOrString(out, schema)
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true
  if (schema['x-kubernetes-embedded-resource'] && !(isV2 && isOpen)) {
    out.properties = {
      ...(out.properties as Published | undefined),
      ...typeMeta(),
      metadata: reference(`${META}ObjectMeta`, METADATA, isV2),
    }
    out.required = [...new Set([...(schema.required ?? []), 'kind', 'apiVersion'])]
  }
  return out
}

const INT_OR_STRING: readonly Schema[] = [{ type: 'integer' }, { type: 'string' }]

function unfoldIntOrString(out: Published, schema: Schema): void {
  if (deepEqual(schema.anyOf, INT_OR_STRING) || deepEqual(schema.allOf?.[0]?.anyOf, INT_OR_STRING)) return
  if (schema.anyOf === undefined) out.anyOf = [...INT_OR_STRING]
  else out.allOf = [{ anyOf: [...INT_OR_STRING] }, ...(schema.allOf ?? [])]
}

/** Drops what v2 cannot express; a value that may be null or hold unknown fields becomes one of any type. */
function narrowToV2(schema: Schema): Schema {
  const { allOf: _all, anyOf: _any, oneOf: _one, not: _not, nullable, ...rest } = schema
  const out: Schema = { ...rest }
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true
  if (nullable) delete out.type
  if (nullable || isOpen) {
    delete out.items
    delete out.properties
  }
  if ((out.type === 'array' && out.items === undefined) || (out.type === 'object' && isOpen)) delete out.type
  if (out.properties !== undefined) {
    const required = out.required?.filter((key) => !schema.properties?.[key]?.nullable)
    if (required === undefined || required.length === 0) delete out.required
    else out.required = required
    out.properties = Object.fromEntries(Object.entries(out.properties).map(([k, s]) => [k, narrowToV2(s)]))
  }
  if (out.items !== undefined) out.items = narrowToV2(out.items)
  if (typeof out.additionalProperties === 'object') {
    if (out.additionalProperties.nullable) delete out.required
    out.additionalProperties = narrowToV2(out.additionalProperties)
  }
  return out
}
