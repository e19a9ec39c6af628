/** Which pods a running Job creates or deletes: enough to reach its completions, never more at once than its parallelism. */
import type { Container, Job, Pod, PodTemplateSpec } from '../../../kinds/kubernetes/types.ts'
import { inDeletionOrder } from '../../../runtime/workloads/pod/deletion-order.ts'
import { freshNames, podFromTemplate } from '../../../runtime/workloads/pod/from-template.ts'
import { isPodTerminating } from '../../../runtime/workloads/pod/state.ts'
import { backoffMs, indexBackoffMs } from './backoff.ts'
import { firstMissing, union } from './intervals.ts'
import {
  COMPLETION_INDEX,
  completionIndexOf,
  IGNORED_INDEX_FAILURES,
  INDEX_FAILURES,
  indexFailuresBefore,
  isIndexed,
  judgeFailure,
  replacesOnlyFailed,
  TRACKING_FINALIZER,
} from './job-pod.ts'
import { indexesOf, type Tally } from './tally.ts'

/** Pods created or deleted in one pass, so that a large Job does not starve the others. */
const MAX_PER_PASS = 500
const MAX_PREFIX = 58

export interface Management {
  remove: readonly Pod[]
  create: readonly Pod[]
  /** How long until a pod that is needed now may be created; undefined when none has to wait. */
  waitMs?: number
}

export interface ManageContext {
  nowMs: number
  isTaken(name: string): boolean
}

export function manage(tally: Tally, around: ManageContext): Management {
  const { job, active } = tally
  if (job.spec?.suspend === true) return { remove: surplusOf(tally, active.length), create: [] }
  const wanted = wantedActive(tally)
  // Either delete or create, never both in one pass; deleting comes first.
  const remove = surplusOf(tally, Math.max(0, active.length - wanted)).slice(0, MAX_PER_PASS)
  if (remove.length > 0) return { remove, create: [] }
  const missing = Math.min(MAX_PER_PASS, wanted - active.length - (replacesOnlyFailed(job) ? tally.terminating : 0))
  return missing <= 0 ? { remove, create: [] } : { remove, ...additions(tally, missing, around) }
}

function wantedActive({ job, active, succeeded }: Tally): number {
  const { completions, parallelism = 1 } = job.spec ?? {}
  // A work queue is done when one pod succeeds: what still runs may finish, nothing new starts.
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism
  return Math.max(0, Math.min(parallelism, completions - succeeded))
}

/** At least `count` pods to delete; of an Indexed Job also those with a duplicate index or without a valid one. */
function surplusOf({ job, active }: Tally, count: number): Pod[] {
  if (!isIndexed(job)) return inDeletionOrder(active).slice(0, count)
  const keepers = new Map<number, Pod>()
  // Of each index, the last in deletion order stays.
  for (const pod of inDeletionOrder(active)) {
    const index = completionIndexOf(pod)
    if (index !== undefined && index < (job.spec?.completions ?? 0)) keepers.set(index, pod)
  }
  const kept = new Set(keepers.values())
  const surplus = active.filter((pod) => !kept.has(pod))
  if (surplus.length >= count) return surplus
  return [...surplus, ...inDeletionOrder([...kept]).slice(0, count - surplus.length)]
}

function additions(tally: Tally, missing: number, around: ManageContext): Pick<Management, 'create' | 'waitMs'> {
  const { job, heldByIndex } = tally
  const { nowMs } = around
  const isPerIndex = job.spec?.backoffLimitPerIndex !== undefined
  const waitMs = isPerIndex ? 0 : backoffMs(job, tally.pods, nowMs)
  if (waitMs > 0) return { create: [], waitMs }
  if (!isIndexed(job)) return { create: plainPods(job, missing, around) }
  const waits = pendingIndexes(tally, missing).map((index) => ({
    index,
    ms: isPerIndex ? indexBackoffMs(heldByIndex.get(index), nowMs) : 0,
  }))
  const later = waits.filter(({ ms }) => ms > 0).reduce((least, { ms }) => Math.min(least, ms), Number.POSITIVE_INFINITY)
  return {
    create: waits.filter(({ ms }) => ms === 0).map(({ index }) => indexedPod(tally, index, around)),
    ...(Number.isFinite(later) ? { waitMs: later } : {}),
  }
}

function pendingIndexes(tally: Tally, count: number): number[] {
  const { job, active, pods, succeededIndexes, failedIndexes = [] } = tally
  const leaving = replacesOnlyFailed(job) ? pods.filter(isPodTerminating) : []
  const taken = union(union(succeededIndexes, failedIndexes), indexesOf([...active, ...leaving]))
  return firstMissing(taken, count, job.spec?.completions ?? 0)
}

function plainPods(job: Job, count: number, { isTaken }: ManageContext): Pod[] {
  const template = tracked(job.spec?.template)
  const names = freshNames(`${job.metadata.name}-`, { seed: job.metadata.uid ?? '', count, isTaken })
  return names.map((name) => podFromTemplate({ template, owner: job, name }))
}

function tracked(template: PodTemplateSpec | undefined): PodTemplateSpec {
  const finalizers = template?.metadata?.finalizers ?? []
  if (finalizers.includes(TRACKING_FINALIZER)) return template ?? {}
  return { ...template, metadata: { ...template?.metadata, finalizers: [...finalizers, TRACKING_FINALIZER] } }
}

function indexedPod({ job, heldByIndex }: Tally, index: number, { isTaken }: ManageContext): Pod {
  const template = tracked(job.spec?.template)
  const prefix = indexedPrefix(job.metadata.name ?? '', index)
  const [name = ''] = freshNames(prefix, { seed: job.metadata.uid ?? '', count: 1, isTaken })
  const pod = podFromTemplate({ template, owner: job, name, generateName: prefix })
  const counts = job.spec?.backoffLimitPerIndex === undefined ? {} : failureCounts(job, heldByIndex.get(index))
  pod.metadata.annotations = { ...pod.metadata.annotations, [COMPLETION_INDEX]: String(index), ...counts }
  pod.metadata.labels = { ...pod.metadata.labels, [COMPLETION_INDEX]: String(index) }
  pod.spec = {
    ...pod.spec,
    hostname: `${job.metadata.name}-${index}`,
    containers: pod.spec?.containers?.map(withIndex),
    initContainers: pod.spec?.initContainers?.map(withIndex),
  }
  return pod
}

/** The index is kept whole if the name has to be truncated. */
function indexedPrefix(jobName: string, index: number): string {
  const end = `-${index}-`
  return `${jobName.slice(0, MAX_PREFIX - end.length)}${end}`
}

/** The failure counts of the index, for the replacement of a failed pod. */
function failureCounts(job: Job, replaced: Pod | undefined): Record<string, string> {
  if (replaced === undefined) return { [INDEX_FAILURES]: '0' }
  const before = indexFailuresBefore(replaced)
  const { counts } = judgeFailure(job, replaced)
  const ignored = before.ignored + (counts ? 0 : 1)
  return {
    [INDEX_FAILURES]: String(before.counted + (counts ? 1 : 0)),
    ...(ignored > 0 ? { [IGNORED_INDEX_FAILURES]: String(ignored) } : {}),
  }
}

const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX'

function withIndex(container: Container): Container {
  const env = container.env ?? []
  if (env.some(({ name }) => name === INDEX_VARIABLE)) return container
  const fieldRef = { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` }
  return { ...container, env: [...env, { name: INDEX_VARIABLE, valueFrom: { fieldRef } }] }
}
