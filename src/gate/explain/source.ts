/**
 * Where a source is, who made it, who uses it and what its deletion would do. Pure, from the object and the clusters.
 */

import { dataNameText } from '../../kinds/volcano/annotations.ts'
import type { DataSource, DataSourceStatus } from '../../kinds/volcano/index.ts'
import { DATA_SOURCE_FINALIZER, PROVISIONED_BY, SOURCE_VERSION } from '../../kinds/volcano/well-known.ts'
import { findCondition } from '../../kube/conditions.ts'
import type { ExplainedObject, Link, Trouble } from '../../runtime/seams/explainer.ts'
import { dataNameOf, makerOf as producerNamespaceOf, recordedRun } from '../output/produced.ts'
import { readiness } from '../source/locality.ts'
import { fixFor } from './fixes.ts'
import { type Clusters, placesText } from './places.ts'

export function explainSource(source: DataSource, clusters: Clusters): ExplainedObject {
  const ready = readyOf(source, clusters)
  const users = usersOf(source)
  const trouble = troubleOf(source, ready, users.count)
  const links: Link[] = [
    { what: 'source', state: 'ok', says: `${dataNameText(dataNameOf(source))}${attributesText(source)}` },
    madeLink(source),
    { what: 'clusters', state: ready.isReady ? 'ok' : 'waits', says: `the data is in ${placesText(source, clusters)}` },
    { what: 'claims', state: 'ok', says: users.says },
    deletionLink(source, users.count),
  ]
  return {
    links,
    says: `its data is in ${placesText(source, clusters)}; ${countText(users.count)}`,
    ...(trouble ? { trouble } : {}),
  }
}

interface Ready {
  isReady: boolean
  reason: string
  message: string
}

/** What the clusters say; for those who may not read them, what the status says. */
function readyOf(source: DataSource, clusters: Clusters): Ready {
  if (clusters !== undefined) {
    const { status, reason, message } = readiness(source, clusters)
    return { isReady: status === 'True', reason, message }
  }
  const { status, reason = '', message = '' } = findCondition(source.status?.conditions, 'Ready') ?? {}
  return { isReady: status !== 'False', reason, message }
}

function attributesText({ spec }: DataSource): string {
  const pairs = Object.entries(spec?.attributes ?? {}).map(([key, value]) => `${key}=${value}`)
  return pairs.length === 0 ? '' : `, with ${pairs.slice(0, MOST_SHOWN).join(', ')}${pairs.length > MOST_SHOWN ? ', …' : ''}`
}

const MOST_SHOWN = 10

interface Maker {
  /** As it is named on a command line: `jobs.batch/daily`. */
  name: string
  namespace: string
}

function makerOf(source: DataSource): Maker | undefined {
  const namespace = producerNamespaceOf(source)
  const by = source.metadata.annotations?.[PROVISIONED_BY] ?? ''
  return namespace === undefined ? undefined : { name: by.slice(by.indexOf('/') + 1), namespace }
}

function madeLink(source: DataSource): Link {
  const { [PROVISIONED_BY]: by, [SOURCE_VERSION]: version } = source.metadata.annotations ?? {}
  const maker = makerOf(source)
  if (maker === undefined) return { what: 'made', state: 'ok', says: by === undefined ? 'no workload has made it' : `by ${by}` }
  const run = recordedRun(source)
  const says = `by ${maker.name} of namespace ${maker.namespace}${version === undefined ? '' : `: version ${version}`}`
  return {
    what: 'made',
    state: 'ok',
    says: `${says}${run === undefined ? '' : `, at ${run.at}`}`,
    more: [`sluice why ${maker.name} -n ${maker.namespace}`],
  }
}

type ClaimRef = NonNullable<DataSourceStatus['claimRefs']>[number]

function usersOf({ status }: DataSource): { count: number; says: string } {
  const refs = status?.claimRefs ?? status?.claimRef ?? []
  const count = status?.boundClaims ?? refs.length
  const shown = refs.slice(0, MOST_SHOWN).map(({ namespace, name }: ClaimRef) => `${namespace}/${name}`)
  const more = count > shown.length ? ` and ${count - shown.length} more` : ''
  return { count, says: shown.length === 0 ? countText(count) : `${countText(count)}: ${shown.join(', ')}${more}` }
}

const countText = (count: number): string =>
  count === 0 ? 'no claim is bound' : count === 1 ? '1 claim is bound' : `${count} claims are bound`

function deletionLink(source: DataSource, count: number): Link {
  const { deletionTimestamp } = source.metadata
  const maker = makerOf(source)
  const more = [
    source.spec?.reclaimPolicy === 'Delete'
      ? 'reclaim policy Delete: this object is deleted with its last bound claim; the data itself is never touched'
      : 'reclaim policy Retain: it stays when its last claim is gone',
    ...(maker === undefined ? [] : [`it is made again while ${maker.name} of namespace ${maker.namespace} says that it makes it`]),
  ]
  if (deletionTimestamp !== undefined)
    return {
      what: 'deletion',
      state: 'waits',
      says: `it is being deleted; ${count === 0 ? 'no claim is bound any more' : 'its claims are unbound first'}`,
      more,
    }
  const claims = count === 1 ? 'its claim' : `its ${count} claims`
  const says = `deleting it unbinds ${claims} first: what runs stays, what is new waits for another source`
  return { what: 'deletion', state: 'ok', says: count === 0 ? 'deleting it concerns nobody' : says, more }
}

function troubleOf(source: DataSource, { isReady, reason, message }: Ready, count: number): Trouble | undefined {
  const { name = '', deletionTimestamp, finalizers = [] } = source.metadata
  if (deletionTimestamp !== undefined) {
    const others = finalizers.filter((finalizer) => finalizer !== DATA_SOURCE_FINALIZER)
    if (others.length > 0)
      return { state: 'waits', says: 'it is being deleted', fix: `see who has to remove its finalizers: ${others.join(', ')}` }
    const fix = count === 0 ? 'nothing: it is gone in a moment' : fixFor({ reason: 'NotResolved', message, namespace: '' })
    return { state: 'waits', says: `it is being deleted${count === 0 ? '' : ', and claims are still bound'}`, fix }
  }
  if (isReady) return undefined
  return { state: 'waits', says: `${reason}: ${message}`, fix: fixFor({ reason, message, namespace: '', source: name }) }
}
