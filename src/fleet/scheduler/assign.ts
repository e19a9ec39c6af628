/**
 * Who of the selected clusters gets how many replicas. Duplicated: everybody all of them. Static weight: divided anew each
 * time. Dynamic weight and aggregated: what is there stays; only what is missing is divided by what clusters have free, and
 * only what is too much is taken away in proportion. With overflow, tier after tier is filled.
 */
import type { TargetCluster } from '../../kinds/karmada/index.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { clusterMatcher } from '../cluster-affinity.ts'
import type { Candidate } from './candidate.ts'
import { type Demand, isPlacedWhole, type Term } from './demand.ts'
import { divideInOrder } from './division.ts'

export type Assignment =
  | {
      readonly targets: readonly TargetCluster[]
      /** What clusters were weighed by, where they were; those that did not take part have none. */
      readonly weights: ReadonlyMap<string, number>
      readonly problem?: undefined
    }
  | { readonly problem: string; readonly isShortage: boolean; readonly targets?: undefined }

type Shares = Assignment

const UNWEIGHED: ReadonlyMap<string, number> = new Map()

export function assignReplicas(demand: Demand, term: Term, selected: readonly Candidate[]): Assignment {
  if (selected.length === 0) return { problem: 'no clusters available to schedule', isShortage: false }
  const { replicas, requests, components } = demand
  if ((replicas > 0 || requests !== undefined) && components.length <= 1)
    return term.overflow === undefined ? divided(demand, selected, replicas) : inTiers(demand, selected)
  const isWhole = components.length > 1 && isPlacedWhole(demand)
  const whole = components.map((component) => ({ name: component.name, replicas: component.replicas }))
  return { targets: selected.map(({ name }) => (isWhole ? { name, components: whole } : { name })), weights: UNWEIGHED }
}

function divided(demand: Demand, clusters: readonly Candidate[], replicas: number): Shares {
  switch (demand.strategy) {
    case 'Duplicated':
      return { targets: replicas > 0 ? clusters.map(({ name }) => ({ name, replicas })) : [], weights: UNWEIGHED }
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

/** Every tier takes what it can before the next is asked. */
function inTiers(demand: Demand, selected: readonly Candidate[]): Assignment {
  const tiers = new Map<number, Candidate[]>()
  for (const candidate of selected) tiers.set(candidate.tier, [...(tiers.get(candidate.tier) ?? []), candidate])
  const targets: TargetCluster[] = []
  const weights = new Map<string, number>()
  let left = demand.replicas
  for (const [, clusters] of [...tiers].sort(([a], [b]) => a - b)) {
    const count = Math.min(
      left,
      sumOf(clusters, ({ available }) => available),
    )
    const shares = divided(demand, clusters, count)
    if (shares.targets === undefined) return shares
    targets.push(...shares.targets)
    for (const [name, weight] of shares.weights) weights.set(name, weight)
    left -= count
    if (left <= 0) break
  }
  if (left > 0) return { problem: 'Clusters available replicas are not enough to schedule.', isShortage: true }
  return { targets, weights }
}

interface WeightedCandidate {
  readonly candidate: Candidate
  readonly weight: number
}

function byStaticWeight({ placement, uid }: Demand, clusters: readonly Candidate[], replicas: number): Shares {
  const rules = (placement.replicaScheduling?.weightPreference?.staticWeightList ?? []).map(({ targetCluster, weight }) => ({
    matches: clusterMatcher(targetCluster),
    weight,
  }))
  const weightOf = ({ facts }: Candidate): number =>
    rules.reduce((most, { matches, weight }) => (weight > most && matches(facts.cluster) ? weight : most), 0)
  const weighed = clusters.map((candidate): WeightedCandidate => ({ candidate, weight: weightOf(candidate) }))
  const isUnweighted = weighed.every(({ weight }) => weight === 0)
  return share(isUnweighted ? clusters.map((candidate) => ({ candidate, weight: 1 })) : weighed, replicas, uid)
}

function byAvailability(demand: Demand, clusters: readonly Candidate[], replicas: number): Shares {
  const names = new Set(clusters.map(({ name }) => name))
  const scheduled = demand.clusters.filter(({ name }) => names.has(name))
  const assigned = sumOf(scheduled, (target) => target.replicas ?? 0)
  const had = ({ name }: Candidate): number => demand.current.get(name) ?? 0
  const by = (weight: (candidate: Candidate) => number): WeightedCandidate[] =>
    clusters.map((candidate) => ({ candidate, weight: weight(candidate) }))
  if (demand.isFresh) {
    const anew = by((candidate) => candidate.allocatable + had(candidate))
    return shareOrSay(demand, { weighed: anew, target: replicas, isPreferred: () => false, doing: 'do fresh scale' })
  }
  if (assigned > replicas) {
    const byName = new Map(clusters.map((candidate) => [candidate.name, candidate]))
    const weighed = scheduled.map(({ name, replicas: weight = 0 }) => ({ candidate: byName.get(name) as Candidate, weight }))
    return shareOrSay(demand, { weighed, target: replicas, isPreferred: () => false, doing: 'scale down' })
  }
  if (assigned === replicas) return { targets: scheduled.filter((target) => (target.replicas ?? 0) > 0).map(plain), weights: UNWEIGHED }
  const more = by(({ allocatable }) => allocatable)
  const isPreferred = (candidate: Candidate): boolean => had(candidate) > 0
  const added = shareOrSay(demand, { weighed: more, target: replicas - assigned, isPreferred, doing: 'scale up' })
  return added.targets === undefined ? added : { ...added, targets: merged(scheduled, added.targets) }
}

interface Sharing {
  weighed: readonly WeightedCandidate[]
  target: number
  /** Who is asked first where as few clusters as possible are to be used. */
  isPreferred(candidate: Candidate): boolean
  doing: string
}

function shareOrSay({ strategy, uid }: Demand, { weighed, target, isPreferred, doing }: Sharing): Shares {
  const available = sumOf(weighed, ({ weight }) => weight)
  if (available < target)
    return { problem: `failed to ${doing}: Clusters available replicas ${available} are not enough to schedule.`, isShortage: true }
  return share(strategy === 'Aggregated' ? asFewAsPossible(weighed, target, isPreferred) : weighed, target, uid)
}

/** The preferred first, then those that can take most: no more of them than are needed. */
function asFewAsPossible(
  weighed: readonly WeightedCandidate[],
  target: number,
  isPreferred: (candidate: Candidate) => boolean,
): WeightedCandidate[] {
  const byWeight = [...weighed].sort((a, b) => b.weight - a.weight)
  const inTurn = [...byWeight.filter((one) => isPreferred(one.candidate)), ...byWeight.filter((one) => !isPreferred(one.candidate))]
  let sum = 0
  const enough = inTurn.findIndex(({ weight }) => {
    sum += weight
    return sum >= target
  })
  return inTurn.slice(0, enough + 1)
}

/** In the order of names; who gets nothing is left out. */
function share(weighed: readonly WeightedCandidate[], target: number, uid: string | undefined): Shares {
  const sorted = [...weighed].sort((a, b) => a.candidate.order - b.candidate.order)
  const seats = divideInOrder(
    target,
    sorted.map(({ weight }) => weight),
    uid,
  )
  const targets: TargetCluster[] = []
  for (const [i, { candidate }] of sorted.entries()) {
    const replicas = seats[i] ?? 0
    if (replicas > 0) targets.push({ name: candidate.name, replicas })
  }
  return { targets, weights: new Map(sorted.map(({ candidate, weight }) => [candidate.name, weight])) }
}

/** What was added on top of what was there, in the order of names as a division has it. */
function merged(before: readonly TargetCluster[], added: readonly TargetCluster[]): TargetCluster[] {
  const sums = new Map<string, number>()
  for (const { name, replicas = 0 } of [...before, ...added]) sums.set(name, (sums.get(name) ?? 0) + replicas)
  return [...sums]
    .filter(([, replicas]) => replicas > 0)
    .map(([name, replicas]) => ({ name, replicas }))
    .sort((a, b) => compareStrings(a.name, b.name))
}

const plain = ({ name, replicas }: TargetCluster): TargetCluster => ({ name, replicas })

function sumOf<T>(items: readonly T[], of: (item: T) => number): number {
  let sum = 0
  for (const item of items) sum += of(item)
  return sum
}
