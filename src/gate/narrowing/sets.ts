/** Sets of clusters in words, and the set that a placement allows. */
import { clusterMatcher } from '../../kinds/karmada/cluster-affinity-match.ts'
import type { Cluster, Placement } from '../../kinds/karmada/index.ts'
import { compareStrings } from '../../kube/go-print.ts'

const MOST_NAMES = 10

/** `west, east and 3 more`. */
export function namesText(names: readonly string[]): string {
  const sorted = [...new Set(names)].sort(compareStrings)
  if (sorted.length === 0) return 'none'
  const shown = sorted.slice(0, MOST_NAMES).join(', ')
  return sorted.length > MOST_NAMES ? `${shown} and ${sorted.length - MOST_NAMES} more` : shown
}

export const namesTextOf = (clusters: readonly Cluster[]): string => namesText(clusters.map(({ metadata }) => metadata.name ?? ''))

/** Whether any part of the placement selects a cluster: one of its affinities, or what they overflow to. */
export function allowedByPlacement(placement: Placement | undefined): (cluster: Cluster) => boolean {
  const { clusterAffinity, clusterAffinities = [] } = placement ?? {}
  if (clusterAffinities.length === 0) return clusterMatcher(clusterAffinity)
  const matchers = clusterAffinities.flatMap(({ overflowAffinities = [], ...own }) => [own, ...overflowAffinities].map(clusterMatcher))
  return (cluster) => matchers.some((matches) => matches(cluster))
}
