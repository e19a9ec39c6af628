/**
 * The volume of a bound dataset and the claim by which pods use it, as Fluid makes them: names, labels and attributes are what
 * drivers, schedulers and other tools go by. Pure.
 */
import { isFuseGlobal } from '../../kinds/fluid/fuse-global.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { commonLabel, fuseLabel, leavingLabel, volumeName } from '../../kinds/fluid/names.ts'
import { ANNOTATIONS, CREATED_BY_FLUID, CSI_DRIVER, LABELS, type RuntimeType, STORAGE_CLASS } from '../../kinds/fluid/well-known.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { canonicalQuantity, parseQuantity, quantitySign } from '../../kube/quantity.ts'
import { COMMON_PREFIX, ourMetadata, wantedMetadata } from './metadata.ts'

/** How the engine of a runtime mounts: where on the node, and what the mount is called. */
export interface MountInfo {
  path: string
  /** Undefined: not known, so nothing can be made. */
  type: string | undefined
}

const DEFAULT_CAPACITY = '100Pi'
const MOUNT_ROOT = '/runtime-mnt'

const MOUNTS: Readonly<Record<RuntimeType, { folder: string; type: string }>> = {
  alluxio: { folder: 'alluxio-fuse', type: 'fuse.alluxio-fuse' },
  jindo: { folder: 'jindofs-fuse', type: 'fuse.jindofs-fuse' },
  juicefs: { folder: 'juicefs-fuse', type: 'JuiceFS' },
  thin: { folder: 'thin-fuse', type: 'fuse.thin' },
  efc: { folder: 'efc-fuse', type: 'alifuse.aliyun-alinas-efc' },
  vineyard: { folder: 'vineyard-fuse', type: 'vineyard-fuse' },
  cache: { folder: 'cache-fuse', type: 'cache' },
}

/** `/runtime-mnt/cache/<namespace>/<name>/cache-fuse`. */
export function mountInfo(runtime: RuntimeType, { namespace = '', name = '' }: Dataset['metadata']): MountInfo {
  const { folder, type } = MOUNTS[runtime]
  return { path: `${MOUNT_ROOT}/${runtime}/${namespace}/${name}/${folder}`, type }
}

export interface VolumeSource {
  dataset: Dataset
  runtime: KubeObject
  mount: MountInfo
  /** Nodes that clients are restricted to. */
  nodeSelector?: Readonly<Record<string, string>>
}

export function volumeOf({ dataset, runtime, mount, nodeSelector = {} }: VolumeSource): PersistentVolume {
  const { namespace = '', name = '', uid = '' } = dataset.metadata
  const wanted = wantedMetadata(runtime, 'PersistentVolume')
  const skip = runtime.metadata.annotations?.[ANNOTATIONS.skipMountCheck]
  const beside = isFuseGlobal(runtime) ? {} : { [commonLabel({ namespace, name, uid })]: 'true' }
  const selected = [
    ...Object.entries({ ...nodeSelector, ...beside }).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    ...(isFuseGlobal(runtime) ? [] : [{ key: leavingLabel({ namespace, name, uid }), operator: 'DoesNotExist' }]),
  ]
  const isSymlink = wanted.labels[LABELS.nodePublishMethod] === 'symlink'
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volumeName({ namespace, name }), ...ourMetadata(dataset, wanted) },
    spec: {
      accessModes: accessModesOf(dataset),
      capacity: { storage: capacityOf(dataset) },
      storageClassName: STORAGE_CLASS,
      claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name },
      csi: {
        driver: CSI_DRIVER,
        volumeHandle: volumeName({ namespace, name }),
        volumeAttributes: {
          fluid_path: mount.path,
          mount_type: mount.type ?? '',
          runtime_namespace: namespace,
          runtime_name: name,
          mount_pod_node_selector_key: fuseLabel({ namespace, name, uid }),
          ...(skip === undefined ? {} : { [ANNOTATIONS.skipMountCheck]: skip }),
          ...(isSymlink ? { node_publish_method: 'symlink' } : {}),
        },
      },
      ...(selected.length === 0 ? {} : { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: selected }] } } }),
    },
  }
}

export function claimOf({ dataset, runtime }: VolumeSource): PersistentVolumeClaim {
  const { namespace = '', name = '' } = dataset.metadata
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name, ...ourMetadata(dataset, wantedMetadata(runtime, 'PersistentVolumeClaim')) },
    spec: {
      accessModes: accessModesOf(dataset),
      resources: { requests: { storage: capacityOf(dataset) } },
      storageClassName: STORAGE_CLASS,
      volumeName: volumeName({ namespace, name }),
    },
  }
}

function accessModesOf({ spec }: Dataset): string[] {
  const modes = spec?.accessModes ?? []
  return modes.length === 0 ? ['ReadOnlyMany'] : modes
}

/** What is no size is no wish: the claim must be there all the same. */
function capacityOf({ metadata }: Dataset): string {
  const { value, error } = canonicalQuantity(metadata.annotations?.[ANNOTATIONS.storageRequest] ?? DEFAULT_CAPACITY)
  return error === undefined && quantitySign(parseQuantity(value)) > 0 ? value : DEFAULT_CAPACITY
}

/** Whether it can be used beside workers only. */
export const isVolumeCoLocated = ({ spec }: PersistentVolume): boolean =>
  (spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []).some(({ matchExpressions = [] }) =>
    matchExpressions.some(({ key }) => key?.startsWith(COMMON_PREFIX) === true),
  )

/** A claim that was made for the dataset of its name, and not by a user. */
export const isOurClaim = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.[ANNOTATIONS.createdBy] === CREATED_BY_FLUID && metadata.labels?.[LABELS.datasetId] !== undefined

/** A volume that was made for the dataset: names of two datasets can lead to one name of a volume. */
export const isOurVolume = (volume: PersistentVolume, { namespace, name }: { namespace: string; name: string }): boolean =>
  isOurClaim(volume) && volume.spec?.claimRef?.namespace === namespace && volume.spec.claimRef.name === name
