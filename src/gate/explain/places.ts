/** Where data is, in words; and what a claim of it amounts to. Pure. */

import { FORBIDDEN, type Got } from '../../client/read-as-caller.ts'
import type { Cluster } from '../../kinds/karmada/index.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { clustersOf } from '../../kinds/volcano/matching.ts'
import { SOURCE_VERSION } from '../../kinds/volcano/well-known.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { claimState } from '../claim/state.ts'
import { isReady } from '../narrowing/decide.ts'
import { namesText } from '../narrowing/sets.ts'

/** Undefined when they may not be read. */
export type Clusters = readonly Cluster[] | undefined

const MOST_NAMES = 10

/** `east, west (not ready), north (not joined)`. */
export function placesText(source: DataSource, clusters: Clusters): string {
  if (clusters === undefined) {
    const names = namedBy(source)
    return names.length === 0 ? 'clusters that a selector chooses' : namesText(names)
  }
  const { named } = clustersOf(source, clusters)
  if (named.length === 0) return 'no cluster'
  const byName = new Map(clusters.map((cluster) => [cluster.metadata.name ?? '', cluster]))
  const shown = named.slice(0, MOST_NAMES).map((name) => `${name}${markOf(byName.get(name))}`)
  return named.length > MOST_NAMES ? `${shown.join(', ')} and ${named.length - MOST_NAMES} more` : shown.join(', ')
}

const markOf = (cluster: Cluster | undefined): string => {
  if (cluster === undefined) return ' (not joined)'
  return isReady(cluster) ? '' : ' (not ready)'
}

/** What can be told without the clusters themselves. */
function namedBy({ spec }: DataSource): readonly string[] {
  const { clusterNames = [], clusterAffinity } = spec?.locality ?? {}
  return clusterNames.length > 0 ? clusterNames : (clusterAffinity?.clusterNames ?? [])
}

/** `ds-1 (v7)`. */
export function sourceText({ metadata }: DataSource): string {
  const version = metadata.annotations?.[SOURCE_VERSION]
  return version === undefined ? (metadata.name ?? '') : `${metadata.name} (${version})`
}

/** A claim as whoever asks can see it. */
export type ClusterView =
  | { is: 'met'; source: DataSource; clusters: readonly string[] }
  /** Its source may not be read. */
  | { is: 'met-unseen'; source: string }
  | { is: 'waiting'; reason: string; message: string; source?: string }
  /** Nobody has looked at it as it is now, or its source is gone and nobody has said so yet. */
  | { is: 'unknown' }

export function viewOf(claim: DataSourceClaim, source: Got<DataSource>, clusters: Clusters): ClusterView {
  const { isCurrent, source: name, waits } = claimState(claim)
  if (!isCurrent) return { is: 'unknown' }
  if (waits !== undefined) return { is: 'waiting', ...waits, ...(name === undefined ? {} : { source: name }) }
  if (name !== undefined && source === FORBIDDEN) return { is: 'met-unseen', source: name }
  if (source === undefined || source === FORBIDDEN || source.metadata.deletionTimestamp !== undefined) return { is: 'unknown' }
  return { is: 'met', source, clusters: clusters === undefined ? namedBy(source) : clustersOf(source, clusters).named }
}

/** The clusters that all of them have, sorted. */
export function commonOf(sets: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = sets
  const rest = others.map((names) => new Set(names))
  return [...new Set(first)].filter((name) => rest.every((names) => names.has(name))).sort(compareStrings)
}
