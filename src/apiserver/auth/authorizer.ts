/**
 * The authorizers in the order of a real server's `--authorization-mode=Node,RBAC`: members of system:masters may do
 * everything, nodes what belongs to them, and everyone what RBAC grants.
 */
import type { AdmissionReader } from '../../kinds/admission.ts'
import { MASTERS, nodeIdentity } from '../../kinds/identity.ts'
import type { UserInfo } from '../../kinds/kind.ts'
import { aggregateMessage } from '../../kube/field-error.ts'
import type { Authorizer } from './attributes.ts'
import { authorizeNode } from './node-authorizer.ts'
import type { Rbac } from './rbac.ts'
import type { PolicyRule } from './rules.ts'

export interface RuleReport {
  rules: readonly PolicyRule[]
  incomplete: boolean
  /** '' when nothing went wrong. */
  error: string
}

export interface ClusterAuthorizer extends Authorizer {
  /** What SelfSubjectRulesReview shows. */
  reportRules(user: UserInfo, namespace: string): RuleReport
}

export function createAuthorizer(rbac: Rbac, read: AdmissionReader): ClusterAuthorizer {
  return {
    authorize(ask) {
      if (ask.user.groups.includes(MASTERS)) return { allowed: true, reason: '' }
      const asNode = authorizeNode(ask, read, rbac.rulesOf({ kind: 'ClusterRole', name: 'system:node' }, '') ?? [])
      if (asNode?.allowed) return asNode
      const decision = rbac.authorize(ask)
      if (decision.allowed || asNode === undefined) return decision
      return { allowed: false, reason: [asNode.reason, decision.reason].filter((reason) => reason !== '').join('\n') }
    },
    reportRules(user, namespace) {
      const { rules, errors } = rbac.rulesFor(user, namespace)
      const { isNode } = nodeIdentity(user)
      // Aggregates nest: RBAC's own list of errors is one error beside the node authorizer's.
      const all = [...(isNode ? ['node authorizer does not support user rule resolution'] : []), ...errors]
      return { rules, incomplete: isNode, error: all.length === 0 ? '' : aggregateMessage(all) }
    },
  }
}
