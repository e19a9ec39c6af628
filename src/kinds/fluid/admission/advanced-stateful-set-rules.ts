/** Validation of an AdvancedStatefulSet: what the server checks for a StatefulSet, as far as it applies. Replicas are checked with the scale. */
import { deepEqual } from '../../../base/json.ts'
import { child, type FieldError, forbidden, invalid, notSupported, omittedValue, required } from '../../../kube/field-error.ts'
import { matchesLabels, selectorFromObject } from '../../../kube/selector.ts'
import type { AdvancedStatefulSetSpec } from '../index.ts'
import { reservedOrdinals } from '../reserved-ordinals.ts'
import { tooManyReplicas } from './replica-rules.ts'

const PERCENT = /^\d{1,3}%$/

export function advancedStatefulSetErrors(spec: AdvancedStatefulSetSpec | undefined): FieldError[] {
  if (spec === undefined) return [required('spec', 'say which pods there are: selector and template')]
  const { updateStrategy, scaleStrategy, persistentVolumeClaimRetentionPolicy: retention } = spec
  const rolling = updateStrategy?.rollingUpdate
  const ordinals = reservedOrdinals(spec.reserveOrdinals)
  return [
    ...selectorErrors(spec),
    ...tooManyReplicas('spec.replicas', spec.replicas),
    ...negative('spec.revisionHistoryLimit', spec.revisionHistoryLimit),
    ...negative('spec.ordinals.start', spec.ordinals?.start),
    ...negative('spec.updateStrategy.rollingUpdate.partition', rolling?.partition),
    ...negative('spec.updateStrategy.rollingUpdate.minReadySeconds', rolling?.minReadySeconds),
    ...(ordinals.error === undefined ? [] : [invalid('spec.reserveOrdinals', omittedValue, ordinals.error)]),
    ...unknown('spec.podManagementPolicy', spec.podManagementPolicy, ['OrderedReady', 'Parallel']),
    ...unknown('spec.updateStrategy.type', updateStrategy?.type, ['RollingUpdate', 'OnDelete']),
    ...unknown('spec.updateStrategy.rollingUpdate.podUpdatePolicy', rolling?.podUpdatePolicy, [
      'ReCreate',
      'InPlaceIfPossible',
      'InPlaceOnly',
    ]),
    ...unknown('spec.persistentVolumeClaimRetentionPolicy.whenDeleted', retention?.whenDeleted, ['Retain', 'Delete']),
    ...unknown('spec.persistentVolumeClaimRetentionPolicy.whenScaled', retention?.whenScaled, ['Retain', 'Delete']),
    ...share('spec.updateStrategy.rollingUpdate.maxUnavailable', rolling?.maxUnavailable),
    ...share('spec.scaleStrategy.maxUnavailable', scaleStrategy?.maxUnavailable),
    ...restartErrors(spec),
  ]
}

function selectorErrors({ selector, template }: AdvancedStatefulSetSpec): FieldError[] {
  const { value, error } = selectorFromObject(selector as Parameters<typeof selectorFromObject>[0])
  if (value === undefined) return [invalid('spec.selector', omittedValue, error ?? 'say which pods belong to this set')]
  if (value.length === 0)
    return [invalid('spec.selector', omittedValue, 'it selects every pod: name labels that only the pods of this set have')]
  if (matchesLabels(value, template?.metadata?.labels)) return []
  return [
    invalid('spec.template.metadata.labels', omittedValue, '`selector` does not match template `labels`: give the template these labels'),
  ]
}

function restartErrors({ template }: AdvancedStatefulSetSpec): FieldError[] {
  const policy = template?.spec?.restartPolicy
  return policy === undefined || policy === 'Always' ? [] : [notSupported('spec.template.spec.restartPolicy', policy, ['Always'])]
}

const negative = (field: string, value: number | undefined): FieldError[] =>
  value !== undefined && value < 0 ? [invalid(field, value, 'must be greater than or equal to 0')] : []

const unknown = (field: string, value: string | undefined, known: readonly string[]): FieldError[] =>
  value === undefined || value === '' || known.includes(value) ? [] : [notSupported(field, value, known)]

/** A number of pods, or a percentage. */
const share = (field: string, value: number | string | undefined): FieldError[] =>
  value === undefined || (typeof value === 'number' ? value >= 0 : PERCENT.test(value))
    ? []
    : [invalid(field, omittedValue, 'is neither a number of pods nor a percentage: write for example 1 or "10%"')]

const IMMUTABLE = ['selector', 'serviceName', 'podManagementPolicy', 'volumeClaimTemplates'] as const

export function immutableErrors(spec: AdvancedStatefulSetSpec | undefined, old: AdvancedStatefulSetSpec | undefined): FieldError[] {
  return IMMUTABLE.filter((field) => !deepEqual(spec?.[field], old?.[field])).map((field) =>
    forbidden(child('spec', field), 'cannot change, because the pods that exist depend on it: delete the set and make it again'),
  )
}
