/** Tolerations, on create and on update, where they may only be added. */
import { type FieldError, forbidden, invalid } from '../../../../kube/field-error.ts'
import { checkLabelValue, checkQualifiedName } from '../../../../kube/names.ts'
import { type Fields, isSet, objects, string } from '../fields.ts'
import { appendAll, invalidEach, unsupported } from './errors.ts'

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export const validateTolerations = (path: string, spec: Fields): FieldError[] => tolerationListErrors(path, objects(spec, 'tolerations'))

export function tolerationListErrors(path: string, tolerations: readonly Fields[]): FieldError[] {
  return tolerations.flatMap((toleration, i) => {
    const at = `${path}[${i}]`
    const [key, operator, effect] = [string(toleration, 'key'), string(toleration, 'operator'), string(toleration, 'effect')]
    const errors = key === '' ? [] : invalidEach(`${at}.key`, key, checkQualifiedName(key))
    if (key === '' && operator !== 'Exists') {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
      errors.push(invalid(`${at}.operator`, operator, detail))
    }
    if (isSet(toleration, 'tolerationSeconds') && effect !== 'NoExecute') {
      errors.push(invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
    }
    appendAll(errors, operatorErrors(`${at}.operator`, operator, string(toleration, 'value')))
    if (effect !== '' && !EFFECTS.includes(effect)) errors.push(unsupported(`${at}.effect`, effect, EFFECTS))
    return errors
  })
}

function operatorErrors(field: string, operator: string, value: string): FieldError[] {
  switch (operator) {
    case 'Equal':
    case '': {
      const messages = checkLabelValue(value)
      return messages.length === 0 ? [] : [invalid(field, value, messages.join(';'))]
    }
    case 'Exists':
      return value === '' ? [] : [invalid(field, value, "value must be empty when `operator` is 'Exists'")]
    // Comparisons are known but behind a gate that is off.
    case 'Lt':
    case 'Gt':
      return [unsupported(field, operator, ['Equal', 'Exists', 'Lt', 'Gt'])]
    default:
      return [unsupported(field, operator, ['Equal', 'Exists'])]
  }
}

/** An update may add tolerations and change their duration, nothing else. */
export function tolerationUpdateErrors(path: string, spec: Fields, old: Fields): FieldError[] {
  const next = objects(spec, 'tolerations')
  const identity = (toleration: Fields) => JSON.stringify(['key', 'operator', 'value', 'effect'].map((key) => string(toleration, key)))
  const kept = new Set(next.map(identity))
  if (!objects(old, 'tolerations').every((toleration) => kept.has(identity(toleration)))) {
    return [forbidden(path, 'existing toleration can not be modified except its tolerationSeconds')]
  }
  return tolerationListErrors(path, next)
}
