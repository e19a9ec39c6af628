/** PodDisruptionBudget: a floor or a ceiling on pods, as a number or a percentage. */
import { child, type FieldError, invalid } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkPercent, nameIsPathSegment } from '../../../../kube/names.ts'
import type { KindRules } from '../../../kind.ts'
import { type Fields, field, maybeObject, maybeString, number, object, restore } from '../fields.ts'
import { labelSelectorErrors } from '../formats.ts'
import { countChange, startGeneration } from '../generation.ts'
import { invalidEach, nonNegative, unsupported } from '../pod/errors.ts'
import { conditionErrors } from './conditions.ts'

function intOrPercentErrors(path: string, value: unknown): FieldError[] {
  if (typeof value === 'number') return nonNegative(path, value)
  if (typeof value !== 'string') return []
  const errors = invalidEach(path, value, checkPercent(value))
  if (errors.length === 0 && Number(value.slice(0, -1)) > 100) errors.push(invalid(path, value, 'must not be greater than 100%'))
  return errors
}

function budgetErrors(budget: KubeObject, old?: KubeObject): FieldError[] {
  const spec = object(budget, 'spec')
  const [floor, ceiling] = [field(spec, 'minAvailable'), field(spec, 'maxUnavailable')]
  const errors: FieldError[] = []
  if (floor !== undefined && ceiling !== undefined)
    errors.push(invalid('spec', internalSpec(spec), 'minAvailable and maxUnavailable cannot be both set'))
  errors.push(...intOrPercentErrors('spec.minAvailable', floor), ...intOrPercentErrors('spec.maxUnavailable', ceiling))
  const tolerant = old !== undefined && labelSelectorErrors('', maybeObject(object(old, 'spec'), 'selector')).length > 0
  errors.push(...labelSelectorErrors('spec.selector', maybeObject(spec, 'selector'), tolerant))
  const policy = maybeString(spec, 'unhealthyPodEvictionPolicy')
  const policies = ['AlwaysAllow', 'IfHealthyBudget']
  if (policy !== undefined && !policies.includes(policy)) errors.push(unsupported('spec.unhealthyPodEvictionPolicy', policy, policies))
  return errors
}

const internalSpec = (spec: Fields): Fields => ({
  MinAvailable: field(spec, 'minAvailable') ?? null,
  Selector: field(spec, 'selector') ?? null,
  MaxUnavailable: field(spec, 'maxUnavailable') ?? null,
  UnhealthyPodEvictionPolicy: field(spec, 'unhealthyPodEvictionPolicy') ?? null,
})

function statusErrors(budget: KubeObject): FieldError[] {
  const status = object(budget, 'status')
  return [
    ...conditionErrors('status.conditions', status),
    ...['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'].flatMap((key) =>
      nonNegative(child('status', key), number(status, key)),
    ),
  ]
}

export const podDisruptionBudgetRules: KindRules = {
  prepareForCreate(budget) {
    budget.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
    startGeneration(budget)
  },
  prepareForUpdate(budget, old, { subresource }) {
    if (subresource === 'status') {
      restore(budget, old, 'spec')
      return
    }
    restore(budget, old, 'status')
    countChange(budget, old)
  },
  validateCreate: (budget) => budgetErrors(budget),
  validateUpdate: (budget, old, { subresource }) => (subresource === 'status' ? statusErrors(budget) : budgetErrors(budget, old)),
  validateName: nameIsPathSegment,
  allowUnconditionalUpdate: false,
  tracksGeneration: true,
}
