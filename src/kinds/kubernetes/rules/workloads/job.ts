/** Jobs: pods that run to completion. The server labels the template and selects by those labels unless disabled. */
import { deepClone } from '../../../../base/json.ts'
import { type FieldError, invalid, required } from '../../../../kube/field-error.ts'
import { checkDns1123Label } from '../../../../kube/names.ts'
import type { KindRules } from '../../../kind.ts'
import { boolean, entries, type Fields, fieldsOf, isSet, maybeNumber, maybeObject, number, objects, raw, string } from '../fields.ts'
import { labelSelectorErrors } from '../formats.ts'
import { ensureFields } from '../pod/defaults.ts'
import { internalValue, selectorValue } from '../pod/internal-json.ts'
import { type PodOptions, podOptions } from '../pod/options.ts'
import { semanticEqual } from '../pod/semantic.ts'
import { matchTemplate, templateLabelsError, templateOf } from '../pod/template.ts'
import { defaultJobSpec, jobSpecErrors, jobSpecWarnings } from './job-spec.ts'
import { jobStatusErrors } from './job-status.ts'
import {
  beginGenerations,
  countGeneration,
  dropDisabledTemplateFields,
  hasNewGeneration,
  immutableErrors,
  keepOld,
  metadataOf,
  podNameWarnings,
  specOf,
  statusOf,
} from './template-kind.ts'

const UID_LABEL = 'batch.kubernetes.io/controller-uid'
const NAME_LABEL = 'batch.kubernetes.io/job-name'
const LEGACY_UID_LABEL = 'controller-uid'
const LEGACY_NAME_LABEL = 'job-name'

export const jobRules: KindRules = {
  applyDefaults(object) {
    const spec = ensureFields(object, 'spec')
    defaultJobSpec(spec)
    takeTemplateLabels(object)
  },
  prepareForCreate(object) {
    const spec = specOf(object)
    if (!boolean(spec, 'manualSelector')) generateSelector(object, spec)
    separateLabels(object)
    object.status = {}
    beginGenerations(object)
    dropDisabledTemplateFields(spec, undefined)
  },
  prepareForUpdate(object, old, { subresource }) {
    if (subresource === 'status') return keepOld(object, old, 'spec')
    keepOld(object, old, 'status')
    dropDisabledTemplateFields(specOf(object), specOf(old))
    countGeneration(object, old)
  },
  validateCreate: (object) => jobErrors(object, podOptions(false, undefined), true),
  validateUpdate(object, old, { subresource }) {
    if (subresource === 'status') return jobStatusErrors(object, old)
    return updateErrors(object, old)
  },
  warnings(object, old, { subresource }) {
    if (subresource === 'status') return []
    if (old === undefined) return [...podNameWarnings(object), ...jobSpecWarnings('spec', specOf(object))]
    return hasNewGeneration(object, old) ? jobSpecWarnings('spec', specOf(object)) : []
  },
  defaultPropagation: 'orphan',
  orphansByDefaultWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  selectableFields: (object) => ({ 'status.successful': String(number(statusOf(object), 'succeeded')) }),
  selectableFieldNames: ['status.successful'],
}

/**
 * A Job without labels takes those of its template: the very same map, as in the real server, so that the labels
 * generated next appear in both.
 */
function takeTemplateLabels(object: Fields): void {
  const labels = maybeObject(templateOf(specOf(object)).metadata, 'labels')
  const metadata = ensureFields(object, 'metadata')
  if (labels !== undefined && entries(metadata, 'labels').length === 0) metadata.labels = labels
}

/** From here on the two maps are separate. */
function separateLabels(object: Fields): void {
  const metadata = metadataOf(object)
  if (isSet(metadata, 'labels')) metadata.labels = { ...maybeObject(metadata, 'labels') }
}

function generateSelector(object: Fields, spec: Fields): void {
  const metadata = metadataOf(object)
  const labels = ensureFields(ensureFields(ensureFields(spec, 'template'), 'metadata'), 'labels')
  for (const key of [LEGACY_NAME_LABEL, NAME_LABEL]) if (!Object.hasOwn(labels, key)) labels[key] = string(metadata, 'name')
  for (const key of [LEGACY_UID_LABEL, UID_LABEL]) if (!Object.hasOwn(labels, key)) labels[key] = string(metadata, 'uid')
  const matchLabels = ensureFields(ensureFields(spec, 'selector'), 'matchLabels')
  if (!Object.hasOwn(matchLabels, UID_LABEL)) matchLabels[UID_LABEL] = string(metadata, 'uid')
}

/** The labels and selector that the server generates must be as it generated them. */
function generatedErrors(object: Fields, requiresPrefixed: boolean): FieldError[] {
  const spec = specOf(object)
  const selector = maybeObject(spec, 'selector')
  if (boolean(spec, 'manualSelector') || selector === undefined) return []
  const [uid, name] = [string(metadataOf(object), 'uid'), string(metadataOf(object), 'name')]
  const expected: [string, string][] = [
    [LEGACY_UID_LABEL, uid],
    [LEGACY_NAME_LABEL, name],
  ]
  if (requiresPrefixed) expected.push([UID_LABEL, uid], [NAME_LABEL, name])
  const labels = new Map(entries(templateOf(spec).metadata, 'labels'))
  const errors = uid === '' ? [required('metadata.uid')] : []
  for (const [key, value] of expected) {
    const actual = labels.get(key)
    const at = 'spec.template.metadata.labels'
    if (actual === undefined) errors.push(required(`${at}[${key}]`, `must be '${value}'`))
    else if (actual !== value) errors.push(invalid(`${at}[${key}]`, Object.fromEntries([...labels].sort()), `must be '${value}'`))
  }
  if (matchTemplate(selector, { labels: Object.fromEntries(expected) }) === 'differs') {
    errors.push(invalid('spec.selector', selectorValue(selector), '`selector` not auto-generated'))
  }
  return errors
}

function specErrors(spec: Fields, options: PodOptions): FieldError[] {
  const selector = maybeObject(spec, 'selector')
  const { metadata } = templateOf(spec)
  return [
    ...jobSpecErrors('spec', spec, options),
    ...(selector === undefined
      ? [required('spec.selector')]
      : labelSelectorErrors('spec.selector', selector, options.allowInvalidAffinitySelector)),
    ...(matchTemplate(selector, metadata) === 'differs' ? [templateLabelsError('spec.template', metadata)] : []),
  ]
}

function jobErrors(object: Fields, options: PodOptions, requiresPrefixed: boolean): FieldError[] {
  const spec = specOf(object)
  const name = string(metadataOf(object), 'name')
  const completions = number(spec, 'completions')
  const errors = [...generatedErrors(object, requiresPrefixed), ...specErrors(spec, options)]
  if (string(spec, 'completionMode') !== 'Indexed' || completions <= 0) return errors
  // Pods of an indexed Job are named after it and their index.
  const hostname = `${name}-${completions - 1}`
  if (checkDns1123Label(hostname).length === 0) return errors
  return [...errors, invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${hostname}`)]
}

function updateErrors(object: Fields, old: Fields): FieldError[] {
  const [spec, before] = [specOf(object), specOf(old)]
  const options = podOptions(false, templateOf(before))
  const hadLabels = new Set(entries(templateOf(before).metadata, 'labels').map(([key]) => key))
  const immutable = (key: string, value: unknown = raw(spec, key)): FieldError[] =>
    immutableErrors(`spec.${key}`, { next: raw(spec, key), old: raw(before, key), value })
  return [
    ...jobErrors(object, options, hadLabels.has(NAME_LABEL) && hadLabels.has(UID_LABEL)),
    ...specErrors(spec, options),
    ...completionErrors(spec, before),
    ...immutable('selector', selectorValue(maybeObject(spec, 'selector'))),
    ...templateErrors(spec, before, isWaiting(old)),
    ...immutable('completionMode'),
    ...immutable('podFailurePolicy', internalValue('PodFailurePolicy', raw(spec, 'podFailurePolicy'))),
    ...immutable('backoffLimitPerIndex'),
    ...immutable('managedBy'),
    ...immutable('successPolicy', internalValue('SuccessPolicy', raw(spec, 'successPolicy'))),
  ]
}

function completionErrors(spec: Fields, old: Fields): FieldError[] {
  const completions = maybeNumber(spec, 'completions')
  if (string(spec, 'completionMode') !== 'Indexed') {
    return immutableErrors('spec.completions', { next: completions, old: maybeNumber(old, 'completions'), value: completions })
  }
  if (completions === undefined || completions === maybeNumber(old, 'completions') || completions === number(spec, 'parallelism')) return []
  return [invalid('spec.completions', completions, 'can only be modified in tandem with spec.parallelism')]
}

/** Suspended and without running pods: a queue admits it later, so where and with what it runs may still change. */
function isWaiting(job: Fields): boolean {
  const status = statusOf(job)
  const isSuspended = objects(status, 'conditions').some((c) => string(c, 'type') === 'Suspended' && string(c, 'status') === 'True')
  return boolean(specOf(job), 'suspend') && (!isSet(status, 'startTime') || isSuspended) && number(status, 'active') === 0
}

function templateErrors(spec: Fields, old: Fields, isFree: boolean): FieldError[] {
  const next = fieldsOf(raw(spec, 'template'))
  const before = deepClone(fieldsOf(raw(old, 'template')))
  const value = () => internalValue('PodTemplateSpec', next)
  if (!isFree) return immutableErrors('spec.template', { next, old: before, value: value() })
  const [nextSpec, beforeSpec] = [fieldsOf(raw(next, 'spec')), ensureFields(before, 'spec')]
  for (const key of ['nodeSelector', 'tolerations', 'schedulingGates']) keepOld(beforeSpec, nextSpec, key)
  takeNodeAffinity(beforeSpec, nextSpec)
  for (const key of ['containers', 'initContainers']) takeResources(objects(beforeSpec, key), objects(nextSpec, key))
  return semanticEqual(nextSpec, beforeSpec, 'spec')
    ? []
    : [invalid('spec.template.spec', internalValue('PodSpec', nextSpec), 'field is immutable')]
}

function takeNodeAffinity(target: Fields, from: Fields): void {
  const affinity = { ...maybeObject(target, 'affinity') }
  const nodeAffinity = maybeObject(maybeObject(from, 'affinity'), 'nodeAffinity')
  if (nodeAffinity === undefined) delete affinity.nodeAffinity
  else affinity.nodeAffinity = nodeAffinity
  if (Object.keys(affinity).length === 0 && !isSet(from, 'affinity')) delete target.affinity
  else target.affinity = affinity
}

function takeResources(targets: readonly Fields[], from: readonly Fields[]): void {
  if (targets.length !== from.length) return
  targets.forEach((target, i) => {
    const source = from[i] ?? {}
    if (string(target, 'name') === string(source, 'name')) keepOld(target, source, 'resources')
  })
}
