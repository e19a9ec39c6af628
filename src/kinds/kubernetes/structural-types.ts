/**
 * Kubernetes types as structural schemas, for kinds of our own that contain a pod template, a volume or the like. Made from the
 * OpenAPI facts on first use; one frozen schema per type, shared by everything that contains it. As definitions of custom
 * resources have them: quantities and ports may be numbers or texts, and of an inner object's metadata only what a template can
 * say is kept. Enumerations, defaults and keys of lists are left to the server that gets the pod: it may be newer than the facts.
 */
import { deepFreeze } from '../../base/json.ts'
import { QUANTITY_PATTERN, type Schema } from '../../kube/schema.ts'
import { once } from './once.ts'
import { definitionSchema } from './schemas.ts'
import type * as kubernetes from './types.ts'

/** The types that kinds may contain. */
export interface KubernetesTypes {
  Affinity: kubernetes.Affinity
  Container: kubernetes.Container
  ContainerPort: kubernetes.ContainerPort
  EnvVar: kubernetes.EnvVar
  LabelSelector: kubernetes.LabelSelector
  Lifecycle: kubernetes.Lifecycle
  LocalObjectReference: kubernetes.LocalObjectReference
  NodeAffinity: kubernetes.NodeAffinity
  NodeSelector: kubernetes.NodeSelector
  PersistentVolumeClaim: kubernetes.PersistentVolumeClaim
  PodFailurePolicy: kubernetes.PodFailurePolicy
  PodSpec: kubernetes.PodSpec
  PodTemplateSpec: kubernetes.PodTemplateSpec
  Probe: kubernetes.Probe
  ResourceRequirements: kubernetes.ResourceRequirements
  SecurityContext: kubernetes.SecurityContext
  SuccessPolicy: kubernetes.SuccessPolicy
  Toleration: kubernetes.Toleration
  Volume: kubernetes.Volume
  VolumeMount: kubernetes.VolumeMount
  VolumeSource: Omit<kubernetes.Volume, 'name'>
}

const CORE = 'io.k8s.api.core.v1.'
const BATCH = 'io.k8s.api.batch.v1.'
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'
const RUNTIME = 'io.k8s.apimachinery.pkg.runtime.'

const INT_OR_STRING: Schema = { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true }
const TEXTS: Schema = { type: 'object', additionalProperties: { type: 'string' } }

/** Definitions whose OpenAPI says something else than a definition of custom resources must say. */
const SPECIAL: ReadonlyMap<string, Schema> = new Map([
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', { ...INT_OR_STRING, pattern: QUANTITY_PATTERN }],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', INT_OR_STRING],
  [`${RUNTIME}RawExtension`, { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
  [
    `${META}ObjectMeta`,
    {
      type: 'object',
      properties: {
        annotations: TEXTS,
        finalizers: { type: 'array', items: { type: 'string' } },
        labels: TEXTS,
        name: { type: 'string' },
        namespace: { type: 'string' },
      },
    },
  ],
])

/** Defaults that every definition with these types states, so that objects are stored with them. */
const STATED_DEFAULTS: ReadonlySet<string> = new Set([`${CORE}ContainerPort.protocol`, `${CORE}GRPCAction.service`])

/** What older versions of these types had or did not demand: definitions that were made from them have it still. */
const OLDER: ReadonlyMap<string, Schema> = new Map([
  [`${CORE}HostAlias`, { required: [] }],
  [
    `${CORE}PodResourceClaim`,
    {
      properties: {
        source: {
          type: 'object',
          properties: { resourceClaimName: { type: 'string' }, resourceClaimTemplateName: { type: 'string' } },
        },
      },
    },
  ],
])

const TYPES = [
  'Affinity',
  'Container',
  'ContainerPort',
  'EnvVar',
  'LabelSelector',
  'Lifecycle',
  'LocalObjectReference',
  'NodeAffinity',
  'NodeSelector',
  'PersistentVolumeClaim',
  'PodFailurePolicy',
  'PodSpec',
  'PodTemplateSpec',
  'Probe',
  'ResourceRequirements',
  'SecurityContext',
  'SuccessPolicy',
  'Toleration',
  'Volume',
  'VolumeMount',
] as const satisfies readonly (keyof KubernetesTypes)[]

/** Of types that are not in the core group. */
const GROUPS: Readonly<Partial<Record<keyof KubernetesTypes, string>>> = {
  LabelSelector: META,
  PodFailurePolicy: BATCH,
  SuccessPolicy: BATCH,
}

const structuralTypes = once((): ReadonlyMap<keyof KubernetesTypes, Schema> => {
  const made = new Map<string, Schema>()
  const types = new Map<keyof KubernetesTypes, Schema>()
  for (const name of TYPES) types.set(name, definition(`${GROUPS[name] ?? CORE}${name}`, { made, within: [] }))
  return types.set('VolumeSource', volumeSource(types.get('Volume') ?? {}))
})

/** The schema of a Kubernetes type: frozen and shared, so copy before changing. */
export function structuralType(name: keyof KubernetesTypes): Schema {
  const found = structuralTypes().get(name)
  if (found === undefined) throw new Error(`${name} is not among the types of Kubernetes that kinds may contain: add it to the list`)
  return found
}

/** A volume without its name, which Go embeds and OpenAPI does not know. */
function volumeSource({ properties: { name: _, ...properties } = {}, required: __, ...rest }: Schema): Schema {
  return deepFreeze({ ...rest, properties })
}

interface Making {
  /** What is made already, by the name of its definition. */
  made: Map<string, Schema>
  /** The definitions that the current one is part of. */
  within: readonly string[]
}

function definition(name: string, { made, within }: Making): Schema {
  const found = made.get(name)
  if (found !== undefined) return found
  if (within.includes(name)) throw new Error(`${name} contains itself: no structural schema can say that`)
  const linked = definitionSchema(name)
  if (linked === undefined) throw new Error(`the facts have no definition ${name}: take a type that this version of Kubernetes has`)
  const schema = deepFreeze(SPECIAL.get(name) ?? ownNode(linked, name, { made, within: [...within, name] }))
  made.set(name, schema)
  return schema
}

/** A node that is a definition of its own is shared. */
const node = (linked: Schema, at: string, making: Making): Schema =>
  linked.definition === undefined ? ownNode(linked, at, making) : definition(linked.definition, making)

function ownNode(linked: Schema, at: string, making: Making): Schema {
  const { type, format, properties, items, additionalProperties } = linked
  const older = OLDER.get(at)
  const required = older?.required ?? linked.required ?? []
  const mapType = linked['x-kubernetes-map-type']
  return {
    ...(type === undefined ? { 'x-kubernetes-preserve-unknown-fields': true } : { type }),
    ...(format === undefined ? {} : { format }),
    ...(STATED_DEFAULTS.has(at) ? { default: linked.default } : {}),
    ...(properties === undefined ? {} : { properties: { ...older?.properties, ...fields(properties, at, making) } }),
    ...(items === undefined ? {} : { items: node(items, `${at}[]`, making) }),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: node(additionalProperties, `${at}{}`, making) } : {}),
    ...(required.length === 0 ? {} : { required: [...required] }),
    ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
  }
}

function fields(properties: Record<string, Schema>, at: string, making: Making): Record<string, Schema> {
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, node(field, `${at}.${name}`, making)]))
}
