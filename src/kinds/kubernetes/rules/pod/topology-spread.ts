/** Topology spread constraints, and the label keys that they have in common with pod affinity. */
import { duplicate, type FieldError, forbidden, invalid, required } from '../../../../kube/field-error.ts'
import { checkQualifiedName } from '../../../../kube/names.ts'
import { entries, type Fields, maybeNumber, maybeObject, maybeString, number, objects, string, strings } from '../fields.ts'
import { labelSelectorErrors } from '../formats.ts'
import { appendAll, invalidEach, positive, unsupported } from './errors.ts'
import type { PodOptions } from './options.ts'

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway']
const NODE_POLICIES = ['Honor', 'Ignore']

export function validateTopologySpread(path: string, spec: Fields, options: PodOptions): FieldError[] {
  const constraints = objects(spec, 'topologySpreadConstraints')
  const identity = (constraint: Fields) => JSON.stringify([string(constraint, 'topologyKey'), string(constraint, 'whenUnsatisfiable')])
  const last = new Map(constraints.map((constraint, i) => [identity(constraint), i]))
  return constraints.flatMap((constraint, i) => {
    const at = `${path}[${i}]`
    const [key, action] = [string(constraint, 'topologyKey'), string(constraint, 'whenUnsatisfiable')]
    const errors = positive(`${at}.maxSkew`, number(constraint, 'maxSkew'))
    if (key === '') errors.push(required(`${at}.topologyKey`, 'can not be empty'))
    if (!ACTIONS.includes(action)) errors.push(unsupported(`${at}.whenUnsatisfiable`, action, ACTIONS))
    if ((last.get(identity(constraint)) ?? i) > i) errors.push(duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${key}, ${action}}`))
    appendAll(errors, minDomainsErrors(`${at}.minDomains`, maybeNumber(constraint, 'minDomains'), action))
    for (const name of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
      const policy = maybeString(constraint, name)
      if (policy !== undefined && !NODE_POLICIES.includes(policy)) errors.push(unsupported(`${at}.${name}`, policy, NODE_POLICIES))
    }
    appendAll(
      errors,
      options.allowInvalidMatchLabelKeys ? legacyLabelKeyErrors(`${at}.matchLabelKeys`, constraint) : matchLabelKeyErrors(at, constraint),
    )
    if (!options.allowInvalidSpreadSelector) appendAll(errors, spreadSelectorErrors(constraint, `${at}.labelSelector`))
    return errors
  })
}

export const spreadSelectorErrors = (constraint: Fields, path = ''): FieldError[] =>
  labelSelectorErrors(path, maybeObject(constraint, 'labelSelector'))

function minDomainsErrors(field: string, minDomains: number | undefined, action: string): FieldError[] {
  if (minDomains === undefined) return []
  const errors = positive(field, minDomains)
  if (action !== 'DoNotSchedule') {
    errors.push(invalid(field, minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`))
  }
  return errors
}

/** matchLabelKeys and mismatchLabelKeys need a selector to be added to, and must not overlap with it or each other. */
export function matchLabelKeyErrors(path: string, holder: Fields): FieldError[] {
  const selector = maybeObject(holder, 'labelSelector')
  const [matching, mismatching] = [strings(holder, 'matchLabelKeys'), strings(holder, 'mismatchLabelKeys')]
  const errors = [
    ...labelKeyErrors(`${path}.matchLabelKeys`, matching, selector),
    ...labelKeyErrors(`${path}.mismatchLabelKeys`, mismatching, selector),
  ]
  // The server itself adds an expression per key on creation, so a key is an error only from its second appearance on.
  const seen = new Set(entries(selector, 'matchLabels').map(([key]) => key))
  const positions = new Map(matching.map((key, i) => [key, i]))
  for (const expression of objects(selector, 'matchExpressions')) {
    const key = string(expression, 'key')
    const at = positions.get(key)
    if (at !== undefined && seen.has(key)) errors.push(invalid(`${path}[${at}]`, key, 'exists in both matchLabelKeys and labelSelector'))
    seen.add(key)
  }
  const mismatched = new Set(mismatching)
  matching.forEach((key, i) => {
    if (mismatched.has(key)) {
      errors.push(invalid(`${path}.matchLabelKeys[${i}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys'))
    }
  })
  return errors
}

function labelKeyErrors(path: string, keys: readonly string[], selector: Fields | undefined): FieldError[] {
  if (keys.length === 0) return []
  if (selector === undefined) return [forbidden(path, 'must not be specified when labelSelector is not set')]
  return keys.flatMap((key, i) => invalidEach(`${path}[${i}]`, key, checkQualifiedName(key)))
}

/** The rule from before the server merged the keys into the selector. */
function legacyLabelKeyErrors(path: string, constraint: Fields): FieldError[] {
  const keys = strings(constraint, 'matchLabelKeys')
  if (keys.length === 0) return []
  const selector = maybeObject(constraint, 'labelSelector')
  const selected = new Set([
    ...entries(selector, 'matchLabels').map(([key]) => key),
    ...objects(selector, 'matchExpressions').map((expression) => string(expression, 'key')),
  ])
  const errors = selector === undefined ? [forbidden(path, 'must not be specified when labelSelector is not set')] : []
  keys.forEach((key, i) => {
    appendAll(errors, invalidEach(`${path}[${i}]`, key, checkQualifiedName(key)))
    if (selected.has(key)) errors.push(invalid(`${path}[${i}]`, key, 'exists in both matchLabelKeys and labelSelector'))
  })
  return errors
}
