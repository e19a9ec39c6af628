/**
 * The status that a source should have, from the claims that are bound to it and the clusters that hold its data: pure. Back
 * references are made anew as a whole each time, so nothing that went wrong before can stay. Linear in the bound claims.
 */
import { formatTime } from '../../base/clock.ts'
import { deepEqual } from '../../base/json.ts'
import type { Cluster } from '../../kinds/karmada/index.ts'
import type { DataSource, DataSourceClaim, DataSourceStatus } from '../../kinds/volcano/index.ts'
import { MOST_CLAIM_REFS, PRODUCER_NAMESPACE, PROVISIONED_BY } from '../../kinds/volcano/well-known.ts'
import { type Condition, findCondition, setCondition } from '../../kube/conditions.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { keyOfObject } from '../../kube/object-reference.ts'
import { isTwinWritten } from '../claim/status.ts'
import { readiness, type Verdict } from './locality.ts'

type ClaimRef = NonNullable<DataSourceStatus['claimRefs']>[number]

const READY = 'Ready'
const PROVISIONED = 'Provisioned'
const CLAIM_REFS_COMPLETE = 'ClaimRefsComplete'

export interface Wanted {
  /** The oldest of the bound claims. */
  refs: readonly ClaimRef[]
  boundClaims: number
  conditions: readonly Condition[]
}

export interface Inputs {
  source: DataSource
  bound: readonly DataSourceClaim[]
  clusters: readonly Cluster[]
  nowMs: number
}

export function wantedStatus({ source, bound, clusters, nowMs }: Inputs): Wanted {
  const verdicts: [string, Verdict][] = [
    [READY, readiness(source, clusters)],
    [PROVISIONED, provisioned(source)],
  ]
  if (bound.length > MOST_CLAIM_REFS) verdicts.push([CLAIM_REFS_COMPLETE, TOO_MANY])
  const before = source.status?.conditions ?? []
  let conditions: readonly Condition[] = before.filter(({ type }) => type !== CLAIM_REFS_COMPLETE || bound.length > MOST_CLAIM_REFS)
  for (const [type, verdict] of verdicts)
    conditions = setCondition(conditions, { type, ...verdict, observedGeneration: source.metadata.generation }, formatTime(nowMs))
  return { refs: oldestOf(bound, MOST_CLAIM_REFS).map(refOfClaim), boundClaims: bound.length, conditions }
}

const TOO_MANY: Verdict = {
  status: 'False',
  reason: 'TooManyClaims',
  message: `only the oldest ${MOST_CLAIM_REFS} of the bound claims are listed`,
}

function provisioned({ metadata: { annotations } }: DataSource): Verdict {
  const by = annotations?.[PROVISIONED_BY]
  const namespace = annotations?.[PRODUCER_NAMESPACE]
  if (by === undefined) return { status: 'True', reason: 'Static', message: 'no workload has made it' }
  return {
    status: 'True',
    reason: 'Produced',
    message: namespace === undefined ? `made by ${by}` : `made by ${by} of namespace ${namespace}`,
  }
}

const refOfClaim = ({ apiVersion, kind, metadata: { namespace, name, uid } }: DataSourceClaim): ClaimRef => ({
  apiVersion,
  kind,
  namespace,
  name,
  uid,
})

/** The oldest `most`, oldest first. */
export function oldestOf(claims: readonly DataSourceClaim[], most: number): readonly DataSourceClaim[] {
  const kept = claims.slice(0, most).sort(byAge)
  for (let i = most; i < claims.length; i++) {
    const claim = claims[i] as DataSourceClaim
    const youngest = kept.at(-1)
    if (youngest === undefined || byAge(claim, youngest) >= 0) continue
    kept.pop()
    kept.splice(placeOf(claim, kept), 0, claim)
  }
  return kept
}

/** Times of one format, to the second, compare as texts. */
const byAge = (a: DataSourceClaim, b: DataSourceClaim): number =>
  compareStrings(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') || compareStrings(keyOfObject(a), keyOfObject(b))

function placeOf(claim: DataSourceClaim, among: readonly DataSourceClaim[]): number {
  let [from, to] = [0, among.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (byAge(claim, among[middle] as DataSourceClaim) < 0) to = middle
    else from = middle + 1
  }
  return from
}

/** Whether a server that may prune one of the two lists has nothing to be told. */
export function isWritten({ status }: DataSource, { refs, boundClaims, conditions }: Wanted): boolean {
  if (status?.boundClaims !== boundClaims || !deepEqual(status.conditions, conditions)) return false
  const hasWritten = findCondition(status.conditions, PROVISIONED) !== undefined
  return isTwinWritten([listOf(status.claimRef), listOf(status.claimRefs)], listOf(refs), hasWritten)
}

/** An empty list is the same as none. */
const listOf = (refs: readonly ClaimRef[] | undefined): readonly ClaimRef[] | undefined => (refs?.length === 0 ? undefined : refs)

/** The claims that were bound when the status was last written. */
export const recordedIn = ({ status }: DataSource): readonly ClaimRef[] =>
  (listOf(status?.claimRefs) ?? listOf(status?.claimRef) ?? []).filter((ref) => Boolean(ref.name) && Boolean(ref.namespace))
