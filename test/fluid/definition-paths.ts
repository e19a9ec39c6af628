/**
 * Compares CustomResourceDefinitions field by field: every path of theirs must exist in ours, with the same type and limits.
 * Pure. What only ours has is no difference; list types are none either, as they change no value.
 */
import { deepEqual } from '../../src/base/json.ts'
import type { CrdSpec, CrdVersion } from '../../src/kinds/custom/crd.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Schema } from '../../src/kube/schema.ts'

export interface Difference {
  /** `datasets.data.fluid.io v1alpha1 .spec.mounts[].name`. */
  where: string
  /** `type: theirs "string", ours "integer"`. */
  what: string
}

const LIMITS = [
  'type',
  'format',
  'nullable',
  'default',
  'enum',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
] as const satisfies readonly (keyof Schema)[]

/** Metadata is the server's own. */
const OF_SERVER: readonly string[] = ['.apiVersion', '.kind', '.metadata']

export function compareDefinitions(theirs: KubeObject, ours: KubeObject | undefined): Difference[] {
  const name = theirs.metadata.name ?? ''
  if (ours === undefined) return [{ where: name, what: 'we have no such definition' }]
  const their = theirs.spec as unknown as CrdSpec
  const our = ours.spec as unknown as CrdSpec
  return [
    ...unequal(name, 'names', their.names, our.names),
    ...unequal(name, 'scope', their.scope, our.scope),
    ...their.versions.flatMap((version) =>
      compareVersions(
        `${name} ${version.name}`,
        version,
        our.versions.find((own) => own.name === version.name),
      ),
    ),
  ]
}

function compareVersions(where: string, theirs: CrdVersion, ours: CrdVersion | undefined): Difference[] {
  if (ours === undefined) return [{ where, what: 'we have no such version' }]
  return [
    ...unequal(where, 'served', theirs.served, ours.served),
    ...unequal(where, 'storage', theirs.storage, ours.storage),
    ...unequal(where, 'subresources', theirs.subresources, ours.subresources),
    ...unequal(where, 'columns', columnsOf(theirs), columnsOf(ours)),
    ...compareSchemas({ where, path: '' }, schemaOf(theirs), schemaOf(ours)),
  ]
}

const schemaOf = ({ schema }: CrdVersion): Schema => (schema?.openAPIV3Schema ?? {}) as Schema
const columnsOf = ({ additionalPrinterColumns = [] }: CrdVersion) =>
  additionalPrinterColumns.map(({ name, type, jsonPath, priority }) => ({ name, type, jsonPath, ...(priority ? { priority } : {}) }))

interface Place {
  where: string
  path: string
}

function compareSchemas({ where, path }: Place, theirs: Schema, ours: Schema): Difference[] {
  const at = `${where} ${path || '.'}`
  return [
    ...LIMITS.flatMap((limit) => unequal(at, limit, sorted(limit, theirs[limit]), sorted(limit, ours[limit]))),
    ...unequal(at, 'required', [...(theirs.required ?? [])].sort(), [...(ours.required ?? [])].sort()),
    ...Object.entries(theirs.properties ?? {}).flatMap(([name, field]) => {
      const below = { where, path: `${path}.${name}` }
      if (OF_SERVER.includes(below.path)) return []
      const own = ours.properties !== undefined && Object.hasOwn(ours.properties, name) ? ours.properties[name] : undefined
      return own === undefined ? [{ where: `${where} ${below.path}`, what: 'we have no such field' }] : compareSchemas(below, field, own)
    }),
    ...compareChildren({ where, path: `${path}[]` }, theirs.items, ours.items),
    ...compareChildren({ where, path: `${path}{}` }, theirs.additionalProperties, ours.additionalProperties),
  ]
}

function compareChildren(place: Place, theirs: Schema | boolean | undefined, ours: Schema | boolean | undefined): Difference[] {
  if (typeof theirs === 'object' && typeof ours === 'object') return compareSchemas(place, theirs, ours)
  return theirs === undefined ? [] : unequal(`${place.where} ${place.path}`, 'content', theirs, ours)
}

/** The order of an enumeration says nothing. */
const sorted = (limit: string, value: unknown): unknown => (limit === 'enum' && Array.isArray(value) ? [...value].sort() : value)

const unequal = (where: string, what: string, theirs: unknown, ours: unknown): Difference[] =>
  deepEqual(theirs, ours) ? [] : [{ where, what: `${what}: theirs ${shown(theirs)}, ours ${shown(ours)}` }]

const shown = (value: unknown): string => (value === undefined ? 'not said' : JSON.stringify(value).slice(0, 600))
