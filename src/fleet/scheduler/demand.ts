/**
 * What a binding asks of the scheduler, prepared once per change: affinities compiled, quantities parsed, the current
 * placement indexed by name.
 */

import { clusterMatcher } from '../../kinds/karmada/cluster-affinity-match.ts'
import type {
  AggregatedStatusItem,
  Binding,
  BindingComponent,
  ClusterAffinity,
  ClusterAffinityTerm,
  Placement,
  SpreadConstraint,
  TargetCluster,
} from '../../kinds/karmada/index.ts'
import { amountsOf, type ReadonlyAmounts } from '../../kube/amounts.ts'
import { apiKey, type ClusterInfo } from './cluster-info.ts'

export type Strategy = 'Duplicated' | 'StaticWeight' | 'DynamicWeight' | 'Aggregated' | 'unsupported'

type Matches = (info: ClusterInfo) => boolean

/** One group of clusters to try, with those that take overflow. */
export interface Term {
  /** Absent if the placement has a single affinity, or none. */
  readonly name?: string
  readonly isPrimary: Matches
  /** Undefined if the term does not mention overflow. */
  readonly overflow: readonly Matches[] | undefined
}

interface Component {
  readonly name: string
  readonly replicas: number
  readonly requests: ReadonlyAmounts
}

export interface Demand {
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
  /** Uid of the template: breaks ties. */
  readonly uid: string | undefined
  readonly api: string
  readonly replicas: number
  /** What one replica needs; undefined when unknown. */
  readonly requests: ReadonlyAmounts | undefined
  readonly components: readonly Component[]
  readonly isWorkload: boolean
  readonly placement: Placement
  readonly strategy: Strategy
  /** From the list of static weights; 0 for a cluster that is not in it. */
  weightOf(info: ClusterInfo): number
  readonly terms: readonly Term[]
  readonly hasNamedTerms: boolean
  readonly observedTerm: string | undefined
  /** The clusters it is in now, with replicas. */
  readonly current: ReadonlyMap<string, number>
  readonly clusters: readonly TargetCluster[]
  readonly evicting: ReadonlySet<string>
  /** Its status there, as clusters reported it. */
  readonly reported: readonly AggregatedStatusItem[]
  /** Rescheduling was requested, regardless of the previous decision. */
  readonly isFresh: boolean
}

export function demandOf(binding: Binding, placement: Placement): Demand {
  const { metadata, spec, status } = binding
  const { resource, components = [], clusters = [] } = spec
  const replicas = spec.replicas ?? 0
  const isWorkload = replicas > 0 || spec.replicaRequirements !== undefined || components.length > 0
  const named = (placement.clusterAffinity === undefined && placement.clusterAffinities) || []
  return {
    kind: binding.kind,
    namespace: metadata.namespace,
    name: metadata.name ?? '',
    uid: resource.uid,
    api: apiKey(resource.apiVersion, resource.kind),
    replicas,
    requests: spec.replicaRequirements === undefined ? undefined : amountsOf(spec.replicaRequirements.resourceRequest),
    components: components.map(componentOf),
    isWorkload,
    placement,
    strategy: strategyOf(placement),
    weightOf: staticWeights(placement),
    terms:
      named.length > 0
        ? named.map((term) => namedTerm(term, isWorkload))
        : [{ isPrimary: matching(placement.clusterAffinity), overflow: undefined }],
    hasNamedTerms: named.length > 0,
    observedTerm: status?.schedulerObservingAffinityName,
    current: new Map(clusters.map((target) => [target.name, target.replicas ?? 0])),
    clusters,
    evicting: new Set((spec.gracefulEvictionTasks ?? []).map(({ fromCluster }) => fromCluster)),
    reported: status?.aggregatedStatus ?? [],
    isFresh: isRescheduleTriggered(binding),
  }
}

const componentOf = ({ name, replicas, replicaRequirements }: BindingComponent): Component => ({
  name,
  replicas,
  requests: amountsOf(replicaRequirements?.resourceRequest),
})

function matching(affinity: ClusterAffinity | undefined): Matches {
  const matches = clusterMatcher(affinity)
  return ({ cluster }) => matches(cluster)
}

/** Without pods there is nothing that could overflow. */
function namedTerm(term: ClusterAffinityTerm, isWorkload: boolean): Term {
  const overflow = isWorkload ? term.overflowAffinities?.map(matching) : undefined
  return { name: term.affinityName, isPrimary: matching(term), overflow }
}

function isRescheduleTriggered({ spec, status }: Binding): boolean {
  const { rescheduleTriggeredAt } = spec
  const lastScheduledTime = status?.lastScheduledTime
  if (rescheduleTriggeredAt === undefined || lastScheduledTime === undefined) return false
  return Date.parse(rescheduleTriggeredAt) > Date.parse(lastScheduledTime)
}

/** An empty placement means: every cluster gets everything. */
function strategyOf({ replicaScheduling }: Placement): Strategy {
  if (replicaScheduling === undefined || replicaScheduling.replicaSchedulingType === 'Duplicated') return 'Duplicated'
  if (replicaScheduling.replicaDivisionPreference === 'Aggregated') return 'Aggregated'
  if (replicaScheduling.replicaDivisionPreference !== 'Weighted') return 'unsupported'
  return (replicaScheduling.weightPreference?.dynamicWeight ?? '') === '' ? 'StaticWeight' : 'DynamicWeight'
}

/** If several match a cluster, the highest counts. */
function staticWeights({ replicaScheduling }: Placement): Demand['weightOf'] {
  const list = replicaScheduling?.weightPreference?.staticWeightList ?? []
  const rules = list.map(({ targetCluster, weight }) => ({ matches: clusterMatcher(targetCluster), weight }))
  return ({ cluster }) => {
    let most = 0
    for (const { matches, weight } of rules) if (weight > most && matches(cluster)) most = weight
    return most
  }
}

/** The last one counts, as in Karmada. */
export const constraintOn = (
  { spreadConstraints = [] }: Placement,
  field: SpreadConstraint['spreadByField'],
): SpreadConstraint | undefined => spreadConstraints.findLast(({ spreadByField }) => spreadByField === field)

/** Workloads with several kinds of pods are placed as a whole, in one cluster, if the placement demands exactly one. */
export const isPlacedWhole = ({ components, placement }: Demand): boolean =>
  components.length > 0 &&
  (placement.spreadConstraints ?? []).some(
    ({ spreadByField, minGroups, maxGroups }) => spreadByField === 'cluster' && minGroups === 1 && maxGroups === 1,
  )

/** Whether any term that is still to be tried can use a cluster. */
export function mayUse({ terms }: Demand, info: ClusterInfo): boolean {
  return terms.some(({ isPrimary, overflow }) => isPrimary(info) || overflow?.some((matches) => matches(info)) === true)
}
