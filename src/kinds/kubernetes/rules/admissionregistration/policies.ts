/**
 * Admission policies and their bindings. They are stored and their form is checked; a warning says that their CEL
 * expressions are not evaluated.
 */
import { child, duplicate, type FieldError, forbidden, index, invalid, required } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkDns1035Label, checkDns1123Subdomain, checkPathSegmentName } from '../../../../kube/names.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import {
  defaultValue,
  ensureObject,
  type Fields,
  maybeObject,
  maybeString,
  object,
  objects,
  restore,
  restoreMetadata,
  string,
  strings,
} from '../fields.ts'
import { dnsSubdomainErrors, labelSelectorErrors, qualifiedNameErrors } from '../formats.ts'
import { countChange, startGeneration } from '../generation.ts'
import { invalidEach, unsupported } from '../pod/errors.ts'
import { defaultMatchResources, matchConditionErrors, matchResourcesErrors } from './match-rules.ts'

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const ACTIONS = ['Audit', 'Deny', 'Warn']
const PATCH_TYPES = ['ApplyConfiguration', 'JSONPatch']
const REINVOCATIONS = ['IfNeeded', 'Never']
const EITHER = 'validations or auditAnnotations must contain at least one item'

function paramKindErrors(path: string, kind: Fields): FieldError[] {
  const [version, name] = [string(kind, 'apiVersion'), string(kind, 'kind')]
  const at = child(path, 'apiVersion')
  const errors: FieldError[] = []
  if (version === '') errors.push(required(at))
  else if (version.split('/').length > 2) errors.push(invalid(at, version, `unexpected GroupVersion string: ${version}`))
  else {
    const slash = version.indexOf('/')
    const [group, plain] = [version.slice(0, Math.max(slash, 0)), version.slice(slash + 1)]
    const groupProblems = group === '' ? [] : checkDns1123Subdomain(group)
    if (groupProblems.length > 0) errors.push(invalid(at, group, groupProblems.join(',')))
    const versionProblems = plain === '' ? ['version must be specified'] : checkDns1035Label(plain)
    if (versionProblems.length > 0) errors.push(invalid(at, plain === '' ? version : plain, versionProblems.join(',')))
  }
  if (name === '') return [...errors, required(child(path, 'kind'))]
  const problems = checkDns1035Label(name.toLowerCase())
  if (problems.length === 0) return errors
  return [...errors, invalid(child(path, 'kind'), name, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
}

function sharedSpecErrors(spec: Fields): FieldError[] {
  const errors: FieldError[] = []
  const failure = maybeString(spec, 'failurePolicy')
  if (failure === undefined) errors.push(required('spec.failurePolicy'))
  else if (!['Fail', 'Ignore'].includes(failure)) errors.push(unsupported('spec.failurePolicy', failure, ['Fail', 'Ignore']))
  const param = maybeObject(spec, 'paramKind')
  if (param !== undefined) errors.push(...paramKindErrors('spec.paramKind', param))
  const match = maybeObject(spec, 'matchConstraints')
  if (match === undefined) errors.push(required('spec.matchConstraints'))
  else {
    errors.push(...matchResourcesErrors('spec.matchConstraints', match))
    if (objects(match, 'resourceRules').length === 0) errors.push(required('spec.matchConstraints.resourceRules'))
  }
  errors.push(...matchConditionErrors('spec.matchConditions', spec))
  for (const [i, variable] of objects(spec, 'variables').entries()) {
    const path = index('spec.variables', i)
    if (string(variable, 'name').trim() === '') errors.push(required(child(path, 'name'), 'name is not specified'))
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(string(variable, 'name')))
      errors.push(invalid(child(path, 'name'), string(variable, 'name'), 'must be a valid CEL identifier'))
    if (string(variable, 'expression').trim() === '') errors.push(required(child(path, 'expression'), 'expression is not specified'))
  }
  return errors
}

function validatingErrors(policy: KubeObject): FieldError[] {
  const spec = object(policy, 'spec')
  const errors = sharedSpecErrors(spec)
  const [validations, annotations] = [objects(spec, 'validations'), objects(spec, 'auditAnnotations')]
  if (validations.length + annotations.length === 0)
    return [...errors, required('spec.validations', EITHER), required('spec.auditAnnotations', EITHER)]
  errors.push(...validations.flatMap((validation, i) => validationErrors(index('spec.validations', i), validation)))
  if (annotations.length > 20) errors.push(invalid('spec.auditAnnotations', annotations, 'must not have more than 20 auditAnnotations'))
  const keys = new Set<string>()
  for (const [i, entry] of annotations.entries()) {
    const path = index('spec.auditAnnotations', i)
    const key = string(entry, 'key')
    errors.push(...qualifiedNameErrors(child(path, 'key'), `${policy.metadata.name ?? ''}/${key}`))
    if (string(entry, 'valueExpression').trim() === '')
      errors.push(required(child(path, 'valueExpression'), 'valueExpression is not specified'))
    if (keys.has(key)) errors.push(duplicate(child(path, 'key'), key))
    keys.add(key)
  }
  return errors
}

function validationErrors(path: string, validation: Fields): FieldError[] {
  const errors: FieldError[] = []
  if (string(validation, 'expression').trim() === '') errors.push(required(child(path, 'expression'), 'expression is not specified'))
  const messageExpression = string(validation, 'messageExpression')
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.push(invalid(child(path, 'messageExpression'), messageExpression, 'must be non-empty if specified'))
  const message = string(validation, 'message')
  if (message !== '' && message.trim() === '') errors.push(invalid(child(path, 'message'), message, 'must be non-empty if specified'))
  else if (/[\n\r]/.test(message.trim())) errors.push(invalid(child(path, 'message'), message, 'must not contain line breaks'))
  const reason = maybeString(validation, 'reason')
  if (reason !== undefined && !REASONS.includes(reason)) errors.push(unsupported(child(path, 'reason'), reason, REASONS))
  return errors
}

function mutatingErrors(policy: KubeObject): FieldError[] {
  const spec = object(policy, 'spec')
  const errors = sharedSpecErrors(spec)
  const mutations = objects(spec, 'mutations')
  if (mutations.length === 0) errors.push(required('spec.mutations', 'mutations must contain at least one item'))
  for (const [i, mutation] of mutations.entries()) {
    const path = index('spec.mutations', i)
    const type = string(mutation, 'patchType')
    const key = type === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration'
    if (type === '') errors.push(required(child(path, 'patchType')))
    else if (!PATCH_TYPES.includes(type)) errors.push(unsupported(child(path, 'patchType'), type, PATCH_TYPES))
    else if (maybeObject(mutation, key) === undefined)
      errors.push(required(child(path, key), `must be specified when patchType is ${type}`))
    else if (string(object(mutation, key), 'expression').trim() === '')
      errors.push(required(child(path, key, 'expression'), 'expression is not specified'))
  }
  const again = string(spec, 'reinvocationPolicy')
  if (again === '') errors.push(required('spec.reinvocationPolicy'))
  else if (!REINVOCATIONS.includes(again)) errors.push(unsupported('spec.reinvocationPolicy', again, REINVOCATIONS))
  return errors
}

function bindingErrors(binding: KubeObject, validating: boolean): FieldError[] {
  const spec = object(binding, 'spec')
  const name = string(spec, 'policyName')
  const errors = name === '' ? [required('spec.policyName')] : dnsSubdomainErrors('spec.policyName', name)
  const param = maybeObject(spec, 'paramRef')
  if (param !== undefined) errors.push(...paramRefErrors('spec.paramRef', param))
  const match = maybeObject(spec, 'matchResources')
  if (match !== undefined) errors.push(...matchResourcesErrors('spec.matchResources', match))
  return validating ? [...errors, ...actionErrors(strings(spec, 'validationActions'))] : errors
}

function actionErrors(actions: readonly string[]): FieldError[] {
  const path = 'spec.validationActions'
  const errors: FieldError[] = []
  for (const [i, action] of actions.entries()) {
    if (!ACTIONS.includes(action)) errors.push(unsupported(index(path, i), action, ACTIONS))
    if (actions.indexOf(action) < i) errors.push(duplicate(index(path, i), action))
  }
  if (actions.includes('Deny') && actions.includes('Warn'))
    errors.push(
      invalid(
        path,
        actions,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ),
    )
  return actions.length === 0 ? [...errors, required(path, 'at least one validation action is required')] : errors
}

function paramRefErrors(path: string, param: Fields): FieldError[] {
  const [name, selector] = [string(param, 'name'), maybeObject(param, 'selector')]
  const errors = name === '' ? [] : invalidEach(child(path, 'name'), name, checkPathSegmentName(name))
  const both = name !== '' && selector !== undefined
  if (both) errors.push(forbidden(child(path, 'name'), 'name and selector are mutually exclusive'))
  errors.push(...labelSelectorErrors(child(path, 'selector'), selector))
  if (both) errors.push(forbidden(child(path, 'selector'), 'name and selector are mutually exclusive'))
  if (name === '' && selector === undefined) errors.push(required(path, 'one of name or selector must be specified'))
  const action = maybeString(param, 'parameterNotFoundAction')
  if (action === undefined) errors.push(required(child(path, 'parameterNotFoundAction')))
  else if (!['Allow', 'Deny'].includes(action)) errors.push(unsupported(child(path, 'parameterNotFoundAction'), action, ['Deny', 'Allow']))
  return errors
}

function specDefaults(policy: KubeObject): void {
  const spec = ensureObject(policy, 'spec')
  defaultValue(spec, 'failurePolicy', 'Fail')
  const match = maybeObject(spec, 'matchConstraints')
  if (match !== undefined) defaultMatchResources(match)
}

function bindingDefaults(binding: KubeObject): void {
  const match = maybeObject(object(binding, 'spec'), 'matchResources')
  if (match !== undefined) defaultMatchResources(match)
}

function policyPrepareForUpdate(policy: KubeObject, old: KubeObject, { subresource }: RuleContext): void {
  if (subresource === 'status') {
    restore(policy, old, 'spec')
    restoreMetadata(policy, old)
    return
  }
  restore(policy, old, 'status')
  countChange(policy, old)
}

const notEvaluated = (kind: string) => (): string[] => [`${kind}: CEL expressions are stored but not evaluated by this server`]

const policyRules = (kind: string, errors: (policy: KubeObject) => FieldError[]): KindRules => ({
  applyDefaults: specDefaults,
  prepareForCreate(policy) {
    if (kind === 'ValidatingAdmissionPolicy') policy.status = {}
    startGeneration(policy)
  },
  prepareForUpdate: policyPrepareForUpdate,
  validateCreate: errors,
  validateUpdate: (policy, _old, { subresource }) => (subresource === 'status' ? [] : errors(policy)),
  warnings: (policy, old, { subresource }) => (subresource === 'status' || sameSpec(policy, old) ? [] : notEvaluated(kind)()),
  allowUnconditionalUpdate: false,
  tracksGeneration: true,
})

const sameSpec = (policy: KubeObject, old: KubeObject | undefined): boolean =>
  old !== undefined && policy.metadata.generation !== undefined && policy.metadata.generation === old.metadata.generation

const bindingRules = (validating: boolean): KindRules => ({
  applyDefaults: bindingDefaults,
  prepareForCreate: startGeneration,
  prepareForUpdate: (binding, old) => countChange(binding, old),
  validateCreate: (binding) => bindingErrors(binding, validating),
  validateUpdate: (binding) => bindingErrors(binding, validating),
  allowUnconditionalUpdate: false,
  tracksGeneration: true,
})

export const validatingAdmissionPolicyRules = policyRules('ValidatingAdmissionPolicy', validatingErrors)
export const mutatingAdmissionPolicyRules = policyRules('MutatingAdmissionPolicy', mutatingErrors)
export const validatingAdmissionPolicyBindingRules = bindingRules(true)
export const mutatingAdmissionPolicyBindingRules = bindingRules(false)
