/**
 * What the provisioner `sluice.dev/local` creates: a volume is a directory of this machine, below one root and named after
 * the volume; nothing else is ever created or removed. On simulated nodes nothing reads it, so there it is only a name.
 */
import type { Node, PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { referenceTo } from '../claim/plan.ts'
import { classOfClaim, IS_DEFAULT_CLASS, PROVISIONED_BY } from '../names.ts'

export const LOCAL_PROVISIONER = 'sluice.dev/local'
/** On volumes with policy Delete until their directory is gone; the name that external provisioners use. */
export const LOCAL_FINALIZER = 'external-provisioner.volume.kubernetes.io/finalizer'
const HOSTNAME = 'kubernetes.io/hostname'

/** Creates and removes directories. Both are idempotent. */
export interface VolumeDirectories {
  make(path: string): Promise<void>
  remove(path: string): Promise<void>
}

export interface LocalVolumes {
  /** Absolute, without a slash at its end; volumes are its direct children. */
  root: string
  directories: VolumeDirectories
}

/** For clusters in which nothing reads volumes: paths are names. */
export const NAMED_VOLUMES: LocalVolumes = Object.freeze({
  root: '/var/lib/sluice/volumes',
  directories: { make: () => Promise.resolve(), remove: () => Promise.resolve() },
})

export function localStorageClass(): KubeObject {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'local', annotations: { [IS_DEFAULT_CLASS]: 'true' } },
    provisioner: LOCAL_PROVISIONER,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
  }
}

export const volumeNameOf = (claim: PersistentVolumeClaim): string => `pvc-${claim.metadata.uid ?? ''}`

export const pathOf = (root: string, volumeName: string): string => `${root}/${volumeName}`

/** The directory of a volume, if it is the one this provisioner would have created; anything else is not ours to touch. */
export function ownPathOf(volume: PersistentVolume, root: string): string | undefined {
  const name = volume.metadata.name ?? ''
  const path = volume.spec?.local?.path ?? volume.spec?.hostPath?.path
  const isPlainName = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name)
  return isPlainName && path === pathOf(root, name) ? path : undefined
}

export interface Making {
  claim: PersistentVolumeClaim
  storageClass: StorageClass
  /** The node of its first consumer; undefined when the class does not wait for one. */
  node: Node | undefined
  root: string
}

export function localVolume({ claim, storageClass, node, root }: Making): PersistentVolume {
  const name = volumeNameOf(claim)
  const path = pathOf(root, name)
  const policy = storageClass.reclaimPolicy ?? 'Delete'
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name,
      annotations: { [PROVISIONED_BY]: LOCAL_PROVISIONER },
      ...(policy === 'Delete' ? { finalizers: [LOCAL_FINALIZER] } : {}),
    },
    spec: {
      capacity: { storage: claim.spec?.resources?.requests?.storage ?? '0' },
      accessModes: claim.spec?.accessModes,
      volumeMode: claim.spec?.volumeMode,
      persistentVolumeReclaimPolicy: policy,
      storageClassName: classOfClaim(claim),
      mountOptions: storageClass.mountOptions,
      claimRef: referenceTo(claim),
      // Without a node it can be used from every node of this machine.
      ...(node === undefined ? { hostPath: { path, type: '' } } : { local: { path }, nodeAffinity: onlyOn(node) }),
    },
  }
}

function onlyOn(node: Node): NonNullable<PersistentVolume['spec']>['nodeAffinity'] {
  const labels = node.metadata.labels ?? {}
  const hostname = Object.hasOwn(labels, HOSTNAME) ? (labels[HOSTNAME] ?? '') : (node.metadata.name ?? '')
  return { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: HOSTNAME, operator: 'In', values: [hostname] }] }] } }
}
