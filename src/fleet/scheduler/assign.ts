/**
 * How many replicas each selected cluster gets. Duplicated: all of them everywhere. Static weight: divided anew each time.
 * Dynamic weight and aggregated: existing replicas stay; only missing ones are divided by the free capacity of clusters,
 * and only surplus ones are removed, proportionally. With overflow, tier after tier is filled.
 */
import type { TargetCluster } from '../../kinds/karmada/index.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { type Candidate, inOrderOfNames, placeOf } from './candidate.ts'
import { type Demand, isPlacedWhole, type Term } from './demand.ts'
import { divideInOrder } from './division.ts'
import { sortedLikeGo } from './go-sort.ts'

export type Assignment = Shares | Shortage

interface Shares {
  readonly targets: readonly TargetCluster[]
  /** The weight that was used for a cluster; undefined for those that did not take part. */
  weightOf(candidate: Candidate): number | undefined
  readonly problem?: undefined
}

interface Shortage {
  readonly problem: string
  readonly isShortage: boolean
  readonly targets?: undefined
}

const unweighed = (): undefined => undefined

export function assignReplicas(demand: Demand, term: Term, selected: readonly Candidate[]): Assignment {
  if (selected.length === 0) return { problem: 'no clusters available to schedule', isShortage: false }
  if (getsReplicas(demand)) return term.overflow === undefined ? divided(demand, selected, demand.replicas) : inTiers(demand, selected)
  const { components } = demand
  const isWhole = components.length > 1 && isPlacedWhole(demand)
  const whole = components.map((component) => ({ name: component.name, replicas: component.replicas }))
  return { targets: selected.map(({ name }) => (isWhole ? { name, components: whole } : { name })), weightOf: unweighed }
}

const getsReplicas = ({ replicas, requests, components }: Demand): boolean =>
  (replicas > 0 || requests !== undefined) && components.length <= 1

/** Whether the result depends on the order of preference: not if clusters are only weighted. */
export const isOrderSeen = (demand: Demand): boolean =>
  !getsReplicas(demand) || (demand.strategy !== 'StaticWeight' && demand.strategy !== 'DynamicWeight')

function divided(demand: Demand, clusters: readonly Candidate[], replicas: number): Assignment {
  switch (demand.strategy) {
    case 'Duplicated':
      return { targets: replicas > 0 ? clusters.map(({ name }) => ({ name, replicas })) : [], weightOf: unweighed }
    case 'StaticWeight':
      return byStaticWeight(demand, clusters, replicas)
    case 'DynamicWeight':
    case 'Aggregated':
      return byAvailability(demand, clusters, replicas)
    default: {
      const { replicaSchedulingType = '', replicaDivisionPreference = '' } = demand.placement.replicaScheduling ?? {}
      const problem = `unsupported replica scheduling strategy, replicaSchedulingType: ${replicaSchedulingType}, replicaDivisionPreference: ${replicaDivisionPreference}, please try another scheduling strategy`
      return { problem, isShortage: false }
    }
  }
}

/** Every tier takes what it can before the next is used. */
function inTiers(demand: Demand, selected: readonly Candidate[]): Assignment {
  const tiers = new Map<number, Candidate[]>()
  for (const candidate of selected) {
    const tier = tiers.get(candidate.tier)
    if (tier === undefined) tiers.set(candidate.tier, [candidate])
    else tier.push(candidate)
  }
  const filled: Shares[] = []
  let left = demand.replicas
  for (const [, clusters] of [...tiers].sort(([a], [b]) => a - b)) {
    let capacity = 0
    for (const { available } of clusters) capacity += available
    const count = Math.min(left, capacity)
    const shares = divided(demand, clusters, count)
    if (shares.targets === undefined) return shares
    filled.push(shares)
    left -= count
    if (left <= 0) break
  }
  if (left > 0) return { problem: 'Clusters available replicas are not enough to schedule.', isShortage: true }
  const weightOf = (candidate: Candidate): number | undefined =>
    filled.map((tier) => tier.weightOf(candidate)).find((weight) => weight !== undefined)
  return { targets: filled.flatMap(({ targets }) => targets), weightOf }
}

function byStaticWeight({ weightOf, uid }: Demand, clusters: readonly Candidate[], replicas: number): Assignment {
  const inOrder = inOrderOfNames(clusters)
  const weights = inOrder.map(({ info }) => weightOf(info))
  return share({ inOrder, weights: weights.some((weight) => weight > 0) ? weights : weights.map(() => 1) }, replicas, uid)
}

function byAvailability(demand: Demand, clusters: readonly Candidate[], replicas: number): Assignment {
  const { current } = demand
  const present = new Map<string, Candidate>()
  if (current.size > 0) for (const candidate of clusters) if (current.has(candidate.name)) present.set(candidate.name, candidate)
  const scheduled = demand.clusters.filter(({ name }) => present.has(name))
  let assigned = 0
  for (const target of scheduled) assigned += target.replicas ?? 0
  const had = ({ name }: Candidate): number => current.get(name) ?? 0
  if (demand.isFresh) {
    const weightOf = (candidate: Candidate): number => candidate.allocatable + had(candidate)
    return shareOrSay(demand, { clusters, weightOf, target: replicas, doing: 'do fresh scale' })
  }
  if (assigned > replicas) {
    const there = scheduled.map(({ name }) => present.get(name) as Candidate)
    return shareOrSay(demand, { clusters: there, weightOf: had, target: replicas, doing: 'scale down' })
  }
  if (assigned === replicas) return { targets: scheduled.filter((target) => (target.replicas ?? 0) > 0).map(plain), weightOf: unweighed }
  const isPreferred = (one: Candidate): boolean => had(one) > 0
  const weightOf = ({ allocatable }: Candidate): number => allocatable
  const added = shareOrSay(demand, { clusters, weightOf, target: replicas - assigned, isPreferred, doing: 'scale up' })
  if (added.targets === undefined || scheduled.length === 0) return added
  return { ...added, targets: merged(scheduled, added.targets, (name) => added.weightOf(present.get(name) as Candidate) !== undefined) }
}

interface Sharing {
  /** In the order in which Karmada would have them. */
  clusters: readonly Candidate[]
  weightOf(candidate: Candidate): number
  target: number
  /** Which clusters come first when as few as possible are to be used. */
  isPreferred?(candidate: Candidate): boolean
  doing: string
}

function shareOrSay({ strategy, uid }: Demand, sharing: Sharing): Assignment {
  const { clusters, weightOf, target, doing } = sharing
  let available = 0
  for (const candidate of clusters) available += weightOf(candidate)
  if (available < target)
    return { problem: `failed to ${doing}: Clusters available replicas ${available} are not enough to schedule.`, isShortage: true }
  const inOrder = inOrderOfNames(strategy === 'Aggregated' ? asFewAsPossible(sharing) : clusters)
  return share({ inOrder, weights: inOrder.map(weightOf) }, target, uid)
}

/** The preferred first, then those with most capacity: no more of them than are needed. */
function asFewAsPossible({ clusters, weightOf, target, isPreferred }: Sharing): readonly Candidate[] {
  const byWeight = sortedLikeGo(clusters, (a, b) => weightOf(a) > weightOf(b))
  const inTurn =
    isPreferred === undefined ? byWeight : [...byWeight.filter(isPreferred), ...byWeight.filter((candidate) => !isPreferred(candidate))]
  let sum = 0
  const enough = inTurn.findIndex((candidate) => {
    sum += weightOf(candidate)
    return sum >= target
  })
  return inTurn.slice(0, enough + 1)
}

/** In the order of names; clusters that get nothing are left out. */
function share(
  { inOrder, weights }: { inOrder: readonly Candidate[]; weights: readonly number[] },
  target: number,
  uid: string | undefined,
): Shares {
  const seats = divideInOrder(target, weights, uid)
  const targets: TargetCluster[] = []
  for (let i = 0; i < inOrder.length; i++) {
    const replicas = seats[i] as number
    if (replicas > 0) targets.push({ name: (inOrder[i] as Candidate).name, replicas })
  }
  return { targets, weightOf: (candidate) => weights[placeOf(candidate, inOrder)] }
}

/**
 * What was added on top of the existing replicas: the clusters that took part in the division in the order of their names,
 * whether they got anything or not, then those that only keep what they had.
 */
function merged(
  before: readonly TargetCluster[],
  added: readonly TargetCluster[],
  tookPart: (cluster: string) => boolean,
): TargetCluster[] {
  const sums = new Map<string, number>()
  for (const { name, replicas = 0 } of [...before, ...added]) sums.set(name, (sums.get(name) ?? 0) + replicas)
  const kept = new Set(before.filter(({ name }) => !tookPart(name)).map(({ name }) => name))
  return [...sums]
    .filter(([, replicas]) => replicas > 0)
    .map(([name, replicas]) => ({ name, replicas }))
    .sort((a, b) => Number(kept.has(a.name)) - Number(kept.has(b.name)) || compareStrings(a.name, b.name))
}

const plain = ({ name, replicas }: TargetCluster): TargetCluster => ({ name, replicas })
