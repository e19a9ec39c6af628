/**
 * Nobody can grant rights they do not have. Called on every write of a Role, ClusterRole, RoleBinding or
 * ClusterRoleBinding, after admission and before it is stored; throws the real server's error.
 */
import { deepEqual, isJsonObject } from '../../base/json.ts'
import { MASTERS } from '../../kinds/identity.ts'
import type { UserInfo } from '../../kinds/kind.ts'
import { goQuote } from '../../kube/go-print.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { failure, forbiddenError, notFoundError, type StatusError } from '../../kube/status.ts'
import { type Authorizer, resourceAttributes } from './attributes.ts'
import { uncovered } from './coverage.ts'
import { RBAC_GROUP, RBAC_RESOURCES, type Rbac, type RbacResource, readRoleRef } from './rbac.ts'
import { describeRules, type PolicyRule, quotedList, readRules } from './rules.ts'

export interface RbacWrite {
  user: UserInfo
  resource: string
  namespace: string
  /** Name in the URL: '' for POST to the collection. */
  requestName: string
  object: KubeObject
  /** The live object on update. */
  old?: KubeObject
}

export interface EscalationDeps {
  rbac: Rbac
  authorizer: Authorizer
}

const FULL_AUTHORITY: readonly PolicyRule[] = readRules([
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
])

export const isRbacResource = (group: string, resource: string): resource is RbacResource =>
  group === RBAC_GROUP && (RBAC_RESOURCES as readonly string[]).includes(resource)

export function checkEscalation(write: RbacWrite, deps: EscalationDeps): void {
  if (write.user.groups.includes(MASTERS)) return
  const isRole = write.resource === 'roles' || write.resource === 'clusterroles'
  if (isRole && mayEscalate(write, deps)) return
  if (write.old !== undefined && onlyGarbageCollectorFields(write.object, write.old)) return
  if (isRole) checkRole(write, deps)
  else checkBinding(write, deps)
}

function mayEscalate(write: RbacWrite, { authorizer }: EscalationDeps): boolean {
  const { user, resource, namespace, requestName } = write
  return authorizer.authorize(resourceAttributes(user, { verb: 'escalate', group: RBAC_GROUP, resource, namespace, name: requestName }))
    .allowed
}

function checkRole(write: RbacWrite, { rbac }: EscalationDeps): void {
  const refusal = escalationOf(write, rbac, readRules(write.object.rules))
  if (refusal !== undefined) throw refused(write, refusal)
  if (write.resource !== 'clusterroles') return
  if (!aggregates(write.object) && (write.old === undefined || !aggregates(write.old))) return
  if (escalationOf(write, rbac, FULL_AUTHORITY) !== undefined)
    throw refused(write, 'must have cluster-admin privileges to use the aggregationRule')
}

function checkBinding(write: RbacWrite, { rbac, authorizer }: EscalationDeps): void {
  const ref = readRoleRef(write.object)
  const resource = ref.kind === 'ClusterRole' ? 'clusterroles' : ref.kind === 'Role' ? 'roles' : ''
  if (resource === '') throw failure(500, '', `unsupported role reference kind: ${goQuote(ref.kind)}`)
  const { user, namespace } = write
  const bind = resourceAttributes(user, { verb: 'bind', group: ref.apiGroup, resource, namespace, name: ref.name })
  if (authorizer.authorize(bind).allowed) return
  const rules = rbac.rulesOf(ref, namespace)
  // The real server names the resource of the request here, not that of the role it did not find.
  if (rules === undefined) throw notFoundError({ group: RBAC_GROUP, resource: write.resource }, ref.name)
  const refusal = escalationOf(write, rbac, rules)
  if (refusal !== undefined) throw refused(write, refusal)
}

function escalationOf({ user, namespace }: RbacWrite, rbac: Rbac, wanted: readonly PolicyRule[]): string | undefined {
  const held = rbac.rulesFor(user, namespace)
  const { missing, isCompared } = uncovered(held.rules, wanted)
  if (missing.length === 0) return undefined
  const who = `user ${goQuote(user.name)} (groups=${quotedList(user.groups)})`
  const what = `${who} is attempting to grant RBAC permissions not currently held:\n${describeRules(missing).join('\n')}`
  const whole = isCompared
    ? what
    : `${what}\nthat is too much to compare with what the user holds: say it with fewer values, or in several roles`
  return held.errors.length === 0 ? whole : `${whole}; resolution errors: [${held.errors.join(', ')}]`
}

const refused = (write: RbacWrite, why: string): StatusError =>
  forbiddenError({ group: RBAC_GROUP, resource: write.resource }, write.object.metadata.name ?? '', why)

function aggregates(role: KubeObject): boolean {
  const selectors = isJsonObject(role.aggregationRule) ? role.aggregationRule.clusterRoleSelectors : undefined
  return Array.isArray(selectors) && selectors.length > 0
}

/** The garbage collector may write finalizers and owner references of roles and bindings whose rights it does not hold. */
function onlyGarbageCollectorFields(object: KubeObject, old: KubeObject): boolean {
  return deepEqual(withoutCollected(object), withoutCollected(old))
}

function withoutCollected(object: KubeObject): KubeObject {
  const { ownerReferences: _owners, finalizers: _finalizers, selfLink: _link, managedFields: _fields, ...metadata } = object.metadata
  return { ...object, metadata }
}
