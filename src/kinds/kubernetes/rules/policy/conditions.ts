/** metav1.Condition lists. */
import { child, duplicate, type FieldError, index, invalid, required, tooLong } from '../../../../kube/field-error.ts'
import { byteLength } from '../../../../kube/go-print.ts'
import { regexMessage } from '../../../../kube/names.ts'
import { type Fields, field, number, objects, string } from '../fields.ts'
import { qualifiedNameErrors } from '../formats.ts'
import { unsupported } from '../pod/errors.ts'

const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'
const reasonPattern = new RegExp(`^${REASON}$`)
const STATUSES = ['False', 'True', 'Unknown']

export function conditionErrors(path: string, status: Fields): FieldError[] {
  const seen = new Set<string>()
  return objects(status, 'conditions').flatMap((condition, i) => {
    const at = index(path, i)
    const type = string(condition, 'type')
    const errors = seen.has(type) ? [duplicate(child(at, 'type'), type)] : []
    seen.add(type)
    return [...errors, ...singleConditionErrors(at, condition)]
  })
}

function singleConditionErrors(path: string, condition: Fields): FieldError[] {
  const errors = qualifiedNameErrors(child(path, 'type'), string(condition, 'type'))
  const status = string(condition, 'status')
  if (!STATUSES.includes(status)) errors.push(unsupported(child(path, 'status'), status, STATUSES))
  const observed = number(condition, 'observedGeneration')
  if (observed < 0) errors.push(invalid(child(path, 'observedGeneration'), observed, 'must be greater than or equal to zero'))
  if (field(condition, 'lastTransitionTime') === undefined) errors.push(required(child(path, 'lastTransitionTime')))
  const reason = string(condition, 'reason')
  if (reason === '') errors.push(required(child(path, 'reason')))
  else {
    if (!reasonPattern.test(reason)) errors.push(invalid(child(path, 'reason'), reason, reasonMessage()))
    if (byteLength(reason) > 1024) errors.push(tooLong(child(path, 'reason'), 1024))
  }
  if (byteLength(string(condition, 'message')) > 32768) errors.push(tooLong(child(path, 'message'), 32768))
  return errors
}

const reasonMessage = (): string =>
  regexMessage(
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
    REASON,
    'my_name',
    'MY_NAME',
    'MyName',
    'ReasonA,ReasonB',
    'ReasonA:ReasonB',
  )
