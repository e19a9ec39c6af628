/** The pods of a ThinRuntime: the fuse that mounts on a node, and workers where a profile or a runtime wants them. Pure. */
import { LABELS } from '../../../kinds/fluid/well-known.ts'
import type { Container, PodSpec, PodTemplateSpec } from '../../../kinds/kubernetes/types.ts'
import { workerAffinity } from '../../placement/worker-affinity.ts'
import { sorted } from './config.ts'
import { joinedBy, type ThinWorker } from './spec.ts'
import { configMapName, fuseName, type Thin, workerName } from './thin.ts'
import { cacheDirectory, hostVolumesOf, isReadOnly, type Mounted, podVolumes, secretsOf, sharedPath } from './volumes.ts'

const CONFIG_PATH = '/etc/fluid/config'
export const CONFIG_FILE = 'config.json'
/** On a pod that must not run for real. */
const PLAYED = { 'sluice.dev/run': 'simulated' }
/** Meshes would stand between a mount and its source. */
const NO_MESH = { 'sidecar.istio.io/inject': 'false' }

export type Role = 'fuse' | 'worker'

const nameOf = ({ dataset }: Thin): string => dataset.metadata.name ?? ''

export const selectorLabels = (thin: Thin, role: Role): Record<string, string> => ({
  [LABELS.cacheRuntimeName]: nameOf(thin),
  [LABELS.cacheRuntimeComponent]: role === 'fuse' ? fuseName(nameOf(thin)) : workerName(nameOf(thin)),
})

/** As Fluid labels them, and as they are selected. */
export const labelsOf = (thin: Thin, role: Role): Record<string, string> => ({
  app: 'thin',
  release: nameOf(thin),
  role: `thin-${role}`,
  [LABELS.datasetId]: thin.datasetId,
  ...selectorLabels(thin, role),
})

export function fuseTemplate(thin: Thin): PodTemplateSpec {
  const { spec, dataset, fuseLabel, isPlayed } = thin
  const { fuse } = spec
  const { volumes, volumeMounts } = podVolumes(spec, fuse.volumeMounts, [
    ...hostVolumesOf(dataset, fuse.volumeMounts).volumes,
    ...cacheDirectory(spec),
    ...secretsOf(dataset),
    configVolume(thin),
    sharedPath(thin.targetPath),
  ])
  const { command, args, lifecycle } = fuse
  return {
    metadata: {
      labels: { ...NO_MESH, ...fuse.podMetadata?.labels, ...labelsOf(thin, 'fuse') },
      annotations: { ...NO_MESH, ...fuse.podMetadata?.annotations, ...(isPlayed ? PLAYED : {}) },
    },
    spec: {
      ...placeOf(thin, fuse),
      containers: [
        {
          name: 'thin-fuse',
          ...containerOf(fuse),
          ...(command === undefined ? {} : { command }),
          ...(args === undefined ? {} : { args }),
          env: fuseEnv(thin),
          lifecycle: { preStop: lifecycle?.preStop ?? { exec: { command: ['umount', thin.targetPath] } } },
          securityContext: { privileged: true, runAsUser: 0, runAsGroup: 0 },
          volumeMounts,
        },
      ],
      volumes,
      nodeSelector: { ...fuse.nodeSelector, [fuseLabel]: 'true' },
      // It runs wherever its readers do, so taints do not keep it away.
      tolerations: [{ operator: 'Exists' }],
    },
  }
}

export function workerTemplate(thin: Thin, worker: ThinWorker): PodTemplateSpec {
  const { spec, dataset, fuseLabel, datasetId } = thin
  const { tolerations = [], placement } = dataset.spec ?? {}
  const { volumes, volumeMounts } = podVolumes(spec, worker.volumeMounts, cacheDirectory(spec))
  const { nodeSelector = {} } = worker
  return {
    metadata: {
      labels: {
        ...NO_MESH,
        ...labelsOf(thin, 'worker'),
        [LABELS.dataset]: datasetId,
        [LABELS.datasetPlacement]: placement === 'Shared' ? 'Shared' : 'Exclusive',
      },
      annotations: NO_MESH,
    },
    spec: {
      ...placeOf(thin, worker),
      containers: [
        {
          name: 'thin-worker',
          ...containerOf(worker),
          ...(worker.env === undefined || worker.env.length === 0 ? {} : { env: worker.env }),
          securityContext: { privileged: true },
          ...(volumeMounts.length === 0 ? {} : { volumeMounts }),
        },
      ],
      ...(volumes.length === 0 ? {} : { volumes }),
      ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
      ...(tolerations.length === 0 ? {} : { tolerations }),
      affinity: workerAffinity(dataset, {
        affinity: undefined,
        fuseLabel,
        datasetId,
        usesNodeDirectories: volumes.some(({ hostPath }) => hostPath !== undefined),
      }),
    },
  }
}

type Component = Omit<ThinWorker, 'replicas' | 'enabled'>

/** The network is the node's, unless it is said otherwise: file systems may know their clients by address. */
function placeOf({ spec }: Thin, { networkMode, imagePullSecrets = spec.imagePullSecrets }: Component): Partial<PodSpec> {
  return {
    enableServiceLinks: false,
    ...(networkMode === 'ContainerNetwork' ? {} : { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }),
    ...(imagePullSecrets === undefined ? {} : { imagePullSecrets }),
  }
}

function containerOf({ image = '', imageTag = '', ...own }: Component): Partial<Container> {
  const { imagePullPolicy, ports = [], resources = {}, livenessProbe, readinessProbe } = own
  return {
    image: imageTag === '' ? image : `${image}:${imageTag}`,
    imagePullPolicy: imagePullPolicy ?? 'IfNotPresent',
    ...(ports.length === 0 ? {} : { ports }),
    ...(Object.keys(resources).length === 0 ? {} : { resources }),
    ...(livenessProbe === undefined ? {} : { livenessProbe }),
    ...(readinessProbe === undefined ? {} : { readinessProbe }),
  }
}

function fuseEnv(thin: Thin): NonNullable<Container['env']> {
  const { dataset, spec, targetPath } = thin
  const options = mountOptions(thin)
  return joinedBy(
    ({ name = '' }) => name,
    [
      { name: 'FLUID_RUNTIME_TYPE', value: 'thin' },
      { name: 'FLUID_RUNTIME_NS', value: dataset.metadata.namespace ?? '' },
      { name: 'FLUID_RUNTIME_NAME', value: nameOf(thin) },
    ],
    spec.fuse.env,
    [{ name: 'MOUNT_POINT', value: targetPath }, ...(options === '' ? [] : [{ name: 'MOUNT_OPTIONS', value: options }])],
  )
}

/** `ro,uid=1000`: also with options of a profile, a dataset that is only read is mounted so. */
function mountOptions({ dataset, spec }: Thin): string {
  const options = sorted({ ...(isReadOnly(dataset) ? { ro: '' } : {}), ...spec.fuse.options })
  return Object.entries(options)
    .map(([name, value]) => (value === '' ? name : `${name}=${value}`))
    .join(',')
}

function configVolume(thin: Thin): Mounted {
  const name = 'thin-conf'
  const items = [{ key: CONFIG_FILE, path: CONFIG_FILE }]
  return {
    volume: { name, configMap: { name: configMapName(nameOf(thin)), items, defaultMode: 0o444 } },
    mount: { name, mountPath: CONFIG_PATH, readOnly: true },
  }
}
