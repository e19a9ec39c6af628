/** What may change in an existing pod: images, a shorter deadline, more tolerations, fewer scheduling gates. */

import { deepClone } from '../../../../base/json.ts'
import { type FieldError, forbidden, invalid, required } from '../../../../kube/field-error.ts'
import { rangeMessage } from '../../../../kube/names.ts'
import { entries, type Fields, isFields, maybeNumber, maybeObject, objects, raw, string } from '../fields.ts'
import { podAnnotationErrors, podAnnotationUpdateErrors } from './annotations.ts'
import { imageSpaceErrors } from './containers.ts'
import { podErrors } from './create.ts'
import { appendAll } from './errors.ts'
import { internalDiff, internalValue, sorted } from './internal-json.ts'
import type { PodOptions, SpecAndMeta } from './options.ts'
import { semanticEqual } from './semantic.ts'
import { tolerationUpdateErrors } from './tolerations.ts'

const UPDATABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',')
const MAX_INT32 = 2 ** 31 - 1

export function podUpdateErrors(pod: SpecAndMeta, old: SpecAndMeta, options: PodOptions): FieldError[] {
  const errors = [...podErrors(pod, options), ...annotationErrors(pod, old, options)]
  for (const key of ['containers', 'initContainers']) {
    const [next, before] = [objects(pod.spec, key), objects(old.spec, key)]
    if (next.length !== before.length) return [...errors, forbidden(`spec.${key}`, 'pod updates may not add or remove containers')]
    next.forEach((container, i) => {
      if (string(container, 'image') === '') errors.push(required(`spec.${key}[${i}].image`))
      appendAll(errors, imageSpaceErrors(`spec.${key}[${i}]`, container))
    })
  }
  const deadline = deadlineErrors(pod.spec, old.spec)
  appendAll(errors, deadline.errors)
  if (deadline.isFatal) return errors
  appendAll(errors, tolerationUpdateErrors('spec.tolerations', pod.spec, old.spec), gateErrors(pod.spec, old.spec))
  return semanticEqual(pod.spec, old.spec) ? errors : [...errors, ...otherChanges(pod.spec, old.spec)]
}

/** Annotation rules apply to every way of updating a pod. */
export const annotationErrors = (pod: SpecAndMeta, old: SpecAndMeta, options: PodOptions): FieldError[] => [
  ...podAnnotationUpdateErrors('metadata.annotations', pod.metadata, old.metadata),
  ...podAnnotationErrors('metadata.annotations', pod, options),
]

function deadlineErrors(spec: Fields, old: Fields): { errors: FieldError[]; isFatal: boolean } {
  const field = 'spec.activeDeadlineSeconds'
  const [next, before] = [maybeNumber(spec, 'activeDeadlineSeconds'), maybeNumber(old, 'activeDeadlineSeconds')]
  if (next === undefined) {
    const isRemoved = before !== undefined
    return { errors: isRemoved ? [invalid(field, undefined, 'must not update from a positive integer to nil value')] : [], isFatal: false }
  }
  if (next < 0 || next > MAX_INT32) return { errors: [invalid(field, next, rangeMessage(0, MAX_INT32))], isFatal: true }
  if (before !== undefined && before < next)
    return { errors: [invalid(field, next, 'must be less than or equal to previous value')], isFatal: true }
  return { errors: [], isFatal: false }
}

function gateErrors(spec: Fields, old: Fields): FieldError[] {
  const known = new Set(objects(old, 'schedulingGates').map((gate) => string(gate, 'name')))
  const added = new Map(objects(spec, 'schedulingGates').map((gate, i) => [string(gate, 'name'), i]))
  return [...added]
    .filter(([name]) => !known.has(name))
    .map(([name, i]) => forbidden(`spec.schedulingGates[${i}].name`, `only deletion is allowed, but found new scheduling gate '${name}'`))
}

/** What still differs once the allowed changes are reverted, shown as a diff. */
function otherChanges(spec: Fields, old: Fields): FieldError[] {
  const munged = deepClone(spec)
  for (const key of ['containers', 'initContainers']) {
    const before = objects(old, key)
    objects(munged, key).forEach((container, i) => {
      restore(container, before[i] ?? {}, 'image')
    })
  }
  for (const key of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']) restore(munged, old, key)
  const grace = maybeNumber(old, 'terminationGracePeriodSeconds')
  if (grace !== undefined && grace < 0 && maybeNumber(munged, 'terminationGracePeriodSeconds') === 1) {
    restore(munged, old, 'terminationGracePeriodSeconds')
  }
  const errors = objects(old, 'schedulingGates').length > 0 ? takeBackNarrowing(munged, old) : []
  if (semanticEqual(munged, old)) return errors
  const diff = internalDiff('PodSpec', old, withEmptiedLists(munged, old))
  return [...errors, forbidden('spec', `pod updates may not change fields other than ${UPDATABLE}\n${diff}`)]
}

/**
 * Decoding does not distinguish an emptied list from an absent one, Go's JSON does. Lists lose their items through patches,
 * which leave an empty list, so that is what the diff shows.
 */
function withEmptiedLists(spec: Fields, old: Fields): Fields {
  const emptied = Object.keys(old).filter((key) => objects(old, key).length > 0 && raw(spec, key) === undefined)
  return emptied.length === 0 ? spec : { ...spec, ...Object.fromEntries(emptied.map((key) => [key, []])) }
}

function restore(target: Fields, from: Fields, key: string): void {
  const value = raw(from, key)
  if (value === undefined) delete target[key]
  else target[key] = value
}

/** While gated, a pod may be restricted to fewer nodes. */
function takeBackNarrowing(munged: Fields, old: Fields): FieldError[] {
  const errors: FieldError[] = []
  if (!semanticEqual(raw(munged, 'nodeSelector'), raw(old, 'nodeSelector'), 'nodeSelector')) {
    const next = new Map(entries(munged, 'nodeSelector'))
    if (entries(old, 'nodeSelector').some(([key, value]) => next.get(key) !== value)) {
      const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
      errors.push(invalid('spec.nodeSelector', sorted(raw(munged, 'nodeSelector')), detail))
    }
    restore(munged, old, 'nodeSelector')
  }
  const oldAffinity = maybeObject(maybeObject(old, 'affinity'), 'nodeAffinity')
  const affinity = maybeObject(munged, 'affinity')
  if (semanticEqual(maybeObject(affinity, 'nodeAffinity'), oldAffinity)) return errors
  appendAll(errors, nodeAffinityErrors(maybeObject(affinity, 'nodeAffinity'), oldAffinity))
  if (affinity === undefined) munged.affinity = { nodeAffinity: oldAffinity }
  else if (!isFields(raw(old, 'affinity')) && !isFields(affinity.podAffinity) && !isFields(affinity.podAntiAffinity)) delete munged.affinity
  else munged.affinity = { ...affinity, nodeAffinity: oldAffinity }
  return errors
}

function nodeAffinityErrors(next: Fields | undefined, old: Fields | undefined): FieldError[] {
  const key = 'requiredDuringSchedulingIgnoredDuringExecution'
  const path = `spec.affinity.nodeAffinity.${key}.nodeSelectorTerms`
  const before = objects(maybeObject(old, key), 'nodeSelectorTerms')
  const after = objects(maybeObject(next, key), 'nodeSelectorTerms')
  const render = (term: Fields) => internalValue('NodeSelectorTerm', term)
  if (before.length > 0 && before.length !== after.length) {
    const value = after.length === 0 ? null : after.map(render)
    return [invalid(path, value, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')]
  }
  return before.flatMap((term, i) =>
    hasOnlyAdditions(after[i] ?? {}, term)
      ? []
      : [invalid(`${path}[${i}]`, render(after[i] ?? {}), 'only additions are allowed (no mutations or deletions)')],
  )
}

function hasOnlyAdditions(next: Fields, old: Fields): boolean {
  const lists = ['matchExpressions', 'matchFields']
  if (lists.every((key) => objects(old, key).length === 0)) return lists.every((key) => objects(next, key).length === 0)
  return lists.every((key) => {
    const before = objects(old, key)
    return semanticEqual(objects(next, key).slice(0, before.length), before)
  })
}
