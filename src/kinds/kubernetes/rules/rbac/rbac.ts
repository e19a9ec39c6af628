/** Roles and bindings. Escalation is checked by the authorizer; here only the form is checked. */
import { child, type FieldError, index, invalid, required } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkPathSegmentName, nameIsDnsSubdomain, nameIsPathSegment } from '../../../../kube/names.ts'
import type { KindRules } from '../../../kind.ts'
import { defaultString, ensureObject, type Fields, items, maybeObject, object, objects, string, writableObjects } from '../fields.ts'
import { labelSelectorErrors } from '../formats.ts'
import { invalidEach, unsupported } from '../pod/errors.ts'

const GROUP = 'rbac.authorization.k8s.io'

function policyRuleErrors(path: string, rule: Fields, isNamespaced: boolean): FieldError[] {
  const errors: FieldError[] = []
  if (items(rule, 'verbs').length === 0) errors.push(required(child(path, 'verbs'), 'verbs must contain at least one value'))
  const urls = items(rule, 'nonResourceURLs')
  if (urls.length > 0) {
    const at = child(path, 'nonResourceURLs')
    if (isNamespaced) errors.push(invalid(at, urls, 'namespaced rules cannot apply to non-resource URLs'))
    if (['apiGroups', 'resources', 'resourceNames'].some((key) => items(rule, key).length > 0))
      errors.push(invalid(at, urls, 'rules cannot apply to both regular resources and non-resource URLs'))
    return errors
  }
  if (items(rule, 'apiGroups').length === 0)
    errors.push(required(child(path, 'apiGroups'), 'resource rules must supply at least one api group'))
  if (items(rule, 'resources').length === 0)
    errors.push(required(child(path, 'resources'), 'resource rules must supply at least one resource'))
  return errors
}

const roleErrors = (role: KubeObject, isNamespaced: boolean): FieldError[] =>
  objects(role, 'rules').flatMap((rule, i) => policyRuleErrors(index('rules', i), rule, isNamespaced))

function aggregationErrors(role: KubeObject, old?: KubeObject): FieldError[] {
  const rule = maybeObject(role, 'aggregationRule')
  if (rule === undefined) return []
  const path = 'aggregationRule.clusterRoleSelectors'
  const selectors = objects(rule, 'clusterRoleSelectors')
  if (selectors.length === 0) return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
  const tolerant =
    old !== undefined &&
    objects(object(old, 'aggregationRule'), 'clusterRoleSelectors').some((selector) => labelSelectorErrors('', selector).length > 0)
  return selectors.flatMap((selector, i) => {
    const errors = labelSelectorErrors(index(path, i), selector, tolerant)
    return errors.length === 0 ? errors : [...errors, invalid(index(path, i), null, 'invalid label selector.')]
  })
}

function bindingErrors(binding: KubeObject, isNamespaced: boolean): FieldError[] {
  const reference = object(binding, 'roleRef')
  const errors: FieldError[] = []
  const group = string(reference, 'apiGroup')
  if (group !== GROUP) errors.push(unsupported('roleRef.apiGroup', group, [GROUP]))
  const kinds = isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  const kind = string(reference, 'kind')
  if (!kinds.includes(kind)) errors.push(unsupported('roleRef.kind', kind, kinds))
  const name = string(reference, 'name')
  if (name === '') errors.push(required('roleRef.name'))
  else errors.push(...invalidEach('roleRef.name', name, checkPathSegmentName(name)))
  return [...errors, ...objects(binding, 'subjects').flatMap((subject, i) => subjectErrors(index('subjects', i), subject, isNamespaced))]
}

function subjectErrors(path: string, subject: Fields, isNamespaced: boolean): FieldError[] {
  const [name, kind, group] = [string(subject, 'name'), string(subject, 'kind'), string(subject, 'apiGroup')]
  const errors = name === '' ? [required(child(path, 'name'))] : []
  if (kind === 'ServiceAccount') {
    if (name !== '') errors.push(...invalidEach(child(path, 'name'), name, nameIsDnsSubdomain(name, false)))
    if (group !== '') errors.push(unsupported(child(path, 'apiGroup'), group, ['']))
    if (!isNamespaced && string(subject, 'namespace') === '') errors.push(required(child(path, 'namespace')))
  } else if (kind === 'User' || kind === 'Group') {
    if (group !== GROUP) errors.push(unsupported(child(path, 'apiGroup'), group, [GROUP]))
  } else errors.push(unsupported(child(path, 'kind'), kind, ['ServiceAccount', 'User', 'Group']))
  return errors
}

function referenceChangeErrors(binding: KubeObject, old: KubeObject): FieldError[] {
  const show = (of: KubeObject): Fields => {
    const reference = object(of, 'roleRef')
    return { APIGroup: string(reference, 'apiGroup'), Kind: string(reference, 'kind'), Name: string(reference, 'name') }
  }
  const shown = show(binding)
  const before = show(old)
  if (Object.keys(shown).every((key) => shown[key] === before[key])) return []
  return [invalid('roleRef', shown, 'cannot change roleRef')]
}

function bindingDefaults(binding: KubeObject): void {
  defaultString(ensureObject(binding, 'roleRef'), 'apiGroup', GROUP)
  for (const subject of writableObjects(binding, 'subjects'))
    if (string(subject, 'kind') === 'User' || string(subject, 'kind') === 'Group') defaultString(subject, 'apiGroup', GROUP)
}

/** Both spellings of "no rules" are stored as null. */
function roleDefaults(role: KubeObject): void {
  if (items(role, 'rules').length === 0) role.rules = null
}

const shared: KindRules = { validateName: nameIsPathSegment, allowCreateOnUpdate: true }

export const roleRules: KindRules = {
  ...shared,
  applyDefaults: roleDefaults,
  validateCreate: (role) => roleErrors(role, true),
  validateUpdate: (role) => roleErrors(role, true),
}

export const clusterRoleRules: KindRules = {
  ...shared,
  applyDefaults: roleDefaults,
  validateCreate: (role) => [...roleErrors(role, false), ...aggregationErrors(role)],
  validateUpdate: (role, old) => [...roleErrors(role, false), ...aggregationErrors(role, old)],
}

const bindingRules = (isNamespaced: boolean): KindRules => ({
  ...shared,
  applyDefaults: bindingDefaults,
  validateCreate: (binding) => bindingErrors(binding, isNamespaced),
  validateUpdate: (binding, old) => [...bindingErrors(binding, isNamespaced), ...referenceChangeErrors(binding, old)],
})

export const roleBindingRules = bindingRules(true)
export const clusterRoleBindingRules = bindingRules(false)
