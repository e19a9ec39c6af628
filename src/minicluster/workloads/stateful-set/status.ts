/** The status of a StatefulSet: counted from its observed pods. */
import type { Pod, StatefulSet, StatefulSetStatus } from '../../../kinds/kubernetes/types.ts'
import { isPodAvailable, isRunningAndReady } from '../../../runtime/workloads/pod/state.ts'
import { countReplicas, isRolledOut } from '../../../runtime/workloads/stateful-set/counts.ts'
import { replicasOf } from '../../../runtime/workloads/stateful-set/ordinals.ts'

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

export function statusOf(input: StatusInput): StatefulSetStatus {
  const { set, currentRevision, updateRevision, nowMs, collisionCount } = input
  const minReadySeconds = set.spec?.minReadySeconds ?? 0
  const counts = countReplicas({
    ...input,
    isReady: isRunningAndReady,
    isAvailable: (pod) => isPodAvailable(pod, minReadySeconds, nowMs),
  })
  const status = { observedGeneration: set.metadata.generation ?? 0, ...counts, currentRevision, updateRevision, collisionCount }
  const isComplete = set.spec?.updateStrategy?.type === 'RollingUpdate' && isRolledOut(counts, replicasOf(set))
  return isComplete ? { ...status, currentReplicas: status.updatedReplicas, currentRevision: updateRevision } : status
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
