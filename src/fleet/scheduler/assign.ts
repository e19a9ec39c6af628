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
      /** What a cluster was weighed by; undefined for those that did not take part. */
      weightOf(cluster: string): number | undefined
      readonly problem?: undefined
    }
  | { readonly problem: string; readonly isShortage: boolean; readonly targets?: undefined }

const unweighed = (): undefined => undefined

export function assignReplicas(demand: Demand, term: Term, selected: readonly Candidate[]): Assignment {
  if (selected.length === 0) return { problem: 'no clusters available to schedule', isShortage: false }
  const { replicas, requests, components } = demand
  if ((replicas > 0 || requests !== undefined) && components.length <= 1)
    return term.overflow === undefined ? divided(demand, selected, replicas) : inTiers(demand, selected)
  const isWhole = components.length > 1 && isPlacedWhole(demand)
  const whole = components.map((component) => ({ name: component.name, replicas: component.replicas }))
  return { targets: selected.map(({ name }) => (isWhole ? { name, components: whole } : { name })), weightOf: unweighed }
}

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

/** Every tier takes what it can before the next is asked. */
function inTiers(demand: Demand, selected: readonly Candidate[]): Assignment {
  const tiers = new Map<number, Candidate[]>()
  for (const candidate of selected) {
    const tier = tiers.get(candidate.tier)
    if (tier === undefined) tiers.set(candidate.tier, [candidate])
    else tier.push(candidate)
  }
  const filled: Extract<Assignment, { targets: readonly TargetCluster[] }>[] = []
  let left = demand.replicas
  for (const [, clusters] of [...tiers].sort(([a], [b]) => a - b)) {
    const count = Math.min(
      left,
      sumOf(clusters, ({ available }) => available),
    )
    const shares = divided(demand, clusters, count)
    if (shares.targets === undefined) return shares
    filled.push(shares)
    left -= count
    if (left <= 0) break
  }
  if (left > 0) return { problem: 'Clusters available replicas are not enough to schedule.', isShortage: true }
  const weightOf = (cluster: string): number | undefined =>
    filled.map((tier) => tier.weightOf(cluster)).find((weight) => weight !== undefined)
  return { targets: filled.flatMap(({ targets }) => targets), weightOf }
}

interface WeightedCandidate {
  readonly candidate: Candidate
  readonly weight: number
}

const weighing = (clusters: readonly Candidate[], weightOf: (candidate: Candidate) => number): WeightedCandidate[] =>
  clusters.map((candidate) => ({ candidate, weight: weightOf(candidate) }))

function byStaticWeight({ placement, uid }: Demand, clusters: readonly Candidate[], replicas: number): Assignment {
  const rules = (placement.replicaScheduling?.weightPreference?.staticWeightList ?? []).map(({ targetCluster, weight }) => ({
    matches: clusterMatcher(targetCluster),
    weight,
  }))
  const weightOf = ({ facts }: Candidate): number => {
    let most = 0
    for (const { matches, weight } of rules) if (weight > most && matches(facts.cluster)) most = weight
    return most
  }
  const weighed = weighing(clusters, weightOf)
  return share(weighed.some(({ weight }) => weight > 0) ? weighed : weighing(clusters, () => 1), replicas, uid)
}

function byAvailability(demand: Demand, clusters: readonly Candidate[], replicas: number): Assignment {
  const { current } = demand
  const present = new Map<string, Candidate>()
  if (current.size > 0) for (const candidate of clusters) if (current.has(candidate.name)) present.set(candidate.name, candidate)
  const scheduled = demand.clusters.filter(({ name }) => present.has(name))
  const assigned = sumOf(scheduled, (target) => target.replicas ?? 0)
  const had = ({ name }: Candidate): number => current.get(name) ?? 0
  const nobody = (): boolean => false
  if (demand.isFresh) {
    const weighed = weighing(clusters, (candidate) => candidate.allocatable + had(candidate))
    return shareOrSay(demand, { weighed, target: replicas, isPreferred: nobody, doing: 'do fresh scale' })
  }
  if (assigned > replicas) {
    const weighed = scheduled.map(({ name, replicas: weight = 0 }) => ({ candidate: present.get(name) as Candidate, weight }))
    return shareOrSay(demand, { weighed, target: replicas, isPreferred: nobody, doing: 'scale down' })
  }
  if (assigned === replicas) return { targets: scheduled.filter((target) => (target.replicas ?? 0) > 0).map(plain), weightOf: unweighed }
  const weighed = weighing(clusters, ({ allocatable }) => allocatable)
  const added = shareOrSay(demand, { weighed, target: replicas - assigned, isPreferred: (one) => had(one) > 0, doing: 'scale up' })
  return added.targets === undefined || scheduled.length === 0 ? added : { ...added, targets: merged(scheduled, added.targets) }
}

interface Sharing {
  weighed: readonly WeightedCandidate[]
  target: number
  /** Who is asked first where as few clusters as possible are to be used. */
  isPreferred(candidate: Candidate): boolean
  doing: string
}

function shareOrSay({ strategy, uid }: Demand, { weighed, target, isPreferred, doing }: Sharing): Assignment {
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
function share(weighed: readonly WeightedCandidate[], target: number, uid: string | undefined): Assignment {
  const sorted = inOrderOfNames(weighed)
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
  return { targets, weightOf: (cluster) => sorted.find(({ candidate }) => candidate.name === cluster)?.weight }
}

/** Each to its place; where most places would stay empty, sorting is cheaper. */
function inOrderOfNames(weighed: readonly WeightedCandidate[]): WeightedCandidate[] {
  const last = weighed.reduce((most, { candidate }) => Math.max(most, candidate.order), 0)
  if (last > 4 * weighed.length) return [...weighed].sort((a, b) => a.candidate.order - b.candidate.order)
  const places = new Array<WeightedCandidate | undefined>(last + 1).fill(undefined)
  for (const one of weighed) places[one.candidate.order] = one
  return places.filter((one) => one !== undefined)
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
