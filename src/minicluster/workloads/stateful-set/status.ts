/** The status of a StatefulSet: counted from its observed pods. */
import type { Pod, StatefulSet, StatefulSetStatus } from '../../../kinds/kubernetes/types.ts'
import { isPodAvailable, isPodReady } from '../pod/state.ts'
import { replicasOf, revisionOf } from './identity.ts'

export interface StatusInput {
  set: StatefulSet
  pods: readonly Pod[]
  /** Names of revisions. */
  currentRevision: string
  updateRevision: string
  collisionCount: number
  /** Pods that the same plan deletes for the update: they no longer count as current. */
  leaving: number
  nowMs: number
}

export const isRunningAndReady = (pod: Pod): boolean => pod.status?.phase === 'Running' && isPodReady(pod)

export function statusOf(input: StatusInput): StatefulSetStatus {
  const { set, currentRevision, updateRevision, nowMs } = input
  const minReadySeconds = set.spec?.minReadySeconds ?? 0
  const ready = input.pods.filter(isRunningAndReady)
  const staying = input.pods.filter((pod) => pod.metadata.deletionTimestamp === undefined)
  const of = (revision: string): number => staying.filter((pod) => revisionOf(pod) === revision).length
  const status = {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: input.pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, minReadySeconds, nowMs)).length,
    currentReplicas: of(currentRevision) - input.leaving,
    updatedReplicas: of(updateRevision),
    currentRevision,
    updateRevision,
    collisionCount: input.collisionCount,
  }
  return isComplete(set, status) ? { ...status, currentReplicas: status.updatedReplicas, currentRevision: updateRevision } : status
}

/** A rolling update is complete when every replica is of the new revision and ready. */
function isComplete(set: StatefulSet, status: Record<'replicas' | 'readyReplicas' | 'updatedReplicas', number>): boolean {
  const wanted = replicasOf(set)
  return (
    set.spec?.updateStrategy?.type === 'RollingUpdate' &&
    status.updatedReplicas === wanted &&
    status.readyReplicas === wanted &&
    status.replicas === wanted
  )
}

export function isStatusCurrent(old: StatefulSetStatus = {}, next: StatefulSetStatus): boolean {
  const numbers = ['replicas', 'readyReplicas', 'availableReplicas', 'currentReplicas', 'updatedReplicas', 'collisionCount'] as const
  return (
    (old.observedGeneration ?? 0) >= (next.observedGeneration ?? 0) &&
    old.currentRevision === next.currentRevision &&
    old.updateRevision === next.updateRevision &&
    numbers.every((field) => (old[field] ?? 0) === (next[field] ?? 0))
  )
}
