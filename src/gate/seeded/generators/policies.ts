/** The policy of the workloads that need or make data: always there, and sometimes for clusters that have none of it. */
import type { Placement } from '../../../kinds/karmada/index.ts'
import { PROPAGATION_POLICIES } from '../../../kinds/karmada/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { MAKE, metadataOf, oneOf, REPORT, TRAIN } from './drawing.ts'

const ANYWHERE: Placement = {}

const PLACEMENTS: readonly Placement[] = [
  ANYWHERE,
  ANYWHERE,
  { clusterAffinity: { clusterNames: ['member1'] } },
  { clusterAffinity: { clusterNames: ['member2', 'member3'] } },
  { clusterAffinity: { labelSelector: { matchLabels: { tier: 'gold' } } } },
  { clusterAffinities: ['member1', 'member2'].map((name) => ({ affinityName: name, clusterNames: [name] })) },
  { spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }] },
  { replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Aggregated' } },
]

export const policyOf = (where: string, placement: Placement): KubeObject => ({
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: metadataOf(where),
  spec: { resourceSelectors: [REPORT, TRAIN, MAKE], placement },
})

export const policies: Generator = {
  name: 'policy of data',
  resource: PROPAGATION_POLICIES,
  names: ['default/data'],
  isLasting: true,
  draw: (random) => oneOf(random, PLACEMENTS),
  object: (where, desired) => policyOf(where, desired as Placement),
}
