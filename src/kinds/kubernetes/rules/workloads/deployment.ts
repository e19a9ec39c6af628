/** Deployments: rolling updates from one ReplicaSet to the next. */
import { type FieldError, forbidden, invalid, required } from '../../../../kube/field-error.ts'
import type { KindRules } from '../../../kind.ts'
import { type Fields, fieldsOf, intOrText, maybeNumber, maybeObject, number, raw, string } from '../fields.ts'
import { ensureFields, setDefault } from '../pod/defaults.ts'
import { nonNegative, unsupported } from '../pod/errors.ts'
import { internalValue } from '../pod/internal-json.ts'
import { type PodOptions, podOptions } from '../pod/options.ts'
import { semanticEqual } from '../pod/semantic.ts'
import { templateOf } from '../pod/template.ts'
import { podWarnings } from '../pod/warnings.ts'
import { replicaTemplateErrors, selectorErrors, selectorImmutableErrors } from './replica-kinds.ts'
import {
  beginGenerations,
  collisionErrors,
  counterErrors,
  countGeneration,
  defaultTemplate,
  dropDisabledTemplateFields,
  hasNewGeneration,
  intOrPercentErrors,
  intOrPercentNumber,
  keepOld,
  metadataOf,
  over100PercentErrors,
  podNameWarnings,
  specOf,
  statusOf,
} from './template-kind.ts'

const PATH = 'spec.template'
const STATUS_RULES = {
  counters: [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
    'collisionCount',
  ],
  parts: ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  ready: 'cannot be greater than readyReplicas',
}

export const deploymentRules: KindRules = {
  applyDefaults(object) {
    const spec = ensureFields(object, 'spec')
    setDefault(spec, 'replicas', 1)
    const strategy = ensureFields(spec, 'strategy')
    if (string(strategy, 'type') === '') strategy.type = 'RollingUpdate'
    if (strategy.type === 'RollingUpdate') {
      const rolling = ensureFields(strategy, 'rollingUpdate')
      setDefault(rolling, 'maxUnavailable', '25%')
      setDefault(rolling, 'maxSurge', '25%')
    }
    setDefault(spec, 'revisionHistoryLimit', 10)
    setDefault(spec, 'progressDeadlineSeconds', 600)
    defaultTemplate(spec)
  },
  prepareForCreate(object) {
    object.status = {}
    beginGenerations(object)
    dropDisabledTemplateFields(specOf(object), undefined)
  },
  prepareForUpdate(object, old, { subresource }) {
    if (subresource === 'status') {
      keepOld(object, old, 'spec')
      keepOld(ensureFields(object, 'metadata'), metadataOf(old), 'labels')
      return
    }
    keepOld(object, old, 'status')
    dropDisabledTemplateFields(specOf(object), specOf(old))
    // Annotations count too: they are copied to the ReplicaSets.
    const hasChanged =
      !semanticEqual(specOf(object), specOf(old), 'spec') ||
      !semanticEqual(raw(metadataOf(object), 'annotations'), raw(metadataOf(old), 'annotations'), 'annotations')
    countGeneration(object, old, hasChanged)
  },
  validateCreate: (object) => deploymentErrors(specOf(object), podOptions(false, undefined)),
  validateUpdate(object, old, { subresource }) {
    if (subresource === 'status') {
      return [...counterErrors(statusOf(object), STATUS_RULES), ...collisionErrors(statusOf(object), statusOf(old))]
    }
    const [spec, before] = [specOf(object), specOf(old)]
    return [...deploymentErrors(spec, podOptions(false, templateOf(before))), ...selectorImmutableErrors(spec, before)]
  },
  warnings(object, old, { subresource }) {
    if (subresource === 'status') return []
    if (old === undefined) return [...podNameWarnings(object), ...podWarnings(PATH, templateOf(specOf(object)))]
    return hasNewGeneration(object, old) ? podWarnings(PATH, templateOf(specOf(object))) : []
  },
}

function deploymentErrors(spec: Fields, options: PodOptions): FieldError[] {
  const deadline = maybeNumber(spec, 'progressDeadlineSeconds')
  const minReady = number(spec, 'minReadySeconds')
  return [
    ...nonNegative('spec.replicas', number(spec, 'replicas')),
    ...selectorErrors(spec, 'deployment', () => replicaTemplateErrors(spec, options, 'ReplicaSet')),
    ...strategyErrors('spec.strategy', fieldsOf(raw(spec, 'strategy'))),
    ...nonNegative('spec.minReadySeconds', minReady),
    ...nonNegative('spec.revisionHistoryLimit', maybeNumber(spec, 'revisionHistoryLimit')),
    ...nonNegative('spec.progressDeadlineSeconds', deadline),
    ...(deadline !== undefined && deadline <= minReady
      ? [invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')]
      : []),
  ]
}

function strategyErrors(path: string, strategy: Fields): FieldError[] {
  const rolling = maybeObject(strategy, 'rollingUpdate')
  switch (string(strategy, 'type')) {
    case 'Recreate':
      return rolling === undefined ? [] : [forbidden(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")]
    case 'RollingUpdate':
      return rolling === undefined
        ? [required(`${path}.rollingUpdate`, 'this should be defaulted and never be nil')]
        : rollingErrors(`${path}.rollingUpdate`, rolling)
    default:
      return [unsupported(path, internalValue('DeploymentStrategy', strategy), ['Recreate', 'RollingUpdate'])]
  }
}

function rollingErrors(path: string, rolling: Fields): FieldError[] {
  const [unavailable, surge] = [intOrText(rolling, 'maxUnavailable'), intOrText(rolling, 'maxSurge')]
  const errors = [...intOrPercentErrors(`${path}.maxUnavailable`, unavailable), ...intOrPercentErrors(`${path}.maxSurge`, surge)]
  if (intOrPercentNumber(unavailable) === 0 && intOrPercentNumber(surge) === 0) {
    errors.push(invalid(`${path}.maxUnavailable`, unavailable, 'may not be 0 when `maxSurge` is 0'))
  }
  return [...errors, ...over100PercentErrors(`${path}.maxUnavailable`, unavailable)]
}
