/** How `gate.claim` finds claims and sources: by what matches, by what is bound, by who makes it. Look-ups, never scans. */
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { claimKeys, sourceKeys } from '../../kinds/volcano/matching.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { PRODUCER_NAMESPACE } from '../../kinds/volcano/well-known.ts'
import { type Index, indexOf, type Reader } from '../../runtime/controller.ts'
import { GRANT_INDEXES } from '../../runtime/reference-consent.ts'
import { sourcesByCluster } from '../source/locality.ts'
import { boundSourceOf } from './state.ts'

const MATCHING = 'matching'
const MADE_IN = 'made-in'
const BOUND_TO = 'bound-to'
const UNBOUND = 'unbound'
const ALL = 'all'

const listOf = (value: string | undefined): readonly string[] => (value === undefined ? [] : [value])
const ifUnbound = (claim: DataSourceClaim, keys: () => readonly string[]): readonly string[] =>
  boundSourceOf(claim) === undefined ? keys() : []

export const CLAIM_INDEXES: readonly Index[] = [
  indexOf(DATA_SOURCES, MATCHING, sourceKeys),
  indexOf(DATA_SOURCES, MADE_IN, ({ metadata }) => listOf(metadata.annotations?.[PRODUCER_NAMESPACE])),
  sourcesByCluster,
  indexOf(DATA_SOURCE_CLAIMS, MATCHING, (claim) => ifUnbound(claim, () => claimKeys(claim))),
  indexOf(DATA_SOURCE_CLAIMS, BOUND_TO, (claim) => listOf(boundSourceOf(claim))),
  indexOf(DATA_SOURCE_CLAIMS, UNBOUND, (claim) => ifUnbound(claim, () => [ALL])),
  ...GRANT_INDEXES,
]

/** Sources that share a key with a claim, each once: all that match are among them. */
export function sourcesLike(claim: DataSourceClaim, read: Reader): Iterable<DataSource> {
  const found = new Map<string, DataSource>()
  for (const key of claimKeys(claim))
    for (const source of read.byIndex(DATA_SOURCES, MATCHING, key)) found.set(source.metadata.name ?? '', source)
  return found.values()
}

/** Claims that a source concerns: those bound to it, and those without a source that it may match. */
export const claimsAbout = (source: DataSource, read: Reader): DataSourceClaim[] => [
  ...boundTo(source, read),
  ...sourceKeys(source).flatMap((key) => read.byIndex(DATA_SOURCE_CLAIMS, MATCHING, key)),
]

export const boundTo = ({ metadata }: DataSource, read: Reader): DataSourceClaim[] =>
  read.byIndex(DATA_SOURCE_CLAIMS, BOUND_TO, metadata.name ?? '')

export const unboundClaims = (read: Reader): DataSourceClaim[] => read.byIndex(DATA_SOURCE_CLAIMS, UNBOUND, ALL)

export const madeIn = (namespace: string, read: Reader): DataSource[] => read.byIndex(DATA_SOURCES, MADE_IN, namespace)
