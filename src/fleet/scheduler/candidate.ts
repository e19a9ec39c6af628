/** A cluster that passed the filters, with what decides between it and others. */
import type { ClusterFacts } from './cluster-facts.ts'
import type { Demand, Term } from './demand.ts'
import type { Estimate } from './estimator.ts'
import { SCORES } from './scores/all.ts'

export interface Candidate {
  readonly facts: ClusterFacts
  readonly name: string
  /** Its place among the candidates in the order of their names. */
  readonly order: number
  readonly score: number
  /** 0: of the primary affinity; above: of the overflow affinities in turn. */
  readonly tier: number
  /** What it can take beyond what it has. */
  readonly allocatable: number
  /** That and what it has. */
  readonly available: number
}

const NO_TIER = 1000

export interface Fit {
  readonly demand: Demand
  readonly term: Term
  readonly estimate: Estimate
}

/** In the order in which they are preferred. `feasible` comes in the order of names, which decides between equals. */
export function candidatesOf(feasible: readonly ClusterFacts[], { demand, term, estimate }: Fit): Candidate[] {
  const candidates: Candidate[] = []
  for (const facts of feasible) {
    let score = 0
    for (const one of SCORES) score += one.score(demand, facts)
    const { name } = facts
    const allocatable = estimate(facts)
    const available = allocatable + (demand.current.get(name) ?? 0)
    candidates.push({ facts, name, order: candidates.length, score, tier: tierOf(facts, term), allocatable, available })
  }
  return candidates.sort(byPreference)
}

export const byPreference = (a: Candidate, b: Candidate): number =>
  a.tier - b.tier || b.score - a.score || b.available - a.available || a.order - b.order

function tierOf(facts: ClusterFacts, { name, isPrimary, overflow }: Term): number {
  if (name === undefined || isPrimary(facts)) return 0
  const helper = overflow?.findIndex((matches) => matches(facts)) ?? -1
  return helper < 0 ? NO_TIER : helper + 1
}
