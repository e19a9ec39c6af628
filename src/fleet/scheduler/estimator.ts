/**
 * The general estimator: how many more replicas (or whole sets of components) a cluster can take, given the resources it
 * reports and what has been decided but does not show there yet.
 */
import type { ReadonlyAmounts } from '../../kube/amounts.ts'
import type { ClusterInfo } from './cluster-info.ts'
import { type Demand, isPlacedWhole } from './demand.ts'

/** What is in flight to a cluster. */
export interface Footprint {
  readonly pods: number
  readonly amounts: ReadonlyAmounts
}

/** What is in flight to the cluster of this name. */
export type InFlight = (cluster: string) => Footprint | undefined

export const NOTHING_IN_FLIGHT: InFlight = () => undefined

const MAX_REPLICAS = 2 ** 31 - 1

export type Estimate = (info: ClusterInfo) => number

export function estimatorFor(demand: Demand, inFlight: InFlight): Estimate {
  const { replicas, components, requests } = demand
  if (replicas === 0 && components.length === 0) return () => MAX_REPLICAS
  const unit = isPlacedWhole(demand) ? unitOf(footprintOfComponents(demand)) : unitOf({ pods: 1, amounts: requests ?? NOTHING })
  return (info) => fitting(info, inFlight(info.name), unit)
}

const NOTHING: ReadonlyAmounts = new Map()

/** What is placed as a unit: a replica, or a set of components. */
interface Unit {
  readonly pods: number
  readonly needs: readonly { readonly resource: string; readonly amount: number }[]
}

function unitOf({ pods, amounts }: Footprint): Unit {
  const needs = [...amounts].filter(([, amount]) => amount > 0).map(([resource, amount]) => ({ resource, amount }))
  return { pods: Math.max(1, pods), needs }
}

function fitting({ capacity }: ClusterInfo, taken: Footprint | undefined, { pods, needs }: Unit): number {
  if (capacity === undefined) return 0
  const freePods = capacity.pods - (taken?.pods ?? 0)
  if (freePods <= 0) return 0
  let count = Math.min(Math.floor(freePods / pods), MAX_REPLICAS)
  for (const { resource, amount } of needs) {
    const free = capacity.free.get(resource)
    if (free === undefined) return 0
    const left = free - (taken?.amounts.get(resource) ?? 0)
    if (left <= 0) return 0
    count = Math.min(count, Math.floor(left / amount))
  }
  return count
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

/** This many replicas of a workload with one kind of pods. */
export function footprintOfReplicas({ requests }: Demand, replicas: number): Footprint {
  const amounts = new Map<string, number>()
  for (const [resource, amount] of requests ?? []) amounts.set(resource, amount * replicas)
  return { pods: replicas, amounts }
}
