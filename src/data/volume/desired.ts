/**
 * The volume of a bound dataset and the claim by which pods use it, as Fluid makes them: names, labels and attributes are what
 * drivers, schedulers and other tools go by. Pure.
 */
import { isJsonObject } from '../../base/json.ts'
import { isFuseGlobal } from '../../kinds/fluid/fuse-global.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { commonLabel, datasetId, fuseLabel, volumeName } from '../../kinds/fluid/names.ts'
import { ANNOTATIONS, CREATED_BY_FLUID, CSI_DRIVER, LABELS, type RuntimeType, STORAGE_CLASS } from '../../kinds/fluid/well-known.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { checkLabelValue, checkQualifiedName } from '../../kube/names.ts'
import { canonicalQuantity, parseQuantity, quantitySign } from '../../kube/quantity.ts'

/** How the engine of a runtime mounts: where on the node, and what the mount is called. */
export interface MountInfo {
  path: string
  /** Undefined: not known, so nothing can be made. */
  type: string | undefined
}

const DEFAULT_CAPACITY = '100Pi'
const COMMON_PREFIX = 'fluid.io/s-'
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

/** Labels and annotations that a runtime wants on its volume and claim: annotation `data.fluid.io/metadataList`. */
interface WantedMetadata {
  labels: Record<string, string>
  annotations: Record<string, string>
}

export function volumeOf({ dataset, runtime, mount, nodeSelector = {} }: VolumeSource): PersistentVolume {
  const { namespace = '', name = '', uid = '' } = dataset.metadata
  const wanted = wantedMetadata(runtime, 'PersistentVolume')
  const skip = runtime.metadata.annotations?.[ANNOTATIONS.skipMountCheck]
  const wantedLabels = { ...nodeSelector, ...(isFuseGlobal(runtime) ? {} : { [commonLabel({ namespace, name, uid })]: 'true' }) }
  const selected = Object.entries(wantedLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] }))
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

function ourMetadata({ metadata: { namespace = '', name = '', uid = '' } }: Dataset, wanted: WantedMetadata): WantedMetadata {
  const dataset = { namespace, name, uid }
  return {
    labels: { ...wanted.labels, [commonLabel(dataset)]: 'true', [LABELS.datasetId]: datasetId(dataset) },
    annotations: { ...wanted.annotations, [ANNOTATIONS.createdBy]: CREATED_BY_FLUID },
  }
}

/** Of a label or annotation that every volume and claim of a dataset has. */
export const isOurKey = (key: string): boolean => key === LABELS.datasetId || key === ANNOTATIONS.createdBy || key.startsWith(COMMON_PREFIX)

function accessModesOf({ spec }: Dataset): string[] {
  const modes = spec?.accessModes ?? []
  return modes.length === 0 ? ['ReadOnlyMany'] : modes
}

/** What is no size is no wish: the claim must be there all the same. */
function capacityOf({ metadata }: Dataset): string {
  const { value, error } = canonicalQuantity(metadata.annotations?.[ANNOTATIONS.storageRequest] ?? DEFAULT_CAPACITY)
  return error === undefined && quantitySign(parseQuantity(value)) > 0 ? value : DEFAULT_CAPACITY
}

/** What cannot be read counts as absent: it is the wish of whoever wrote the runtime, and harms nobody else. */
function wantedMetadata({ metadata }: KubeObject, kind: string): WantedMetadata {
  const found: WantedMetadata = { labels: {}, annotations: {} }
  const list = parsedList(metadata.annotations?.[ANNOTATIONS.metadataList])
  for (const one of list) {
    const selector = isJsonObject(one) && isJsonObject(one.selector) ? one.selector : undefined
    if (selector?.kind !== kind || (selector.group ?? '') !== '') continue
    const { labels, annotations } = one as Record<string, unknown>
    for (const [key, value] of Object.entries(textsOf(labels))) if (checkLabelValue(value).length === 0) found.labels[key] = value
    Object.assign(found.annotations, textsOf(annotations))
  }
  return found
}

/**
 * A volume belongs to the cluster, and storage controllers act on what its metadata says: what Kubernetes and this control plane
 * write there is not for tenants to write.
 */
const RESERVED = /^(?:[^/]+\.)?(?:kubernetes\.io|k8s\.io|sluice\.dev)\//
const isWritable = (key: string): boolean => checkQualifiedName(key).length === 0 && !RESERVED.test(key)

function parsedList(text: string | undefined): unknown[] {
  if (text === undefined) return []
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list : []
  } catch {
    // Not JSON: see above.
    return []
  }
}

const textsOf = (value: unknown): Record<string, string> =>
  isJsonObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string' && isWritable(entry[0])),
      )
    : {}

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
