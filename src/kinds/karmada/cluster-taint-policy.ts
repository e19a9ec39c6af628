/** Taints that are added and removed with the conditions of clusters. */
import { type Static, s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { clusterAffinity } from './cluster-affinity.ts'
import { GROUPS, strings } from './kube-schemas.ts'

const matchCondition = s.object(
  {
    conditionType: s.string({ description: 'The condition.' }),
    operator: s.literals(['In', 'NotIn'], { description: 'Whether its status must be one of the values, or none of them.' }),
    statusValues: strings('The values.'),
  },
  { description: 'One demand on a condition.' },
)

const clusterTaintPolicySpec = s.object(
  {
    targetClusters: s.optional(clusterAffinity('The clusters; absent: all.')),
    addOnConditions: s.optional(s.array(matchCondition, { description: 'The taints are added when all of these hold.' })),
    removeOnConditions: s.optional(s.array(matchCondition, { description: 'The taints are removed when all of these hold.' })),
    taints: s.array(
      s.object({
        key: s.string({ description: 'The key of the taint.' }),
        effect: s.string({ description: 'The effect of the taint.' }),
        value: s.optional(s.string({ description: 'The value of the taint.' })),
      }),
      { minItems: 1, description: 'The taints.' },
    ),
  },
  { description: 'Which taints come and go when.' },
)

export const ClusterTaintPolicy = defineKind({
  group: GROUPS.policy,
  kind: 'ClusterTaintPolicy',
  plural: 'clustertaintpolicies',
  scope: 'Cluster',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: clusterTaintPolicySpec }),
      description: 'ClusterTaintPolicy adds taints to clusters and removes them again, by the conditions of the clusters.',
    },
  },
})

export type ClusterTaintPolicy = ObjectOf<typeof ClusterTaintPolicy, 'v1alpha1'>
export type MatchCondition = Static<typeof matchCondition>
