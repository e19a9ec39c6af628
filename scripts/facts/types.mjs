// TypeScript types of the built-in kinds that controllers read and write, from the OpenAPI facts. Every field is optional: we cannot
// guarantee what a server sends. Used by scripts/generate.mjs.
import { readFileSync } from 'node:fs'

const FACTS = 'src/kinds/kubernetes/facts/openapi'
const REF = '#/components/schemas/'

/** document → kinds; types that these refer to are included. */
const KINDS = {
  core_v1: [
    'ConfigMap',
    'Endpoints',
    'Event',
    'Namespace',
    'Node',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'PodTemplateSpec',
    'ResourceQuota',
    'Secret',
    'Service',
    'ServiceAccount',
  ],
  apps_v1: ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  batch_v1: ['CronJob', 'Job'],
  'coordination.k8s.io_v1': ['Lease'],
  'discovery.k8s.io_v1': ['EndpointSlice'],
  policy_v1: ['PodDisruptionBudget'],
  'rbac.authorization.k8s.io_v1': ['ClusterRole'],
  'scheduling.k8s.io_v1': ['PriorityClass'],
  'storage.k8s.io_v1': ['StorageClass'],
}

const HEAD = `/**
 * Types of built-in kinds, written by \`npm run generate\` from the OpenAPI facts. Every field is optional: these describe
 * what may be there, and what a server sent is not ours to promise.
 */
import type { KubeObject, ObjectMeta } from '../../kube/meta.ts'
`

export function typesFile() {
  const definitions = {}
  for (const document of [...Object.keys(KINDS), 'meta_v1'])
    Object.assign(definitions, JSON.parse(readFileSync(`${FACTS}/${document}.facts`, 'utf8')))
  const wanted = new Map()
  const byShortName = new Map()
  const visit = (name) => {
    if (wanted.has(name) || isKnown(name)) return
    const short = shortName(name)
    if (byShortName.has(short)) throw new Error(`${name} and ${byShortName.get(short)} would share a type name`)
    byShortName.set(short, name)
    const uses = new Set()
    if (definitions[name] === undefined) throw new Error(`the facts have no ${name}`)
    wanted.set(
      name,
      printType(definitions[name], short, (other) => uses.add(other)),
    )
    for (const other of uses) visit(other)
  }
  for (const [document, kinds] of Object.entries(KINDS)) {
    const [group, version] = document.split('_')
    for (const kind of kinds) visit(`io.k8s.api.${group.split('.')[0]}.${version}.${kind}`)
  }
  const sorted = [...wanted].sort(([a], [b]) => (shortName(a) < shortName(b) ? -1 : 1))
  return { path: 'src/kinds/kubernetes/types.ts', content: `${HEAD}\n${sorted.map(([, text]) => text).join('\n')}` }
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'
const isKnown = (name) => simpleType(name) !== undefined

/** Types that are plain values in JSON, or that kube/meta.ts has. */
function simpleType(name) {
  if (name === `${META}ObjectMeta`) return 'ObjectMeta'
  if (name === `${META}OwnerReference`) return 'OwnerReference'
  if (name === `${META}Time` || name === `${META}MicroTime`) return 'string'
  if (name.endsWith('.resource.Quantity') || name.endsWith('.intstr.IntOrString')) return 'string | number'
  if (name.endsWith('.runtime.RawExtension') || name === `${META}FieldsV1`) return 'Record<string, unknown>'
  return undefined
}

function shortName(name) {
  const short = name.slice(name.lastIndexOf('.') + 1)
  if (name.startsWith('io.k8s.api.discovery.') && short.startsWith('Endpoint') && short !== 'EndpointSlice') return `Slice${short}`
  if (name.startsWith('io.k8s.api.rbac.') && short === 'Subject') return 'RbacSubject'
  return short
}

function printType(schema, name, use) {
  const isObject = schema['x-kubernetes-group-version-kind'] !== undefined && schema.properties?.metadata !== undefined
  const fields = Object.entries(schema.properties ?? {})
    .filter(([field]) => !isObject || !['apiVersion', 'kind', 'metadata'].includes(field))
    .map(([field, type]) => `  ${/^[\w$]+$/.test(field) ? field : `'${field}'`}?: ${typeOf(type, use)}\n`)
  return `export interface ${name}${isObject ? ' extends KubeObject' : ''} {\n${fields.join('')}}\n`
}

function typeOf(schema, use) {
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref
  if (ref !== undefined) {
    const name = ref.slice(REF.length)
    const simple = simpleType(name)
    if (simple !== undefined) return simple
    use(name)
    return shortName(name)
  }
  if (schema.type === 'array') {
    const item = typeOf(schema.items, use)
    return item.includes(' ') ? `(${item})[]` : `${item}[]`
  }
  if (schema.type === 'object')
    return `Record<string, ${schema.additionalProperties ? typeOf(schema.additionalProperties, use) : 'unknown'}>`
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.type === 'boolean') return 'boolean'
  if (schema.type === 'string') return 'string'
  if (schema.oneOf !== undefined) return 'string | number'
  return 'unknown'
}
