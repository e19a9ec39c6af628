/** What admission does to metadata: labels, finalizers, and the question whether an object is on its way out. */
import type { KubeObject } from '../../../kube/meta.ts'

export function setLabel(object: KubeObject, label: string, value: string): void {
  object.metadata.labels = { ...object.metadata.labels, [label]: value }
}

/** For ids that are given once: an empty value counts as none. */
export function setMissingLabel(object: KubeObject, label: string, value: () => string): void {
  if ((object.metadata.labels?.[label] ?? '') === '') setLabel(object, label, value())
}

export function addFinalizer(object: KubeObject, finalizer: string): void {
  const present = object.metadata.finalizers ?? []
  if (!present.includes(finalizer)) object.metadata.finalizers = [...present, finalizer]
}

export const isBeingDeleted = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined
