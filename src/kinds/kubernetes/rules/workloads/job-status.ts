/** Status of a Job: counters and conditions that only change in one direction, whoever manages the Job. */
import { deepEqual } from '../../../../base/json.ts'
import { duplicate, type FieldError, invalid, omittedValue, required } from '../../../../kube/field-error.ts'
import { boolean, type Fields, isSet, maybeNumber, maybeObject, maybeString, number, objects, raw, string, strings } from '../fields.ts'
import { appendAll, nonNegative } from '../pod/errors.ts'
import { internalValue } from '../pod/internal-json.ts'
import { checkIndexes, overlappingIndex } from './job-indexes.ts'
import { specOf, statusOf } from './template-kind.ts'

const hasCondition = (status: Fields, type: string, value = 'True'): boolean =>
  objects(status, 'conditions').some((condition) => string(condition, 'type') === type && string(condition, 'status') === value)

const isFinished = (status: Fields): boolean => hasCondition(status, 'Complete') || hasCondition(status, 'Failed')

interface Change {
  spec: Fields
  status: Fields
  old: Fields
  /** Whether any of these fields of the status differ. */
  changed(...keys: string[]): boolean
  /** Whether the truth of a condition differs. */
  turned(type: string): boolean
  finishing: boolean
}

export function jobStatusErrors(job: Fields, oldJob: Fields): FieldError[] {
  const [status, old] = [statusOf(job), statusOf(oldJob)]
  const change: Change = {
    spec: specOf(job),
    status,
    old,
    changed: (...keys) => keys.some((key) => !deepEqual(raw(status, key), raw(old, key))),
    turned: (type) => hasCondition(status, type) !== hasCondition(old, type),
    finishing: isFinished(status) !== isFinished(old),
  }
  return [
    ...counterErrors(status),
    ...completionErrors(change),
    ...finishedErrors(change),
    ...indexErrors(change),
    ...activityErrors(change),
    ...successErrors(change),
    ...transitionErrors(change),
  ]
}

const conditionError = (detail: string): FieldError => invalid('status.conditions', omittedValue, detail)

function counterErrors(status: Fields): FieldError[] {
  const errors = ['active', 'succeeded', 'failed', 'ready', 'terminating'].flatMap((key) =>
    nonNegative(`status.${key}`, maybeNumber(status, key)),
  )
  const uncounted = maybeObject(status, 'uncountedTerminatedPods')
  const seen = new Set<string>()
  for (const key of ['succeeded', 'failed']) {
    strings(uncounted, key).forEach((uid, i) => {
      const at = `status.uncountedTerminatedPods.${key}[${i}]`
      if (uid === '') errors.push(invalid(at, uid, 'must not be empty'))
      else if (seen.has(uid)) errors.push(duplicate(at, uid))
      else seen.add(uid)
    })
  }
  return errors
}

function completionErrors({ status, changed, turned }: Change): FieldError[] {
  const errors: FieldError[] = []
  const isComplete = hasCondition(status, 'Complete')
  const time = maybeString(status, 'completionTime')
  if ((turned('Complete') || turned('Failed')) && isComplete && hasCondition(status, 'Failed')) {
    errors.push(conditionError('cannot set Complete=True and Failed=true conditions'))
  }
  if ((turned('Complete') || turned('FailureTarget')) && isComplete && hasCondition(status, 'FailureTarget')) {
    errors.push(conditionError('cannot set Complete=True and FailureTarget=true conditions'))
  }
  if (turned('Complete') || changed('completionTime')) {
    if (time !== undefined && !isComplete) {
      errors.push(invalid('status.completionTime', time, 'cannot set completionTime when there is no Complete=True condition'))
    }
    if (time === undefined && isComplete) {
      errors.push(required('status.completionTime', 'completionTime is required for Complete jobs'))
    }
  }
  const start = maybeString(status, 'startTime')
  if (changed('startTime', 'completionTime') && start !== undefined && time !== undefined && time < start) {
    errors.push(invalid('status.completionTime', time, 'must be equal to or after `startTime`'))
  }
  return errors
}

function finishedErrors({ spec, status, changed, turned, finishing }: Change): FieldError[] {
  const errors: FieldError[] = []
  if ((turned('Failed') || changed('failedIndexes')) && hasCondition(status, 'Failed') && !hasCondition(status, 'FailureTarget')) {
    errors.push(conditionError('cannot set Failed=True condition without the FailureTarget=true condition'))
  }
  if (
    (turned('Complete') || turned('SuccessCriteriaMet')) &&
    hasCondition(status, 'Complete') &&
    !hasCondition(status, 'SuccessCriteriaMet')
  ) {
    errors.push(conditionError('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'))
  }
  if (!isFinished(status)) return errors
  if ((finishing || changed('active')) && number(status, 'active') > 0) {
    errors.push(invalid('status.active', number(status, 'active'), 'active>0 is invalid for finished job'))
  }
  const wasNeverMeantToRun = boolean(spec, 'suspend') && maybeNumber(spec, 'completions') === 0
  if ((finishing || changed('startTime')) && !wasNeverMeantToRun && !isSet(status, 'startTime')) {
    errors.push(required('status.startTime', 'startTime is required for finished job'))
  }
  const uncounted = maybeObject(status, 'uncountedTerminatedPods')
  const count = strings(uncounted, 'failed').length + strings(uncounted, 'succeeded').length
  if ((finishing || changed('uncountedTerminatedPods')) && count > 0) {
    const value = internalValue('UncountedTerminatedPods', uncounted)
    errors.push(invalid('status.uncountedTerminatedPods', value, 'must be empty for finished job'))
  }
  return errors
}

function indexErrors({ spec, status, changed }: Change): FieldError[] {
  const errors: FieldError[] = []
  const completions = maybeNumber(spec, 'completions')
  const [completed, failed] = [string(status, 'completedIndexes'), maybeString(status, 'failedIndexes')]
  const check = (key: string, value: string): void => {
    const { error } = checkIndexes(value, completions ?? 0)
    if (error !== undefined) errors.push(invalid(`status.${key}`, value, `error parsing ${key}: ${error}`))
  }
  if (changed('completedIndexes') && completions !== undefined) check('completedIndexes', completed)
  if (changed('failedIndexes') && completions !== undefined && isSet(spec, 'backoffLimitPerIndex') && failed !== undefined) {
    check('failedIndexes', failed)
  }
  if (changed('completedIndexes') && completed !== '' && string(spec, 'completionMode') !== 'Indexed') {
    errors.push(invalid('status.completedIndexes', completed, 'cannot set non-empty completedIndexes when non-indexed completion mode'))
  }
  if (changed('failedIndexes') && failed !== undefined && !isSet(spec, 'backoffLimitPerIndex')) {
    errors.push(invalid('status.failedIndexes', failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'))
  }
  if (changed('failedIndexes', 'completedIndexes') && completions !== undefined && failed !== undefined) {
    const shared = overlappingIndex(completed, failed, completions)
    if (shared !== undefined) {
      errors.push(invalid('status.failedIndexes', failed, `failedIndexes and completedIndexes overlap at index: ${shared}`))
    }
  }
  return errors
}

function activityErrors({ status, changed, finishing }: Change): FieldError[] {
  const errors: FieldError[] = []
  const [terminating, ready] = [number(status, 'terminating'), number(status, 'ready')]
  if ((finishing || changed('terminating')) && terminating > 0 && isFinished(status)) {
    errors.push(invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job'))
  }
  if (changed('ready', 'active') && isSet(status, 'ready') && ready > number(status, 'active')) {
    errors.push(invalid('status.ready', ready, 'cannot set more ready pods than active'))
  }
  return errors
}

function successErrors({ spec, status }: Change): FieldError[] {
  const errors: FieldError[] = []
  const isMet = hasCondition(status, 'SuccessCriteriaMet')
  if (isMet && hasCondition(status, 'Failed')) errors.push(conditionError('cannot set SuccessCriteriaMet=True and Failed=true conditions'))
  if (isMet && hasCondition(status, 'FailureTarget')) {
    errors.push(conditionError('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'))
  }
  if (isSet(spec, 'successPolicy') && !isMet && hasCondition(status, 'Complete')) {
    errors.push(conditionError('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'))
  }
  return errors
}

function transitionErrors({ spec, status, old, changed }: Change): FieldError[] {
  const errors: FieldError[] = []
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (hasCondition(old, type) && !hasCondition(status, type))
      errors.push(conditionError(`cannot disable the terminal ${type}=True condition`))
  }
  const isElastic = string(spec, 'completionMode') === 'Indexed' && maybeNumber(spec, 'completions') === maybeNumber(spec, 'parallelism')
  appendAll(errors, decreaseErrors('failed', status, old), isElastic ? [] : decreaseErrors('succeeded', status, old))
  if (isSet(status, 'completionTime') && isSet(old, 'completionTime') && changed('completionTime')) {
    errors.push(invalid('status.completionTime', raw(status, 'completionTime'), 'field is immutable'))
  }
  const isResuming = hasCondition(old, 'Suspended') && hasCondition(status, 'Suspended', 'False')
  if (changed('startTime') && !isResuming && isSet(old, 'startTime') && !boolean(spec, 'suspend')) {
    errors.push(invalid('status.startTime', raw(status, 'startTime'), 'field is immutable for unsuspended job once set'))
  }
  const [isMet, wasMet] = [hasCondition(status, 'SuccessCriteriaMet'), hasCondition(old, 'SuccessCriteriaMet')]
  if (wasMet && !isMet) errors.push(conditionError('cannot disable the SuccessCriteriaMet=True condition'))
  if (hasCondition(old, 'Complete') && !wasMet && isMet) {
    errors.push(conditionError('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'))
  }
  return errors
}

function decreaseErrors(key: string, status: Fields, old: Fields): FieldError[] {
  const value = number(status, key)
  return value < number(old, key) ? [invalid(`status.${key}`, value, `cannot decrease the ${key} counter`)] : []
}
