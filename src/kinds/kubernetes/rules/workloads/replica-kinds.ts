/** ReplicationControllers and ReplicaSets: a number of identical pods. */
import { type FieldError, invalid, required } from '../../../../kube/field-error.ts'
import { nameIsLongName } from '../../../../kube/names.ts'
import type { KindRules } from '../../../kind.ts'
import { entries, type Fields, isFields, isSet, maybeNumber, maybeObject, number, raw, string } from '../fields.ts'
import { labelSelectorErrors } from '../formats.ts'
import { ensureFields, setDefault } from '../pod/defaults.ts'
import { nonNegative, unsupported } from '../pod/errors.ts'
import { selectorValue } from '../pod/internal-json.ts'
import { type PodOptions, podOptions } from '../pod/options.ts'
import {
  emptySelectorError,
  isEmptySelector,
  longRunningErrors,
  matchTemplate,
  templateLabelsError,
  templateOf,
  validatePodTemplate,
} from '../pod/template.ts'
import { podWarnings } from '../pod/warnings.ts'
import {
  beginGenerations,
  counterErrors,
  countGeneration,
  defaultTemplate,
  dropDisabledTemplateFields,
  emptyStatus,
  hasNewGeneration,
  immutableErrors,
  keepOld,
  podNameWarnings,
  specOf,
  statusOf,
} from './template-kind.ts'

const PATH = 'spec.template'
const STATUS_RULES = {
  counters: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'],
  parts: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  ready: 'cannot be greater than readyReplicas',
}

/** Template checks of every kind that counts replicas. `kind` is how the message about deadlines names it. */
export function replicaTemplateErrors(spec: Fields, options: PodOptions, kind: string): FieldError[] {
  const template = templateOf(spec)
  const match = matchTemplate(maybeObject(spec, 'selector'), template.metadata)
  return [
    ...(match === 'differs' ? [templateLabelsError(PATH, template.metadata)] : []),
    ...validatePodTemplate(PATH, template, options),
    ...longRunningErrors(PATH, template, kind),
  ]
}

/** The selector that a kind must have, and then the template it selects. */
export function selectorErrors(spec: Fields, kind: string, templateErrors: () => FieldError[]): FieldError[] {
  const selector = maybeObject(spec, 'selector')
  const errors: FieldError[] = []
  if (selector === undefined) errors.push(required('spec.selector'))
  else {
    errors.push(...labelSelectorErrors('spec.selector', selector))
    if (isEmptySelector(selector)) errors.push(emptySelectorError('spec.selector', selector, kind))
  }
  if (matchTemplate(selector, {}) === 'invalid') {
    return [...errors, invalid('spec.selector', selectorValue(selector), kind === 'statefulset' ? '' : 'invalid label selector')]
  }
  return [...errors, ...templateErrors()]
}

export const selectorImmutableErrors = (spec: Fields, old: Fields): FieldError[] => {
  const selector = maybeObject(spec, 'selector')
  return immutableErrors('spec.selector', { next: selector, old: maybeObject(old, 'selector'), value: selectorValue(selector) })
}

const replicaSetErrors = (spec: Fields, options: PodOptions): FieldError[] => [
  ...nonNegative('spec.replicas', number(spec, 'replicas')),
  ...nonNegative('spec.minReadySeconds', number(spec, 'minReadySeconds')),
  ...selectorErrors(spec, 'deployment', () => replicaTemplateErrors(spec, options, 'ReplicaSet')),
]

export const replicaSetRules: KindRules = {
  applyDefaults(object) {
    const spec = ensureFields(object, 'spec')
    setDefault(spec, 'replicas', 1)
    defaultTemplate(spec)
  },
  prepareForCreate(object) {
    object.status = emptyStatus('replicas')
    beginGenerations(object)
    dropDisabledTemplateFields(specOf(object), undefined)
  },
  prepareForUpdate(object, old, { subresource }) {
    if (subresource === 'status') return keepOld(object, old, 'spec')
    keepOld(object, old, 'status')
    dropDisabledTemplateFields(specOf(object), specOf(old))
    countGeneration(object, old)
  },
  validateCreate: (object) => replicaSetErrors(specOf(object), podOptions(false, undefined)),
  validateUpdate(object, old, { subresource }) {
    const [spec, before] = [specOf(object), specOf(old)]
    if (subresource === 'status') {
      const terminating = nonNegative('status.terminatingReplicas', maybeNumber(statusOf(object), 'terminatingReplicas'))
      return [...counterErrors(statusOf(object), STATUS_RULES), ...terminating]
    }
    return [...replicaSetErrors(spec, podOptions(false, templateOf(before))), ...selectorImmutableErrors(spec, before)]
  },
  warnings(object, old, { subresource }) {
    if (subresource === 'status') return []
    if (old === undefined) return [...podNameWarnings(object), ...podWarnings(PATH, templateOf(specOf(object)))]
    return hasNewGeneration(object, old) ? podWarnings(PATH, templateOf(specOf(object))) : []
  },
  selectableFieldNames: [],
}

function controllerErrors(spec: Fields, options: PodOptions): FieldError[] {
  const selector = entries(spec, 'selector')
  const errors = [
    ...nonNegative('spec.minReadySeconds', number(spec, 'minReadySeconds')),
    ...(selector.length === 0 ? [required('spec.selector')] : []),
    ...nonNegative('spec.replicas', number(spec, 'replicas')),
  ]
  if (!isSet(spec, 'template')) return [...errors, required(PATH)]
  const template = templateOf(spec)
  const labels = new Map(entries(template.metadata, 'labels'))
  if (selector.some(([key, value]) => labels.get(key) !== value)) errors.push(templateLabelsError(PATH, template.metadata))
  const policy = string(template.spec, 'restartPolicy')
  return [
    ...errors,
    ...validatePodTemplate(PATH, template, options),
    ...(policy === 'Always' ? [] : [unsupported(`${PATH}.spec.restartPolicy`, policy, ['Always'])]),
    ...longRunningErrors(PATH, template, 'ReplicationController').filter((error) => error.type === 'Forbidden'),
  ]
}

export const replicationControllerRules: KindRules = {
  validateName: nameIsLongName,
  applyDefaults(object) {
    const spec = ensureFields(object, 'spec')
    setDefault(spec, 'replicas', 1)
    if (isFields(raw(spec, 'template'))) {
      defaultTemplate(spec)
      const labels = entries(templateOf(spec).metadata, 'labels')
      if (labels.length > 0) {
        if (entries(spec, 'selector').length === 0) spec.selector = Object.fromEntries(labels)
        const metadata = ensureFields(object, 'metadata')
        if (entries(metadata, 'labels').length === 0) metadata.labels = Object.fromEntries(labels)
      }
    }
  },
  prepareForCreate(object) {
    object.status = emptyStatus('replicas')
    beginGenerations(object)
    dropDisabledTemplateFields(specOf(object), undefined)
  },
  prepareForUpdate(object, old, { subresource }) {
    if (subresource === 'status') return keepOld(object, old, 'spec')
    keepOld(object, old, 'status')
    dropDisabledTemplateFields(specOf(object), specOf(old))
    countGeneration(object, old)
  },
  validateCreate: (object) => controllerErrors(specOf(object), podOptions(false, undefined)),
  validateUpdate(object, old, { subresource }) {
    if (subresource === 'status') return counterErrors(statusOf(object), STATUS_RULES)
    return controllerErrors(specOf(object), podOptions(false, templateOf(specOf(old))))
  },
  warnings(object, old, { subresource }) {
    if (subresource === 'status') return []
    if (old === undefined) return [...podNameWarnings(object), ...podWarnings(PATH, templateOf(specOf(object)))]
    // The real server looks at the stored template here.
    return hasNewGeneration(object, old) ? podWarnings(PATH, templateOf(specOf(old))) : []
  },
  defaultPropagation: 'orphan',
  selectableFields: (object) => ({ 'status.replicas': String(number(statusOf(object), 'replicas')) }),
  selectableFieldNames: ['status.replicas'],
}
