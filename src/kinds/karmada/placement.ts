/** Where work goes and how its replicas are divided: shared by policies and bindings. */
import { type Static, s } from '../schema/builder.ts'
import { clusterAffinity, clusterAffinityFields } from './cluster-affinity.ts'
import { toleration } from './kube-schemas.ts'

const affinityName = () =>
  s.string({ minLength: 1, maxLength: 32, description: 'The name of the group, told apart from the others by it.' })

const overflowAffinity = s.object(
  { affinityName: affinityName(), ...clusterAffinityFields },
  { description: 'Clusters that help out when those before them are full.' },
)

const clusterAffinityTerm = s.object(
  {
    affinityName: affinityName(),
    ...clusterAffinityFields,
    overflowAffinities: s.optional(s.array(overflowAffinity, { description: 'Groups that take what this one cannot, in order.' })),
  },
  { description: 'One group of clusters.' },
)

const spreadConstraint = s.object(
  {
    spreadByField: s.optional(s.literals(['cluster', 'region', 'zone', 'provider'], { description: 'The field that makes groups.' })),
    spreadByLabel: s.optional(s.string({ description: 'The label that makes groups; not implemented by the scheduler.' })),
    maxGroups: s.optional(s.int64({ description: 'At most so many groups.' })),
    minGroups: s.optional(s.int64({ description: 'At least so many groups; default 1.' })),
  },
  { description: 'Over how many groups of clusters work is spread.' },
)

const staticClusterWeight = s.object(
  {
    targetCluster: clusterAffinity('The clusters of this weight.'),
    weight: s.int64({ minimum: 1, description: 'The share of these clusters, in proportion to the others.' }),
  },
  { description: 'The weight of some clusters.' },
)

const replicaSchedulingStrategy = s.object(
  {
    replicaSchedulingType: s.withDefault(
      s.literals(['Duplicated', 'Divided'], { description: 'The same replicas in every cluster, or shared out between them.' }),
      'Divided',
    ),
    replicaDivisionPreference: s.optional(
      s.literals(['Aggregated', 'Weighted'], { description: 'Shared between as few clusters as possible, or by weight.' }),
    ),
    weightPreference: s.optional(
      s.object(
        {
          staticWeightList: s.optional(s.array(staticClusterWeight, { description: 'Fixed weights.' })),
          dynamicWeight: s.optional(s.literals(['AvailableReplicas'], { description: 'Weights by what clusters have free.' })),
        },
        { description: 'The weights; absent: all the same.' },
      ),
    ),
  },
  { description: 'How replicas are divided; absent: every cluster gets all of them.' },
)

const groupByLabelKey = (description: string) =>
  s.object({ groupByLabelKey: s.string({ description: 'The label whose value names the group.' }) }, { description })

export const placement = s.object(
  {
    clusterAffinity: s.optional(clusterAffinity('The clusters to choose from; absent: all.')),
    clusterAffinities: s.optional(
      s.array(clusterAffinityTerm, { description: 'Groups of clusters, of which the first that fits is used.' }),
    ),
    clusterTolerations: s.optional(s.array(toleration, { description: 'Taints of clusters that are put up with.' })),
    spreadConstraints: s.optional(s.array(spreadConstraint, { description: 'Over how many clusters, regions and so on work is spread.' })),
    replicaScheduling: s.optional(replicaSchedulingStrategy),
    workloadAffinity: s.optional(
      s.object(
        {
          affinity: s.optional(groupByLabelKey('Workloads of one group go to the same clusters.')),
          antiAffinity: s.optional(groupByLabelKey('Workloads of one group go to different clusters.')),
        },
        { description: 'How workloads stand to each other.' },
      ),
    ),
  },
  { description: 'Where work goes.' },
)

export type Placement = Static<typeof placement>
export type ClusterAffinityTerm = Static<typeof clusterAffinityTerm>
export type SpreadConstraint = Static<typeof spreadConstraint>
export type ReplicaSchedulingStrategy = Static<typeof replicaSchedulingStrategy>
