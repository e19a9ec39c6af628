/** ResourceQuota and LimitRange: what a namespace may use, and what its objects may request. */
import { child, duplicate, type FieldError, forbidden, index, invalid, keyed, required } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { compareQuantities, formatQuantity, type Quantity, quantityOf, quantityValue, scaledValue } from '../../../../kube/quantity.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import { ensureObject, type Fields, field, maybeObject, object, objects, restore, string, strings, writableObjects } from '../fields.ts'
import { qualifiedNameErrors, quantity } from '../formats.ts'
import {
  isOvercommitAllowed,
  isStandardQuotaResource,
  limitResourceNameErrors,
  quotaResourceNameErrors,
  resourceQuantityErrors,
  scopeFitsResource,
} from './resources.ts'

const SCOPES = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'VolumeAttributesClass',
  'CrossNamespacePodAffinity',
]
const EXISTS_ONLY = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity']
const OPPOSITES = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
]

const sortedKeys = (of: Fields): string[] => Object.keys(of).sort()

function amountErrors(path: string, amounts: Fields): FieldError[] {
  return sortedKeys(amounts).flatMap((name) => [
    ...quotaResourceNameErrors(keyed(path, name), name),
    ...resourceQuantityErrors(keyed(path, name), name, field(amounts, name)),
  ])
}

function scopeErrors(spec: Fields): FieldError[] {
  const scopes = strings(spec, 'scopes')
  const errors: FieldError[] = []
  for (const scope of scopes) {
    if (!SCOPES.includes(scope)) errors.push(invalid('spec.scopes', scopes, 'unsupported scope'))
    for (const name of sortedKeys(object(spec, 'hard')))
      if (isStandardQuotaResource(name) && !scopeFitsResource(scope, name))
        errors.push(invalid('spec.scopes', scopes, 'unsupported scope applied to resource'))
  }
  for (const pair of OPPOSITES)
    if (pair.every((scope) => scopes.includes(scope))) errors.push(invalid('spec.scopes', scopes, 'conflicting scopes'))
  return errors
}

function scopeSelectorErrors(spec: Fields): FieldError[] {
  const selector = maybeObject(spec, 'scopeSelector')
  if (selector === undefined) return []
  const path = 'spec.scopeSelector.matchExpressions'
  const shown = {
    MatchExpressions: objects(selector, 'matchExpressions').map((r) => ({
      ScopeName: string(r, 'scopeName'),
      Operator: string(r, 'operator'),
      Values: field(r, 'values') ?? null,
    })),
  }
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const requirement of objects(selector, 'matchExpressions')) {
    const scope = string(requirement, 'scopeName')
    if (!SCOPES.includes(scope)) errors.push(invalid(child(path, 'scopeName'), scope, 'unsupported scope'))
    for (const name of sortedKeys(object(spec, 'hard')))
      if (isStandardQuotaResource(name) && !scopeFitsResource(scope, name))
        errors.push(invalid(path, shown, 'unsupported scope applied to resource'))
    errors.push(...scopeOperatorErrors(path, requirement))
    seen.add(scope)
  }
  for (const pair of OPPOSITES)
    if (pair.every((scope) => seen.has(scope))) errors.push(invalid(path, field(spec, 'scopes') ?? null, 'conflicting scopes'))
  return errors
}

function scopeOperatorErrors(path: string, requirement: Fields): FieldError[] {
  const operator = string(requirement, 'operator')
  const values = strings(requirement, 'values')
  const errors: FieldError[] = []
  if (EXISTS_ONLY.includes(string(requirement, 'scopeName')) && operator !== 'Exists')
    errors.push(
      invalid(
        child(path, 'operator'),
        operator,
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
      ),
    )
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      errors.push(required(child(path, 'values'), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      errors.push(
        invalid(child(path, 'values'), values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"),
      )
  } else errors.push(invalid(child(path, 'operator'), operator, 'not a valid selector operator'))
  return errors
}

const quotaSpecErrors = (quota: KubeObject): FieldError[] => {
  const spec = object(quota, 'spec')
  return [...amountErrors('spec.hard', object(spec, 'hard')), ...scopeErrors(spec), ...scopeSelectorErrors(spec)]
}

const quotaStatusErrors = (quota: KubeObject): FieldError[] =>
  ['hard', 'used'].flatMap((list) => amountErrors(child('status', list), object(object(quota, 'status'), list)))

function quotaUpdateErrors(quota: KubeObject, old: KubeObject, { subresource }: RuleContext): FieldError[] {
  if (subresource === 'status') return quotaStatusErrors(quota)
  const scopes = strings(object(quota, 'spec'), 'scopes')
  const before = strings(object(old, 'spec'), 'scopes')
  const same = scopes.every((scope) => before.includes(scope)) && before.every((scope) => scopes.includes(scope))
  return [
    ...quotaSpecErrors(quota),
    ...(same ? [] : [invalid('spec.scopes', field(object(quota, 'spec'), 'scopes') ?? null, 'field is immutable')]),
  ]
}

function quotaWarnings(quota: KubeObject, old: KubeObject | undefined): string[] {
  if (old !== undefined) return []
  const hard = object(object(quota, 'spec'), 'hard')
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((resource) => {
    let requestName = `requests.${resource}`
    if (!Object.hasOwn(hard, requestName) && (resource === 'cpu' || resource === 'memory')) requestName = resource
    const limitName = `limits.${resource}`
    if (!Object.hasOwn(hard, requestName) || !Object.hasOwn(hard, limitName)) return []
    const [request, limit] = [quantity(hard, requestName), quantity(hard, limitName)]
    if (compareQuantities(request, limit) <= 0) return []
    return [`ResourceQuota ${requestName} (${formatQuantity(request)}) should be less than ${limitName} (${formatQuantity(limit)})`]
  })
}

export const resourceQuotaRules: KindRules = {
  prepareForCreate(quota) {
    quota.status = {}
  },
  prepareForUpdate: (quota, old, { subresource }) => restore(quota, old, subresource === 'status' ? 'spec' : 'status'),
  validateCreate: (quota) => [...quotaSpecErrors(quota), ...quotaStatusErrors(quota)],
  validateUpdate: quotaUpdateErrors,
  warnings: quotaWarnings,
}

/** Container limits default from each other: max → default → defaultRequest ← min. */
function limitRangeDefaults(range: KubeObject): void {
  for (const limit of writableObjects(object(range, 'spec'), 'limits')) {
    if (string(limit, 'type') !== 'Container') continue
    const fill = (into: string, from: string): void => {
      const source = object(limit, from)
      for (const name of Object.keys(source)) {
        const target = ensureObject(limit, into)
        if (!Object.hasOwn(target, name)) limit[into] = { ...target, [name]: source[name] }
      }
    }
    fill('default', 'max')
    fill('defaultRequest', 'default')
    fill('defaultRequest', 'min')
  }
}

function limitErrors(path: string, limit: Fields): FieldError[] {
  const type = string(limit, 'type')
  const errors: FieldError[] = []
  const names = new Set<string>()
  const collect = (list: string): void => {
    for (const name of sortedKeys(object(limit, list))) {
      errors.push(...limitResourceNameErrors(keyed(child(path, list), name), type, name))
      names.add(name)
    }
  }
  collect('max')
  collect('min')
  if (type === 'Pod') {
    for (const list of ['default', 'defaultRequest'])
      if (Object.keys(object(limit, list)).length > 0)
        errors.push(forbidden(child(path, list), "may not be specified when `type` is 'Pod'"))
  } else {
    collect('default')
    collect('defaultRequest')
  }
  if (type === 'PersistentVolumeClaim' && !['min', 'max'].some((list) => Object.hasOwn(object(limit, list), 'storage')))
    errors.push(required(child(path, 'limits'), 'either minimum or maximum storage value is required, but neither was provided'))
  collect('maxLimitRequestRatio')
  for (const name of [...names].sort()) errors.push(...orderErrors(path, limit, name))
  return errors
}

/** min ≤ defaultRequest ≤ default ≤ max, and a ratio that they allow. */
function orderErrors(path: string, limit: Fields, name: string): FieldError[] {
  const pod = string(limit, 'type') === 'Pod'
  const read = (list: string): Quantity | undefined =>
    Object.hasOwn(object(limit, list), name) ? quantity(object(limit, list), name) : undefined
  const min = read('min')
  const max = read('max')
  const fallback = pod ? undefined : read('default')
  const request = pod ? undefined : read('defaultRequest')
  const errors: FieldError[] = []
  const above = (a: Quantity | undefined, b: Quantity | undefined): boolean =>
    a !== undefined && b !== undefined && compareQuantities(a, b) > 0
  const say = (list: string, shown: Quantity | undefined, detail: string): void => {
    errors.push(invalid(keyed(child(path, list), name), text(shown), detail))
  }
  if (above(min, max)) say('min', min, `min value ${text(min)} is greater than max value ${text(max)}`)
  if (above(min, request)) say('defaultRequest', request, `min value ${text(min)} is greater than default request value ${text(request)}`)
  if (above(request, max)) say('defaultRequest', request, `default request value ${text(request)} is greater than max value ${text(max)}`)
  if (above(request, fallback))
    say('defaultRequest', request, `default request value ${text(request)} is greater than default limit value ${text(fallback)}`)
  if (above(min, fallback)) say('default', min, `min value ${text(min)} is greater than default value ${text(fallback)}`)
  if (above(fallback, max)) say('default', max, `default value ${text(fallback)} is greater than max value ${text(max)}`)
  const ratio = read('maxLimitRequestRatio')
  if (ratio !== undefined) errors.push(...ratioErrors(keyed(child(path, 'maxLimitRequestRatio'), name), ratio, { min, max }))
  if (!isOvercommitAllowed(name) && fallback !== undefined && request !== undefined && compareQuantities(fallback, request) !== 0)
    say('defaultRequest', request, `default value ${text(fallback)} must equal to defaultRequest value ${text(request)} in ${name}`)
  return errors
}

const text = (amount: Quantity | undefined): string => (amount === undefined ? '0' : formatQuantity(amount))
const MAX_MILLI = 9_223_372_036_854_775n

function ratioErrors(path: string, ratio: Quantity, { min, max }: { min: Quantity | undefined; max: Quantity | undefined }): FieldError[] {
  const errors: FieldError[] = []
  if (compareQuantities(ratio, quantityOf(1)) < 0) errors.push(invalid(path, text(ratio), `ratio ${text(ratio)} is less than 1`))
  if (min === undefined || max === undefined) return errors
  const milli = [ratio, min, max].every((amount) => scaledValue(amount, 0) < MAX_MILLI)
  const allowed = milli ? Number(scaledValue(max, -3)) / Number(scaledValue(min, -3)) : quantityValue(max) / quantityValue(min)
  const asked = milli ? Number(scaledValue(ratio, -3)) / 1000 : quantityValue(ratio)
  if (asked > allowed) errors.push(invalid(path, text(ratio), `ratio ${text(ratio)} is greater than max/min = ${allowed.toFixed(6)}`))
  return errors
}

const LIMIT_TYPES = ['Pod', 'Container', 'PersistentVolumeClaim']

function limitRangeErrors(range: KubeObject): FieldError[] {
  const seen = new Set<string>()
  return objects(object(range, 'spec'), 'limits').flatMap((limit, i) => {
    const path = index('spec.limits', i)
    const type = string(limit, 'type')
    const errors = qualifiedNameErrors(child(path, 'type'), type)
    if (errors.length === 0 && !type.includes('/') && !LIMIT_TYPES.includes(type))
      errors.push(invalid(child(path, 'type'), type, 'must be a standard limit type or fully qualified'))
    if (seen.has(type)) errors.push(duplicate(child(path, 'type'), type))
    seen.add(type)
    return [...errors, ...limitErrors(path, limit)]
  })
}

export const limitRangeRules: KindRules = {
  applyDefaults: limitRangeDefaults,
  prepareForCreate(range, { newUid }) {
    if ((range.metadata.name ?? '') === '' && newUid !== undefined) range.metadata.name = newUid()
  },
  validateCreate: limitRangeErrors,
  validateUpdate: limitRangeErrors,
  allowCreateOnUpdate: true,
}
