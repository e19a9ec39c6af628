/**
 * The sources that a claim can get: those that match and that its namespace may use, found through an index. A source that
 * workloads of another namespace make needs the consent of that namespace; nothing that lacks it is ever seen here, so that
 * no text can tell whether it exists.
 */
import type { Binding, Cluster } from '../../kinds/karmada/index.ts'
import { CLUSTERS } from '../../kinds/karmada/resources.ts'
import { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { clustersOf, isPreBoundTo, matches } from '../../kinds/volcano/matching.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { PRODUCER_NAMESPACE } from '../../kinds/volcano/well-known.ts'
import { keyOfObject, refOfKey } from '../../kube/object-reference.ts'
import type { Reader } from '../../runtime/controller.ts'
import { isPermitted, mayBeWithheld, type ReferenceFrom } from '../../runtime/reference-consent.ts'
import { allowedByPlacement } from '../narrowing/sets.ts'
import { clustersFor } from '../source/locality.ts'
import { type Candidate, isGoing } from './decide.ts'
import type { ClaimDeps } from './deps.ts'
import { sourcesLike } from './indexes.ts'
import { boundSourceOf } from './state.ts'
import { bindingOf } from './workloads.ts'

export interface Sources {
  /** Sources that match and may be used, those that are being deleted included. */
  candidates: readonly Omit<Candidate, 'fits'>[]
  /** The object that the claim names, if it may be used but does not match. */
  mismatch: DataSource | undefined
}

const SOURCE_KIND = { group: DataSource.group, kind: DataSource.kind }

const fromOf = ({ metadata }: DataSourceClaim): ReferenceFrom => ({
  group: DataSourceClaim.group,
  kind: DataSourceClaim.kind,
  namespace: metadata.namespace ?? '',
})

/** The namespace of the workload that makes a source, if it is another than the claim's. */
function foreignTo({ metadata: { namespace } }: DataSourceClaim, { metadata: { annotations } }: DataSource): string | undefined {
  const made = annotations?.[PRODUCER_NAMESPACE]
  return made === undefined || made === namespace ? undefined : made
}

export interface Consent {
  /** Whether a claim may use a source that workloads of this namespace make. */
  mayUse(claim: DataSourceClaim, made: { namespace: string; name: string }): boolean
  mayBeWithheld(claim: DataSourceClaim): boolean
}

export function consentBy({ referenceConsent: mode }: Pick<ClaimDeps, 'referenceConsent'>, read: Reader): Consent {
  return {
    mayUse: (claim, made) => isPermitted(fromOf(claim), { ...SOURCE_KIND, ...made }, { read, mode }),
    mayBeWithheld: (claim) => mayBeWithheld(fromOf(claim), SOURCE_KIND, { read, mode }),
  }
}

const mayUse = (claim: DataSourceClaim, source: DataSource, consent: Consent): boolean => {
  const namespace = foreignTo(claim, source)
  return namespace === undefined || consent.mayUse(claim, { namespace, name: source.metadata.name ?? '' })
}

/** The source that a claim is bound to, while it can be used. */
export function keptSource(claim: DataSourceClaim, read: Reader, consent: Consent): DataSource | undefined {
  const name = boundSourceOf(claim)
  const source = name === undefined ? undefined : read.get(DATA_SOURCES, '', name)
  return source !== undefined && !isGoing(source) && matches(claim, source) && mayUse(claim, source, consent) ? source : undefined
}

export function sourcesFor(claim: DataSourceClaim, read: Reader, consent: Consent): Sources {
  const candidates: Omit<Candidate, 'fits'>[] = []
  let mismatch: DataSource | undefined
  for (const source of sourcesLike(claim, read)) {
    if (!mayUse(claim, source, consent)) continue
    if (matches(claim, source)) candidates.push({ source, isForeign: foreignTo(claim, source) !== undefined })
    else if (isPreBoundTo(claim, source)) mismatch = source
  }
  return { candidates, mismatch }
}

/** Workloads that are looked at to choose among several sources. */
const MOST_WORKLOADS = 100

/** How often each candidate shares a cluster with what the policy and the other claims leave to a workload. */
export function fitted(
  claim: DataSourceClaim,
  candidates: readonly Omit<Candidate, 'fits'>[],
  { deps, read }: { deps: ClaimDeps; read: Reader },
): Candidate[] {
  const openClusters = candidates.length < 2 ? [] : openClustersOf(claim, deps, read)
  if (openClusters.length === 0) return candidates.map((one) => ({ ...one, fits: 0 }))
  return candidates.map((one) => {
    const { joined } = clustersOf(one.source, clustersFor(one.source, read))
    return { ...one, fits: openClusters.filter((open) => joined.some((cluster) => open.has(cluster))).length }
  })
}

/** For each workload of a claim that is known: the clusters that its policy and its other claims leave. */
function openClustersOf(claim: DataSourceClaim, deps: ClaimDeps, read: Reader): ReadonlySet<string>[] {
  const openClusters: ReadonlySet<string>[] = []
  let clusters: readonly Cluster[] | undefined
  for (const { object } of deps.claimed.of(claim)) {
    if (openClusters.length >= MOST_WORKLOADS) break
    clusters ??= read.list(CLUSTERS)
    let open = placementClusters(bindingOf(object, read), clusters)
    for (const key of deps.claimed.claimsOf(object)) {
      if (key === keyOfObject(claim)) continue
      const { namespace, name } = refOfKey(key)
      const other = read.get(DATA_SOURCE_CLAIMS, namespace, name)
      const bound = other === undefined ? undefined : boundSourceOf(other)
      const source = bound === undefined ? undefined : read.get(DATA_SOURCES, '', bound)
      if (source === undefined) continue
      const { joined } = clustersOf(source, clusters)
      open = new Set(joined.filter((cluster) => open.has(cluster)))
    }
    openClusters.push(open)
  }
  return openClusters
}

/** Without a policy, or before it is known: all. A binding that is not released yet has the placement of its policy. */
function placementClusters(binding: Binding | undefined, clusters: readonly Cluster[]): ReadonlySet<string> {
  const isIn = allowedByPlacement(binding?.spec?.placement)
  return new Set(clusters.filter(isIn).map(({ metadata }) => metadata.name ?? ''))
}
