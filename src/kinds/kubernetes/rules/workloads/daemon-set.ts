/** DaemonSets: a pod on every node. The count of template changes lives in an annotation, where v1 clients see it. */
import { type FieldError, invalid, required } from '../../../../kube/field-error.ts'
import type { KindRules } from '../../../kind.ts'
import { type Fields, fieldsOf, intOrText, maybeNumber, maybeObject, number, raw, string } from '../fields.ts'
import { labelSelectorErrors } from '../formats.ts'
import { ensureFields, setDefault } from '../pod/defaults.ts'
import { nonNegative, unsupported } from '../pod/errors.ts'
import { internalValue } from '../pod/internal-json.ts'
import { type PodOptions, podOptions } from '../pod/options.ts'
import { semanticEqual } from '../pod/semantic.ts'
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
import { selectorImmutableErrors } from './replica-kinds.ts'
import {
  beginGenerations,
  collisionErrors,
  countGeneration,
  defaultTemplate,
  dropDisabledTemplateFields,
  emptyStatus,
  intOrPercentErrors,
  intOrPercentNumber,
  keepOld,
  metadataOf,
  over100PercentErrors,
  specOf,
  statusOf,
} from './template-kind.ts'

const PATH = 'spec.template'
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'
const ALWAYS_WRITTEN = ['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady']
const COUNTERS = [
  ...ALWAYS_WRITTEN,
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
]

function templateGeneration(object: Fields): number {
  const value = string(maybeObject(metadataOf(object), 'annotations'), TEMPLATE_GENERATION)
  return /^-?\d+$/.test(value) ? Number(value) : 0
}

const setTemplateGeneration = (object: Fields, generation: number): void => {
  ensureFields(ensureFields(object, 'metadata'), 'annotations')[TEMPLATE_GENERATION] = String(generation)
}

export const daemonSetRules: KindRules = {
  applyDefaults(object) {
    // The number is a field of the real server's internal type: it is always present, and never sent.
    setTemplateGeneration(object, templateGeneration(object))
    const spec = ensureFields(object, 'spec')
    const strategy = ensureFields(spec, 'updateStrategy')
    if (string(strategy, 'type') === '') strategy.type = 'RollingUpdate'
    if (strategy.type === 'RollingUpdate') {
      const rolling = ensureFields(strategy, 'rollingUpdate')
      setDefault(rolling, 'maxUnavailable', 1)
      setDefault(rolling, 'maxSurge', 0)
    } else if (maybeObject(strategy, 'rollingUpdate') !== undefined) {
      // A rollingUpdate that another strategy ignores still gets its zero values.
      const rolling = ensureFields(strategy, 'rollingUpdate')
      setDefault(rolling, 'maxUnavailable', 0)
      setDefault(rolling, 'maxSurge', 0)
    }
    setDefault(spec, 'revisionHistoryLimit', 10)
    defaultTemplate(spec)
  },
  prepareForCreate(object) {
    object.status = emptyStatus(...ALWAYS_WRITTEN)
    beginGenerations(object)
    setTemplateGeneration(object, Math.max(1, templateGeneration(object)))
    dropDisabledTemplateFields(specOf(object), undefined)
  },
  prepareForUpdate(object, old, { subresource }) {
    if (subresource === 'status') {
      setTemplateGeneration(object, templateGeneration(old))
      return keepOld(object, old, 'spec')
    }
    dropDisabledTemplateFields(specOf(object), specOf(old))
    keepOld(object, old, 'status')
    const isNewTemplate = !semanticEqual(raw(specOf(object), 'template'), raw(specOf(old), 'template'), 'template')
    setTemplateGeneration(object, templateGeneration(old) + (isNewTemplate ? 1 : 0))
    countGeneration(object, old, isNewTemplate || !semanticEqual(specOf(object), specOf(old), 'spec'))
  },
  annotationsOfFields: [TEMPLATE_GENERATION],
  validateCreate: (object) => daemonSetErrors(object, podOptions(false, undefined)),
  validateUpdate(object, old, { subresource }) {
    if (subresource === 'status') {
      const counters = COUNTERS.flatMap((key) => nonNegative(`status.${key}`, maybeNumber(statusOf(object), key)))
      return [...counters, ...collisionErrors(statusOf(object), statusOf(old))]
    }
    const options = podOptions(false, templateOf(specOf(old)))
    return [...selectorImmutableErrors(specOf(object), specOf(old)), ...daemonSetErrors(object, options)]
  },
  warnings(object, old, { subresource }) {
    if (subresource === 'status') return []
    const isNewTemplate = old === undefined || templateGeneration(object) !== templateGeneration(old)
    return isNewTemplate ? podWarnings(PATH, templateOf(specOf(object))) : []
  },
}

function daemonSetErrors(object: Fields, options: PodOptions): FieldError[] {
  const spec = specOf(object)
  const template = templateOf(spec)
  const selector = maybeObject(spec, 'selector')
  return [
    ...labelSelectorErrors('spec.selector', selector, options.allowInvalidAffinitySelector),
    ...(matchTemplate(selector, template.metadata) === 'differs' ? [templateLabelsError(PATH, template.metadata)] : []),
    ...(selector !== undefined && isEmptySelector(selector) ? [emptySelectorError('spec.selector', selector, 'daemonset')] : []),
    ...validatePodTemplate(PATH, template, options),
    ...longRunningErrors(PATH, template, 'DaemonSet'),
    ...nonNegative('spec.minReadySeconds', number(spec, 'minReadySeconds')),
    ...nonNegative('spec.templateGeneration', templateGeneration(object)),
    ...strategyErrors('spec.updateStrategy', fieldsOf(raw(spec, 'updateStrategy'))),
    ...nonNegative('spec.revisionHistoryLimit', maybeNumber(spec, 'revisionHistoryLimit')),
  ]
}

function strategyErrors(path: string, strategy: Fields): FieldError[] {
  const rolling = maybeObject(strategy, 'rollingUpdate')
  const type = string(strategy, 'type')
  if (type === 'OnDelete') return []
  if (type !== 'RollingUpdate') {
    return [unsupported(path, internalValue('DaemonSetUpdateStrategy', strategy), ['RollingUpdate', 'OnDelete'])]
  }
  return rolling === undefined ? [required(`${path}.rollingUpdate`)] : rollingErrors(`${path}.rollingUpdate`, rolling)
}

function rollingErrors(path: string, rolling: Fields): FieldError[] {
  const [unavailable, surge] = [intOrText(rolling, 'maxUnavailable'), intOrText(rolling, 'maxSurge')]
  const errors = [
    ...intOrPercentErrors(`${path}.maxUnavailable`, unavailable),
    ...intOrPercentErrors(`${path}.maxSurge`, surge),
    ...over100PercentErrors(`${path}.maxUnavailable`, unavailable),
    ...over100PercentErrors(`${path}.maxSurge`, surge),
  ]
  const [hasUnavailable, hasSurge] = [intOrPercentNumber(unavailable) !== 0, intOrPercentNumber(surge) !== 0]
  if (hasUnavailable && hasSurge) errors.push(invalid(`${path}.maxSurge`, surge, 'may not be set when maxUnavailable is non-zero'))
  if (!hasUnavailable && !hasSurge) errors.push(required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'))
  return errors
}
