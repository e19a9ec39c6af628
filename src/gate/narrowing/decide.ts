/**
 * Whether a workload is held, and where it may go: pure. All its claims must be met; then the clusters that hold all of the
 * data are allowed, and that is frozen. What runs already is not disturbed by data that moves or gets lost.
 */
import { deepEqual } from '../../base/json.ts'
import type { Binding, Cluster, Policy } from '../../kinds/karmada/index.ts'
import { CLUSTER_READY } from '../../kinds/karmada/well-known.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { ON_LOCALITY_CHANGE, PLACEMENT_INJECTED } from '../../kinds/volcano/well-known.ts'
import { isConditionTrue } from '../../kube/conditions.ts'
import { compareStrings } from '../../kube/go-print.ts'
import type { TypedObjectRef } from '../../kube/object-reference.ts'
import { type Hold, isHeldByUs, type NarrowingAnswer, RELEASED, recordedHold } from '../../runtime/seams/narrowing.ts'
import { digestOfClaim, policyText, type Release, readRelease, releaseText, sourceText } from './release.ts'
import { allowedByPlacement, namesText, namesTextOf } from './sets.ts'

/** A claim as the workload sees it. */
export interface ClaimFact {
  claim: DataSourceClaim
  state:
    | { is: 'met'; source: DataSource; clusters: readonly string[] }
    | { is: 'waiting'; reason: string; message: string; source?: string }
    /** Its controller has not looked at it as it is now. */
    | { is: 'unknown' }
}

export interface Facts {
  claims: readonly ClaimFact[]
  missing: readonly string[]
  unreadable?: string
  policy: Policy
  clusters: readonly Cluster[]
  binding: Binding | undefined
  nowMs: number
}

/** Undefined: no claim concerns it, and nothing is left of one that did. */
export function decide(facts: Facts): NarrowingAnswer | undefined {
  const { claims, missing, unreadable, binding } = facts
  const annotations = binding?.metadata.annotations ?? {}
  if (claims.length === 0 && missing.length === 0 && unreadable === undefined)
    return annotations[RELEASED] === undefined && annotations[PLACEMENT_INJECTED] === undefined
      ? undefined
      : { annotations: { [RELEASED]: null, [PLACEMENT_INJECTED]: null } }
  return isPlaced(binding) ? decideForPlaced(facts, binding) : decideForUnplaced(facts)
}

const isPlaced = (binding: Binding | undefined): binding is Binding => (binding?.spec?.clusters?.length ?? 0) > 0

function decideForUnplaced(facts: Facts): NarrowingAnswer {
  const wait = waitOf(facts, facts.missing)
  if (wait !== undefined) return heldWith(wait)
  const allow = allowOf(facts)
  const conflict = conflictOf(facts, allow) ?? unavailability(facts, allow)
  return conflict === undefined ? releasedTo(facts, releaseOf(facts, allow)) : heldWith(conflict)
}

function decideForPlaced(facts: Facts, binding: Binding): NarrowingAnswer {
  const { claims, missing } = facts
  const release = readRelease(binding.metadata.annotations?.[RELEASED])
  // A claim that was released and is gone leaves the workload as it is, if the workload still names it.
  const unreleased = missing.filter((name) => release === undefined || !Object.hasOwn(release.claims, name))
  const isSame = release !== undefined && unreleased.length === 0 && facts.unreadable === undefined && hasSameClaims(facts, release)
  if (isSame && isFrozen(facts, binding, release)) return releasedTo(facts, release)
  if (claims.some(({ state }) => state.is === 'unknown')) return asItIs(binding, release)
  const wait = waitOf(facts, unreleased)
  if (wait !== undefined) {
    if (isSame) return releasedTo(facts, { ...release, ...decidedFrom(facts) })
    return { ...heldWith(wait, release), ...(release === undefined ? {} : { allow: release.allow }) }
  }
  const allow = withReleased(facts, allowOf(facts), release)
  const conflict = conflictOf(facts, allow)
  if (conflict !== undefined) return { ...heldWith(conflict, release), ...(release === undefined ? {} : { allow: release.allow }) }
  const event = narrowedEvent(facts, allow, release)
  return { ...releasedTo(facts, releaseOf(facts, allow, release)), ...(event === undefined ? {} : { event }) }
}

/** Named claims that are gone count with what they allowed when the workload was released. */
function withReleased({ missing, claims }: Facts, allow: readonly string[], release: Release | undefined): readonly string[] {
  if (release === undefined || missing.length === 0) return allow
  const released = new Set(release.allow)
  return claims.length === 0 ? release.allow : allow.filter((name) => released.has(name))
}

/** Nothing that it was decided from has changed. */
function isFrozen({ claims, policy }: Facts, binding: Binding, release: Release): boolean {
  const { rescheduleTriggeredAt, gracefulEvictionTasks = [] } = binding.spec ?? {}
  return (
    release.policy === policyText(policy) &&
    release.rescheduled === rescheduleTriggeredAt &&
    gracefulEvictionTasks.length === 0 &&
    claims.every(({ claim }) => claim.metadata.annotations?.[ON_LOCALITY_CHANGE] !== 'Move')
  )
}

function hasSameClaims({ claims, missing }: Facts, { seen }: Release): boolean {
  const names = [...claims.map(({ claim }) => claim.metadata.name ?? ''), ...missing]
  return (
    names.length === Object.keys(seen).length &&
    names.every((name) => Object.hasOwn(seen, name)) &&
    claims.every(({ claim }) => seen[claim.metadata.name ?? ''] === digestOfClaim(claim))
  )
}

const heldWith = (hold: Hold, release?: Release): NarrowingAnswer => ({
  hold,
  annotations: { ...(release === undefined ? { [RELEASED]: null } : {}), [PLACEMENT_INJECTED]: null },
})

function releasedTo({ binding, nowMs }: Facts, release: Release): NarrowingAnswer {
  const text = binding?.metadata.annotations?.[RELEASED]
  const isRecorded = text !== undefined && deepEqual(readRelease(text), release)
  return {
    allow: release.allow,
    annotations: { [RELEASED]: isRecorded ? text : releaseText(release, nowMs), [PLACEMENT_INJECTED]: 'true' },
  }
}

/** For the moment in which nothing is known: neither more nor less than before. */
function asItIs(binding: Binding, release: Release | undefined): NarrowingAnswer {
  const hold = isHeldByUs(binding) ? recordedHold(binding.metadata.annotations ?? {}) : undefined
  return { ...(release === undefined ? {} : { allow: release.allow }), ...(hold === undefined ? {} : { hold }) }
}

const decidedFrom = ({ policy, binding }: Facts): Pick<Release, 'policy' | 'rescheduled'> => {
  const rescheduled = binding?.spec?.rescheduleTriggeredAt
  return { policy: policyText(policy), ...(rescheduled === undefined ? {} : { rescheduled }) }
}

/** Claims that are gone, but still named, stay in the record. */
function releaseOf(facts: Facts, allow: readonly string[], before?: Release): Release {
  const claims: Record<string, string> = {}
  const seen: Record<string, string> = {}
  for (const name of facts.missing) {
    claims[name] = before?.claims[name] ?? ''
    seen[name] = before?.seen[name] ?? ''
  }
  for (const { claim, state } of facts.claims) {
    const { name = '' } = claim.metadata
    claims[name] = state.is === 'met' ? sourceText(state.source) : ''
    seen[name] = digestOfClaim(claim)
  }
  return { allow, claims, seen, ...decidedFrom(facts) }
}

/** What is recorded of a release must fit into an annotation. */
const MOST_CLAIMS = 100
/** Of more, only some are named: a text must fit into an annotation, too. */
const MOST_NAMED = 5
const MOST_CLUSTERS = 1000

const claimRef = (name: string): TypedObjectRef => ({ apiVersion: 'datadependency.volcano.sh/v1alpha1', kind: 'DataSourceClaim', name })
const sourceRef = (name: string): TypedObjectRef => ({ apiVersion: 'datadependency.volcano.sh/v1alpha1', kind: 'DataSource', name })

/** The first thing it waits for, in the order of the claims' names. */
function waitOf({ claims, unreadable, binding }: Facts, missing: readonly string[]): Hold | undefined {
  if (claims.length + missing.length > MOST_CLAIMS)
    return { reason: 'TooManyClaims', message: `more than ${MOST_CLAIMS} claims concern it: let it have fewer`, by: [] }
  if (unreadable !== undefined)
    return { reason: 'InvalidAnnotation', message: `its annotation sluice.dev/claims cannot be read: ${unreadable}`, by: [] }
  const [gone] = missing
  if (gone !== undefined)
    return {
      reason: 'NoSuchClaim',
      message: `claim ${gone}, which it names in sluice.dev/claims, does not exist`,
      by: [claimRef(gone)],
    }
  for (const { claim, state } of claims) {
    const { name = '' } = claim.metadata
    if (state.is === 'waiting')
      return {
        reason: state.reason,
        message: `claim ${name}: ${state.message}`,
        by: [claimRef(name), ...(state.source === undefined ? [] : [sourceRef(state.source)])],
      }
    if (state.is === 'unknown')
      return binding !== undefined && isHeldByUs(binding)
        ? recordedHold(binding.metadata.annotations ?? {})
        : { reason: 'NotResolved', message: `claim ${name} has not been resolved yet`, by: [claimRef(name)] }
  }
  return undefined
}

/** The clusters that hold the data of all claims, sorted. */
function allowOf({ claims, clusters }: Facts): readonly string[] {
  const sets = claims.flatMap(({ state }) => (state.is === 'met' ? [state.clusters] : []))
  const joined = new Set(clusters.map(({ metadata }) => metadata.name ?? ''))
  const [first = [], ...others] = sets
  const rest = others.map((names) => new Set(names))
  const allow = [...new Set(first)].filter((name) => rest.every((names) => names.has(name))).sort(compareStrings)
  return allow.length <= MOST_CLUSTERS ? allow : allow.filter((name) => joined.has(name))
}

/** No cluster that is joined is allowed by all claims and by the policy. */
function conflictOf({ claims, clusters, policy }: Facts, allow: readonly string[]): Hold | undefined {
  const allowed = new Set(allow)
  const isAllowedByPolicy = allowedByPlacement(policy.spec?.placement)
  if (clusters.some((cluster) => allowed.has(cluster.metadata.name ?? '') && isAllowedByPolicy(cluster))) return undefined
  const met = claims.flatMap(({ claim, state }) => (state.is === 'met' ? [{ name: claim.metadata.name ?? '', ...state }] : []))
  const shown = met.slice(0, MOST_NAMED)
  const sets = shown.map(({ name, source, clusters: names }) => `claim ${name} (source ${source.metadata.name}: ${namesText(names)})`)
  if (met.length > shown.length) sets.push(`${met.length - shown.length} more claims`)
  const ofPolicy = `the policy ${policy.metadata.name} (${namesTextOf(clusters.filter(isAllowedByPolicy))})`
  return {
    reason: 'NoCommonCluster',
    message: `no cluster is allowed by ${[...sets, ofPolicy].join(' and ')}`,
    by: shown.flatMap(({ name, source }) => [claimRef(name), sourceRef(source.metadata.name ?? '')]),
  }
}

/** The data is in clusters that exist, none of which is ready. */
function unavailability({ claims, clusters, policy }: Facts, allow: readonly string[]): Hold | undefined {
  const allowed = new Set(allow)
  const isAllowedByPolicy = allowedByPlacement(policy.spec?.placement)
  const usable = clusters.filter((cluster) => allowed.has(cluster.metadata.name ?? '') && isAllowedByPolicy(cluster))
  if (usable.some(isReady)) return undefined
  const names = claims.map(({ claim }) => claim.metadata.name ?? '')
  return {
    reason: 'DataClusterUnavailable',
    message: `the data is in ${namesTextOf(usable)}, and no such cluster is ready`,
    by: names.slice(0, MOST_NAMED).map(claimRef),
  }
}

export const isReady = ({ metadata, status }: Cluster): boolean =>
  metadata.deletionTimestamp === undefined && isConditionTrue(status?.conditions, CLUSTER_READY)

/** For work that ran before its claim came, or that is computed anew: what changes for it. */
function narrowedEvent({ claims, binding }: Facts, allow: readonly string[], release: Release | undefined): NarrowingAnswer['event'] {
  if (release !== undefined && deepEqual(release.allow, allow)) return undefined
  const names = claims.map(({ claim }) => claim.metadata.name ?? '')
  const allowed = new Set(allow)
  const leaves = (binding?.spec?.clusters ?? []).map(({ name }) => name).filter((name) => !allowed.has(name))
  const moves = leaves.length === 0 ? 'it stays where it is' : `it leaves ${namesText(leaves)}`
  return {
    reason: 'Narrowed',
    message: `${names.length === 1 ? `claim ${names[0]} allows` : `claims ${names.join(', ')} allow`} only ${namesText(allow)}: ${moves}`,
  }
}
