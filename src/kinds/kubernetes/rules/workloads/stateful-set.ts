/** StatefulSets: pods with names and claims of their own. */
import { type FieldError, forbidden, invalid, required } from '../../../../kube/field-error.ts'
import { nameIsDnsLabel } from '../../../../kube/names.ts'
import type { KindRules } from '../../../kind.ts'
import { type Fields, fieldsOf, intOrText, isSet, maybeNumber, maybeObject, number, objects, raw, string } from '../fields.ts'
import { dnsLabelErrors, labelErrors } from '../formats.ts'
import { annotationErrors, podAnnotationErrors } from '../pod/annotations.ts'
import { claimSpecErrors, claimSpecWarnings } from '../pod/claim-spec.ts'
import { defaultClaimSpec, ensureFields, setDefault } from '../pod/defaults.ts'
import { nonNegative, unsupported } from '../pod/errors.ts'
import { internalValue } from '../pod/internal-json.ts'
import { type PodOptions, podOptions, type SpecAndMeta } from '../pod/options.ts'
import { semanticEqual } from '../pod/semantic.ts'
import { longRunningErrors, matchTemplate, templateLabelsError, templateOf, validatePodTemplate } from '../pod/template.ts'
import { podWarnings } from '../pod/warnings.ts'
import { selectorErrors } from './replica-kinds.ts'
import {
  beginGenerations,
  collisionErrors,
  counterErrors,
  countGeneration,
  defaultTemplate,
  dropDisabledTemplateFields,
  emptyStatus,
  hasNewGeneration,
  intOrPercentErrors,
  intOrPercentNumber,
  keepOld,
  over100PercentErrors,
  specOf,
  statusOf,
} from './template-kind.ts'

const PATH = 'spec.template'
const RETENTION = ['Retain', 'Delete']
const STATUS_RULES = {
  counters: [
    'replicas',
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
    'observedGeneration',
    'collisionCount',
  ],
  parts: ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
  ready: 'cannot be greater than status.readyReplicas',
}
const MUTABLE = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
]
const FORBIDDEN_UPDATE =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"

export const statefulSetRules: KindRules = {
  validateName: nameIsDnsLabel,
  applyDefaults,
  prepareForCreate(object) {
    object.status = emptyStatus('replicas', 'availableReplicas')
    beginGenerations(object)
    dropMaxUnavailable(specOf(object), undefined)
    dropDisabledTemplateFields(specOf(object), undefined)
  },
  prepareForUpdate(object, old, { subresource }) {
    if (subresource === 'status') return keepOld(object, old, 'spec')
    keepOld(object, old, 'status')
    dropMaxUnavailable(specOf(object), specOf(old))
    dropDisabledTemplateFields(specOf(object), specOf(old))
    countGeneration(object, old)
  },
  validateCreate: (object) => statefulSetErrors(specOf(object), podOptions(false, undefined), { isUpdate: false, skipsTemplate: false }),
  validateUpdate(object, old, { subresource }) {
    if (subresource === 'status') {
      return [...counterErrors(statusOf(object), STATUS_RULES), ...collisionErrors(statusOf(object), statusOf(old))]
    }
    return updateErrors(specOf(object), specOf(old))
  },
  warnings(object, old, { subresource }) {
    if (subresource === 'status') return []
    const spec = specOf(object)
    const limit = number(spec, 'revisionHistoryLimit')
    return [
      ...(old === undefined || hasNewGeneration(object, old) ? podWarnings(PATH, templateOf(spec)) : []),
      ...objects(spec, 'volumeClaimTemplates').flatMap((claim, i) =>
        claimSpecWarnings(`spec.volumeClaimTemplates[${i}]${old === undefined ? '' : '.Spec'}`, fieldsOf(raw(claim, 'spec'))),
      ),
      ...(limit < 0 ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended'] : []),
    ]
  },
}

function applyDefaults(object: Fields): void {
  const spec = ensureFields(object, 'spec')
  if (string(spec, 'podManagementPolicy') === '') spec.podManagementPolicy = 'OrderedReady'
  const strategy = ensureFields(spec, 'updateStrategy')
  if (string(strategy, 'type') === '') {
    strategy.type = 'RollingUpdate'
    ensureFields(strategy, 'rollingUpdate')
  }
  const rolling = maybeObject(strategy, 'rollingUpdate')
  if (strategy.type === 'RollingUpdate' && rolling !== undefined) setDefault(rolling, 'partition', 0)
  const retention = ensureFields(spec, 'persistentVolumeClaimRetentionPolicy')
  if (string(retention, 'whenDeleted') === '') retention.whenDeleted = 'Retain'
  if (string(retention, 'whenScaled') === '') retention.whenScaled = 'Retain'
  setDefault(spec, 'replicas', 1)
  setDefault(spec, 'revisionHistoryLimit', 10)
  defaultTemplate(spec)
  for (const claim of objects(spec, 'volumeClaimTemplates')) {
    claim.apiVersion = 'v1'
    claim.kind = 'PersistentVolumeClaim'
    defaultClaimSpec(ensureFields(claim, 'spec'))
    const status = ensureFields(claim, 'status')
    if (string(status, 'phase') === '') status.phase = 'Pending'
  }
}

/** Behind a gate that is off. */
function dropMaxUnavailable(spec: Fields, old: Fields | undefined): void {
  const rolling = (from: Fields | undefined) => maybeObject(maybeObject(from, 'updateStrategy'), 'rollingUpdate')
  if (!isSet(rolling(old), 'maxUnavailable')) delete rolling(spec)?.maxUnavailable
}

function updateErrors(spec: Fields, old: Fields): FieldError[] {
  const options = podOptions(false, templateOf(old))
  const wasInvalid = statefulSetErrors(old, options, { isUpdate: true, skipsTemplate: false }).length > 0
  const errors = statefulSetErrors(spec, options, { isUpdate: true, skipsTemplate: wasInvalid })
  const rest = (from: Fields): Fields => Object.fromEntries(Object.entries(from).filter(([key]) => !MUTABLE.includes(key)))
  return semanticEqual(rest(spec), rest(old)) ? errors : [...errors, forbidden('spec', FORBIDDEN_UPDATE)]
}

/** On update the immutable parts are not validated again; a template that was already invalid may stay so. */
function statefulSetErrors(spec: Fields, options: PodOptions, mode: { isUpdate: boolean; skipsTemplate: boolean }): FieldError[] {
  const policy = string(spec, 'podManagementPolicy')
  const serviceName = string(spec, 'serviceName')
  const claims = objects(spec, 'volumeClaimTemplates')
  return [
    ...managementErrors(policy),
    ...strategyErrors('spec.updateStrategy', fieldsOf(raw(spec, 'updateStrategy'))),
    ...retentionErrors('spec.persistentVolumeClaimRetentionPolicy', maybeObject(spec, 'persistentVolumeClaimRetentionPolicy')),
    ...(mode.isUpdate
      ? []
      : claims.flatMap((claim, i) => claimSpecErrors(`spec.volumeClaimTemplates[${i}].spec`, fieldsOf(raw(claim, 'spec'))))),
    ...nonNegative('spec.replicas', number(spec, 'replicas')),
    ...nonNegative('spec.minReadySeconds', number(spec, 'minReadySeconds')),
    ...nonNegative('spec.ordinals.start', maybeNumber(maybeObject(spec, 'ordinals'), 'start')),
    ...(mode.isUpdate || serviceName === '' ? [] : dnsLabelErrors('spec.serviceName', serviceName)),
    ...selectorErrors(spec, 'statefulset', () => templateErrors(spec, options, mode.skipsTemplate)),
    ...longRunningErrors(PATH, templateOf(spec), 'StatefulSet'),
  ]
}

const managementErrors = (policy: string): FieldError[] => {
  if (policy === '') return [required('spec.podManagementPolicy')]
  if (policy === 'OrderedReady' || policy === 'Parallel') return []
  return [invalid('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'")]
}

/** Host names come from the set itself, and its claims are volumes of every pod. */
function templateErrors(spec: Fields, options: PodOptions, skipsTemplate: boolean): FieldError[] {
  const template = templateOf(spec)
  const judged: SpecAndMeta = { metadata: template.metadata, spec: withClaimVolumes(template.spec, objects(spec, 'volumeClaimTemplates')) }
  const { metadata } = judged
  return [
    ...(matchTemplate(maybeObject(spec, 'selector'), metadata) === 'differs' ? [templateLabelsError(PATH, metadata)] : []),
    ...(skipsTemplate ? [] : validatePodTemplate(PATH, judged, options)),
    ...labelErrors(`${PATH}.labels`, metadata, 'labels'),
    ...annotationErrors(`${PATH}.annotations`, metadata),
    ...podAnnotationErrors(`${PATH}.annotations`, judged, options),
  ]
}

function withClaimVolumes(spec: Fields, claims: readonly Fields[]): Fields {
  const judged: Fields = { ...spec, subdomain: '', hostname: '' }
  if (claims.length === 0) return judged
  const names = new Set(claims.map((claim) => string(maybeObject(claim, 'metadata'), 'name')))
  judged.volumes = [
    ...[...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
    ...objects(spec, 'volumes').filter((volume) => !names.has(string(volume, 'name'))),
  ]
  return judged
}

function strategyErrors(path: string, strategy: Fields): FieldError[] {
  const rolling = maybeObject(strategy, 'rollingUpdate')
  switch (string(strategy, 'type')) {
    case '':
      return [required(path)]
    case 'OnDelete':
      return rolling === undefined
        ? []
        : [
            invalid(
              `${path}.rollingUpdate`,
              internalValue('RollingUpdateStatefulSetStrategy', rolling),
              "only allowed for updateStrategy 'RollingUpdate'",
            ),
          ]
    case 'RollingUpdate':
      return rolling === undefined ? [] : rollingErrors(`${path}.rollingUpdate`, rolling)
    default:
      return [invalid(path, internalValue('StatefulSetUpdateStrategy', strategy), "must be 'RollingUpdate' or 'OnDelete'")]
  }
}

function rollingErrors(path: string, rolling: Fields): FieldError[] {
  const errors = nonNegative(`${path}.partition`, number(rolling, 'partition'))
  if (!isSet(rolling, 'maxUnavailable')) return errors
  const unavailable = intOrText(rolling, 'maxUnavailable')
  errors.push(...intOrPercentErrors(`${path}.maxUnavailable`, unavailable))
  if (intOrPercentNumber(unavailable) === 0) errors.push(invalid(`${path}.maxUnavailable`, unavailable, 'cannot be 0'))
  return [...errors, ...over100PercentErrors(`${path}.maxUnavailable`, unavailable)]
}

const retentionErrors = (path: string, policy: Fields | undefined): FieldError[] =>
  policy === undefined
    ? []
    : ['whenDeleted', 'whenScaled'].flatMap((key) =>
        RETENTION.includes(string(policy, key)) ? [] : [unsupported(`${path}.${key}`, string(policy, key), RETENTION)],
      )
