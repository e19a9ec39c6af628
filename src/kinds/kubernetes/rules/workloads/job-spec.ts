/** The spec of a Job, alone or inside a CronJob. */
import { duplicate, type FieldError, invalid, omittedValue, required, tooLong, tooMany } from '../../../../kube/field-error.ts'
import { checkDns1123Subdomain, checkHttpPath, checkQualifiedName } from '../../../../kube/names.ts'
import { type Fields, integers, isSet, maybeNumber, maybeObject, maybeString, number, objects, raw, string } from '../fields.ts'
import { ensureFields, setDefault } from '../pod/defaults.ts'
import { appendAll, invalidEach, nonNegative, unsupported } from '../pod/errors.ts'
import { internalValue } from '../pod/internal-json.ts'
import type { PodOptions } from '../pod/options.ts'
import { templateOf, validatePodTemplate } from '../pod/template.ts'
import { podWarnings } from '../pod/warnings.ts'
import { checkIndexes } from './job-indexes.ts'
import { defaultTemplate } from './template-kind.ts'

const MAX_PARALLELISM = 100_000
const MAX_FAILED_INDEXES = 100_000
const MANY_COMPLETIONS = 100_000
const MANY_LIMIT = 10_000
const MAX_INT32 = 2 ** 31 - 1
const MAX_INDEXES_TEXT = 64 * 1024
const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const OPERATORS = ['In', 'NotIn']
const CONDITION_STATUSES = ['False', 'True', 'Unknown']
const NUMBERS = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished', 'backoffLimitPerIndex']

/** Inside a CronJob only the pod template and failure patterns get defaults. */
export function defaultJobTemplate(spec: Fields): void {
  defaultTemplate(spec)
  for (const rule of objects(maybeObject(spec, 'podFailurePolicy'), 'rules')) {
    for (const pattern of objects(rule, 'onPodConditions')) if (string(pattern, 'status') === '') pattern.status = 'True'
  }
}

export function defaultJobSpec(spec: Fields): void {
  if (!isSet(spec, 'completions') && !isSet(spec, 'parallelism')) spec.completions = 1
  setDefault(spec, 'parallelism', 1)
  setDefault(spec, 'backoffLimit', isSet(spec, 'backoffLimitPerIndex') ? MAX_INT32 : 6)
  setDefault(spec, 'completionMode', 'NonIndexed')
  setDefault(spec, 'suspend', false)
  setDefault(spec, 'podReplacementPolicy', isSet(spec, 'podFailurePolicy') ? 'Failed' : 'TerminatingOrFailed')
  setDefault(spec, 'manualSelector', false)
  defaultJobTemplate(spec)
  ensureFields(spec, 'template')
}

export function jobSpecErrors(path: string, spec: Fields, options: PodOptions): FieldError[] {
  const template = templateOf(spec)
  const maxFailed = maybeNumber(spec, 'maxFailedIndexes')
  const errors = NUMBERS.flatMap((key) => nonNegative(`${path}.${key}`, maybeNumber(spec, key)))
  if (maxFailed !== undefined) {
    appendAll(errors, nonNegative(`${path}.maxFailedIndexes`, maxFailed))
    if (!isSet(spec, 'backoffLimitPerIndex')) errors.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'))
  }
  return [
    ...errors,
    ...managedByErrors(`${path}.managedBy`, maybeString(spec, 'managedBy')),
    ...completionModeErrors(path, spec),
    ...failurePolicyErrors(`${path}.podFailurePolicy`, spec),
    ...successPolicyErrors(`${path}.successPolicy`, spec),
    ...replacementErrors(`${path}.podReplacementPolicy`, spec),
    ...validatePodTemplate(`${path}.template`, template, options),
    ...restartErrors(`${path}.template.spec.restartPolicy`, string(template.spec, 'restartPolicy'), isSet(spec, 'podFailurePolicy')),
  ]
}

function managedByErrors(path: string, name: string | undefined): FieldError[] {
  if (name === undefined) return []
  const tooMuch = Buffer.byteLength(name) > 63 ? [tooLong(path, 63)] : []
  if (name === '') return [required(path), ...tooMuch]
  const slash = name.indexOf('/')
  const [host, rest] = slash < 0 ? ['', ''] : [name.slice(0, slash), name.slice(slash + 1)]
  if (host === '' || rest === '') return [invalid(path, name, 'must be a domain-prefixed path (such as "acme.io/foo")'), ...tooMuch]
  return [...invalidEach(path, host, checkDns1123Subdomain(host)), ...invalidEach(path, rest, checkHttpPath(rest)), ...tooMuch]
}

function completionModeErrors(path: string, spec: Fields): FieldError[] {
  const mode = maybeString(spec, 'completionMode')
  const errors: FieldError[] = []
  if (mode !== undefined && mode !== 'NonIndexed' && mode !== 'Indexed') {
    errors.push(unsupported(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed']))
  }
  if (mode === 'Indexed') appendAll(errors, indexedErrors(path, spec))
  if (mode !== undefined && mode !== 'NonIndexed') return errors
  for (const key of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
    const value = maybeNumber(spec, key)
    if (value !== undefined) errors.push(invalid(`${path}.${key}`, value, 'requires indexed completion mode'))
  }
  return errors
}

function indexedErrors(path: string, spec: Fields): FieldError[] {
  const [completions, parallelism] = [maybeNumber(spec, 'completions'), number(spec, 'parallelism')]
  const maxFailed = maybeNumber(spec, 'maxFailedIndexes')
  const errors: FieldError[] = []
  const limited = (key: string, value: number, detail: string) =>
    errors.push(invalid(`${path}.${key}`, value, `must be less than or equal to ${detail}`))
  if (completions === undefined) errors.push(required(`${path}.completions`, 'when completion mode is Indexed'))
  if (parallelism > MAX_PARALLELISM) limited('parallelism', parallelism, `${MAX_PARALLELISM} when completion mode is Indexed`)
  if (completions !== undefined && maxFailed !== undefined && maxFailed > completions) limited('maxFailedIndexes', maxFailed, 'completions')
  if (maxFailed !== undefined && maxFailed > MAX_FAILED_INDEXES) limited('maxFailedIndexes', maxFailed, String(MAX_FAILED_INDEXES))
  if (completions === undefined || completions <= MANY_COMPLETIONS || !isSet(spec, 'backoffLimitPerIndex')) return errors
  const when = `${MANY_LIMIT} when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`
  if (maxFailed === undefined) {
    errors.push(required(`${path}.maxFailedIndexes`, `must be specified when completions is above ${MANY_COMPLETIONS}`))
  }
  if (parallelism > MANY_LIMIT) limited('parallelism', parallelism, when)
  if (maxFailed !== undefined && maxFailed > MANY_LIMIT) limited('maxFailedIndexes', maxFailed, when)
  return errors
}

function failurePolicyErrors(path: string, spec: Fields): FieldError[] {
  const policy = maybeObject(spec, 'podFailurePolicy')
  if (policy === undefined) return []
  const rules = objects(policy, 'rules')
  const pod = templateOf(spec).spec
  const names = new Set([...objects(pod, 'containers'), ...objects(pod, 'initContainers')].map((container) => string(container, 'name')))
  const errors = rules.length > 20 ? [tooMany(`${path}.rules`, rules.length, 20)] : []
  rules.forEach((rule, i) => {
    appendAll(errors, failureRuleErrors(`${path}.rules[${i}]`, rule, { names, hasIndexLimit: isSet(spec, 'backoffLimitPerIndex') }))
  })
  return errors
}

const quotedList = (values: readonly string[]): string => `valid values: [${values.map((value) => JSON.stringify(value)).join(' ')}]`

function failureRuleErrors(path: string, rule: Fields, context: { names: ReadonlySet<string>; hasIndexLimit: boolean }): FieldError[] {
  const action = string(rule, 'action')
  const exitCodes = maybeObject(rule, 'onExitCodes')
  const conditions = objects(rule, 'onPodConditions')
  const errors: FieldError[] = []
  if (action === '') errors.push(required(`${path}.action`, quotedList(ACTIONS)))
  else if (action === 'FailIndex') {
    if (!context.hasIndexLimit) errors.push(invalid(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set'))
  } else if (!ACTIONS.includes(action)) errors.push(unsupported(`${path}.action`, action, ACTIONS))
  if (exitCodes !== undefined) appendAll(errors, exitCodeErrors(`${path}.onExitCodes`, exitCodes, context.names))
  if (conditions.length > 0) appendAll(errors, conditionErrors(`${path}.onPodConditions`, conditions))
  if (exitCodes !== undefined && conditions.length > 0) {
    errors.push(invalid(path, omittedValue, 'specifying both OnExitCodes and OnPodConditions is not supported'))
  }
  if (exitCodes === undefined && conditions.length === 0) {
    errors.push(invalid(path, omittedValue, 'specifying one of OnExitCodes and OnPodConditions is required'))
  }
  return errors
}

function conditionErrors(path: string, conditions: readonly Fields[]): FieldError[] {
  const errors = conditions.length > 20 ? [tooMany(path, conditions.length, 20)] : []
  conditions.forEach((pattern, i) => {
    const [type, status] = [string(pattern, 'type'), string(pattern, 'status')]
    appendAll(errors, invalidEach(`${path}[${i}].type`, type, checkQualifiedName(type)))
    if (status === '') errors.push(required(`${path}[${i}].status`, quotedList(CONDITION_STATUSES)))
    else if (!CONDITION_STATUSES.includes(status)) errors.push(unsupported(`${path}[${i}].status`, status, CONDITION_STATUSES))
  })
  return errors
}

function exitCodeErrors(path: string, exitCodes: Fields, names: ReadonlySet<string>): FieldError[] {
  const [operator, name, values] = [string(exitCodes, 'operator'), maybeString(exitCodes, 'containerName'), integers(exitCodes, 'values')]
  const errors: FieldError[] = []
  if (operator === '') errors.push(required(`${path}.operator`, quotedList(OPERATORS)))
  else if (!OPERATORS.includes(operator)) errors.push(unsupported(`${path}.operator`, operator, OPERATORS))
  if (name !== undefined && !names.has(name)) {
    errors.push(invalid(`${path}.containerName`, name, 'must be one of the container or initContainer names in the pod template'))
  }
  if (values.length === 0) errors.push(invalid(`${path}.values`, raw(exitCodes, 'values'), 'at least one value is required'))
  else if (values.length > 255) errors.push(tooMany(`${path}.values`, values.length, 255))
  const seen = new Set<number>()
  values.forEach((value, i) => {
    if (operator === 'In' && value === 0) errors.push(invalid(`${path}.values[${i}]`, value, 'must not be 0 for the In operator'))
    if (seen.has(value)) errors.push(duplicate(`${path}.values[${i}]`, value))
    seen.add(value)
  })
  if (values.some((value, i) => i > 0 && (values[i - 1] ?? 0) > value)) errors.push(invalid(`${path}.values`, values, 'must be ordered'))
  return errors
}

function successPolicyErrors(path: string, spec: Fields): FieldError[] {
  const policy = maybeObject(spec, 'successPolicy')
  if (policy === undefined) return []
  if (string(spec, 'completionMode') !== 'Indexed') {
    return [invalid(path, internalValue('SuccessPolicy', policy), 'requires indexed completion mode')]
  }
  const rules = objects(policy, 'rules')
  const errors: FieldError[] = []
  if (rules.length === 0) errors.push(required(`${path}.rules`, 'at least one rules must be specified when the successPolicy is specified'))
  if (rules.length > 20) errors.push(tooMany(`${path}.rules`, rules.length, 20))
  rules.forEach((rule, i) => {
    appendAll(errors, successRuleErrors(`${path}.rules[${i}]`, rule, number(spec, 'completions')))
  })
  return errors
}

function successRuleErrors(path: string, rule: Fields, completions: number): FieldError[] {
  const [indexes, count] = [maybeString(rule, 'succeededIndexes'), maybeNumber(rule, 'succeededCount')]
  const errors: FieldError[] = []
  if (indexes === undefined && count === undefined) {
    errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'))
  }
  let total = 0
  if (indexes !== undefined) {
    const field = `${path}.succeededIndexes`
    if (Buffer.byteLength(indexes) > MAX_INDEXES_TEXT) errors.push(tooLong(field, MAX_INDEXES_TEXT))
    const parsed = checkIndexes(indexes, completions)
    if (parsed.error !== undefined) errors.push(invalid(field, indexes, `error parsing succeededIndexes: ${parsed.error}`))
    else total = parsed.value
  }
  if (count === undefined) return errors
  const field = `${path}.succeededCount`
  const atMost = (limit: number, what: string) => invalid(field, count, `must be less than or equal to ${limit} (the number of ${what})`)
  appendAll(errors, nonNegative(field, count))
  if (count > completions) errors.push(atMost(completions, 'specified completions'))
  if (indexes !== undefined && count > total) errors.push(atMost(total, 'indexes in the specified succeededIndexes field'))
  return errors
}

function replacementErrors(path: string, spec: Fields): FieldError[] {
  const policy = maybeString(spec, 'podReplacementPolicy')
  if (policy === undefined) return []
  const supported = isSet(spec, 'podFailurePolicy') ? ['Failed'] : ['Failed', 'TerminatingOrFailed']
  return supported.includes(policy) ? [] : [unsupported(path, policy, supported)]
}

function restartErrors(path: string, policy: string, hasFailurePolicy: boolean): FieldError[] {
  if (policy === 'Always' || policy === '') return [required(path, 'valid values: "OnFailure", "Never"')]
  if (policy !== 'OnFailure' && policy !== 'Never') return [unsupported(path, policy, ['OnFailure', 'Never'])]
  if (!hasFailurePolicy || policy === 'Never') return []
  return [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')]
}

export function jobSpecWarnings(path: string, spec: Fields): string[] {
  const isHuge =
    string(spec, 'completionMode') === 'Indexed' &&
    number(spec, 'completions') > MANY_COMPLETIONS &&
    number(spec, 'parallelism') > MANY_LIMIT
  const advice =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail'
  return [...(isHuge ? [`${path}: ${advice}`] : []), ...podWarnings(`${path}.template`, templateOf(spec))]
}
