/**
 * The components of a cache: which of them a class and a runtime have together, what they are called, and what is wrong with
 * that. Runtimes of other kinds are served as caches under names of their own.
 */
import type {
  CacheRuntime,
  CacheRuntimeClass,
  CacheRuntimeComponent,
  CacheRuntimeSpec,
  CacheTierLevel,
  Dataset,
} from '../../../kinds/fluid/index.ts'
import { cacheTiersOf } from '../../../kinds/fluid/tiered-store.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { checkConfigMapKey, checkDns1123Subdomain } from '../../../kube/names.ts'

export type ComponentType = 'master' | 'worker' | 'client'
const COMPONENT_TYPES: readonly ComponentType[] = ['master', 'worker', 'client']

/** Everything that the objects of a cache are made from. */
export interface Cache {
  dataset: Dataset
  /** The runtime that users wrote: the owner of the objects. */
  runtime: KubeObject
  spec: CacheRuntimeSpec
  runtimeClass: CacheRuntimeClass
  names: Readonly<Record<ComponentType, string>>
  /** Label that lets clients run on a node: `fluid.io/f-<namespace>-<name>`. */
  fuseLabel: string
  /** Value of the labels that name the dataset. */
  datasetId: string
  /** Where the client of a node gives other pods access. */
  targetPath: string
}

export interface Component {
  type: ComponentType
  name: string
  /** Of its headless Service; undefined: it has none. */
  service: string | undefined
  definition: CacheRuntimeComponent
  /** What the runtime says about it; of the three, workers can say most. */
  own: Partial<NonNullable<CacheRuntimeSpec['worker']>>
  /** 0 of clients: one runs on each node that needs it. */
  replicas: number
  levels: readonly CacheTierLevel[]
}

export const cacheNames = ({ metadata: { name = '' } }: Pick<CacheRuntime, 'metadata'>): Cache['names'] => ({
  master: `${name}-master`,
  worker: `${name}-worker`,
  client: `${name}-client`,
})

const serviceName = (name: string, type: ComponentType): string => `svc-${name}-${type}`

/** Those that the class has and the runtime does not leave out. */
export function componentsOf({ spec, runtimeClass, names, dataset }: Cache): Component[] {
  return COMPONENT_TYPES.flatMap((type): Component[] => {
    const definition = runtimeClass.topology?.[type]
    const own: Component['own'] = spec[type] ?? {}
    if (definition === undefined || own.disabled === true) return []
    return [
      {
        type,
        name: names[type],
        service: definition.service?.headless === undefined ? undefined : serviceName(dataset.metadata.name ?? '', type),
        definition,
        own,
        replicas: type === 'client' ? 0 : (own.replicas ?? 1),
        levels: own.tieredStore?.levels ?? [],
      },
    ]
  })
}

/** Why no objects can be made, in Fluid's words where it has them; undefined when they can. */
export function problemOf(cache: Cache): string | undefined {
  const { runtimeClass } = cache
  const { name = '' } = runtimeClass.metadata
  const components = componentsOf(cache)
  if (COMPONENT_TYPES.every((type) => runtimeClass.topology?.[type] === undefined))
    return `at least one component should be defined in runtimeClass ${name}`
  if (components.length === 0) return `every component of runtimeClass ${name} is disabled: enable the worker`
  const secret = secretProblem(cache)
  if (secret !== undefined) return secret
  for (const component of components) {
    const problem = problemOfComponent(component, cache)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** What follows the directory of a Secret must be a file in it: anything else would be another file of the pod. */
function secretProblem({ dataset: { spec } }: Cache): string | undefined {
  const options = [...(spec?.sharedEncryptOptions ?? []), ...(spec?.mounts ?? []).flatMap(({ encryptOptions = [] }) => encryptOptions)]
  const bad = options.find(({ valueFrom }) => {
    const { name = '', key = '' } = valueFrom?.secretKeyRef ?? {}
    return name !== '' && (checkDns1123Subdomain(name).length > 0 || (key !== '' && checkConfigMapKey(key).length > 0))
  })
  return bad === undefined
    ? undefined
    : `the option ${JSON.stringify(bad.name.slice(0, 100))} names no key of a Secret: write the name of the Secret and one of its keys`
}

function problemOfComponent({ type, definition, own, levels }: Component, { runtimeClass, spec }: Cache): string | undefined {
  const { spec: pod } = definition.template ?? {}
  if ((pod?.containers ?? []).length === 0) return `component ${type} must define at least one container`
  const defined = new Set((runtimeClass.extraResources?.configMaps ?? []).map(({ name }) => name))
  const undefinedMap = (definition.dependencies?.extraResources?.configMaps ?? []).find(({ name }) => !defined.has(name))
  if (undefinedMap !== undefined)
    return `component has undefined config map extra resource '${undefinedMap.name ?? ''}', check the CacheRuntimeClass definition`
  const volumes = new Set([...(spec.volumes ?? []), ...(pod?.volumes ?? [])].map(({ name }) => name))
  const homeless = (own.volumeMounts ?? []).find(({ name }) => !volumes.has(name))
  if (homeless !== undefined) return `volume not found for volumeMount ${homeless.name ?? ''}, check the CacheRuntime Spec`
  // Admission refuses such levels; objects from before it, or from servers without it, are told here.
  return cacheTiersOf(levels).problems[0]?.detail
}
