/**
 * The pods of a component: the template of the class with what the runtime, the dataset and the cache add to it. Only the first
 * container, and of the environment and the configuration also the first init container, are changed. Pure.
 */
import { createHash } from 'node:crypto'
import { deepClone } from '../../../base/json.ts'
import { LABELS } from '../../../kinds/fluid/well-known.ts'
import type { Container, PodSpec, PodTemplateSpec, Toleration, Volume, VolumeMount } from '../../../kinds/kubernetes/types.ts'
import { ANY_CACHE_AUDIENCE, cacheAudience } from '../../../kube/cache-audience.ts'
import { ACCESS_PATH, accessConfigMapName } from '../../access/grants.ts'
import { workerAffinity } from '../../placement/worker-affinity.ts'
import { nativeMounts } from './native-mounts.ts'
import { FIXED_OPTIONS, SECRETS_PATH } from './runtime-config.ts'
import { directoriesOf, withTierMemory } from './tiers.ts'
import { type Cache, type Component, componentsOf } from './topology.ts'
import { SHARED_PATH_VOLUME } from './volume-names.ts'

const CONFIG_PATH = '/etc/fluid/config'
export const CONFIG_FILE = 'runtime.json'
/** Where masters and workers find the key that they share. */
const KEY_PATH = '/etc/sluice/key'

/** Annotations of a class, for engines that need more than Fluid's class can say. */
export const CLASS_ANNOTATIONS = {
  /** Masters and workers share a random key: it is mounted below `KEY_PATH`. */
  key: 'sluice.dev/key',
  /** Volumes of `pvc://` and `local://` mounts are mounted into masters and workers. */
  nativeMounts: 'sluice.dev/native-mounts',
  /** Clients read what workers of their node have stored: directories of the node are mounted read-only. */
  clientReadsTiers: 'sluice.dev/client-reads-tiers',
  fixedOptions: FIXED_OPTIONS,
  /** Names of options, separated by commas, that clients in other namespaces need, and that are never credentials. */
  publicOptions: 'sluice.dev/public-options',
  /**
   * Of the pods of clients: as a sidecar such a client needs no mount. Told a sub path by SLUICE_SIDECAR_SUB_PATH, it completes
   * the files in a directory of the pod.
   */
  sidecarFiles: 'sluice.dev/sidecar-files',
  /** A command, as a JSON list, that leads a worker out before it goes: run in the master with the name of the worker's pod appended. */
  decommission: 'sluice.dev/decommission',
  /** The same for a worker that was being led out and stays after all. */
  recommission: 'sluice.dev/recommission',
  /** A command, as a JSON list, that removes what all workers have stored: run in the master before the runtime goes. */
  clear: 'sluice.dev/clear',
} as const

export const configMapName = (name: string): string => `fluid-runtime-config-${name}`
export const keySecretName = (name: string): string => `${name}-cache-key`
/** Two runtimes of one class in a namespace each have their own copy: in Fluid they share the first one's, and lose it with that. */
export const extraConfigMapName = (name: string, configMap: string): string => `${name}-${configMap}`

const isSet = ({ metadata }: Cache['runtimeClass'], annotation: string): boolean => metadata.annotations?.[annotation] === 'true'

export const selectorLabels = (cache: Cache, { name }: Component): Record<string, string> => ({
  [LABELS.cacheRuntimeName]: cache.dataset.metadata.name ?? '',
  [LABELS.cacheRuntimeComponent]: name,
})

export function podTemplate(cache: Cache, component: Component): PodTemplateSpec {
  const { dataset, spec } = cache
  const { definition, own, type } = component
  const { metadata = {}, spec: base = {} } = deepClone(definition.template ?? {})
  const [first = {}, ...others] = base.containers ?? []
  const [init, ...otherInits] = base.initContainers ?? []
  const env = injectedEnv(cache, component)
  const { volumes, mounts, initMounts } = volumesOf(cache, component)
  const tiers = directoriesOf(component.levels)
  const container: Container = {
    ...first,
    ...imageOf(own.runtimeVersion),
    ...(own.args === undefined ? {} : { args: own.args }),
    env: [...env, ...(first.env ?? []), ...(own.env ?? [])],
    volumeMounts: joined(first.volumeMounts, mounts, ({ mountPath = '' }) => mountPath),
    ...withResources(first, own.resources, tiers),
  }
  return {
    metadata: {
      ...metadata,
      labels: {
        ...metadata.labels,
        ...spec.podMetadata?.labels,
        ...own.podMetadata?.labels,
        ...selectorLabels(cache, component),
        ...(type === 'worker' ? workerLabels(cache) : {}),
      },
      ...annotationsOf(metadata.annotations, spec.podMetadata?.annotations, own.podMetadata?.annotations),
    },
    spec: {
      ...base,
      containers: [container, ...others],
      ...(init === undefined
        ? {}
        : {
            initContainers: [
              {
                ...init,
                env: [...env, ...(init.env ?? [])],
                volumeMounts: joined(init.volumeMounts, initMounts, ({ mountPath = '' }) => mountPath),
              },
              ...otherInits,
            ],
          }),
      volumes: joined((base.volumes ?? []).map(forThisCache(dataset)), volumes, ({ name = '' }) => name),
      nodeSelector: { ...base.nodeSelector, ...own.nodeSelector, ...(type === 'client' ? { [cache.fuseLabel]: 'true' } : {}) },
      ...tolerationsOf(base, dataset.spec?.tolerations, own.tolerations, type),
      ...(spec.imagePullSecrets === undefined ? {} : { imagePullSecrets: [...(base.imagePullSecrets ?? []), ...spec.imagePullSecrets] }),
      ...(type === 'worker' ? { affinity: workerAffinity(dataset, placementOf(cache, component, base)) } : {}),
    },
  }
}

const placementOf = ({ fuseLabel, datasetId }: Cache, { levels }: Component, { affinity }: PodSpec) => ({
  affinity,
  fuseLabel,
  datasetId,
  usesNodeDirectories: levels.some(({ hostPath }) => hostPath !== undefined),
})

const workerLabels = ({ dataset, datasetId }: Cache): Record<string, string> => ({
  [LABELS.dataset]: datasetId,
  [LABELS.datasetPlacement]: dataset.spec?.placement === 'Shared' ? 'Shared' : 'Exclusive',
})

/** The class cannot know for which cache its tokens will be. */
const forThisCache =
  ({ metadata: { namespace = '', name = '' } }: Cache['dataset']) =>
  (volume: Volume): Volume =>
    volume.projected?.sources === undefined
      ? volume
      : {
          ...volume,
          projected: {
            ...volume.projected,
            sources: volume.projected.sources.map((source) =>
              source.serviceAccountToken?.audience === ANY_CACHE_AUDIENCE
                ? { ...source, serviceAccountToken: { ...source.serviceAccountToken, audience: cacheAudience({ namespace, name }) } }
                : source,
            ),
          },
        }

/** Image and tag belong together: one alone changes nothing. */
function imageOf(version: { image?: string; imageTag?: string; imagePullPolicy?: string } | undefined): Partial<Container> {
  const { image = '', imageTag = '', imagePullPolicy = '' } = version ?? {}
  return {
    ...(image === '' || imageTag === '' ? {} : { image: `${image}:${imageTag}` }),
    ...(imagePullPolicy === '' ? {} : { imagePullPolicy }),
  }
}

/** Those of the runtime replace those of the class, which stay where the runtime says nothing. */
function withResources(first: Container, own: Container['resources'], tiers: ReturnType<typeof directoriesOf>): Partial<Container> {
  const isSaid = own?.limits !== undefined || own?.requests !== undefined
  const resources = withTierMemory(isSaid ? own : first.resources, tiers)
  return resources === undefined ? {} : { resources }
}

function annotationsOf(...all: (Record<string, string> | undefined)[]): { annotations?: Record<string, string> } {
  const annotations = Object.assign({}, ...all) as Record<string, string>
  return Object.keys(annotations).length === 0 ? {} : { annotations }
}

/** A client runs wherever its readers do, so taints do not keep it away. */
function tolerationsOf(
  base: PodSpec,
  ofDataset: Toleration[] = [],
  own: Toleration[] = [],
  type: Component['type'] = 'worker',
): Partial<PodSpec> {
  const tolerations = [...(base.tolerations ?? []), ...ofDataset, ...own, ...(type === 'client' ? [{ operator: 'Exists' }] : [])]
  return tolerations.length === 0 ? {} : { tolerations }
}

const injectedEnv = ({ dataset, targetPath }: Cache, { type, service = '' }: Component): { name: string; value: string }[] => [
  { name: 'FLUID_DATASET_NAME', value: dataset.metadata.name ?? '' },
  { name: 'FLUID_DATASET_NAMESPACE', value: dataset.metadata.namespace ?? '' },
  { name: 'FLUID_RUNTIME_CONFIG_PATH', value: `${CONFIG_PATH}/${CONFIG_FILE}` },
  { name: 'FLUID_RUNTIME_MOUNT_PATH', value: targetPath },
  { name: 'FLUID_RUNTIME_COMPONENT_TYPE', value: type },
  { name: 'FLUID_RUNTIME_COMPONENT_SVC_NAME', value: service },
]

interface PodVolumes {
  volumes: Volume[]
  /** Of the first container. */
  mounts: VolumeMount[]
  /** Of the first init container. */
  initMounts: VolumeMount[]
}

function volumesOf(cache: Cache, component: Component): PodVolumes {
  const { spec, dataset } = cache
  const { definition, own, type } = component
  const name = dataset.metadata.name ?? ''
  const config = { name: volumeName(`fluid-runtime-${name}-config`), configMap: { name: configMapName(name) } }
  const configMount = { name: config.name, mountPath: CONFIG_PATH, readOnly: true }
  const extras = (definition.dependencies?.extraResources?.configMaps ?? []).map(({ name: of = '', mountPath }) => ({
    volume: { name: volumeName(`fluid-extra-${name}-${of}`), configMap: { name: extraConfigMapName(name, of) } },
    mount: { name: volumeName(`fluid-extra-${name}-${of}`), mountPath, readOnly: true },
  }))
  const named = new Set((own.volumeMounts ?? []).map((mount) => mount.name))
  const tiers = [...directoriesOf(component.levels), ...tiersOfWorkers(cache, component)]
  const more = [...(type === 'client' ? [sharedPath(cache, component)] : trusted(cache, type)), ...secretsOf(cache, component)]
  return {
    volumes: [
      config,
      ...extras.map(({ volume }) => volume),
      ...tiers.map(({ volume }) => volume),
      ...(spec.volumes ?? []).filter((volume) => named.has(volume.name)),
      ...more.map(({ volume }) => volume),
    ],
    mounts: [
      configMount,
      ...extras.map(({ mount }) => mount),
      ...tiers.map(({ mount }) => mount),
      ...(own.volumeMounts ?? []),
      ...more.map(({ mount }) => mount),
    ],
    initMounts: [configMount, ...extras.map(({ mount }) => mount)],
  }
}

type Mounted = { volume: Volume; mount: VolumeMount }

/** What masters and workers get and clients do not. */
function trusted({ runtimeClass, dataset }: Cache, type: Component['type']): Mounted[] {
  const access = { name: 'sluice-cache-access', configMap: { name: accessConfigMapName(dataset.metadata.name ?? ''), optional: true } }
  const key = { name: 'sluice-cache-key', secret: { secretName: keySecretName(dataset.metadata.name ?? '') } }
  return [
    ...(isSet(runtimeClass, CLASS_ANNOTATIONS.key)
      ? [{ volume: key, mount: { name: key.name, mountPath: KEY_PATH, readOnly: true } }]
      : []),
    // Who may read is asked by whoever gives tickets out.
    ...(isSet(runtimeClass, CLASS_ANNOTATIONS.key) && type === 'master'
      ? [{ volume: access, mount: { name: access.name, mountPath: ACCESS_PATH, readOnly: true } }]
      : []),
    ...(isSet(runtimeClass, CLASS_ANNOTATIONS.nativeMounts) ? nativeMounts(dataset) : []),
  ]
}

/**
 * Where the client of a node and other pods of that node meet. Only a privileged client may mount there what others see; one
 * that completes files needs no more than the directory, and servers refuse propagation without that right.
 */
function sharedPath({ targetPath }: Cache, { definition }: Component): Mounted {
  const name = SHARED_PATH_VOLUME
  const isPrivileged = definition.template?.spec?.containers?.[0]?.securityContext?.privileged === true
  return {
    volume: { name, hostPath: { path: targetPath, type: 'DirectoryOrCreate' } },
    mount: { name, mountPath: targetPath, ...(isPrivileged ? { mountPropagation: 'Bidirectional' } : {}) },
  }
}

function tiersOfWorkers(cache: Cache, { type }: Component): Mounted[] {
  if (type !== 'client' || !isSet(cache.runtimeClass, CLASS_ANNOTATIONS.clientReadsTiers)) return []
  const workers = componentsOf(cache).find((one) => one.type === 'worker')
  return directoriesOf(workers?.levels ?? [])
    .filter(({ volume }) => volume.hostPath !== undefined)
    .map(({ volume, mount }) => ({
      volume: { ...volume, name: `worker-${volume.name}` },
      mount: { ...mount, name: `worker-${mount.name}`, readOnly: true },
    }))
}

/** Secrets of sources: for masters and workers, unless the class says otherwise. */
function secretsOf({ dataset }: Cache, { definition, type }: Component): Mounted[] {
  const isMounted = definition.dependencies?.secretMount?.enabled ?? type !== 'client'
  if (!isMounted) return []
  const { sharedEncryptOptions = [], mounts = [] } = dataset.spec ?? {}
  const options = [...sharedEncryptOptions, ...mounts.flatMap(({ encryptOptions = [] }) => encryptOptions)]
  const names = [...new Set(options.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []))].filter((name) => name !== '').sort()
  return names.map((secret) => {
    const name = volumeName(`cache-mnt-secret-${secret}`)
    return {
      volume: { name, secret: { secretName: secret } },
      mount: { name, mountPath: `${SECRETS_PATH}/${secret}`, readOnly: true },
    }
  })
}

const LONGEST_NAME = 63
const HASH_LENGTH = 8

/** Names of volumes are labels: longer ones are cut, and stay apart by a hash. */
export function volumeName(name: string): string {
  const clean = name.replaceAll('.', '-')
  if (clean === name && name.length <= LONGEST_NAME) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH)
  return `${clean.slice(0, LONGEST_NAME - HASH_LENGTH - 1)}-${hash}`
}

/** The later wins where both have the same key. */
function joined<T>(ours: readonly T[] | undefined, more: readonly T[], keyOf: (one: T) => string): T[] {
  const byKey = new Map([...(ours ?? []), ...more].map((one) => [keyOf(one), one]))
  return [...byKey.values()]
}
