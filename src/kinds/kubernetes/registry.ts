/**
 * The built-in kinds as the server serves them, from the recorded discovery: names, verbs, subresources, versions. The
 * behaviour of each kind (rules) and its columns (printers) are given from outside; schemas are linked when first read.
 */
import { deepFreeze } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { parseGroupVersion } from '../../kube/meta.ts'
import type { Schema } from '../../kube/schema.ts'
import type { KindDefinition, KindRules, KindVersion, ScaleMapping, SubresourceInfo, TablePrinter } from '../kind.ts'
import { convertEvent } from './event-conversion.ts'
import resourcesText from './facts/resources.facts'
import { convertHorizontalPodAutoscaler } from './hpa-conversion.ts'
import { messageFor } from './message-names.ts'
import { metadataChecksFor } from './metadata-checks.ts'
import { finish } from './model.ts'
import { schemaFor } from './schemas.ts'

export interface BuiltinParts {
  rulesFor(group: string, kind: string): KindRules
  printerFor(group: string, version: string, resource: string): TablePrinter | undefined
}

interface ResourceFact {
  group: string
  version: string
  resource: string
  kind: string
  singular: string
  namespaced: boolean
  verbs: string[]
  shortNames?: string[]
  categories?: string[]
  /** `//Pod` is a kind of the resource's own group version. */
  subresources?: { name: string; responseKind: string; verbs: string[] }[]
}

const SCALE: ScaleMapping = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }

/** Resources that are stored differently from their first version, or converted. */
const STORED: ReadonlyMap<string, Pick<KindDefinition, 'storageKey' | 'storageApiVersion' | 'convert'>> = new Map([
  ['autoscaling/horizontalpodautoscalers', { convert: convertHorizontalPodAutoscaler }],
  ['/events', { convert: convertEvent }],
  ['events.k8s.io/events', { storageKey: 'events', storageApiVersion: 'v1', convert: convertEvent }],
])

/** Deleting one of these answers with the object; deleting anything else with a Status. */
const RETURN_DELETED: ReadonlySet<string> = new Set([
  '/namespaces',
  '/persistentvolumeclaims',
  '/persistentvolumes',
  '/pods',
  '/podtemplates',
  '/resourcequotas',
  '/serviceaccounts',
  '/services',
  'resource.k8s.io/deviceclasses',
  'resource.k8s.io/resourceclaims',
  'resource.k8s.io/resourceclaimtemplates',
  'resource.k8s.io/resourceslices',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/csinodes',
  'storage.k8s.io/storageclasses',
  'storage.k8s.io/volumeattachments',
  'storage.k8s.io/volumeattributesclasses',
])

/** Every kind of the recorded discovery, in its order. The first version of a kind is the stored one. */
export function builtinKinds(parts: BuiltinParts): KindDefinition[] {
  const byResource = new Map<string, ResourceFact[]>()
  for (const fact of JSON.parse(resourcesText) as ResourceFact[]) {
    const key = `${fact.group}/${fact.resource}`
    byResource.set(key, [...(byResource.get(key) ?? []), fact])
  }
  return [...byResource].flatMap(([key, facts]) => {
    const [fact] = facts
    return fact === undefined ? [] : [definition(fact, facts, { ...parts, stored: STORED.get(key) ?? {} })]
  })
}

type Stored = Pick<KindDefinition, 'storageKey' | 'storageApiVersion' | 'convert'>

function definition(fact: ResourceFact, facts: ResourceFact[], parts: BuiltinParts & { stored: Stored }): KindDefinition {
  const key = `${fact.group}/${fact.resource}`
  const subresources = (fact.subresources ?? []).map((s) => subresource(fact, s))
  return {
    group: fact.group,
    kind: fact.kind,
    listKind: `${fact.kind}List`,
    plural: fact.resource,
    singular: fact.singular,
    shortNames: fact.shortNames ?? [],
    categories: fact.categories ?? [],
    namespaced: fact.namespaced,
    verbs: fact.verbs,
    versions: facts.map((f) => version(f, parts)),
    storageVersion: fact.version,
    subresources,
    ...(subresources.some((s) => s.name === 'scale') ? { scale: SCALE } : {}),
    rules: {
      ...parts.rulesFor(fact.group, fact.kind),
      returnsDeletedObject: RETURN_DELETED.has(key),
      metadataChecks: metadataChecksFor(fact.group, fact.resource),
    },
    ...parts.stored,
    emptyObject: madeOnce((apiVersion) => emptyObject(apiVersion, fact.kind)),
    zeroObject: madeOnce((apiVersion) => zeroObject(apiVersion, fact.kind)),
    builtin: true,
  }
}

const DEPRECATED: ReadonlyMap<string, string> = new Map([
  ['/v1/componentstatuses', 'v1 ComponentStatus is deprecated in v1.19+'],
  ['/v1/endpoints', 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'],
])

const ANY_OBJECT: Schema = { type: 'object' }

function version(fact: ResourceFact, parts: BuiltinParts): KindVersion {
  const printer = parts.printerFor(fact.group, fact.version, fact.resource)
  const deprecationWarning = DEPRECATED.get(`${fact.group}/${fact.version}/${fact.resource}`)
  return {
    name: fact.version,
    served: true,
    get schema() {
      return schemaFor(fact.group, fact.version, fact.kind) ?? ANY_OBJECT
    },
    ...(printer === undefined ? {} : { printer }),
    ...(deprecationWarning === undefined ? {} : { deprecated: true, deprecationWarning }),
  }
}

function subresource(fact: ResourceFact, sub: { name: string; responseKind: string; verbs: string[] }): SubresourceInfo {
  const parts = sub.responseKind.split('/')
  const kind = parts.pop() ?? fact.kind
  const apiVersion = parts.join('/')
  const gv = apiVersion === '/' ? { group: fact.group, version: fact.version } : parseGroupVersion(apiVersion)
  const isOwn = kind === fact.kind && gv.group === fact.group
  return { name: sub.name, verbs: sub.verbs, ...(isOwn ? {} : { responseKind: { ...gv, kind } }) }
}

const CONVERTED_REPLICAS: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet', 'StatefulSet'])

/** Made on first use, one for each version, and frozen because it is shared. */
function madeOnce<T extends object>(make: (apiVersion: string) => T): (apiVersion: string) => T {
  const made = new Map<string, T>()
  return (apiVersion) => {
    const known = made.get(apiVersion)
    if (known !== undefined) return known
    const one = deepFreeze(make(apiVersion))
    made.set(apiVersion, one)
    return one
  }
}

const zeroObject = (apiVersion: string, kind: string): KubeObject => ({ ...goZero(apiVersion, kind), metadata: {}, apiVersion, kind })

function goZero(apiVersion: string, kind: string): Record<string, unknown> {
  const model = messageFor({ ...parseGroupVersion(apiVersion), kind })
  if (model === undefined) return {}
  const { metadata: _metadata, ...rest } = finish(model, []) as unknown as KubeObject
  return rest
}

function emptyObject(apiVersion: string, kind: string): Record<string, unknown> {
  const rest = goZero(apiVersion, kind)
  // Conversion between versions turns missing replicas into their zero value.
  if (CONVERTED_REPLICAS.has(kind)) rest.spec = { replicas: 0, ...(rest.spec as object) }
  return rest
}
