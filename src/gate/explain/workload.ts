/**
 * What a workload waits for and where its data lets it go: a link per claim, and one about the gate as a whole. Pure, from
 * what was read. A workload that was released is in no trouble, whatever becomes of its data.
 */
import { isJsonObject } from '../../base/json.ts'
import { FORBIDDEN, type Got, MOST_LISTED } from '../../client/read-as-caller.ts'
import type { Binding } from '../../kinds/karmada/index.ts'
import {
  CLUSTER_PROPAGATION_POLICY_NAME,
  PROPAGATION_POLICY_NAME,
  PROPAGATION_POLICY_NAMESPACE,
  SCHEDULED,
} from '../../kinds/karmada/well-known.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { ON_LOCALITY_CHANGE } from '../../kinds/volcano/well-known.ts'
import { isConditionTrue } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ExplainedLinks, Link, Trouble } from '../../runtime/seams/explainer.ts'
import { type Hold, isHeldByUs, NARROWED_BY, NO_CLUSTER_ALLOWED, RELEASED, recordedHold } from '../../runtime/seams/narrowing.ts'
import { boundSourceOf } from '../claim/state.ts'
import { readRelease, sourceText as releasedSource } from '../narrowing/release.ts'
import { namesText } from '../narrowing/sets.ts'
import { fixFor, isKnownReason, type Wait } from './fixes.ts'
import { type Clusters, type ClusterView, commonOf, placesText, sourceText, viewOf } from './places.ts'

export interface WorkloadInput {
  template: KubeObject
  binding: Binding | undefined
  /** The claims that concern it, sorted by name; `forbidden` when they may not be read. */
  claims: readonly DataSourceClaim[] | typeof FORBIDDEN
  /** Claims that it names and that do not exist. */
  missing: readonly string[]
  /** What is wrong with the annotation in which it names them. */
  unreadable?: string
  /** By name, those that are bound; one that is not here was not looked at. */
  sources: ReadonlyMap<string, Got<DataSource>>
  clusters: Clusters
  /** The namespace has more claims than were looked at. */
  isCut: boolean
}

/** A claim, and what it amounts to. */
interface Seen {
  name: string
  claim: DataSourceClaim
  view: ClusterView
}

export const NARROWING = 'gate'
const MOST_CLAIMS = 20

export function explainWorkload(input: WorkloadInput): ExplainedLinks {
  const { binding, missing, unreadable, isCut } = input
  const hold = holdOf(binding)
  const seen = seenClaims(input)
  const isConcerned = seen.length > 0 || missing.length > 0 || unreadable !== undefined
  if (!isConcerned && hold === undefined) return { links: [] }
  const waits = waitsOf(input, seen)
  const trouble = troubleOf(input, { seen, hold, waits })
  const links = [
    ...waits.filter(({ of }) => of === undefined).map((wait) => waitLink(wait, trouble)),
    ...seen.slice(0, MOST_CLAIMS).map((one) => claimLink(one, input, { waits, trouble })),
    ...cutLinks(seen.length, isCut),
    ...(input.claims === FORBIDDEN ? [link('ok', 'its claims may not be read by you')] : []),
    ...gateLinks(input, { seen, hold, waits }),
  ]
  return { links, ...(trouble === undefined ? {} : { trouble }) }
}

const link = (state: Link['state'], says: string): Link => ({ what: 'data', state, says })

function seenClaims({ claims, sources, clusters }: WorkloadInput): Seen[] {
  if (claims === FORBIDDEN) return []
  return claims.map((claim) => {
    const bound = boundSourceOf(claim)
    // One that was not looked at counts as one that cannot be.
    const source = bound === undefined ? undefined : sources.has(bound) ? sources.get(bound) : FORBIDDEN
    return { name: claim.metadata.name ?? '', claim, view: viewOf(claim, source, clusters) }
  })
}

/** The hold of the gate, as the binding has it. */
function holdOf(binding: Binding | undefined): Hold | undefined {
  if (binding === undefined || binding.spec?.suspension?.scheduling !== true || !isHeldByUs(binding)) return undefined
  const { annotations = {} } = binding.metadata
  const hold = recordedHold(annotations)
  return (annotations[NARROWED_BY] ?? '').split(',').includes(NARROWING) && isKnownReason(hold.reason) ? hold : undefined
}

/** Everything that is waited for, in the order in which the gate looks at it. */
function waitsOf(input: WorkloadInput, seen: readonly Seen[]): Wait[] {
  const { template, missing, unreadable } = input
  const { namespace = '', name = '' } = template.metadata
  const about = { namespace, workload: `${template.kind.toLowerCase()} ${name} -n ${namespace}` }
  const ofClaims = seen.flatMap(({ name: claim, claim: of, view }): Wait[] => {
    if (view.is === 'waiting') return [{ ...about, claim, of, ...view }]
    if (view.is === 'unknown') return [{ ...about, claim, of, reason: 'NotResolved', message: 'it has not been resolved yet' }]
    return []
  })
  const annotation = unreadable === undefined ? [] : [{ ...about, reason: 'InvalidAnnotation', message: unreadableText(unreadable) }]
  const absent = missing.map((claim) => ({ ...about, claim, reason: 'NoSuchClaim', message: missingText(claim) }))
  return [...annotation, ...absent, ...ofClaims]
}

const unreadableText = (error: string): string => `its annotation sluice.dev/claims cannot be read: ${error}`
const missingText = (claim: string): string => `claim ${claim}, which it names in sluice.dev/claims, does not exist`

interface Known {
  seen: readonly Seen[]
  hold: Hold | undefined
  waits: readonly Wait[]
}

function troubleOf(input: WorkloadInput, { seen, hold, waits }: Known): Trouble | undefined {
  const { binding, template } = input
  const { namespace = '' } = template.metadata
  const about = { namespace, policy: policyWords(binding ?? template), sets: setsOf(seen) }
  if (hold !== undefined) {
    const claim = hold.by.find(({ kind }) => kind === 'DataSourceClaim')?.name
    const source = hold.by.find(({ kind }) => kind === 'DataSource')?.name
    const known = waits.find((wait) => wait.reason === hold.reason && (claim === undefined || wait.claim === claim))
    const of = seen.find(({ name }) => name === claim)?.claim
    return {
      state: stateOf(hold.reason),
      says: `it is held (${hold.reason}): ${hold.message}`,
      fix: fixFor({ ...known, ...about, reason: hold.reason, message: hold.message, claim, source, of }),
    }
  }
  if (isPlaced(binding)) return undefined
  const [first] = waits
  if (first !== undefined)
    return { state: stateOf(first.reason), says: `it waits (${first.reason}): ${claimPrefix(first)}${first.message}`, fix: fixFor(first) }
  return binding === undefined ? undefined : closedTrouble(binding, about)
}

const isPlaced = (binding: Binding | undefined): boolean => (binding?.spec?.clusters?.length ?? 0) > 0

/** Waiting does not help against these. */
const FAILURES: ReadonlySet<string> = new Set(['ProducerFailed', 'DependencyCycle', 'InvalidAnnotation', 'NoCommonCluster'])
const stateOf = (reason: string): Trouble['state'] => (FAILURES.has(reason) ? 'fails' : 'waits')

const claimPrefix = ({ claim, reason }: Wait): string => (claim === undefined || reason === 'NoSuchClaim' ? '' : `claim ${claim}: `)

/** It was released, and then the policy or the clusters changed so that nothing is left. */
function closedTrouble(binding: Binding, about: Pick<Wait, 'namespace' | 'policy' | 'sets'>): Trouble | undefined {
  const { clusterAffinity, clusterAffinities = [] } = binding.spec?.placement ?? {}
  const groups = clusterAffinities.length > 0 ? clusterAffinities : [clusterAffinity]
  const isClosed = groups.every((group) => group?.clusterNames?.includes(NO_CLUSTER_ALLOWED) === true)
  if (!isClosed || isConditionTrue(binding.status?.conditions, SCHEDULED)) return undefined
  const sets = (about.sets ?? []).map(({ claim, source, clusters }) => `claim ${claim} (source ${source}: ${namesText(clusters)})`)
  const message = `no cluster is allowed by ${[...sets, 'its policy'].join(' and ')}`
  return { state: 'fails', says: message, fix: fixFor({ ...about, reason: 'NoCommonCluster', message }) }
}

const setsOf = (seen: readonly Seen[]): Wait['sets'] =>
  seen.flatMap(({ name, view }) =>
    view.is === 'met' ? [{ claim: name, source: view.source.metadata.name ?? '', clusters: view.clusters }] : [],
  )

/** As kubectl wants it. */
function policyWords({ metadata: { annotations = {} } }: KubeObject | Binding): string | undefined {
  const { [PROPAGATION_POLICY_NAME]: own, [PROPAGATION_POLICY_NAMESPACE]: namespace, [CLUSTER_PROPAGATION_POLICY_NAME]: all } = annotations
  if (own !== undefined && namespace !== undefined) return `propagationpolicy ${own} -n ${namespace}`
  return all === undefined ? undefined : `clusterpropagationpolicy ${all}`
}

/** What is to be done about it stands below it, unless it stands at the end anyway. */
function waitLink(wait: Wait, trouble: Trouble | undefined): Link {
  const fix = fixFor(wait)
  const says = wait.reason === 'NoSuchClaim' || wait.claim === undefined ? wait.message : `claim ${wait.claim}: ${reasonText(wait)}`
  return { ...link(stateOf(wait.reason), says), ...(trouble?.fix === fix ? {} : { more: [fix] }) }
}

const reasonText = ({ reason, message }: Wait): string => (reason === 'NotResolved' ? message : `${reason}: ${message}`)

function claimLink(
  { name, view }: Seen,
  { clusters }: WorkloadInput,
  { waits, trouble }: { waits: readonly Wait[]; trouble?: Trouble },
): Link {
  if (view.is === 'met') return link('ok', `claim ${name}: DataSource ${sourceText(view.source)}, in ${placesText(view.source, clusters)}`)
  if (view.is === 'met-unseen') return link('ok', `claim ${name}: DataSource ${view.source}, which may not be read by you`)
  const wait = waits.find(({ claim }) => claim === name)
  return wait === undefined ? link('waits', `claim ${name}`) : waitLink(wait, trouble)
}

function cutLinks(claims: number, isCut: boolean): Link[] {
  const more = claims > MOST_CLAIMS ? [link('ok', `and ${claims - MOST_CLAIMS} more claims`)] : []
  return isCut ? [...more, link('ok', `only ${MOST_LISTED} claims of this namespace were looked at`)] : more
}

function gateLinks(input: WorkloadInput, { seen, hold, waits }: Known): Link[] {
  const { binding, clusters } = input
  const release = binding === undefined ? undefined : readRelease(binding.metadata.annotations?.[RELEASED])
  const common = commonText(seen)
  const gate = (state: Link['state'], says: string, more: readonly string[]): Link[] => [
    { what: 'gate', state, says, ...(more.length === 0 ? {} : { more }) },
  ]
  if (hold !== undefined) {
    const stays = release === undefined ? [] : [`it stays in what it was released to: ${namesText(release.allow)}`]
    // What a link above says already need not be said again.
    const isSaid = waits.some(({ reason, message }) => reason === hold.reason && hold.message.endsWith(message))
    return gate(stateOf(hold.reason), `held: ${isSaid ? hold.reason : `${hold.reason}: ${hold.message}`}`, [...common, ...stays])
  }
  if (release === undefined) {
    if (binding === undefined || seen.length === 0) return common.length === 0 ? [] : gate('ok', common.join('; '), [])
    return isPlaced(binding)
      ? gate('waits', 'it was placed without its claims, and nothing has been decided since', common)
      : gate('waits', 'neither held nor released yet', common)
  }
  const movers = seen.filter(({ claim }) => claim.metadata.annotations?.[ON_LOCALITY_CHANGE] === 'Move').map(({ name }) => name)
  const follows =
    movers.length > 0
      ? `it follows the data (${ON_LOCALITY_CHANGE}: Move on ${movers.join(', ')})`
      : 'it stays there, even if the data moves'
  const changes = seen.flatMap(({ name, view }) => changeOf(name, view, { release, clusters, moves: movers.length > 0 }))
  return gate('ok', `released to ${namesText(release.allow)}: ${follows}`, [decidedText(binding, release.claims), ...changes])
}

/** Only for several claims: for one it is what its link says. */
function commonText(seen: readonly Seen[]): string[] {
  const sets = setsOf(seen) ?? []
  if (sets.length < 2) return []
  const common = commonOf(sets.map(({ clusters }) => clusters))
  const of = sets.length === seen.length ? 'all of it' : 'what is known of it'
  return [common.length === 0 ? `no cluster has ${of}` : `${of} is in ${namesText(common)}`]
}

function decidedText(binding: Binding | undefined, claims: Readonly<Record<string, string>>): string {
  const from = Object.entries(claims).map(([claim, source]) => (source === '' ? claim : `${claim} = ${source}`))
  return `decided${timeOf(binding)} from ${from.slice(0, MOST_CLAIMS).join(', ')}`
}

function timeOf(binding: Binding | undefined): string {
  try {
    const record: unknown = JSON.parse(binding?.metadata.annotations?.[RELEASED] ?? '{}')
    return isJsonObject(record) && typeof record.at === 'string' ? ` at ${record.at}` : ''
  } catch {
    // It has been read before; whoever edits it in between gets no time.
    return ''
  }
}

interface Since {
  release: { allow: readonly string[]; claims: Readonly<Record<string, string>> }
  clusters: Clusters
  moves: boolean
}

/** What has changed about a claim since. */
function changeOf(name: string, view: ClusterView, { release, clusters, moves }: Since): string[] {
  const before = Object.hasOwn(release.claims, name) ? release.claims[name] : undefined
  const effect = moves ? '' : ': that does not move it'
  if (view.is === 'waiting') return [`claim ${name} waits now (${view.reason})${effect}`]
  if (view.is !== 'met' || before === undefined) return []
  const allowed = new Set(release.allow)
  const isElsewhere = !view.clusters.some((cluster) => allowed.has(cluster))
  if (before === releasedSource(view.source) && !isElsewhere) return []
  return [`claim ${name} has ${sourceText(view.source)} now, in ${placesText(view.source, clusters)}${effect}`]
}
