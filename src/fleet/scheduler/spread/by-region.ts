/**
 * Regions first, then clusters in them: the best cluster of each chosen region, then more of their clusters in the order
 * of preference, up to what the cluster constraint allows.
 */
import type { SpreadConstraint } from '../../../kinds/karmada/index.ts'
import { byPreference, type Candidate } from '../candidate.ts'
import type { Demand } from '../demand.ts'
import { type Group, selectGroups } from './groups.ts'
import type { Selection } from './selection.ts'

export interface RegionSpread {
  demand: Demand
  /** In the order of preference. */
  candidates: readonly Candidate[]
  region: SpreadConstraint
  cluster: SpreadConstraint | undefined
}

export function selectByRegion(spread: RegionSpread): Selection {
  const { candidates, region, cluster } = spread
  const regions = new Map<string, Candidate[]>()
  for (const candidate of candidates) {
    const there = regions.get(candidate.info.region)
    if (there === undefined) regions.set(candidate.info.region, [candidate])
    else there.push(candidate)
  }
  const minGroups = region.minGroups ?? 0
  if (regions.size < minGroups) return { problem: 'the number of feasible region is less than spreadConstraint.MinGroups' }
  const groups = [...regions].map(([name, clusters]): Group => ({ name, size: clusters.length, weight: regionScore(clusters, spread) }))
  const chosen = selectGroups(groups, { minGroups, maxGroups: region.maxGroups ?? 0, minSize: cluster?.minGroups ?? 0 }) ?? []
  if (chosen.length === 0) return { problem: 'the number of clusters is less than the cluster spreadConstraint.MinGroups' }
  return clustersOf(
    chosen.map(({ name }) => regions.get(name) ?? []),
    cluster,
  )
}

function clustersOf(regions: readonly (readonly Candidate[])[], cluster: SpreadConstraint | undefined): Selection {
  const selected = regions.flatMap((clusters) => clusters.slice(0, 1))
  const rest = regions.flatMap((clusters) => clusters.slice(1)).sort(byPreference)
  const count = Math.min(selected.length + rest.length, cluster?.maxGroups ?? 0)
  selected.push(...rest.slice(0, Math.max(0, count - selected.length)))
  const names = new Set(selected.map(({ info }) => info.region))
  return {
    selected,
    whyNot: ({ info, score, available }) =>
      names.has(info.region)
        ? `${selected.length} clusters were to be chosen, and others of its region come before it (score ${score}, ${available} replicas available)`
        : `its region ${info.region} was not chosen`,
  }
}

/** The capacity of a region counts more than the scores of its clusters. */
const UNIT = 1000

function regionScore(clusters: readonly Candidate[], { demand, region, cluster }: RegionSpread): number {
  if (demand.strategy === 'Duplicated') return scoreForCopies(clusters, demand.replicas)
  const minRegions = region.minGroups ?? 0
  // Without a minimum of regions there is no share to hold: as in Karmada, only the scores are left.
  const share = minRegions === 0 ? 0 : Math.ceil(demand.replicas / minRegions)
  return scoreForShares(clusters, share, Math.max(cluster?.minGroups ?? 0, minRegions))
}

/** By the number of clusters that can hold all replicas. */
function scoreForCopies(clusters: readonly Candidate[], replicas: number): number {
  let count = 0
  let sum = 0
  for (const { available, score } of clusters) {
    if (available < replicas) continue
    count++
    sum += score
  }
  return count === 0 ? 0 : count * UNIT + Math.floor(sum / count)
}

/** By how much of the region's share its first clusters can hold. */
function scoreForShares(clusters: readonly Candidate[], target: number, minClusters: number): number {
  let count = 0
  let available = 0
  let sum = 0
  for (const candidate of clusters) {
    available += candidate.available
    sum += candidate.score
    count++
    if (count >= minClusters && available >= target) break
  }
  return available < target ? available * UNIT + Math.floor(sum / clusters.length) : target * UNIT + Math.floor(sum / count)
}
