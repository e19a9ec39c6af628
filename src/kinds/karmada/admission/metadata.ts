/** Helpers of admission for metadata: labels, finalizers, and whether an object is being deleted. */
import type { KubeObject } from '../../../kube/meta.ts'

export function setLabel(object: KubeObject, label: string, value: string): void {
  object.metadata.labels = { ...object.metadata.labels, [label]: value }
}

/** For ids that are assigned once: an empty value counts as absent. */
export function setMissingLabel(object: KubeObject, label: string, value: () => string): void {
  if ((object.metadata.labels?.[label] ?? '') === '') setLabel(object, label, value())
}

export function addFinalizer(object: KubeObject, finalizer: string): void {
  const present = object.metadata.finalizers ?? []
  if (!present.includes(finalizer)) object.metadata.finalizers = [...present, finalizer]
}

export const isBeingDeleted = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined
