/** Annotations, finalizers and helpers that all storage controllers share: the class of a claim, the claims of a pod. */

import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, Volume } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { objectKey } from '../../kube/object-reference.ts'

export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed'
/** The binding was made by a controller; without it, by a person. */
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller'
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by'
/** Written by the scheduler: provision for this node. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node'
export const STORAGE_PROVISIONER = 'volume.kubernetes.io/storage-provisioner'
export const BETA_STORAGE_PROVISIONER = 'volume.beta.kubernetes.io/storage-provisioner'
const BETA_STORAGE_CLASS = 'volume.beta.kubernetes.io/storage-class'
export const IS_DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class'
const BETA_IS_DEFAULT_CLASS = 'storageclass.beta.kubernetes.io/is-default-class'

export function annotationOf(object: KubeObject, name: string): string | undefined {
  const annotations = object.metadata.annotations
  return annotations !== undefined && Object.hasOwn(annotations, name) ? annotations[name] : undefined
}

/** The class a claim asks for; undefined when it names none, '' when it explicitly wants none. */
export const classAskedBy = (claim: PersistentVolumeClaim): string | undefined =>
  annotationOf(claim, BETA_STORAGE_CLASS) ?? claim.spec?.storageClassName

export const classOfClaim = (claim: PersistentVolumeClaim): string => classAskedBy(claim) ?? ''

export const classOfVolume = (volume: PersistentVolume): string =>
  annotationOf(volume, BETA_STORAGE_CLASS) ?? volume.spec?.storageClassName ?? ''

/** Of several default classes the newest, then the first by name. */
export function defaultClassOf(classes: readonly StorageClass[]): StorageClass | undefined {
  const byAge = (a: StorageClass, b: StorageClass): number =>
    compareText(b.metadata.creationTimestamp ?? '', a.metadata.creationTimestamp ?? '') ||
    compareText(a.metadata.name ?? '', b.metadata.name ?? '')
  return classes.filter(isDefaultClass).sort(byAge)[0]
}

export const isDefaultClass = (one: StorageClass): boolean =>
  annotationOf(one, IS_DEFAULT_CLASS) === 'true' || annotationOf(one, BETA_IS_DEFAULT_CLASS) === 'true'

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The name of the claim behind a volume of a pod; undefined for other volumes. */
export function claimNameOf(pod: Pod, volume: Volume): string | undefined {
  if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName
  return volume.ephemeral === undefined ? undefined : `${pod.metadata.name ?? ''}-${volume.name ?? ''}`
}

/** The claims a pod uses, as `namespace/name`, including those of its ephemeral volumes. */
export function claimsOfPod(pod: Pod): string[] {
  const names = (pod.spec?.volumes ?? []).map((volume) => claimNameOf(pod, volume)).filter((name) => name !== undefined)
  return [...new Set(names)].map((name) => objectKey(pod.metadata.namespace, name))
}
