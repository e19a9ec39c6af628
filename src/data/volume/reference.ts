/**
 * The volume and the claim of a dataset that refers to another one: the fields of the original's volume, so that drivers and
 * clients of nodes are the original's, and the sub path. References to Secrets do not come along. Pure.
 */
import { deepEqual } from '../../base/json.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { volumeName } from '../../kinds/fluid/names.ts'
import type { Referred } from '../../kinds/fluid/reference.ts'
import { LABELS, STORAGE_CLASS } from '../../kinds/fluid/well-known.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { ourMetadata, wantedMetadata } from './metadata.ts'

export interface ReferenceSource {
  dataset: Dataset
  /** Its own, which has no cache. */
  runtime: KubeObject
  referred: Referred
  /** Of the original; undefined: there is none now, so nothing can be made. */
  original: PersistentVolume | undefined
}

type Made = ReferenceSource & { original: PersistentVolume }

export const canBeMade = (source: ReferenceSource): source is Made => source.original !== undefined

export function referenceVolume({ dataset, runtime, referred, original }: Made): PersistentVolume {
  const { namespace = '', name = '' } = dataset.metadata
  const { capacity, csi, nodeAffinity, mountOptions } = original.spec ?? {}
  const { subPath } = referred
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volumeName({ namespace, name }), ...ourMetadata(dataset, wantedMetadata(runtime, 'PersistentVolume')) },
    spec: {
      accessModes: accessModesOf(dataset, original),
      ...(capacity === undefined ? {} : { capacity }),
      storageClassName: STORAGE_CLASS,
      claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name },
      csi: {
        driver: csi?.driver ?? '',
        volumeHandle: csi?.volumeHandle ?? '',
        volumeAttributes: { ...csi?.volumeAttributes, ...(subPath === '' ? {} : { fluid_sub_path: subPath }) },
      },
      ...(mountOptions === undefined ? {} : { mountOptions }),
      ...(nodeAffinity === undefined ? {} : { nodeAffinity }),
    },
  }
}

export function referenceClaim({ dataset, runtime, referred, original }: Made): PersistentVolumeClaim {
  const { namespace = '', name = '' } = dataset.metadata
  const { labels, annotations } = ourMetadata(dataset, wantedMetadata(runtime, 'PersistentVolumeClaim'))
  const storage = original.spec?.capacity?.storage
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      namespace,
      name,
      labels: { ...labels, [LABELS.referringName]: referred.name, [LABELS.referringNamespace]: referred.namespace },
      annotations,
    },
    spec: {
      accessModes: accessModesOf(dataset, original),
      ...(storage === undefined ? {} : { resources: { requests: { storage } } }),
      storageClassName: STORAGE_CLASS,
      volumeName: volumeName({ namespace, name }),
    },
  }
}

/** As Fluid has it: who only reads the original only reads through a reference. */
function accessModesOf({ spec }: Dataset, original: PersistentVolume): string[] {
  const modes = spec?.accessModes ?? []
  return modes.length === 0 || original.spec?.accessModes?.includes('ReadOnlyMany') === true ? ['ReadOnlyMany'] : modes
}

/** The original's volume is another one by now, or the reference means another part of it: a volume cannot be changed. */
export const isOutdated = (live: PersistentVolume, wanted: PersistentVolume): boolean =>
  !deepEqual(live.spec?.csi?.volumeAttributes ?? {}, wanted.spec?.csi?.volumeAttributes ?? {}) ||
  live.spec?.csi?.volumeHandle !== wanted.spec?.csi?.volumeHandle ||
  !deepEqual(live.spec?.nodeAffinity, wanted.spec?.nodeAffinity)
