/**
 * RBAC over an index that changes one object at a time: bindings are found by subject and roles by name, so a decision
 * costs what the requesting user is bound to and never what the cluster holds. Bindings are visited in name order (the real
 * server's order is random), so a decision always gives the same reason.
 */
import { isJsonObject } from '../../base/json.ts'
import { serviceAccountName } from '../../kinds/identity.ts'
import type { UserInfo } from '../../kinds/kind.ts'
import { aggregateMessage } from '../../kube/field-error.ts'
import { goQuote } from '../../kube/go-print.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Attributes, Authorizer, Decision } from './attributes.ts'
import { type PolicyRule, readRules, ruleAllows } from './rules.ts'

export const RBAC_GROUP = 'rbac.authorization.k8s.io'
/** The resources the index is built from. */
export const RBAC_RESOURCES = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'] as const
export type RbacResource = (typeof RBAC_RESOURCES)[number]

export interface RoleRef {
  kind: string
  name: string
}

interface Subject {
  /** `User x`, `Group y`, or the user name of a service account: what a user is looked up by. */
  key: string
  /** How a reason names it. */
  text: string
}

interface Binding {
  namespace: string
  name: string
  roleRef: RoleRef
  subjects: readonly Subject[]
}

/** A binding that applies to a user, with the first subject that matches. */
interface Grant {
  binding: Binding
  subject: Subject
}

export interface RuleSet {
  rules: PolicyRule[]
  /** Roles that bindings refer to but that do not exist, in Kubernetes' words. */
  errors: string[]
}

export interface Rbac extends Authorizer {
  /** Updates the index with an object's new state; undefined when it is gone. Idempotent, cheap. */
  apply(resource: RbacResource, namespace: string, name: string, object: KubeObject | undefined): void
  /** Every rule the user has in the namespace ('' = cluster-wide only). */
  rulesFor(user: UserInfo, namespace: string): RuleSet
  /** The rules behind a roleRef of a binding in `namespace`, or undefined when there is no such role. */
  rulesOf(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined
}

/** Bindings of one namespace ('' for the cluster's) by subject key, then by binding name. */
type BySubject = Map<string, Map<string, Binding>>

export function createRbac(): Rbac {
  const roles = new Map<string, readonly PolicyRule[]>()
  const bindings = new Map<string, Binding>()
  const bySubject = new Map<string, BySubject>()

  const apply: Rbac['apply'] = (resource, namespace, name, object) => {
    const key = `${namespace}/${name}`
    if (resource === 'roles' || resource === 'clusterroles') {
      if (object === undefined) roles.delete(key)
      else roles.set(key, readRules(object.rules))
      return
    }
    const known = bindings.get(key)
    if (known !== undefined) unlink(bySubject, known)
    bindings.delete(key)
    if (object === undefined) return
    const binding = readBinding(object, namespace, name)
    bindings.set(key, binding)
    link(bySubject, binding)
  }

  const rulesOf: Rbac['rulesOf'] = (ref, namespace) =>
    ref.kind === 'ClusterRole'
      ? roles.get(`/${ref.name}`)
      : ref.kind === 'Role' && namespace !== ''
        ? roles.get(`${namespace}/${ref.name}`)
        : undefined

  function* grants(user: UserInfo, namespace: string): Generator<Grant> {
    const keys = subjectKeys(user)
    yield* applicable(bySubject.get(''), keys)
    if (namespace !== '') yield* applicable(bySubject.get(namespace), keys)
  }

  return {
    apply,
    rulesOf,
    authorize(ask: Attributes): Decision {
      const errors: string[] = []
      for (const grant of grants(ask.user, ask.namespace)) {
        const rules = rulesOf(grant.binding.roleRef, grant.binding.namespace)
        if (rules === undefined) errors.push(missingRole(grant.binding.roleRef))
        else if (rules.some((rule) => ruleAllows(rule, ask))) return { allowed: true, reason: `RBAC: allowed by ${describeGrant(grant)}` }
      }
      return { allowed: false, reason: errors.length === 0 ? '' : `RBAC: ${aggregateMessage(errors)}` }
    },
    rulesFor(user, namespace) {
      const found: RuleSet = { rules: [], errors: [] }
      for (const { binding } of grants(user, namespace)) {
        const rules = rulesOf(binding.roleRef, binding.namespace)
        if (rules === undefined) found.errors.push(missingRole(binding.roleRef))
        else for (const rule of rules) found.rules.push(rule)
      }
      return found
    },
  }
}

const subjectKeys = (user: UserInfo): Set<string> => new Set([`User ${user.name}`, ...user.groups.map((group) => `Group ${group}`)])

function applicable(index: BySubject | undefined, keys: ReadonlySet<string>): Grant[] {
  if (index === undefined) return []
  const found = new Map<string, Binding>()
  for (const key of keys) {
    const entries = index.get(key)
    if (entries !== undefined) for (const [name, binding] of entries) found.set(name, binding)
  }
  const grants: Grant[] = []
  for (const name of [...found.keys()].sort()) {
    const binding = found.get(name)
    const subject = binding?.subjects.find((s) => keys.has(s.key))
    if (binding !== undefined && subject !== undefined) grants.push({ binding, subject })
  }
  return grants
}

function link(bySubject: Map<string, BySubject>, binding: Binding): void {
  const index = bySubject.get(binding.namespace) ?? new Map<string, Map<string, Binding>>()
  bySubject.set(binding.namespace, index)
  for (const { key } of binding.subjects) {
    const entries = index.get(key) ?? new Map<string, Binding>()
    index.set(key, entries.set(binding.name, binding))
  }
}

function unlink(bySubject: Map<string, BySubject>, binding: Binding): void {
  const index = bySubject.get(binding.namespace)
  if (index === undefined) return
  for (const { key } of binding.subjects) {
    const entries = index.get(key)
    entries?.delete(binding.name)
    if (entries?.size === 0) index.delete(key)
  }
  if (index.size === 0) bySubject.delete(binding.namespace)
}

function readBinding(object: KubeObject, namespace: string, name: string): Binding {
  const subjects = Array.isArray(object.subjects) ? object.subjects.map((s) => readSubject(s, namespace)) : []
  return { namespace, name, roleRef: readRoleRef(object), subjects: subjects.filter((s) => s !== undefined) }
}

export function readRoleRef(binding: KubeObject): RoleRef & { apiGroup: string } {
  const ref = isJsonObject(binding.roleRef) ? binding.roleRef : {}
  return { kind: text(ref.kind), name: text(ref.name), apiGroup: text(ref.apiGroup) }
}

function readSubject(value: unknown, bindingNamespace: string): Subject | undefined {
  if (!isJsonObject(value)) return undefined
  const name = text(value.name)
  if (value.kind === 'User' || value.kind === 'Group') return { key: `${value.kind} ${name}`, text: `${value.kind} ${goQuote(name)}` }
  if (value.kind !== 'ServiceAccount') return undefined
  const namespace = text(value.namespace) === '' ? bindingNamespace : text(value.namespace)
  if (namespace === '') return undefined
  return { key: `User ${serviceAccountName(namespace, name)}`, text: `ServiceAccount ${goQuote(`${name}/${namespace}`)}` }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

function describeGrant({ binding, subject }: Grant): string {
  const kind = binding.namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding'
  const name = binding.namespace === '' ? binding.name : `${binding.name}/${binding.namespace}`
  return `${kind} ${goQuote(name)} of ${binding.roleRef.kind} ${goQuote(binding.roleRef.name)} to ${subject.text}`
}

function missingRole(ref: RoleRef): string {
  if (ref.kind !== 'Role' && ref.kind !== 'ClusterRole') return `unsupported role reference kind: ${goQuote(ref.kind)}`
  return `${ref.kind.toLowerCase()}.${RBAC_GROUP} ${goQuote(ref.name)} not found`
}
