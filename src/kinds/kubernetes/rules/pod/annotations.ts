/** Annotations with a meaning on pods and pod templates. */

import { type FieldError, forbidden, invalid } from '../../../../kube/field-error.ts'
import { JsonTextError, parseJsonText } from '../../../../kube/json-text.ts'
import { validateAnnotations } from '../../../../kube/validate-meta.ts'
import { entries, type Fields, fieldsOf, maybeObject, string } from '../fields.ts'
import { appendAll } from './errors.ts'
import type { PodOptions } from './options.ts'
import { APPARMOR_CONTAINER, profileAnnotationErrors } from './security-profiles.ts'
import { tolerationListErrors } from './tolerations.ts'

const MIRROR_POD = 'kubernetes.io/config.mirror'
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'
const TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerations'

export const annotationErrors = (path: string, metadata: Fields): FieldError[] =>
  validateAnnotations(Object.fromEntries(entries(metadata, 'annotations')), path)

export const isMirrorPod = (metadata: Fields): boolean => entries(metadata, 'annotations').some(([key]) => key === MIRROR_POD)

/** The value of the deletion cost when it is not a 32-bit integer. */
export function checkPodDeletionCost(metadata: Fields): string | undefined {
  const cost = entries(metadata, 'annotations').find(([key]) => key === DELETION_COST)?.[1]
  if (cost === undefined) return undefined
  const isCanonical = /^(0|-?[1-9][0-9]*|-0)$/.test(cost)
  const value = Number(cost)
  return isCanonical && value >= -(2 ** 31) && value < 2 ** 31 ? undefined : cost
}

export function podAnnotationErrors(
  path: string,
  { metadata, spec }: { metadata: Fields; spec: Fields },
  options: PodOptions,
): FieldError[] {
  const errors: FieldError[] = []
  const annotations = maybeObject(metadata, 'annotations')
  const mirror = entries(metadata, 'annotations').find(([key]) => key === MIRROR_POD)?.[1]
  if (mirror !== undefined && string(spec, 'nodeName') === '') {
    errors.push(invalid(`${path}[${MIRROR_POD}]`, mirror, 'must set spec.nodeName if mirror pod annotation is set'))
  }
  appendAll(errors, tolerationAnnotationErrors(path, string(annotations, TOLERATIONS)))
  const cost = checkPodDeletionCost(metadata)
  if (cost !== undefined && !options.allowInvalidDeletionCost) {
    errors.push(invalid(`${path}[${DELETION_COST}]`, cost, 'must be a 32bit integer'))
  }
  return [...errors, ...profileAnnotationErrors(path, metadata, spec)]
}

function tolerationAnnotationErrors(path: string, value: string): FieldError[] {
  if (value === '') return []
  let parsed: unknown
  try {
    parsed = parseJsonText(value).value
  } catch (error) {
    if (error instanceof JsonTextError) return [invalid(path, TOLERATIONS, error.message)]
    throw error
  }
  if (parsed === null) return []
  if (!Array.isArray(parsed)) return [invalid(path, TOLERATIONS, 'json: cannot unmarshal object into Go value of type []core.Toleration')]
  return tolerationListErrors(`${path}.${TOLERATIONS}`, parsed.map(fieldsOf))
}

/** AppArmor and mirror-pod annotations are fixed at creation. */
export function podAnnotationUpdateErrors(path: string, metadata: Fields, old: Fields): FieldError[] {
  const errors: FieldError[] = []
  const [next, before] = [new Map(entries(metadata, 'annotations')), new Map(entries(old, 'annotations'))]
  for (const [key, value] of before) {
    if (next.get(key) === value) continue
    if (key.startsWith(APPARMOR_CONTAINER)) errors.push(forbidden(`${path}[${key}]`, 'may not remove or update AppArmor annotations'))
    if (key === MIRROR_POD) errors.push(forbidden(`${path}[${key}]`, 'may not remove or update mirror pod annotation'))
  }
  for (const key of next.keys()) {
    if (before.has(key)) continue
    if (key.startsWith(APPARMOR_CONTAINER)) errors.push(forbidden(`${path}[${key}]`, 'may not add AppArmor annotations'))
    if (key === MIRROR_POD) errors.push(forbidden(`${path}[${key}]`, 'may not add mirror pod annotation'))
  }
  return errors
}
