/** One cluster in the chain: why it was chosen or not, the state of its Work, and the status of the object there. */
import type { Binding, Cluster, Work } from '../../kinds/karmada/index.ts'
import { clusterOfExecutionNamespace } from '../../kinds/karmada/names.ts'
import { CLUSTER_READY, WORK_APPLIED, WORK_DISPATCHING } from '../../kinds/karmada/well-known.ts'
import type { DecisionRecord } from '../scheduler/decision.ts'
import type { ClusterLink, Finding, State } from './chain.ts'

/** What is known about the clusters of a binding. */
export interface ClusterContext {
  binding: Binding
  record: DecisionRecord | undefined
  /** Undefined when they may not be read. */
  works: ReadonlyMap<string, Work> | undefined
  /** Undefined when they may not be read. */
  clusters: ReadonlyMap<string, Cluster> | undefined
}

export function clusterLink(name: string, { binding, record, works, clusters }: ClusterContext, finding: Finding): ClusterLink {
  const target = binding.spec.clusters?.find((one) => one.name === name)
  const leaving = binding.spec.gracefulEvictionTasks?.find((task) => task.fromCluster === name)
  const reported = record?.clusters.find((one) => one.name === name)?.why
  const why =
    leaving === undefined ? (reported ?? 'chosen') : `is being left (${leaving.reason})${leaving.message ? `: ${leaving.message}` : ''}`
  const work = works?.get(name)
  const base = { name, isChosen: target !== undefined, why, ...(target?.replicas === undefined ? {} : { replicas: target.replicas }) }
  const trouble = (state: State, says: string, fix: string): void => {
    finding.trouble ??= { state, says: `${name}: ${says}`, fix }
  }
  if (works === undefined) return { ...base, state: 'ok' }
  const ready = clusters?.get(name)?.status?.conditions?.find(({ type }) => type === CLUSTER_READY)
  const isReady = clusters === undefined || ready?.status === 'True'
  if (work === undefined) {
    if (target !== undefined)
      trouble('waits', 'its Work is not there yet', 'look again in a moment; the events of the binding say what goes wrong')
    return { ...base, state: target === undefined ? 'ok' : 'waits' }
  }
  const place = { namespace: work.metadata.namespace ?? '', name: work.metadata.name ?? '' }
  const says = workText(work)
  const [manifest] = work.status?.manifestStatuses ?? []
  const object = manifest === undefined ? undefined : { health: manifest.health ?? 'Unknown', ...statusText(manifest.status) }
  const link = { ...base, work: { ...place, says }, ...(object === undefined ? {} : { object }) }
  if (!isReady) {
    const message = ready?.message ?? 'nobody has heard of it yet'
    const bringBack = `bring ${name} back, or see kubectl describe cluster ${name}`
    // The copy should be gone from here; what matters may be fine elsewhere.
    if (target === undefined) trouble('waits', `it is still there, until the cluster is ready again (${message})`, bringBack)
    else trouble('fails', `the cluster is not ready: ${message}`, bringBack)
    return { ...link, state: target === undefined ? 'waits' : 'fails' }
  }
  if (condition(work, WORK_DISPATCHING)?.status === 'False') {
    trouble('waits', says, 'take the suspension out of the policy (spec.suspension)')
    return { ...link, state: 'waits' }
  }
  if (condition(work, WORK_APPLIED)?.status !== 'True') {
    const isRefused = condition(work, WORK_APPLIED)?.status === 'False'
    trouble(isRefused ? 'fails' : 'waits', says, isRefused ? appliedFix(says) : 'look again in a moment')
    return { ...link, state: isRefused ? 'fails' : 'waits' }
  }
  if (object !== undefined && object.health === 'Unhealthy') {
    finding.unhealthy ??= {
      state: 'waits',
      says: `${name}: it is there and not healthy${object.status === undefined ? '' : ` (${object.status})`}`,
      fix: `see kubectl --context ${name} describe it, and its pods`,
    }
    return { ...link, state: 'waits' }
  }
  return { ...link, state: 'ok' }
}

const appliedFix = (says: string): string =>
  says.includes('already exists')
    ? 'it is not ours there: delete it, or take it over with conflictResolution: Overwrite in the policy'
    : 'mend what the message names'

const condition = (work: Work, type: string) => work.status?.conditions?.find((one) => one.type === type)

function workText(work: Work): string {
  if (work.metadata.deletionTimestamp !== undefined) return 'is being taken away'
  const suspended = condition(work, WORK_DISPATCHING)
  if (suspended?.status === 'False') return suspended.message ?? 'suspended'
  const applied = condition(work, WORK_APPLIED)
  if (applied === undefined) return 'not applied yet'
  return applied.status === 'True' ? 'applied' : (applied.message ?? 'not applied')
}

/** The numbers users look for, if the status has them. */
function statusText(status: unknown): { status?: string } {
  if (typeof status !== 'object' || status === null) return {}
  const counts = status as Record<string, unknown>
  if (typeof counts.replicas === 'number') return { status: `${Number(counts.readyReplicas ?? 0)} of ${counts.replicas} ready` }
  if (typeof counts.succeeded === 'number' || typeof counts.active === 'number')
    return { status: `${Number(counts.active ?? 0)} active, ${Number(counts.succeeded ?? 0)} succeeded` }
  return typeof counts.phase === 'string' ? { status: counts.phase } : {}
}

/** Clusters it should be in, then those it is still in. */
export function chosenNames(binding: Binding, works: readonly Work[]): string[] {
  const names = new Set((binding.spec.clusters ?? []).map(({ name }) => name))
  for (const { clusters = [] } of binding.spec.requiredBy ?? []) for (const { name } of clusters) names.add(name)
  for (const work of works) names.add(clusterOf(work))
  return [...names]
}

const clusterOf = ({ metadata }: Work): string => clusterOfExecutionNamespace(metadata.namespace ?? '') ?? ''

export const byCluster = (works: readonly Work[]): Map<string, Work> => new Map(works.map((work) => [clusterOf(work), work]))
