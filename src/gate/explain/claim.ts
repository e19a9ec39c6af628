/**
 * Why a claim has the source that it has, or none; whether the data can be used; and how each workload is doing that needs
 * it. Pure, from what was read. The conditions of the claim say what was decided, everything else is what can be seen now.
 */

import { FORBIDDEN, type Got, type Listed, MOST_LISTED } from '../../client/read-as-caller.ts'
import type { Binding } from '../../kinds/karmada/index.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { isSeedForm } from '../../kinds/volcano/matching.ts'
import { findCondition } from '../../kube/conditions.ts'
import type { GroupVersionKind } from '../../kube/object-reference.ts'
import { formatSelectorObject } from '../../kube/selector.ts'
import type { ExplainedObject, Link, Trouble } from '../../runtime/seams/explainer.ts'
import { HELD_REASON, RELEASED } from '../../runtime/seams/narrowing.ts'
import { BOUND, claimState, PLACED, READY, RESOLVED } from '../claim/state.ts'
import { readRelease } from '../narrowing/release.ts'
import { namesText } from '../narrowing/sets.ts'
import { progressOf, workloadKindOf } from '../workload/index.ts'
import { nearSources } from './candidates.ts'
import { aboutWorkload, fixFor, whyCommand } from './fixes.ts'
import { type Clusters, placesText, sourceText } from './places.ts'

export interface ClaimInput {
  claim: DataSourceClaim
  /** The source that is bound. */
  bound: Got<DataSource>
  /** Without one: what there is. */
  sources: Listed<DataSource>
  clusters: Clusters
  workloads: readonly ClaimedWorkload[]
  /** The workloads beyond those. */
  otherWorkloads: number
  /** There may be workloads that were not looked at, because there are too many, or because they may not be read. */
  isIncomplete: boolean
}

/** A workload that the claim concerns. */
export interface ClaimedWorkload extends GroupVersionKind {
  name: string
  binding: Got<Binding>
}

type Condition = NonNullable<NonNullable<DataSourceClaim['status']>['conditions']>[number]

export function explainClaim(input: ClaimInput): ExplainedObject {
  const { claim, workloads } = input
  const links = [
    { what: 'claim', state: 'ok' as const, says: askedText(claim) },
    ...goingLinks(claim),
    resolvedLink(input),
    ...readyLinks(input),
    ...boundLinks(claim),
    ...placedLinks(claim),
    ...workloads.map((workload) => workloadLink(claim, workload)),
    ...restLinks(input),
  ]
  const trouble = troubleOf(claim)
  const says = `it is bound to DataSource ${claimState(claim).source ?? ''}, and every workload is where the data is`
  return { links, says, ...(trouble === undefined ? {} : { trouble }) }
}

/** A condition, if it is about the claim as it is now. */
function conditionOf({ metadata, status }: DataSourceClaim, type: string): Condition | undefined {
  const condition = findCondition(status?.conditions, type)
  return condition?.observedGeneration === metadata.generation ? condition : undefined
}

/** `hive/table/sales.daily, for Job report`. */
function askedText(claim: DataSourceClaim): string {
  const { system, dataSourceType, dataSourceName, workload, workloadSelector, attributesSelector } = claim.spec ?? {}
  const type = `${system}/${dataSourceType}`
  if (workload !== undefined) return `${type}/${dataSourceName}, for ${workload.kind} ${workload.name}`
  const demands = formatSelectorObject(attributesSelector)
  const what = dataSourceName ? `DataSource ${dataSourceName} (${type})` : demands === '<none>' ? type : `${type} with ${demands}`
  return `${what}, for workloads with ${formatSelectorObject(workloadSelector)}`
}

const goingLinks = ({ metadata: { deletionTimestamp } }: DataSourceClaim): Link[] =>
  deletionTimestamp === undefined ? [] : [{ what: 'deletion', state: 'waits', says: 'it is being deleted, and holds nothing any more' }]

function resolvedLink({ claim, bound, sources }: ClaimInput): Link {
  const condition = conditionOf(claim, RESOLVED)
  const { source } = claimState(claim)
  if (condition === undefined) return { what: 'resolved', state: 'waits', says: 'nobody has looked at it as it is now' }
  if (condition.status === 'True' && source !== undefined) {
    const name = bound === undefined || bound === FORBIDDEN ? source : sourceText(bound)
    const says = bound === undefined ? `DataSource ${name}, which is gone` : `DataSource ${name} is bound`
    return { what: 'resolved', state: bound === undefined ? 'waits' : 'ok', says }
  }
  const more = [...nearSources(claim, sources.items), ...viewLimits(sources)]
  return { what: 'resolved', state: 'waits', says: conditionText(condition), ...(more.length === 0 ? {} : { more }) }
}

function viewLimits({ isForbidden, isCut }: Listed<DataSource>): string[] {
  if (isForbidden) return ['DataSources may not be read by you: which of them come near is not shown']
  return isCut ? [`only ${MOST_LISTED} DataSources were looked at`] : []
}

const conditionText = ({ reason, message }: Condition): string => (message ? `${reason}: ${message}` : `${reason}`)

function readyLinks({ claim, bound, clusters }: ClaimInput): Link[] {
  const condition = conditionOf(claim, READY)
  if (condition === undefined || condition.reason === 'NotResolved') return []
  const places = bound === undefined || bound === FORBIDDEN ? [] : [`the data is in ${placesText(bound, clusters)}`]
  if (condition.status === 'True') return [{ what: 'ready', state: 'ok', says: places[0] ?? condition.message ?? '' }]
  return [{ what: 'ready', state: 'waits', says: conditionText(condition), ...(places.length === 0 ? {} : { more: places }) }]
}

/** What happened to a binding that did not hold. */
function boundLinks(claim: DataSourceClaim): Link[] {
  const condition = conditionOf(claim, BOUND)
  return condition?.status === 'False' ? [{ what: 'bound', state: 'waits', says: conditionText(condition) }] : []
}

function placedLinks(claim: DataSourceClaim): Link[] {
  const condition = conditionOf(claim, PLACED)
  if (condition === undefined || condition.reason === 'NotResolved') return []
  return [{ what: 'placed', state: condition.status === 'True' ? 'ok' : 'waits', says: conditionText(condition) }]
}

function workloadLink(claim: DataSourceClaim, { apiVersion, kind, name, binding }: ClaimedWorkload): Link {
  const { namespace = '' } = claim.metadata
  const link = (state: Link['state'], says: string): Link => {
    const more = state === 'ok' ? {} : { more: [whyCommand({ kind, namespace, name })] }
    return { what: 'workload', state, says: `${kind} ${name} ${says}`, ...more }
  }
  if (binding === FORBIDDEN) return { what: 'workload', state: 'ok', says: `${kind} ${name}: its binding may not be read by you` }
  if (binding === undefined) return link('waits', 'has no binding: it does not exist, or no policy selects it')
  const targets = (binding.spec?.clusters ?? []).map((target) => target.name)
  const { annotations = {} } = binding.metadata
  const held = annotations[HELD_REASON]
  if (targets.length === 0) return link('waits', held === undefined ? 'is not scheduled yet' : `is held: ${held}`)
  const release = readRelease(annotations[RELEASED])
  const released = release === undefined ? '' : `released to ${namesText(release.allow)}; `
  const known = workloadKindOf(apiVersion, kind)
  if (known === undefined) return link('ok', `is in ${namesText(targets)}`)
  const { state, succeededIn, failedIn } = progressOf(known, binding)
  if (state === 'failed') return link('fails', `${released}has failed in ${namesText(failedIn)}`)
  return link(
    'ok',
    state === 'succeeded' ? `${released}has succeeded in ${namesText(succeededIn)}` : `${released}runs in ${namesText(targets)}`,
  )
}

function restLinks({ otherWorkloads, isIncomplete, workloads }: ClaimInput): Link[] {
  const link = (says: string): Link => ({ what: 'workload', state: 'ok', says })
  const more = otherWorkloads > 0 ? [link(`and ${otherWorkloads} more`)] : []
  if (!isIncomplete) return more
  return [
    ...more,
    link(workloads.length === 0 ? 'not all workloads could be looked at' : 'there may be others: not all could be looked at'),
  ]
}

/** The first thing that is not as it should be. */
function troubleOf(claim: DataSourceClaim): Trouble | undefined {
  const { namespace = '', name = '', deletionTimestamp, finalizers = [] } = claim.metadata
  if (deletionTimestamp !== undefined)
    return {
      state: 'waits',
      says: 'it is being deleted',
      fix: finalizers.length === 0 ? 'nothing: it is gone in a moment' : `see who has to remove its finalizers: ${finalizers.join(', ')}`,
    }
  const { source, isCurrent } = claimState(claim)
  const about = { namespace, claim: name, of: claim, ...(source === undefined ? {} : { source }) }
  if (!isCurrent) {
    const message = 'nobody has looked at it as it is now'
    return { state: 'waits', says: message, fix: fixFor({ ...about, reason: 'NotResolved', message }) }
  }
  for (const type of [RESOLVED, READY, PLACED]) {
    const condition = conditionOf(claim, type)
    const { status, reason = '', message = '' } = condition ?? {}
    if (condition === undefined || status === 'True') continue
    // What a workload waits for is said by that workload.
    const fix = (type === PLACED ? aboutWorkload(message) : undefined) ?? fixFor({ ...about, reason, message })
    return { state: FAILURES.has(reason) ? 'fails' : 'waits', says: conditionText(condition), fix }
  }
  return undefined
}

const FAILURES: ReadonlySet<string> = new Set(['ProducerFailed', 'DependencyCycle', 'NoCommonCluster'])

/** Whether it asks for one object by its name: then no other comes near. */
export const namesObject = (claim: DataSourceClaim): boolean => isSeedForm(claim) && Boolean(claim.spec?.dataSourceName)
