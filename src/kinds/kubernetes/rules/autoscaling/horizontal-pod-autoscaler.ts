/** HorizontalPodAutoscaler. Both versions are checked in the form of v2, in which they are stored. */
import { child, type FieldError, forbidden, index, invalid, required } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkPathSegmentName } from '../../../../kube/names.ts'
import { formatQuantity, quantitySign } from '../../../../kube/quantity.ts'
import type { KindRules } from '../../../kind.ts'
import { convertHorizontalPodAutoscaler } from '../../hpa-conversion.ts'
import { limitResourceNameErrors } from '../core/resources.ts'
import {
  defaultValue,
  ensureObject,
  type Fields,
  field,
  maybeNumber,
  maybeObject,
  maybeString,
  number,
  object,
  objects,
  restore,
  string,
} from '../fields.ts'
import { dnsLabelErrors, quantity } from '../formats.ts'
import { invalidEach, nonNegative, unsupported } from '../pod/errors.ts'

const V2 = 'autoscaling/v2'
const POPULATE = 'must populate information for the given metric source'
const METRIC_TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']
/** In the order the real server looks for them. */
const SOURCES = ['object', 'external', 'pods', 'resource', 'containerResource'] as const
const SOURCE_OF: Readonly<Record<string, string>> = {
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
  External: 'external',
  ContainerResource: 'containerResource',
}
const SCALE_UP = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
const SCALE_DOWN = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] }

const defaultMetrics = (): Fields[] => [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
]

function applyDefaults(autoscaler: KubeObject, version: string): void {
  const spec = ensureObject(autoscaler, 'spec')
  defaultValue(spec, 'minReplicas', 1)
  if (version === 'v1') return
  if (objects(spec, 'metrics').length === 0) spec.metrics = defaultMetrics()
  const behavior = maybeObject(spec, 'behavior')
  if (behavior === undefined) return
  behavior.scaleUp = { ...structuredClone(SCALE_UP), ...object(behavior, 'scaleUp') }
  behavior.scaleDown = { ...structuredClone(SCALE_DOWN), ...object(behavior, 'scaleDown') }
}

interface ReferenceOptions {
  allowEmptyGroup: boolean
  allowInvalidVersion: boolean
}

function referenceErrors(path: string, reference: Fields, options: ReferenceOptions): FieldError[] {
  const errors: FieldError[] = []
  for (const key of ['kind', 'name']) {
    const value = string(reference, key)
    if (value === '') errors.push(required(child(path, key)))
    else errors.push(...invalidEach(child(path, key), value, checkPathSegmentName(value)))
  }
  const version = string(reference, 'apiVersion')
  const problem = apiVersionProblem(version, options)
  return problem === undefined ? errors : [...errors, invalid(child(path, 'apiVersion'), version, problem)]
}

function apiVersionProblem(version: string, { allowEmptyGroup, allowInvalidVersion }: ReferenceOptions): string | undefined {
  if (allowInvalidVersion) return undefined
  if (version.split('/').length > 2) return `unexpected GroupVersion string: ${version}`
  const group = version === '/' || !version.includes('/') ? '' : version.slice(0, version.indexOf('/'))
  return group === '' && !allowEmptyGroup ? 'apiVersion must specify API group' : undefined
}

function specErrors(sent: KubeObject, oldSent?: KubeObject): FieldError[] {
  const spec = object(convertHorizontalPodAutoscaler(sent, V2), 'spec')
  const before = oldSent === undefined ? undefined : object(convertHorizontalPodAutoscaler(oldSent, V2), 'spec')
  const low = maybeNumber(before, 'minReplicas') === 0 ? 0 : 1
  const [min, max] = [maybeNumber(spec, 'minReplicas'), number(spec, 'maxReplicas')]
  const errors: FieldError[] = []
  if (min !== undefined && min < low) errors.push(invalid('spec.minReplicas', min, `must be greater than or equal to ${low}`))
  if (max === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'))
  else if (max < 0) errors.push(invalid('spec.maxReplicas', max, 'must be greater than or equal to 1'))
  if (min !== undefined && max < min) errors.push(invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'))
  const scaleTarget = object(spec, 'scaleTargetRef')
  const oldTarget = object(before, 'scaleTargetRef')
  const sameTarget = before !== undefined && ['apiVersion', 'kind'].every((key) => string(scaleTarget, key) === string(oldTarget, key))
  errors.push(
    ...referenceErrors('spec.scaleTargetRef', scaleTarget, {
      allowInvalidVersion: sameTarget,
      allowEmptyGroup: string(scaleTarget, 'kind') === 'ReplicationController',
    }),
  )
  return [...errors, ...metricsErrors(spec, before), ...behaviorErrors(spec)]
}

function metricsErrors(spec: Fields, before: Fields | undefined): FieldError[] {
  const metrics = objects(spec, 'metrics')
  const strict = { allowEmptyGroup: true, allowInvalidVersion: false }
  const allowInvalidVersion = objects(before, 'metrics').some(
    (metric) =>
      maybeObject(metric, 'object') !== undefined &&
      apiVersionProblem(string(object(object(metric, 'object'), 'describedObject'), 'apiVersion'), strict) !== undefined,
  )
  const errors = metrics.flatMap((metric, i) => metricErrors(index('spec.metrics', i), metric, { ...strict, allowInvalidVersion }))
  const scalesToZero = metrics.some((metric) => ['Object', 'External'].includes(string(metric, 'type')))
  if (maybeNumber(spec, 'minReplicas') === 0 && !scalesToZero)
    errors.push(forbidden('spec.metrics', 'must specify at least one Object or External metric to support scaling to zero replicas'))
  return errors
}

function metricErrors(path: string, metric: Fields, options: ReferenceOptions): FieldError[] {
  const type = string(metric, 'type')
  const errors = type === '' ? [required(child(path, 'type'), 'must specify a metric source type')] : []
  if (!METRIC_TYPES.includes(type)) errors.push(unsupported(child(path, 'type'), type, METRIC_TYPES))
  const present = SOURCES.filter((key) => field(metric, key) !== undefined)
  const first = present[0]
  if (first !== undefined) errors.push(...sourceErrors(child(path, first), first, { source: object(metric, first), options }))
  const expected = Object.hasOwn(SOURCE_OF, type) ? SOURCE_OF[type] : undefined
  if (expected === undefined) errors.push(unsupported(child(path, 'type'), type, METRIC_TYPES))
  else if (field(metric, expected) === undefined) errors.push(required(child(path, expected), POPULATE))
  if (present.length !== 1)
    for (const key of present) if (key !== expected) errors.push(forbidden(child(path, key), 'must populate the given metric source only'))
  return errors
}

function sourceErrors(
  path: string,
  kind: (typeof SOURCES)[number],
  { source, options }: { source: Fields; options: ReferenceOptions },
): FieldError[] {
  const target = object(source, 'target')
  const at = child(path, 'target')
  const has = (key: string): boolean => field(target, key) !== undefined
  const errors: FieldError[] = []
  if (kind === 'object') errors.push(...referenceErrors(child(path, 'describedObject'), object(source, 'describedObject'), options))
  if (kind === 'resource' || kind === 'containerResource') {
    errors.push(...resourceNameErrors(path, kind, source), ...targetErrors(at, target))
    if (!has('averageUtilization') && !has('averageValue'))
      errors.push(required(child(at, 'averageUtilization'), 'must set either a target raw value or a target utilization'))
    if (has('averageUtilization') && has('averageValue'))
      errors.push(forbidden(child(at, 'averageValue'), 'may not set both a target raw value and a target utilization'))
    return errors
  }
  errors.push(...identifierErrors(child(path, 'metric'), object(source, 'metric')), ...targetErrors(at, target))
  if (kind === 'pods') {
    if (!has('averageValue')) errors.push(required(child(at, 'averageValue'), 'must specify a positive target averageValue'))
  } else if (!has('value') && !has('averageValue'))
    errors.push(
      required(
        child(at, 'averageValue'),
        kind === 'object'
          ? 'must set either a target value or averageValue'
          : 'must set either a target value for metric or a per-pod target',
      ),
    )
  else if (kind === 'external' && has('value') && has('averageValue'))
    errors.push(forbidden(child(at, 'value'), 'may not set both a target value for metric and a per-pod target'))
  return errors
}

function resourceNameErrors(path: string, kind: string, source: Fields): FieldError[] {
  const [name, container] = [string(source, 'name'), string(source, 'container')]
  const errors = name === '' ? [required(child(path, 'name'), 'must specify a resource name')] : []
  if (kind === 'resource') return errors
  if (name !== '') errors.push(...limitResourceNameErrors(child(path, 'name'), 'Container', name))
  if (container === '') return [...errors, required(child(path, 'container'), 'must specify a container')]
  return [...errors, ...dnsLabelErrors(child(path, 'container'), container)]
}

function identifierErrors(path: string, metric: Fields): FieldError[] {
  const name = string(metric, 'name')
  if (name === '') return [required(child(path, 'name'), 'must specify a metric name')]
  return invalidEach(child(path, 'name'), name, checkPathSegmentName(name))
}

function targetErrors(path: string, target: Fields): FieldError[] {
  const type = string(target, 'type')
  const errors = type === '' ? [required(child(path, 'type'), 'must specify a metric target type')] : []
  if (!['Utilization', 'Value', 'AverageValue'].includes(type))
    errors.push(invalid(child(path, 'type'), type, 'must be either Utilization, Value, or AverageValue'))
  for (const key of ['value', 'averageValue']) {
    const amount = quantity(target, key)
    if (field(target, key) !== undefined && quantitySign(amount) !== 1)
      errors.push(invalid(child(path, key), formatQuantity(amount), 'must be positive'))
  }
  const percent = maybeNumber(target, 'averageUtilization')
  if (percent !== undefined && percent < 1) errors.push(invalid(child(path, 'averageUtilization'), percent, 'must be greater than 0'))
  return errors
}

function behaviorErrors(spec: Fields): FieldError[] {
  const behavior = object(spec, 'behavior')
  return ['scaleUp', 'scaleDown'].flatMap((key) => {
    const rules = maybeObject(behavior, key)
    return rules === undefined ? [] : scalingRuleErrors(child('spec.behavior', key), rules)
  })
}

function scalingRuleErrors(path: string, rules: Fields): FieldError[] {
  const errors: FieldError[] = []
  const seconds = maybeNumber(rules, 'stabilizationWindowSeconds')
  const at = child(path, 'stabilizationWindowSeconds')
  if (seconds !== undefined && seconds < 0) errors.push(invalid(at, seconds, 'must be greater than or equal to zero'))
  if (seconds !== undefined && seconds > 3600) errors.push(invalid(at, seconds, 'must be less than or equal to 3600'))
  const select = maybeString(rules, 'selectPolicy')
  const known = ['Disabled', 'Max', 'Min']
  if (select !== undefined && !known.includes(select)) errors.push(unsupported(child(path, 'selectPolicy'), select, known))
  const policies = objects(rules, 'policies')
  if (policies.length === 0) errors.push(required(child(path, 'policies'), 'must specify at least one Policy'))
  for (const [i, policy] of policies.entries()) errors.push(...policyErrors(index(child(path, 'policies'), i), policy))
  const tolerance = quantity(rules, 'tolerance')
  if (quantitySign(tolerance) < 0)
    errors.push(invalid(child(path, 'tolerance'), formatQuantity(tolerance), 'must be greater than or equal to 0'))
  return errors
}

function policyErrors(path: string, policy: Fields): FieldError[] {
  const [type, value, period] = [string(policy, 'type'), number(policy, 'value'), number(policy, 'periodSeconds')]
  const errors = ['Percent', 'Pods'].includes(type) ? [] : [unsupported(child(path, 'type'), type, ['Percent', 'Pods'])]
  if (value <= 0) errors.push(invalid(child(path, 'value'), value, 'must be greater than zero'))
  if (period <= 0) errors.push(invalid(child(path, 'periodSeconds'), period, 'must be greater than zero'))
  if (period > 1800) errors.push(invalid(child(path, 'periodSeconds'), period, 'must be less than or equal to 1800'))
  return errors
}

const statusErrors = (autoscaler: KubeObject): FieldError[] =>
  ['currentReplicas', 'desiredReplicas'].flatMap((key) => nonNegative(child('status', key), number(object(autoscaler, 'status'), key)))

export const horizontalPodAutoscalerRules: KindRules = {
  applyDefaults,
  prepareForCreate(autoscaler) {
    const v1 = autoscaler.apiVersion === 'autoscaling/v1'
    autoscaler.status = v1 ? { currentReplicas: 0, desiredReplicas: 0 } : { desiredReplicas: 0, currentMetrics: null }
  },
  prepareForUpdate(autoscaler, old, { subresource }) {
    restore(autoscaler, convertHorizontalPodAutoscaler(old, autoscaler.apiVersion), subresource === 'status' ? 'spec' : 'status')
  },
  validateCreate: (autoscaler) => specErrors(autoscaler),
  validateUpdate: (autoscaler, old, { subresource }) => (subresource === 'status' ? statusErrors(autoscaler) : specErrors(autoscaler, old)),
}
