/**
 * What of an object admission judges: what is new. An object that is being deleted must be able to go, and one that came in
 * before a rule existed must still be able to lose a label or a finalizer.
 */
import { deepEqual } from '../../../base/json.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { AdmissionRequest } from '../../admission.ts'
import { isBeingDeleted } from '../../karmada/admission/metadata.ts'

/** The object, if its spec is new. */
export const withNewSpec = ({ object, oldObject }: AdmissionRequest): KubeObject | undefined =>
  object === undefined || isBeingDeleted(object) || (oldObject !== undefined && deepEqual(object.spec, oldObject.spec)) ? undefined : object

/** The value of an annotation, if it is new. */
export function newAnnotation({ object, oldObject }: AdmissionRequest, name: string): string | undefined {
  if (object === undefined || isBeingDeleted(object)) return undefined
  const value = annotationOf(object, name)
  return oldObject !== undefined && annotationOf(oldObject, name) === value ? undefined : value
}

const annotationOf = ({ metadata: { annotations } }: KubeObject, name: string): string | undefined =>
  annotations !== undefined && Object.hasOwn(annotations, name) ? annotations[name] : undefined
