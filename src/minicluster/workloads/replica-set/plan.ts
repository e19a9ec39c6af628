/**
 * What a ReplicaSet needs now: pods to create or delete so that the requested number is active, pods to adopt or release,
 * and its status. Pure.
 */
import { formatTime } from '../../../base/clock.ts'
import { PODS, REPLICA_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod, ReplicaSet, ReplicaSetCondition, ReplicaSetStatus } from '../../../kinds/kubernetes/types.ts'
import { type LabelSelector, matchesLabels } from '../../../kube/selector.ts'
import { type Action, type Batch, type Failure, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { inDeletionOrder } from '../../../runtime/workloads/pod/deletion-order.ts'
import { freshNames, nameSeed, podFromTemplate, podNamePrefix } from '../../../runtime/workloads/pod/from-template.ts'
import { type Claim, claimActions } from '../../../runtime/workloads/pod/ownership.ts'
import { isPodActive, isPodAvailable, isPodReady, nextPodAvailableInMs } from '../../../runtime/workloads/pod/state.ts'
import { statusPatch } from '../../../runtime/workloads/pod/status-patch.ts'

/** Pods created or deleted in one pass at most. */
const BURST = 500

export interface Observed {
  replicaSet: ReplicaSet | undefined
  selector: LabelSelector | undefined
  /** Active pods: its own, those to adopt, those to release. */
  claim: Claim<Pod>
  /** How many of its own are terminating. */
  terminating: number
  /** Pods of all ReplicaSets of the same owner: pods that share a node with many of them are deleted first. */
  related: readonly Pod[]
  nowMs: number
  lastFailure: Failure | undefined
  isTaken(name: string): boolean
}

export function plan(observed: Observed): Plan {
  const { replicaSet, claim, nowMs } = observed
  if (replicaSet === undefined || observed.selector === undefined) return NOTHING_TO_DO
  const surplus = claim.claimed.length - desiredOf(replicaSet)
  const isManaged = replicaSet.metadata.deletionTimestamp === undefined
  const claims = claimActions({ resource: PODS, owner: replicaSet, claim })
  const pods = isManaged ? replicaActions(replicaSet, surplus, observed) : []
  const status = statusAction(replicaSet, surplus, observed)
  // What failed before may fail again and end the pass, so the status is written first.
  const rest = observed.lastFailure === undefined ? [...pods, ...status] : [...status, ...pods]
  const { minReadySeconds = 0 } = replicaSet.spec ?? {}
  return { actions: [...claims, ...rest], requeueAfterMs: nextPodAvailableInMs(claim.claimed, minReadySeconds, nowMs) }
}

const desiredOf = (replicaSet: ReplicaSet): number => replicaSet.spec?.replicas ?? 1

function replicaActions(replicaSet: ReplicaSet, surplus: number, observed: Observed): Batch[] {
  if (surplus === 0) return []
  const actions =
    surplus < 0 ? creations(replicaSet, Math.min(-surplus, BURST), observed) : deletions(replicaSet, Math.min(surplus, BURST), observed)
  return [{ do: 'batch', actions }]
}

function creations(replicaSet: ReplicaSet, count: number, { isTaken }: Observed): Action[] {
  const prefix = podNamePrefix(replicaSet.metadata.name ?? '')
  return freshNames(prefix, { seed: nameSeed(replicaSet), count, isTaken }).map((podName) => ({
    do: 'create',
    resource: PODS,
    object: podFromTemplate({ template: replicaSet.spec?.template, owner: replicaSet, name: podName }),
    events: { of: replicaSet, type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${podName}` },
    eventOnFailure: (why) => ({ of: replicaSet, type: 'Warning', reason: 'FailedCreate', message: `Error creating: ${why}` }),
  }))
}

function deletions(replicaSet: ReplicaSet, count: number, { claim, related, nowMs }: Observed): Action[] {
  const company = new Map<string | undefined, number>()
  for (const pod of related) if (isPodActive(pod)) company.set(pod.spec?.nodeName, (company.get(pod.spec?.nodeName) ?? 0) + 1)
  const rankOf = (pod: Pod): number => company.get(pod.spec?.nodeName) ?? 0
  const doomed = inDeletionOrder(claim.claimed, { replicas: { nowMs, rankOf } }).slice(0, count)
  return doomed.map((pod) => ({
    do: 'delete',
    resource: PODS,
    of: pod,
    events: { of: replicaSet, type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${pod.metadata.name}` },
    eventOnFailure: (why) => ({ of: replicaSet, type: 'Warning', reason: 'FailedDelete', message: `Error deleting: ${why}` }),
  }))
}

function statusAction(replicaSet: ReplicaSet, surplus: number, observed: Observed): Action[] {
  const next: ReplicaSetStatus = {
    ...countsOf(replicaSet, observed),
    observedGeneration: replicaSet.metadata.generation,
    conditions: conditionsOf(replicaSet, surplus, observed),
  }
  const changes = statusPatch(replicaSet.status, next)
  // A count of zero is written here, unlike in the fields above: it shows that the field is maintained.
  const isCounted = replicaSet.status?.terminatingReplicas === observed.terminating
  if (changes === undefined && isCounted) return []
  const status = { ...changes, ...(isCounted ? {} : { terminatingReplicas: observed.terminating }) }
  return [{ do: 'patch', resource: REPLICA_SETS, of: replicaSet, patch: { status }, subresource: 'status' }]
}

/** A single loop over the pods: with a thousand of them, each change of one causes a pass over all. */
function countsOf(replicaSet: ReplicaSet, { claim: { claimed }, nowMs }: Observed): ReplicaSetStatus {
  const { minReadySeconds = 0, template } = replicaSet.spec ?? {}
  const labels = Object.entries(template?.metadata?.labels ?? {}).map(([key, value]) => ({ key, operator: '=' as const, values: [value] }))
  let [fullyLabeledReplicas, readyReplicas, availableReplicas] = [0, 0, 0]
  for (const pod of claimed) {
    if (matchesLabels(labels, pod.metadata.labels)) fullyLabeledReplicas++
    if (!isPodReady(pod)) continue
    readyReplicas++
    if (minReadySeconds <= 0 || isPodAvailable(pod, minReadySeconds, nowMs)) availableReplicas++
  }
  return { replicas: claimed.length, fullyLabeledReplicas, readyReplicas, availableReplicas }
}

/** The failure stays as it was first seen until the number of pods is right. */
function conditionsOf(replicaSet: ReplicaSet, surplus: number, { lastFailure, nowMs }: Observed): ReplicaSetCondition[] {
  const conditions = replicaSet.status?.conditions ?? []
  if (surplus === 0) return conditions.filter(({ type }) => type !== 'ReplicaFailure')
  if (lastFailure === undefined || conditions.some(({ type }) => type === 'ReplicaFailure')) return conditions
  const failure: ReplicaSetCondition = {
    type: 'ReplicaFailure',
    status: 'True',
    lastTransitionTime: formatTime(nowMs),
    reason: surplus < 0 ? 'FailedCreate' : 'FailedDelete',
    message: surplus < 0 ? lastFailure.message : `unable to delete pods: ${lastFailure.message}`,
  }
  return [...conditions, failure]
}
