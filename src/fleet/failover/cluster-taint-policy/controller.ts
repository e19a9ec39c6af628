/**
 * ClusterTaintPolicies add taints to clusters, and remove them again, by the clusters' conditions. Policies are applied in
 * the order of their creation. Writes: the taints in spec.taints that policies name. Runs again when the labels, conditions
 * or taints of a cluster change, and for every cluster when a policy does. The taints of a deleted policy stay.
 */
import { formatTime } from '../../../base/clock.ts'
import { deepEqual } from '../../../base/json.ts'
import { matchesCluster } from '../../../kinds/karmada/cluster-affinity-match.ts'
import { describeTaints, withoutTaints, withTaints } from '../../../kinds/karmada/cluster-taints.ts'
import type { Cluster, ClusterTaintPolicy, MatchCondition, Taint } from '../../../kinds/karmada/index.ts'
import { CLUSTER_TAINT_POLICIES, CLUSTERS } from '../../../kinds/karmada/resources.ts'
import { type Condition, findCondition } from '../../../kube/conditions.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import { defineController, NOTHING_TO_DO, type Plan, via } from '../../../runtime/controller.ts'

interface ObservedTaints {
  cluster: Cluster | undefined
  policies: readonly ClusterTaintPolicy[]
  nowMs: number
}

export const clusterTaintPolicy = defineController<ObservedTaints, Cluster>({
  name: 'fleet.failover.cluster-taint-policy',
  component: 'cluster-taint-policy-controller',
  for: CLUSTERS,
  watches: [
    via(CLUSTER_TAINT_POLICIES, ({ spec }, read) =>
      read
        .list(CLUSTERS)
        .filter((cluster) => matchesCluster(spec?.targetClusters, cluster))
        .map(({ metadata }) => ({ namespace: '', name: metadata.name ?? '' })),
    ),
  ],
  writes: [{ resource: CLUSTERS, verbs: ['patch'] }],
  isRelevantUpdate: (old, now) =>
    old.metadata.generation !== now.metadata.generation ||
    !deepEqual(old.metadata.labels, now.metadata.labels) ||
    !deepEqual(old.status?.conditions, now.status?.conditions),
  observe: (_ref, cluster, read) => ({ cluster, policies: read.list(CLUSTER_TAINT_POLICIES), nowMs: read.nowMs() }),
  plan,
})

function plan({ cluster, policies, nowMs }: ObservedTaints): Plan {
  if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  const before = cluster.spec.taints ?? []
  const taints = taintsBy(policies, cluster, formatTime(nowMs))
  if (sameTaints(before, taints)) return NOTHING_TO_DO
  const message = `Update Cluster(${cluster.metadata.name}) with taints(${describeTaints(taints)}) succeed`
  return {
    actions: [
      {
        do: 'patch',
        resource: CLUSTERS,
        of: cluster,
        patch: { spec: { taints } },
        events: { of: cluster, type: 'Normal', reason: 'TaintClusterSucceed', message },
        eventOnFailure: (why) => ({ of: cluster, type: 'Warning', reason: 'TaintClusterFailed', message: why }),
      },
    ],
  }
}

/** Ignores times: two policies that disagree would add and remove a taint in the same pass, each time with a new time. */
const sameTaints = (a: readonly Taint[], b: readonly Taint[]): boolean => {
  const keys = (taints: readonly Taint[]): string[] =>
    taints.map(({ key, value, effect }) => JSON.stringify([key, value ?? '', effect])).sort(compareStrings)
  return a === b || deepEqual(keys(a), keys(b))
}

export function taintsBy(policies: readonly ClusterTaintPolicy[], cluster: Cluster, now: string): readonly Taint[] {
  const conditions = cluster.status?.conditions
  return [...policies].sort(byAge).reduce<readonly Taint[]>((taints, { spec }) => {
    if (!matchesCluster(spec.targetClusters, cluster)) return taints
    const added = matches(conditions, spec.addOnConditions) ? withTaints(taints, spec.taints, now) : taints
    return matches(conditions, spec.removeOnConditions) ? withoutTaints(added, spec.taints) : added
  }, cluster.spec.taints ?? [])
}

const byAge = ({ metadata: a }: ClusterTaintPolicy, { metadata: b }: ClusterTaintPolicy): number =>
  compareStrings(a.creationTimestamp ?? '', b.creationTimestamp ?? '') || compareStrings(a.name ?? '', b.name ?? '')

/** All must hold, and there must be at least one. A missing condition satisfies no requirement, not even NotIn. */
export function matches(conditions: readonly Condition[] | undefined, demands: readonly MatchCondition[] | undefined): boolean {
  if (demands === undefined || demands.length === 0) return false
  return demands.every(({ conditionType, operator, statusValues }) => {
    const status = findCondition(conditions, conditionType)?.status
    return status !== undefined && statusValues.includes(status) === (operator === 'In')
  })
}
