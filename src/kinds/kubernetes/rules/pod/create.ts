/** What the server itself writes into a new pod: its status, and selectors and profiles derived from labels and annotations. */

import { deepEqual } from '../../../../base/json.ts'
import type { FieldError } from '../../../../kube/field-error.ts'
import { forbidden } from '../../../../kube/field-error.ts'
import { entries, type Fields, isFields, isSet, maybeObject, objects, string, strings } from '../fields.ts'
import { podAnnotationErrors } from './annotations.ts'
import { imageSpaceErrors } from './containers.ts'
import { allContainers } from './containers-walk.ts'
import { ensureFields } from './defaults.ts'
import { dropDisabledFields } from './disabled-fields.ts'
import { appendAll } from './errors.ts'
import type { PodOptions, SpecAndMeta } from './options.ts'
import { podQosClass } from './qos.ts'
import { APPARMOR_CONTAINER, appArmorErrors, appArmorFromAnnotation, profileMatchErrors } from './security-profiles.ts'
import { validatePodSpec } from './spec.ts'

/** Returns the warnings that only this step can produce. */
export function prepareNewPod(pod: Fields, now: string): string[] {
  const spec = ensureFields(pod, 'spec')
  const metadata = ensureFields(pod, 'metadata')
  metadata.generation = 1
  const status: Fields = { phase: 'Pending' }
  pod.status = status
  dropDisabledFields(spec, undefined)
  if (objects(spec, 'schedulingGates').length > 0) {
    status.conditions = [
      {
        type: 'PodScheduled',
        status: 'False',
        lastProbeTime: null,
        lastTransitionTime: now,
        reason: 'SchedulingGated',
        message: 'Scheduling is blocked due to non-empty scheduling gates',
      },
    ]
  }
  status.qosClass = podQosClass(spec)
  mergeLabelKeys(spec, metadata)
  return string(maybeObject(spec, 'os'), 'name') === 'windows' ? [] : syncAppArmor(spec, metadata)
}

/** matchLabelKeys become requirements on the labels that this pod has. */
function mergeLabelKeys(spec: Fields, metadata: Fields): void {
  const labels = new Map(entries(metadata, 'labels'))
  const affinity = maybeObject(spec, 'affinity')
  for (const key of ['podAffinity', 'podAntiAffinity']) {
    const part = maybeObject(affinity, key)
    const preferred = objects(part, 'preferredDuringSchedulingIgnoredDuringExecution').map(
      (term) => maybeObject(term, 'podAffinityTerm') ?? {},
    )
    for (const term of [...preferred, ...objects(part, 'requiredDuringSchedulingIgnoredDuringExecution')]) {
      appendRequirements(term, labels, ['matchLabelKeys', 'In'])
      appendRequirements(term, labels, ['mismatchLabelKeys', 'NotIn'])
    }
  }
  for (const constraint of objects(spec, 'topologySpreadConstraints')) appendRequirements(constraint, labels, ['matchLabelKeys', 'In'])
}

function appendRequirements(holder: Fields, labels: ReadonlyMap<string, string>, [keysField, operator]: readonly [string, string]): void {
  const selector = maybeObject(holder, 'labelSelector')
  if (selector === undefined) return
  for (const key of strings(holder, keysField)) {
    const value = labels.get(key)
    if (value === undefined) continue
    if (!Array.isArray(selector.matchExpressions)) selector.matchExpressions = []
    ;(selector.matchExpressions as unknown[]).push({ key, operator, values: [value] })
  }
}

/** Copies the deprecated AppArmor annotations into the fields that replaced them. */
function syncAppArmor(spec: Fields, metadata: Fields): string[] {
  const annotations = new Map(entries(metadata, 'annotations'))
  const podProfile = maybeObject(maybeObject(spec, 'securityContext'), 'appArmorProfile')
  const warnings: string[] = []
  for (const { container } of allContainers(spec)) {
    const key = `${APPARMOR_CONTAINER}${string(container, 'name')}`
    const annotation = annotations.get(key)
    if (annotation === undefined || isSet(maybeObject(container, 'securityContext'), 'appArmorProfile')) continue
    const derived = appArmorFromAnnotation(annotation)
    const profile = derived !== undefined && appArmorErrors('', derived).length === 0 ? derived : undefined
    if (profile !== undefined && deepEqual(profile, podProfile)) continue
    if (profile !== undefined) {
      const context = isFields(container.securityContext) ? container.securityContext : {}
      context.appArmorProfile = profile
      container.securityContext = context
    }
    warnings.push(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`)
  }
  return warnings
}

/** The part of validation that creation and every update share; metadata itself is checked by the server. */
export function podErrors(pod: SpecAndMeta, options: PodOptions): FieldError[] {
  const { spec, metadata } = pod
  const errors = [...podAnnotationErrors('metadata.annotations', pod, options), ...validatePodSpec('spec', spec, { metadata, options })]
  if (string(spec, 'serviceAccountName') === '') appendAll(errors, tokenErrors(spec))
  for (const key of ['containers', 'initContainers']) {
    objects(spec, key).forEach((container, i) => {
      appendAll(errors, imageSpaceErrors(`spec.${key}[${i}]`, container))
    })
  }
  return errors
}

const tokenErrors = (spec: Fields): FieldError[] =>
  objects(spec, 'volumes').flatMap((volume, i) =>
    objects(maybeObject(volume, 'projected'), 'sources').flatMap((source, j) =>
      isSet(source, 'serviceAccountToken')
        ? [
            forbidden(
              `spec.volumes[${i}].projected.sources[${j}].serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          ]
        : [],
    ),
  )

export function newPodErrors(pod: SpecAndMeta, options: PodOptions): FieldError[] {
  const { spec, metadata } = pod
  const errors = podErrors(pod, options)
  if (objects(spec, 'ephemeralContainers').length > 0) errors.push(forbidden('spec.ephemeralContainers', 'cannot be set on create'))
  if (string(spec, 'nodeName') !== '' && objects(spec, 'schedulingGates').length > 0) {
    errors.push(forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'))
  }
  return [...errors, ...profileMatchErrors('spec', metadata, spec)]
}
