/**
 * What decides about a claim: the sources that match, and without one who could make it; the clusters of its source; where
 * its workloads are. Looked up in this order, and only as far as needed: a claim that binds at once looks at its candidates
 * and its workloads, nothing else.
 */
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { clustersOf, matches } from '../../kinds/volcano/matching.ts'
import { DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { DATA_SOURCE_CLAIM_FINALIZER, PRODUCER_NAMESPACE } from '../../kinds/volcano/well-known.ts'
import { keyOfObject, keyOfRef, type ObjectRef } from '../../kube/object-reference.ts'
import type { PassReader, Reader } from '../../runtime/controller.ts'
import { hasFinalizer } from '../../runtime/finalizer.ts'
import { clustersFor, readiness, type Verdict } from '../source/locality.ts'
import type { Pace } from '../source/pace.ts'
import { cycleThrough, type WaitsOf } from './cycle.ts'
import { bestOf, isGoing, type Maker, type Resolution, unresolved } from './decide.ts'
import { type ClaimDeps, dataNameOf } from './deps.ts'
import { placed } from './placed.ts'
import type { Seen } from './plan.ts'
import { type Consent, consentBy, fitted, keptSource, type Sources, sourcesFor } from './sources.ts'
import { boundSourceOf } from './state.ts'
import { isWritten, type Observed, wantedStatus } from './status.ts'
import { makerOf, producersFor, waitsFrom, workloadsOf } from './workloads.ts'

export interface Observer {
  deps: ClaimDeps
  pace: Pace
  /** Claims that were looked at before all templates were known. */
  early: Set<string>
}

const NOT_ASKED: Sources = { candidates: [], mismatch: undefined }
const NOT_RESOLVED: Verdict = { status: 'Unknown', reason: 'NotResolved', message: 'no DataSource is bound' }

export function observe({ deps, pace, early }: Observer, ref: ObjectRef, claim: DataSourceClaim | undefined, read: PassReader): Seen {
  const key = keyOfRef(ref)
  early.delete(key)
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined || hasFinalizer(claim, DATA_SOURCE_CLAIM_FINALIZER)) {
    pace.forget(key)
    return claim === undefined ? undefined : { claim, isLeft: true }
  }
  const nowMs = read.nowMs()
  const { resourceVersion } = claim.metadata
  const waitMs = pace.waitMs(key, resourceVersion, nowMs)
  if (waitMs > 0) return { waitMs }
  const isComplete = deps.templates.isComplete()
  if (!isComplete) early.add(key)
  const consent = consentBy(deps, read)
  const kept = keptSource(claim, read, consent)
  const sources = kept === undefined ? sourcesFor(claim, read, consent) : NOT_ASKED
  const context = { deps, read, consent, looks: { count: 0 } }
  const resolution = kept === undefined ? resolve(claim, sources, context) : { source: kept }
  const seen = { claim, resolution, isMismatch: sources.mismatch !== undefined, isComplete, nowMs }
  const spaced = (observed: Observed, pauseMs: number): Observed => {
    const isDue = pauseMs > 0 && !isWritten(claim, wantedStatus(observed))
    pace.looked(key, { nowMs, pauseMs, replaces: isDue ? resourceVersion : undefined })
    return observed
  }
  if (!('source' in resolution)) {
    const observed = { ...seen, lostBecause: lostBecause(claim, sources, read), ready: NOT_RESOLVED, placed: NOT_RESOLVED }
    return spaced(observed, pauseForCycle(context.looks.count))
  }
  const { source } = resolution
  const clusters = clustersFor(source, read)
  const workloads = workloadsOf(claim, deps, read)
  const { named } = clustersOf(source, clusters)
  const observed: Observed = {
    ...seen,
    lostBecause: kept === undefined ? lostBecause(claim, sources, read) : undefined,
    ready: readiness(source, clusters),
    placed: placed({ claim: claim.metadata.name ?? '', workloads, clusters: named }),
  }
  return spaced(observed, pauseFor(workloads.length))
}

const FEW_WORKLOADS = 50
const LONGEST_PAUSE_MS = 500

/** Every change of a workload makes its claim look at all of them. */
const pauseFor = (workloads: number): number => (workloads <= FEW_WORKLOADS ? 0 : Math.min(LONGEST_PAUSE_MS, workloads / 10))

const FEW_CLAIMS = 10
const LONGEST_CYCLE_PAUSE_MS = 2000

/** Every claim of a tangle looks at the others, and what each of them says makes the others look again. */
const pauseForCycle = (looks: number): number => (looks <= FEW_CLAIMS ? 0 : Math.min(LONGEST_CYCLE_PAUSE_MS, looks * 20))

interface Context {
  deps: ClaimDeps
  read: Reader
  consent: Consent
  /** At how many claims it looked to find a cycle. */
  looks: { count: number }
}

function resolve(claim: DataSourceClaim, { candidates, mismatch }: Sources, context: Context): Resolution {
  const { deps, read, consent } = context
  const isComplete = deps.templates.isComplete()
  const data = dataNameOf(claim)
  const makers = producersFor(claim, data, deps, consent).map((producer) => makerOf(producer, claim, read))
  const usable = candidates.filter(({ source }) => !isGoing(source))
  const source = bestOf(fitted(claim, trusted(usable, makers, isComplete), context))
  if (source !== undefined) return { source }
  return unresolved({
    claim,
    mismatch,
    going: trusted(candidates, makers, isComplete).flatMap((candidate) => (isGoing(candidate.source) ? [candidate.source] : [])),
    data,
    makers,
    cycle: makers.length === 0 ? undefined : cycleThrough(keyOfObject(claim), counted(waitsFrom(claim, context), context.looks)),
    mayBeWithheld: consent.mayBeWithheld(claim),
  })
}

const counted =
  (waitsOf: WaitsOf, looks: Context['looks']): WaitsOf =>
  (claim) => {
    looks.count++
    return waitsOf(claim)
  }

/**
 * What the own namespace makes is waited for: nobody else can stand in for it by making data of the same name. Before all
 * templates are known, it may be making anything.
 */
const trusted = <C extends { isForeign: boolean }>(
  candidates: readonly C[],
  makers: readonly Maker[],
  isComplete: boolean,
): readonly C[] =>
  !isComplete || makers.some(({ isForeign }) => !isForeign) ? candidates.filter(({ isForeign }) => !isForeign) : candidates

/** Of one that may not be used, nothing more is said than of one that is gone. */
function lostBecause(claim: DataSourceClaim, { candidates, mismatch }: Sources, read: Reader): string | undefined {
  const bound = boundSourceOf(claim)
  if (bound === undefined) return undefined
  const name = `DataSource ${bound}`
  const isSame = (source: DataSource | undefined): boolean => source?.metadata.name === bound
  if (candidates.some(({ source }) => isSame(source))) return `${name} was deleted`
  const source = read.get(DATA_SOURCES, '', bound)
  const isVisible = source !== undefined && (isSame(mismatch) || !isMade(source))
  return isVisible && !matches(claim, source) ? `${name} did not match any more` : `${name} can no longer be used`
}

/** By a workload, of whichever namespace. */
const isMade = ({ metadata }: DataSource): boolean => metadata.annotations?.[PRODUCER_NAMESPACE] !== undefined
