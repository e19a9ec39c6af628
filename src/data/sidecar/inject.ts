/**
 * A pod with the clients of its datasets as containers of its own: Fluid's rules, as one pure function. What the pod's author
 * wrote stays, but for the volumes of the datasets' claims, the mounts of these, and a script that can wait for a mount.
 */
import type { Container, Pod, Volume, VolumeMount } from '../../kinds/kubernetes/types.ts'
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'
import { type FreeNames, freeNames } from './free-names.ts'
import { datasetLabels, MANAGED_BY, SIDECAR_ANNOTATIONS, SIDECAR_LABELS } from './labels.ts'
import type { SidecarMode } from './mode.ts'
import { ending, type Part, partOf, type Sidecar } from './part.ts'
import { APP_SCRIPT } from './scripts/texts.ts'

export interface Injection {
  /** Of the pod. */
  namespace: string
  mode: SidecarMode
  /** The same text for no two pods; asked for only where pods must not share a directory of their node. */
  unique(): string
}

export interface InjectedPod {
  pod: Pod
  warnings: readonly string[]
}

const MAIN = 'fluid-fuse-'
const INIT = 'init-fluid-fuse-'
const SCRIPT_MODE = 0o755

/** A dataset's part, with everything about it that later steps need. */
interface Placed {
  sidecar: Sidecar
  part: Part
  /** Of the pod, with the dataset's claim. */
  volumes: ReadonlySet<string>
  inits: readonly Container[]
  mains: readonly Container[]
}

export function withSidecars(pod: Pod, sidecars: readonly Sidecar[], injection: Injection): Parsed<InjectedPod> {
  const names = freeNames(pod)
  const placed: Placed[] = []
  let index = 0
  for (const sidecar of sidecars) {
    index = names.index(index, (i) => [`${MAIN}${i}`, `${INIT}${i}`])
    const one = placedPart(pod, { sidecar, i: index, names, injection })
    if (one.error !== undefined) return unparsed(one.error)
    placed.push(one.value)
    index++
  }
  const problem = portProblem(pod, placed)
  if (problem !== undefined) return unparsed(problem)
  return parsed({ pod: changed(pod, placed, names), warnings: placed.flatMap((one) => writeWarning(pod, one)) })
}

interface Placing {
  sidecar: Sidecar
  i: number
  names: FreeNames
  injection: Injection
}

function placedPart(pod: Pod, { sidecar, i, names, injection }: Placing): Parsed<Placed> {
  const { claim } = sidecar.dataset
  const volumes = (pod.spec?.volumes ?? []).flatMap(({ name = '', persistentVolumeClaim }) =>
    persistentVolumeClaim?.claimName === claim ? [name] : [],
  )
  const [claimVolume = ''] = volumes
  if (sidecar.template.isFiles && volumes.length > 1)
    return unparsed(
      `volumes ${volumes.slice(0, 3).join(' and ')} are the same claim ${claim}: mount one of them everywhere, with a subPath where needed`,
    )
  const { labels = {}, annotations = {} } = pod.metadata
  const isShared = annotations[SIDECAR_ANNOTATIONS.hostPathMode] === 'fixed'
  const unique = sidecar.template.isFiles || isShared ? undefined : injection.unique()
  const part = partOf({ sidecar, i, names, claimVolume, unique, checksMount: labels[SIDECAR_LABELS.checksMount] !== 'false' })
  if (part.error !== undefined) return unparsed(part.error)
  const mounted = { sidecar, part: part.value, volumes: new Set(volumes) }
  const uses = (containers: readonly Container[] = []): boolean => containers.some((container) => isUser(container, mounted.volumes))
  return parsed({
    ...mounted,
    ...containersOf(part.value, { i, injection, usesInit: uses(pod.spec?.initContainers), usesMain: uses(pod.spec?.containers) }),
  })
}

interface Form {
  i: number
  injection: Injection
  usesInit: boolean
  usesMain: boolean
}

function containersOf({ container, isFiles }: Part, { i, injection, usesInit, usesMain }: Form): Pick<Placed, 'inits' | 'mains'> {
  const main = { ...container, name: `${MAIN}${i}` }
  if (injection.mode === 'native-sidecar') return { inits: [{ ...main, restartPolicy: 'Always' }], mains: [] }
  if (isFiles) return { inits: [{ ...ending(container), name: `${INIT}${i}` }], mains: [] }
  const { startupProbe: _, readinessProbe: __, livenessProbe: ___, lifecycle: ____, ...plain } = container
  return {
    // As Fluid has it. Init containers do not see what is mounted only later.
    inits: usesInit ? [{ ...plain, name: `${INIT}${i}`, command: ['sleep'], args: ['2s'] }] : [],
    mains: usesMain || !usesInit ? [main] : [],
  }
}

const isUser = ({ volumeMounts = [] }: Container, volumes: ReadonlySet<string>): boolean =>
  volumeMounts.some(({ name = '' }) => volumes.has(name))

function changed(pod: Pod, placed: readonly Placed[], names: FreeNames): Pod {
  const { spec = {}, metadata } = pod
  const { volumes = [], containers = [], initContainers = [] } = spec
  const script = placed.some(({ part }) => !part.isFiles) ? names.volume(APP_SCRIPT.configMap) : undefined
  const hosts = [...new Set([...listed(metadata.annotations?.[SIDECAR_ANNOTATIONS.resolves]), ...placed.flatMap(foreignNamespace)])].sort()
  const inits = [...placed.flatMap((one) => one.inits), ...initContainers.map((container) => reading(container, placed))]
  const asks = metadata.labels?.[SIDECAR_LABELS.appChecksMount] === 'true'
  return {
    ...pod,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labelsOf(placed) },
      ...(hosts.length === 0 ? {} : { annotations: { ...metadata.annotations, [SIDECAR_ANNOTATIONS.resolves]: hosts.join(',') } }),
    },
    spec: {
      ...spec,
      ...(placed.some(({ sidecar }) => sidecar.template.hostPID) ? { hostPID: true } : {}),
      volumes: [
        ...volumes.map((volume) => replaced(volume, placed)),
        ...placed.flatMap(({ part }) => part.volumes),
        ...(script === undefined ? [] : [{ name: script, configMap: { name: APP_SCRIPT.configMap, defaultMode: SCRIPT_MODE } }]),
      ],
      ...(inits.length === 0 ? {} : { initContainers: inits }),
      containers: [
        ...placed.flatMap((one) => one.mains),
        ...containers.map((container) => checking(reading(container, placed), placed, { script, asks })),
      ],
    },
  }
}

const listed = (text = ''): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

const foreignNamespace = ({ sidecar }: Placed): string[] => (sidecar.isForeign ? [sidecar.dataset.holder.namespace] : [])

function labelsOf(placed: readonly Placed[]): Record<string, string> {
  const datasets = placed.flatMap(({ sidecar: { dataset }, inits, mains }) =>
    [...inits, ...mains].map(({ name = '' }) => datasetLabels(name, { namespace: dataset.namespace, name: dataset.name })),
  )
  return Object.assign({ [SIDECAR_LABELS.done]: 'true', [MANAGED_BY.key]: MANAGED_BY.value }, ...datasets) as Record<string, string>
}

function replaced(volume: Volume, placed: readonly Placed[]): Volume {
  const found = placed.find(({ volumes }) => volumes.has(volume.name ?? ''))
  return found === undefined ? volume : { name: volume.name, ...found.part.instead }
}

/** Files of the pod are only read. What is mounted on the node later must be seen. */
function reading(container: Container, placed: readonly Placed[]): Container {
  if (container.volumeMounts === undefined) return container
  const volumeMounts = container.volumeMounts.map((mount): VolumeMount => {
    const found = placed.find(({ volumes }) => volumes.has(mount.name ?? ''))
    if (found === undefined) return mount
    if (found.part.isFiles) return { ...mount, readOnly: true }
    const isPropagating = mount.mountPropagation === undefined && (mount.recursiveReadOnly ?? 'Disabled') === 'Disabled'
    return isPropagating ? { ...mount, mountPropagation: 'HostToContainer' } : mount
  })
  return { ...container, volumeMounts }
}

/** With the script that waits for mounts, which the container runs itself or, when the pod asks for it, at its start. */
function checking(
  container: Container,
  placed: readonly Placed[],
  { script, asks }: { script: string | undefined; asks: boolean },
): Container {
  const { volumeMounts = [], lifecycle } = container
  const waits = placed
    .filter(({ part }) => !part.isFiles)
    .flatMap(({ volumes, sidecar }) =>
      volumeMounts.flatMap(({ name = '', mountPath = '' }) =>
        volumes.has(name) ? [{ path: mountPath, type: sidecar.dataset.attributes.mount_type ?? '' }] : [],
      ),
    )
  if (script === undefined || waits.length === 0 || volumeMounts.some(({ mountPath }) => mountPath === APP_SCRIPT.path)) return container
  const command = ['sh', APP_SCRIPT.path, waits.map(({ path }) => path).join(':'), waits.map(({ type }) => type).join(':')]
  return {
    ...container,
    volumeMounts: [...volumeMounts, { name: script, mountPath: APP_SCRIPT.path, subPath: APP_SCRIPT.key, readOnly: true }],
    ...(asks && lifecycle?.postStart === undefined ? { lifecycle: { ...lifecycle, postStart: { exec: { command } } } } : {}),
  }
}

/** Ports of the node that two containers of the pod would have. */
function portProblem({ spec = {} }: Pod, placed: readonly Placed[]): string | undefined {
  const portsOf = (containers: readonly Container[]) =>
    containers.flatMap(({ ports = [] }) =>
      ports.flatMap(({ hostPort = 0, protocol = 'TCP', hostIP = '' }) =>
        hostPort === 0 ? [] : [`${hostPort}/${protocol} ${hostIP}`.trim()],
      ),
    )
  const taken = new Set(portsOf([...(spec.initContainers ?? []), ...(spec.containers ?? [])]))
  for (const { sidecar, inits, mains } of placed)
    for (const port of portsOf([...inits, ...mains])) {
      if (taken.has(port))
        return `the sidecar of dataset ${sidecar.dataset.name} needs the port ${port} of the node, which another container of the pod has: choose another port for that`
      taken.add(port)
    }
  return undefined
}

function writeWarning({ spec = {} }: Pod, { part, volumes, sidecar: { dataset } }: Placed): string[] {
  if (!part.isFiles || dataset.accessModes.every((mode) => mode === 'ReadOnlyMany')) return []
  const isWriting = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].some(({ volumeMounts = [] }) =>
    volumeMounts.some(({ name = '', readOnly }) => volumes.has(name) && readOnly !== true),
  )
  return isWriting
    ? [`dataset ${dataset.name} can only be read in this pod: to write it, use a pod without the label ${SIDECAR_LABELS.inject}`]
    : []
}
