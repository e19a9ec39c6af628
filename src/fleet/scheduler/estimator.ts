/**
 * The general estimator: how many more replicas (or whole sets of components) a cluster can take, by what it says it has
 * and what has been decided but is not to be seen there yet.
 */
import type { Amounts } from './amounts.ts'
import type { ClusterFacts } from './cluster-facts.ts'
import { type Demand, isPlacedWhole } from './demand.ts'

/** What is on its way to a cluster. */
export interface Footprint {
  readonly pods: number
  readonly amounts: Amounts
}

/** What is on its way to the cluster of this name. */
export type InFlight = (cluster: string) => Footprint | undefined

export const NOTHING_IN_FLIGHT: InFlight = () => undefined

export const MAX_REPLICAS = 2 ** 31 - 1

export type Estimate = (facts: ClusterFacts) => number

export function estimatorFor(demand: Demand, inFlight: InFlight): Estimate {
  const { replicas, components, requests } = demand
  if (replicas === 0 && components.length === 0) return () => MAX_REPLICAS
  if (isPlacedWhole(demand)) {
    const podsPerSet = components.reduce((sum, component) => sum + component.replicas, 0)
    const perSet = footprintOfComponents(demand).amounts
    return (facts) => fitting(facts, inFlight(facts.name), { podsEach: Math.max(1, podsPerSet), each: perSet })
  }
  return (facts) => fitting(facts, inFlight(facts.name), { podsEach: 1, each: requests })
}

interface Unit {
  podsEach: number
  each: Amounts | undefined
}

function fitting({ capacity }: ClusterFacts, taken: Footprint | undefined, { podsEach, each }: Unit): number {
  if (capacity === undefined) return 0
  const pods = capacity.pods - (taken?.pods ?? 0)
  if (pods <= 0) return 0
  let count = Math.floor(pods / podsEach)
  if (each === undefined) return Math.min(count, MAX_REPLICAS)
  for (const [resource, amount] of each) {
    if (amount <= 0) continue
    const free = capacity.free.get(resource)
    if (free === undefined) return 0
    const left = free - (taken?.amounts.get(resource) ?? 0)
    if (left <= 0) return 0
    count = Math.min(count, Math.floor(left / amount))
  }
  return Math.min(count, MAX_REPLICAS)
}

/** One whole set of components. */
export function footprintOfComponents({ components }: Demand): Footprint {
  const amounts = new Map<string, number>()
  let pods = 0
  for (const { replicas, requests } of components) {
    pods += replicas
    for (const [resource, amount] of requests) amounts.set(resource, (amounts.get(resource) ?? 0) + amount * replicas)
  }
  return { pods, amounts }
}

/** So many replicas of a workload with one kind of pods. */
export function footprintOfReplicas({ requests }: Demand, replicas: number): Footprint {
  const amounts = new Map<string, number>()
  for (const [resource, amount] of requests ?? []) amounts.set(resource, amount * replicas)
  return { pods: replicas, amounts }
}
