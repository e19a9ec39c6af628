/** A cluster that passed the filters, with what it is ranked by. */
import type { ClusterInfo } from './cluster-info.ts'
import type { Demand, Term } from './demand.ts'
import type { Estimate } from './estimator.ts'
import { SCORES } from './scores/all.ts'

export interface Candidate {
  readonly info: ClusterInfo
  readonly name: string
  /** Its position among the candidates in the order of their names. */
  readonly order: number
  readonly score: number
  /** 0: of the primary affinity; above: of the overflow affinities in order. */
  readonly tier: number
  /** What it can take in addition to what it has. */
  readonly allocatable: number
  /** `allocatable` plus what it has. */
  readonly available: number
}

const NO_TIER = 1000

export interface Fit {
  readonly demand: Demand
  readonly term: Term
  readonly estimate: Estimate
}

/** All candidates, in the order of their names; sorted by preference only on demand, because sorting is expensive. */
export class Candidates {
  readonly byName: readonly Candidate[]
  #preferred: readonly Candidate[] | undefined

  constructor(byName: readonly Candidate[]) {
    this.byName = byName
  }

  get preferred(): readonly Candidate[] {
    this.#preferred ??= [...this.byName].sort(byPreference)
    return this.#preferred
  }
}

/** `feasible` is in the order of names. */
export function candidatesOf(feasible: readonly ClusterInfo[], { demand, term, estimate }: Fit): Candidates {
  const { current } = demand
  const candidates: Candidate[] = []
  for (const info of feasible) {
    let score = 0
    for (const one of SCORES) score += one.score(demand, info)
    const { name } = info
    const allocatable = estimate(info)
    const available = current.size === 0 ? allocatable : allocatable + (current.get(name) ?? 0)
    candidates.push({ info, name, order: candidates.length, score, tier: tierOf(info, term), allocatable, available })
  }
  return new Candidates(candidates)
}

/** Names break ties. */
export const byPreference = (a: Candidate, b: Candidate): number =>
  a.tier - b.tier || b.score - a.score || b.available - a.available || a.order - b.order

const byOrder = (a: Candidate, b: Candidate): number => a.order - b.order

/** The identical list if it is in the order of names already. */
export function inOrderOfNames(candidates: readonly Candidate[]): readonly Candidate[] {
  let last = -1
  for (const { order } of candidates) {
    if (order < last) return [...candidates].sort(byOrder)
    last = order
  }
  return candidates
}

/** The position of a candidate in a list in the order of names; -1 when it is not there. */
export function placeOf({ order }: Candidate, inOrder: readonly Candidate[]): number {
  let [low, high] = [0, inOrder.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const there = (inOrder[middle] as Candidate).order
    if (there === order) return middle
    if (there < order) low = middle + 1
    else high = middle - 1
  }
  return -1
}

function tierOf(info: ClusterInfo, { name, isPrimary, overflow }: Term): number {
  if (name === undefined || isPrimary(info)) return 0
  const helper = overflow?.findIndex((matches) => matches(info)) ?? -1
  return helper < 0 ? NO_TIER : helper + 1
}
