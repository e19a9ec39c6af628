/**
 * What one dataset adds to a pod: the container of its client, in either of two ways. A client that completes files shares a
 * directory of the pod with the containers that read; any other mounts below a directory of the node. Pure.
 */
import { cleanPath, pathProblem } from '../../kinds/fluid/paths.ts'
import type { Container, EnvVar, Volume, VolumeMount } from '../../kinds/kubernetes/types.ts'
import { isAbsoluteClean, isNodePath } from '../../kube/node-path.ts'
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'
import type { PodDataset } from '../locality/pod-datasets.ts'
import type { FreeNames } from './free-names.ts'
import { MOUNT_SCRIPT, mountScriptName } from './scripts/texts.ts'
import type { SidecarTemplate } from './template.ts'

/** A dataset that a pod reads, and what its client is made of. */
export interface Sidecar {
  dataset: PodDataset
  template: SidecarTemplate
  /** The data, and with it the template, is of another namespace than the pod. */
  isForeign: boolean
}

export interface Part {
  /** Without a name, and without what is different in each form. */
  container: Container
  volumes: readonly Volume[]
  /** What the claim is replaced by, in each volume of it. */
  instead: Pick<Volume, 'emptyDir' | 'hostPath'>
  isFiles: boolean
}

export interface PartInput {
  sidecar: Sidecar
  /** Which of the pod's sidecars it is. */
  i: number
  names: FreeNames
  /** The name of the pod's volume that has the claim; the first of several. */
  claimVolume: string
  /** Part of the path of a directory on the node that only this pod has; undefined: all pods share one. */
  unique: string | undefined
  checksMount: boolean
}

/** Where the client keeps what it knows about the files of the pod. */
const STATE_PATH = '/var/lib/sluice/sidecar'
const READY_FILE = `${STATE_PATH}/ready`
const ACCOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
/** A dataset may be large. After a week the container is started again, and goes on where it was. */
const LONGEST_FILL_SECONDS = 7 * 24 * 3600
const SCRIPT_MODE = 0o755
/** Values with which an administrator says that sidecars are not checked. */
const UNCHECKED = ['All', 'Sidecar']

export function partOf(input: PartInput): Parsed<Part> {
  const { dataset } = input.sidecar
  const { fluid_path: root = '', fluid_sub_path: subPath = '' } = dataset.attributes
  if (root === '') return unparsed(`the volume of claim ${dataset.claim} is not there yet: wait until dataset ${dataset.name} is Bound`)
  if (!isAbsoluteClean(root) || !isNodePath(root) || cleanPath(root) !== root)
    return unparsed(
      `fluid_path ${JSON.stringify(root.slice(0, 200))} of the volume of claim ${dataset.claim} is no clean path below /runtime-mnt`,
    )
  const problem = pathProblem(subPath)
  if (problem !== undefined) return unparsed(`fluid_sub_path of the volume of claim ${dataset.claim}: ${problem}`)
  const at = { root, subPath: cleanPath(`/${subPath}`) }
  return parsed(input.sidecar.template.isFiles ? filesPart(input, at) : mountedPart(input, at))
}

interface Place {
  root: string
  /** Absolute; `/` is the whole dataset. */
  subPath: string
}

function filesPart(input: PartInput, { root, subPath }: Place): Part {
  const { container: own, volumes } = renamed(input)
  // Only the client of a node answers over HTTP: several sidecars share the address of their pod.
  const { readinessProbe: _, ...container } = own
  const state = input.names.volume(`sluice-sidecar-state-${input.i}`)
  return {
    container: {
      ...container,
      env: withEnv(container.env, [
        { name: 'FLUID_RUNTIME_MOUNT_PATH', value: root },
        { name: 'SLUICE_SIDECAR_SUB_PATH', value: literal(subPath) },
        { name: 'SLUICE_SIDECAR_STATE_PATH', value: STATE_PATH },
      ]),
      volumeMounts: withMounts(container.volumeMounts, [
        { name: input.claimVolume, mountPath: root },
        { name: state, mountPath: STATE_PATH },
      ]),
      startupProbe: {
        exec: { command: ['test', '-f', READY_FILE] },
        periodSeconds: 1,
        successThreshold: 1,
        timeoutSeconds: 5,
        failureThreshold: LONGEST_FILL_SECONDS,
      },
    },
    volumes: [...volumes, { name: state, emptyDir: {} }],
    instead: { emptyDir: {} },
    isFiles: true,
  }
}

/** The same, as an init container that ends when the files are complete: nothing has to run beside the pod's containers. */
export function ending({ startupProbe: _, ...container }: Container): Container {
  return { ...container, env: withEnv(container.env, [{ name: 'SLUICE_SIDECAR_ENDS', value: 'true' }]) }
}

function mountedPart(input: PartInput, { root, subPath }: Place): Part {
  const { container, volumes } = renamed(input)
  const { attributes, name } = input.sidecar.dataset
  const { mount_type: type = '' } = attributes
  const own = directoryAt(root, volumes)
  const moved = (path: string): string =>
    input.unique === undefined || own === undefined ? path : movedTo(path, { own, root, unique: input.unique })
  const isChecked = input.checksMount && !UNCHECKED.includes(attributes['fluid.io/skip-check-mount-ready-target'] ?? '')
  const script = input.names.volume(`check-mount-${input.i}`)
  const checked: Pick<Part, 'container' | 'volumes'> = {
    container: {
      ...container,
      volumeMounts: withMounts(container.volumeMounts, [
        { name: script, mountPath: MOUNT_SCRIPT.path, subPath: MOUNT_SCRIPT.key, readOnly: true },
      ]),
      lifecycle: {
        ...container.lifecycle,
        postStart: { exec: { command: ['sh', MOUNT_SCRIPT.path, root, type, subPath === '/' ? '' : subPath.slice(1)] } },
      },
    },
    volumes: [{ name: script, configMap: { name: mountScriptName(name, type), defaultMode: SCRIPT_MODE } }],
  }
  return {
    container: isChecked ? checked.container : container,
    volumes: [
      ...volumes.map((volume) =>
        volume.hostPath?.path === own && own !== undefined ? { ...volume, hostPath: { ...volume.hostPath, path: moved(own) } } : volume,
      ),
      ...(isChecked ? checked.volumes : []),
    ],
    instead: { hostPath: { path: cleanPath(`${moved(root)}${subPath}`) } },
    isFiles: false,
  }
}

const isAbove = (path: string, root: string): boolean => root === path || root.startsWith(`${path}/`)

/** The directory of the node in which a client mounts: of several above each other the last, which hides the others. */
function directoryAt(root: string, volumes: readonly Volume[]): string | undefined {
  const paths = volumes.flatMap(({ hostPath }) => (hostPath?.path !== undefined && isAbove(hostPath.path, root) ? [hostPath.path] : []))
  return paths.sort((a, b) => b.length - a.length)[0]
}

interface Move {
  /** The directory of the node that the client's volume is. */
  own: string
  /** Where it mounts: that directory, or below it. */
  root: string
  unique: string
}

/** Another directory of the node, which the container sees where it saw the first one. */
function movedTo(path: string, { own, root, unique }: Move): string {
  const directory = own === root ? own.slice(0, own.lastIndexOf('/')) : own
  return `${directory}/${unique}${path.slice(directory.length)}`
}

/** With names of volumes that nothing in the pod has. */
function renamed({ sidecar: { template, isForeign }, names, i }: PartInput): { container: Container; volumes: Volume[] } {
  const { restartPolicy: _, ...container } = template.container
  const newNames = new Map(template.volumes.map(({ name = '' }) => [name, names.volume(`${name}-${i}`)]))
  const other = <T extends { name?: string }>(one: T): T => ({ ...one, name: newNames.get(one.name ?? '') ?? one.name ?? '' })
  const volumes = template.volumes.map(other)
  const volumeMounts = (container.volumeMounts ?? []).map(other)
  const named: Container = {
    ...container,
    volumeMounts,
    ...(container.volumeDevices === undefined ? {} : { volumeDevices: container.volumeDevices.map(other) }),
  }
  if (!isForeign || volumeMounts.some(({ mountPath }) => mountPath === ACCOUNT_PATH)) return { container: named, volumes }
  // A container of another namespace gets no token for the API: where something is mounted, nothing else will be.
  const empty = names.volume(`no-service-account-${i}`)
  return {
    container: { ...named, volumeMounts: [...volumeMounts, { name: empty, mountPath: ACCOUNT_PATH, readOnly: true }] },
    volumes: [...volumes, { name: empty, emptyDir: {} }],
  }
}

const withEnv = (env: readonly EnvVar[] | undefined, own: readonly EnvVar[]): EnvVar[] => {
  const names = new Set(own.map(({ name }) => name))
  return [...(env ?? []).filter(({ name }) => !names.has(name)), ...own]
}

const withMounts = (mounts: readonly VolumeMount[] | undefined, own: readonly VolumeMount[]): VolumeMount[] => {
  const paths = new Set(own.map(({ mountPath }) => mountPath))
  return [...(mounts ?? []).filter(({ mountPath }) => !paths.has(mountPath)), ...own]
}

/** Kubernetes replaces `$(NAME)` in values. */
const literal = (text: string): string => text.replaceAll('$', () => '$$')
