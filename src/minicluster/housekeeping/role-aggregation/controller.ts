/**
 * Fills the rules of ClusterRoles that aggregate others: the union of the rules of every role their selectors match, in
 * the order of the roles' names. Sole writer of: `rules` of roles with an aggregationRule.
 */

import { deepEqual, isJsonObject } from '../../../base/json.ts'
import { CLUSTER_ROLES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type LabelSelectorObject, matchesLabels, selectorFromObject } from '../../../kube/selector.ts'
import { defineController, NOTHING_TO_DO, type Plan, via } from '../../../runtime/controller.ts'

const AGGREGATING = 'aggregating'

export interface Observed {
  role: KubeObject | undefined
  /** All roles, in any order. */
  candidates: readonly KubeObject[]
}

const selectorsOf = (role: KubeObject): LabelSelectorObject[] =>
  ((role.aggregationRule as { clusterRoleSelectors?: LabelSelectorObject[] } | undefined)?.clusterRoleSelectors ??
    []) as LabelSelectorObject[]

export const roleAggregation = defineController<Observed>({
  name: 'minicluster.housekeeping.role-aggregation',
  for: CLUSTER_ROLES,
  // Any role that changes may be gained or lost by those that aggregate; there are only a handful of them.
  watches: [
    via(CLUSTER_ROLES, (_role, read) =>
      read.byIndex(CLUSTER_ROLES, AGGREGATING, 'yes').map((r) => ({ namespace: '', name: r.metadata.name ?? '' })),
    ),
  ],
  indexes: [{ resource: CLUSTER_ROLES, name: AGGREGATING, of: (role) => (role.aggregationRule === undefined ? [] : ['yes']) }],
  writes: [{ resource: CLUSTER_ROLES, verbs: ['patch', 'escalate'] }],
  observe: (_ref, role, read) => ({ role, candidates: role?.aggregationRule === undefined ? [] : read.list(CLUSTER_ROLES) }),
  plan,
})

export function plan({ role, candidates }: Observed): Plan {
  if (role === undefined || role.aggregationRule === undefined || role.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  const rules = aggregatedRules(role, candidates)
  if (deepEqual(rules, role.rules ?? [])) return NOTHING_TO_DO
  return { actions: [{ do: 'patch', resource: CLUSTER_ROLES, of: role, patch: { rules } }] }
}

function aggregatedRules(role: KubeObject, candidates: readonly KubeObject[]): unknown[] {
  // By text: comparing each with each is quadratic, and roles may have tens of thousands.
  const rules = new Map<string, unknown>()
  const sorted = [...candidates].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
  for (const selector of selectorsOf(role)) {
    const parsed = selectorFromObject(selector)
    if (parsed.error !== undefined || parsed.value === undefined) continue
    for (const candidate of sorted) {
      if (candidate.metadata.name === role.metadata.name || !matchesLabels(parsed.value, candidate.metadata.labels)) continue
      for (const rule of (candidate.rules as unknown[] | null | undefined) ?? []) {
        const text = textOf(rule)
        if (!rules.has(text)) rules.set(text, rule)
      }
    }
  }
  return [...rules.values()]
}

/** Equal rules have equal texts, in whatever order their fields are. */
const textOf = (rule: unknown): string =>
  JSON.stringify(isJsonObject(rule) ? Object.entries(rule).sort(([a], [b]) => (a < b ? -1 : 1)) : rule)
