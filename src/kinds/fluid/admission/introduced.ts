/**
 * What a write is judged by: what it brings in. An object that came in before a rule existed must still be able to change in
 * other respects, and one that is being deleted must be able to go.
 */
import { deepEqual } from '../../../base/json.ts'
import { type FieldError, fieldErrorBody } from '../../../kube/field-error.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { AdmissionRequest } from '../../admission.ts'
import { isBeingDeleted } from '../../karmada/admission/metadata.ts'

/** The errors of the new spec that the old one does not have already. Rules are asked only if the spec is new. */
export function introducedErrors<T extends KubeObject>(
  { object, oldObject }: AdmissionRequest,
  errorsOf: (object: T) => readonly FieldError[],
): FieldError[] {
  if (object === undefined || isBeingDeleted(object)) return []
  if (oldObject === undefined) return [...errorsOf(object as T)]
  if (deepEqual(object.spec, oldObject.spec)) return []
  const known = new Map<string, number>()
  for (const error of errorsOf(oldObject as T)) known.set(keyOf(error), (known.get(keyOf(error)) ?? 0) + 1)
  return errorsOf(object as T).filter((error) => {
    const left = known.get(keyOf(error)) ?? 0
    known.set(keyOf(error), left - 1)
    return left <= 0
  })
}

/** The same mistake may have moved within its list. */
const keyOf = (error: FieldError): string =>
  `${error.field}: ${fieldErrorBody(error)}`.replace(/\[\d+\]|(?<=at (?:level )?index )\d+/g, '[]')

/** The object, if it is about to exist. */
export const createdObject = ({ operation, object }: AdmissionRequest): KubeObject | undefined =>
  operation === 'CREATE' ? object : undefined
