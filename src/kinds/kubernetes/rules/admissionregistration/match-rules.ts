/** Rules that define which requests a webhook or a policy sees, and conditions on them. */
import { child, duplicate, type FieldError, index, invalid, required, tooMany } from '../../../../kube/field-error.ts'
import { defaultValue, type Fields, field, maybeObject, maybeString, objects, string, strings, writableObjects } from '../fields.ts'
import { labelSelectorErrors, qualifiedNameErrors } from '../formats.ts'
import { unsupported } from '../pod/errors.ts'

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const SCOPES = ['*', 'Cluster', 'Namespaced']
const MATCH_POLICIES = ['Equivalent', 'Exact']

export function ruleErrors(path: string, rule: Fields): FieldError[] {
  const operations = strings(rule, 'operations')
  const at = child(path, 'operations')
  const errors = operations.length === 0 ? [required(at)] : []
  if (operations.length > 1 && operations.includes('*'))
    errors.push(invalid(at, operations, "if '*' is present, must not specify other operations"))
  for (const [i, operation] of operations.entries())
    if (!OPERATIONS.includes(operation)) errors.push(unsupported(index(at, i), operation, OPERATIONS))
  for (const [key, what] of [
    ['apiGroups', 'API groups'],
    ['apiVersions', 'API versions'],
  ] as const) {
    const values = strings(rule, key)
    if (values.length === 0) errors.push(required(child(path, key)))
    if (values.length > 1 && values.includes('*'))
      errors.push(invalid(child(path, key), values, `if '*' is present, must not specify other ${what}`))
    if (key === 'apiVersions')
      for (const [i, value] of values.entries()) if (value === '') errors.push(required(index(child(path, key), i)))
  }
  errors.push(...resourceErrors(child(path, 'resources'), strings(rule, 'resources')))
  const scope = maybeString(rule, 'scope')
  if (scope !== undefined && !SCOPES.includes(scope)) errors.push(unsupported(child(path, 'scope'), scope, SCOPES))
  return errors
}

function resourceErrors(path: string, resources: readonly string[]): FieldError[] {
  const errors = resources.length === 0 ? [required(path)] : []
  const allOf = new Set<string>()
  const ofAll = new Set<string>()
  let lastIsPlain = false
  for (const [i, entry] of resources.entries()) {
    if (entry === '') {
      errors.push(required(index(path, i)))
      continue
    }
    const slash = entry.indexOf('/')
    if (slash < 0) {
      lastIsPlain = entry !== '*'
      continue
    }
    const [resource, sub] = [entry.slice(0, slash), entry.slice(slash + 1)]
    if (allOf.has(resource)) errors.push(invalid(index(path, i), entry, `if '${resource}/*' is present, must not specify ${entry}`))
    if (ofAll.has(sub)) errors.push(invalid(index(path, i), entry, `if '*/${sub}' is present, must not specify ${entry}`))
    if (sub === '*') allOf.add(resource)
    if (resource === '*') ofAll.add(sub)
  }
  if (resources.length > 1 && resources.includes('*/*'))
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"))
  if (resources.includes('*') && lastIsPlain)
    errors.push(invalid(path, resources, "if '*' is present, must not specify other resources without subresources"))
  return errors
}

/** Conditions are CEL: their form is checked, but they are not evaluated. */
export function matchConditionErrors(path: string, of: Fields): FieldError[] {
  const conditions = objects(of, 'matchConditions')
  const errors = conditions.length > 64 ? [tooMany(path, conditions.length, 64)] : []
  const names = new Set<string>()
  for (const [i, condition] of conditions.entries()) {
    const at = index(path, i)
    const name = string(condition, 'name')
    if (string(condition, 'expression').trim() === '') errors.push(required(child(at, 'expression')))
    if (name === '') errors.push(required(child(at, 'name')))
    else errors.push(...qualifiedNameErrors(child(at, 'name'), name))
    if (name !== '' && names.has(name)) errors.push(duplicate(child(at, 'name'), name))
    names.add(name)
  }
  return errors
}

export function matchPolicyErrors(path: string, of: Fields): FieldError[] {
  const policy = maybeString(of, 'matchPolicy')
  return policy === undefined || MATCH_POLICIES.includes(policy) ? [] : [unsupported(path, policy, MATCH_POLICIES)]
}

/** MatchResources of a policy or its binding. */
export function matchResourcesErrors(path: string, match: Fields): FieldError[] {
  const errors =
    field(match, 'matchPolicy') === undefined
      ? [required(child(path, 'matchPolicy'))]
      : matchPolicyErrors(child(path, 'matchPolicy'), match)
  for (const key of ['namespaceSelector', 'objectSelector']) {
    const selector = maybeObject(match, key)
    errors.push(...(selector === undefined ? [required(child(path, key))] : labelSelectorErrors(child(path, key), selector)))
  }
  for (const key of ['resourceRules', 'excludeResourceRules'])
    errors.push(...objects(match, key).flatMap((rule, i) => namedRuleErrors(index(child(path, key), i), rule)))
  return errors
}

function namedRuleErrors(path: string, rule: Fields): FieldError[] {
  const names = strings(rule, 'resourceNames')
  const errors = names.flatMap((name, i) => (names.indexOf(name) < i ? [duplicate(index(child(path, 'resourceNames'), i), name)] : []))
  return [...errors, ...ruleErrors(path, rule)]
}

export function defaultRules(of: Fields, key: string): void {
  for (const rule of writableObjects(of, key)) defaultValue(rule, 'scope', '*')
}

export function defaultMatchResources(match: Fields): void {
  defaultValue(match, 'matchPolicy', 'Equivalent')
  defaultValue(match, 'namespaceSelector', {})
  defaultValue(match, 'objectSelector', {})
  defaultRules(match, 'resourceRules')
  defaultRules(match, 'excludeResourceRules')
}
