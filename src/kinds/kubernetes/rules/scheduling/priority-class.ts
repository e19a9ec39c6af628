/** PriorityClass: a name for a number. Names with the prefix `system-` are reserved for the system. */
import { type FieldError, forbidden, required } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { KindRules } from '../../../kind.ts'
import { boolean, defaultValue, field, maybeString, number } from '../fields.ts'
import { immutableErrors } from '../formats.ts'
import { startGeneration } from '../generation.ts'
import { unsupported } from '../pod/errors.ts'

const SYSTEM_VALUES: Readonly<Record<string, number>> = { 'system-node-critical': 2_000_001_000, 'system-cluster-critical': 2_000_000_000 }
const HIGHEST_USER_VALUE = 1_000_000_000
const POLICIES = ['PreemptLowerPriority', 'Never']

function systemProblem(priorityClass: KubeObject): string | undefined {
  const name = priorityClass.metadata.name ?? ''
  if (!Object.hasOwn(SYSTEM_VALUES, name)) return `${name} is not a known system priority class`
  if (number(priorityClass, 'value') !== SYSTEM_VALUES[name]) return `value of ${name} PriorityClass must be ${SYSTEM_VALUES[name]}`
  return boolean(priorityClass, 'globalDefault') ? `globalDefault of ${name} PriorityClass must be false` : undefined
}

function validateCreate(priorityClass: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  if ((priorityClass.metadata.name ?? '').startsWith('system-')) {
    const problem = systemProblem(priorityClass)
    if (problem !== undefined)
      errors.push(
        forbidden('metadata.name', `priority class names with 'system-' prefix are reserved for system use only. error: ${problem}`),
      )
  } else if (number(priorityClass, 'value') > HIGHEST_USER_VALUE)
    errors.push(forbidden('value', `maximum allowed value of a user defined priority is ${HIGHEST_USER_VALUE}`))
  const policy = maybeString(priorityClass, 'preemptionPolicy')
  if (policy === '') errors.push(required('preemptionPolicy'))
  else if (policy !== undefined && !POLICIES.includes(policy)) errors.push(unsupported('preemptionPolicy', policy, POLICIES))
  return errors
}

export const priorityClassRules: KindRules = {
  applyDefaults: (priorityClass) => defaultValue(priorityClass, 'preemptionPolicy', 'PreemptLowerPriority'),
  prepareForCreate: startGeneration,
  validateCreate,
  validateUpdate: (priorityClass, old) => [
    ...(number(priorityClass, 'value') === number(old, 'value') ? [] : [forbidden('value', 'may not be changed in an update.')]),
    ...immutableErrors('preemptionPolicy', field(priorityClass, 'preemptionPolicy'), field(old, 'preemptionPolicy')),
  ],
}
