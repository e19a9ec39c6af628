/** Policies: which templates go where, how their replicas are divided, and other settings. The desired state is a spec. */

import type { Random } from '../../../../base/random.ts'
import { CLUSTER_PROPAGATION_POLICIES, PROPAGATION_POLICIES } from '../../../../kinds/karmada/resources.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { Generator } from '../../../../runtime/seams/seeded.ts'
import { oneOf } from '../../script.ts'
import { metadataOf } from '../pod-template.ts'

type Fields = Record<string, unknown>

const NAMESPACED = [
  { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop' },
  { apiVersion: 'apps/v1', kind: 'Deployment', name: 'blog' },
  { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'ledger' },
  { apiVersion: 'batch/v1', kind: 'Job', name: 'sum' },
  { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' },
  { apiVersion: 'v1', kind: 'Service', name: 'door' },
  { apiVersion: 'apps/v1', kind: 'Deployment' },
]
const ROLE = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'pod-reader' }

const divided = (more: Fields): Fields => ({ replicaScheduling: { replicaSchedulingType: 'Divided', ...more } })
const weightedBy = (weightPreference: Fields): Fields => divided({ replicaDivisionPreference: 'Weighted', weightPreference })
const weights = (of: Readonly<Record<string, number>>): Fields =>
  weightedBy({
    staticWeightList: Object.entries(of).map(([name, weight]) => ({ targetCluster: { clusterNames: [name] }, weight })),
  })

const DIVISIONS: readonly Fields[] = [
  {},
  { replicaScheduling: { replicaSchedulingType: 'Duplicated' } },
  weights({ member1: 1, member2: 2, member3: 1 }),
  weights({ member2: 1, member3: 3 }),
  weightedBy({ dynamicWeight: 'AvailableReplicas' }),
  divided({ replicaDivisionPreference: 'Aggregated' }),
]

const CHOICES: readonly Fields[] = [
  {},
  { clusterAffinity: { clusterNames: ['member1', 'member2'] } },
  { clusterAffinity: { exclude: ['member1'] } },
  { clusterAffinity: { labelSelector: { matchLabels: { tier: 'gold' } } } },
  { clusterAffinities: ['member1', 'member2'].map((name) => ({ affinityName: name, clusterNames: [name] })) },
  { spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }] },
  { spreadConstraints: [{ spreadByField: 'cluster', minGroups: 2, maxGroups: 2 }] },
  {
    spreadConstraints: [
      { spreadByField: 'region', minGroups: 1, maxGroups: 2 },
      { spreadByField: 'cluster', minGroups: 1, maxGroups: 2 },
    ],
  },
]

const SUSPENSIONS = [{ dispatching: true }, { dispatchingOnClusters: { clusterNames: ['member2'] } }]
const STAYS = { clusterTolerations: [{ operator: 'Exists', effect: 'NoExecute' }] }
const STAYS_A_WHILE = { clusterTolerations: [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 }] }

function drawPolicy(random: Random, selectors: readonly Fields[]): Fields {
  const sometimes = (chance: number, fields: () => Fields): Fields => (random.next() < chance ? fields() : {})
  const first = oneOf(random, selectors)
  const second = oneOf(random, selectors)
  const resourceSelectors = first === second ? [first] : [first, second]
  // A policy that preempts others must select by name.
  const mayPreempt = resourceSelectors.every(({ name }) => name !== undefined)
  return {
    resourceSelectors,
    placement: {
      ...oneOf(random, CHOICES),
      ...oneOf(random, DIVISIONS),
      ...sometimes(0.3, () => oneOf(random, [STAYS, STAYS_A_WHILE])),
    },
    ...sometimes(0.4, () => ({ priority: Math.floor(random.next() * 3) })),
    ...sometimes(0.3, () => (mayPreempt ? { preemption: 'Always' } : {})),
    ...sometimes(0.25, () => ({ conflictResolution: 'Overwrite' })),
    ...sometimes(0.2, () => ({ suspension: oneOf(random, SUSPENSIONS) })),
    ...sometimes(0.25, () => ({ preserveResourcesOnDeletion: true })),
    ...sometimes(0.1, () => ({ activationPreference: 'Lazy' })),
    ...sometimes(0.4, () => ({ failover: { cluster: { purgeMode: oneOf(random, ['Directly', 'Gracefully']) } } })),
  }
}

export const propagationPolicies: Generator = {
  name: 'propagation policy',
  resource: PROPAGATION_POLICIES,
  names: ['default/near', 'default/far'],
  draw: (random) => drawPolicy(random, NAMESPACED),
  object: (where, desired): KubeObject => ({
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: metadataOf(where),
    spec: desired as Fields,
  }),
}

export const clusterPropagationPolicies: Generator = {
  name: 'cluster propagation policy',
  resource: CLUSTER_PROPAGATION_POLICIES,
  names: ['wide'],
  draw: (random) => drawPolicy(random, [...NAMESPACED.map((selector) => ({ ...selector, namespace: 'default' })), ROLE, ROLE, ROLE]),
  object: (where, desired): KubeObject => ({
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'ClusterPropagationPolicy',
    metadata: { name: where },
    spec: desired as Fields,
  }),
}
