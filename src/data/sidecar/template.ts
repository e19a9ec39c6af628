/**
 * What a dataset's client is made of, as the first container of its DaemonSet's pods and the volumes that this container mounts:
 * without what a sidecar must not have. Whoever wrote the template may be of another namespace than the pod, so nothing in it
 * may reach what is the pod's. Pure.
 */
import { deepClone } from '../../base/json.ts'
import type { Container, DaemonSet, Volume, VolumeMount } from '../../kinds/kubernetes/types.ts'
import { cacheAudience } from '../../kube/cache-audience.ts'
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'
import { CLASS_ANNOTATIONS } from '../engines/cache/pod-template.ts'

export interface SidecarTemplate {
  container: Container
  volumes: readonly Volume[]
  /** It completes files in a directory of the pod, and mounts nothing. */
  isFiles: boolean
  hostPID: boolean
}

export interface TemplateOptions {
  /** Of the dataset that holds the data. */
  holder: { namespace: string; name: string }
  /** The pod is in another namespace. */
  isForeign: boolean
  keepsCacheDirectories: boolean
  keepsMetricsPorts: boolean
  isUnprivileged: boolean
}

const CACHE_DIRECTORIES = ['datavolume-', 'volume-localtime', 'cache-dir', 'mem', 'ssd', 'hdd']
/** The mount of the host and the device of FUSE, which platforms without privileged pods bring along themselves. */
const PRIVILEGED_VOLUMES = /-fuse-mount$|^efc-sock$|-fuse-device$/
const METRICS_PORT = /-metrics$/
const MOST_NAMED = 5

export function sidecarTemplate(set: DaemonSet, options: TemplateOptions): Parsed<SidecarTemplate> {
  const shown = `DaemonSet ${set.metadata.name ?? ''}`
  const template = set.spec?.template
  const [first] = template?.spec?.containers ?? []
  if (first === undefined) return unparsed(`${shown} has no container to make a sidecar of: see the runtime of its dataset`)
  const isFiles = template?.metadata?.annotations?.[CLASS_ANNOTATIONS.sidecarFiles] === 'true'
  const volumes = (template?.spec?.volumes ?? []).filter((volume) => isMounted(first, volume) && isKept(volume, { isFiles, ...options }))
  const container = trimmed(first, volumes, options)
  const problem = options.isForeign ? foreignProblem({ container, volumes }, options) : undefined
  if (problem !== undefined) return unparsed(`${shown} cannot be a sidecar in this namespace: ${problem}`)
  return parsed(deepClone({ container, volumes, isFiles, hostPID: template?.spec?.hostPID === true }))
}

const isMounted = ({ volumeMounts = [], volumeDevices = [] }: Container, { name }: Volume): boolean =>
  [...volumeMounts, ...volumeDevices].some((mount) => mount.name === name)

function isKept({ name = '', hostPath }: Volume, options: TemplateOptions & { isFiles: boolean }): boolean {
  // Files are completed in the pod. Its node's directories hold what the pod's namespace may not read.
  if (options.isFiles && hostPath !== undefined) return false
  if (!options.keepsCacheDirectories && CACHE_DIRECTORIES.some((prefix) => name.startsWith(prefix))) return false
  return !(options.isUnprivileged && PRIVILEGED_VOLUMES.test(name))
}

function trimmed(first: Container, volumes: readonly Volume[], options: TemplateOptions): Container {
  const { volumeMounts = [], volumeDevices, ports, securityContext, ...rest } = first
  const names = new Set(volumes.map(({ name }) => name))
  const devices = (volumeDevices ?? []).filter(({ name }) => names.has(name))
  const kept = (ports ?? []).filter(({ name = '' }) => options.keepsMetricsPorts || !METRICS_PORT.test(name))
  const context = options.isUnprivileged ? unprivileged(securityContext) : securityContext
  return {
    ...rest,
    volumeMounts: volumeMounts.filter(({ name }: VolumeMount) => names.has(name)),
    ...(devices.length === 0 ? {} : { volumeDevices: devices }),
    ...(kept.length === 0 ? {} : { ports: kept }),
    ...(context === undefined ? {} : { securityContext: context }),
  }
}

function unprivileged(context: Container['securityContext']): Container['securityContext'] {
  const { capabilities, ...rest } = context ?? {}
  const add = (capabilities?.add ?? []).filter((name) => name !== 'SYS_ADMIN')
  const { add: _, ...others } = capabilities ?? {}
  return {
    ...rest,
    privileged: false,
    ...(capabilities === undefined ? {} : { capabilities: { ...others, ...(add.length === 0 ? {} : { add }) } }),
  }
}

/** Volumes that mean the same in every namespace; ConfigMaps are copies. A driver may find what is the pod's by names of its own. */
const CROSSING: ReadonlySet<string> = new Set(['name', 'emptyDir', 'configMap', 'downwardAPI', 'projected', 'hostPath'])

/** Why what another namespace wrote may not be part of the pod. */
function foreignProblem({ container, volumes }: { container: Container; volumes: readonly Volume[] }, { holder }: TemplateOptions) {
  const from = `namespace ${holder.namespace}`
  const secrets = [...new Set([...volumes.flatMap(secretsOfVolume), ...secretsOfContainer(container)])].sort()
  if (secrets.length > 0) {
    const more = secrets.length > MOST_NAMED ? ` and ${secrets.length - MOST_NAMED} more` : ''
    return `it needs Secrets of ${from} (${secrets.slice(0, MOST_NAMED).join(', ')}${more}), and no Secret crosses a namespace. Use a pod without the label serverless.fluid.io/inject`
  }
  const claim = volumes.find(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim !== undefined || ephemeral !== undefined)
  if (claim !== undefined)
    return `its volume ${claim.name ?? ''} is a claim of ${from}. Use a pod without the label serverless.fluid.io/inject`
  const other = volumes.find((volume) => Object.keys(volume).some((source) => !CROSSING.has(source)))
  if (other !== undefined)
    return `its volume ${other.name ?? ''} would be looked for in the pod's namespace. Use a pod without the label serverless.fluid.io/inject`
  const audience = cacheAudience(holder)
  const token = volumes
    .flatMap(({ projected }) => projected?.sources ?? [])
    .find(({ serviceAccountToken }) => serviceAccountToken !== undefined && serviceAccountToken.audience !== audience)
  return token === undefined
    ? undefined
    : `it asks for a token of the pod's service account that is not for ${audience}. Ask the owner of ${from} to remove that volume`
}

function secretsOfVolume({ secret, projected, csi, ...volume }: Volume): string[] {
  const references = [csi?.nodePublishSecretRef, ...Object.values(volume).map(secretRefOf)]
  return [
    ...(secret === undefined ? [] : [secret.secretName ?? '']),
    ...(projected?.sources ?? []).flatMap((source) => (source.secret === undefined ? [] : [source.secret.name ?? ''])),
    ...references.flatMap((reference) => (reference === undefined ? [] : [reference.name ?? ''])),
  ]
}

/** Of file systems that are mounted with credentials: cephfs, rbd, iscsi, flexVolume, … */
const secretRefOf = (source: unknown): { name?: string } | undefined => {
  if (typeof source !== 'object' || source === null) return undefined
  const { secretRef, secretName } = source as { secretRef?: { name?: string }; secretName?: string }
  return secretRef ?? (secretName === undefined ? undefined : { name: secretName })
}

const secretsOfContainer = ({ env = [], envFrom = [] }: Container): string[] => [
  ...env.flatMap(({ valueFrom }) => (valueFrom?.secretKeyRef === undefined ? [] : [valueFrom.secretKeyRef.name ?? ''])),
  ...envFrom.flatMap(({ secretRef }) => (secretRef === undefined ? [] : [secretRef.name ?? ''])),
]
