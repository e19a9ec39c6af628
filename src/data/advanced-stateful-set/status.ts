/** The status of an AdvancedStatefulSet: counted from its observed pods. A pod that is being updated in place is not ready. */
import type { AdvancedStatefulSet, AdvancedStatefulSetStatus } from '../../kinds/fluid/advanced-stateful-set.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { formatSelectorObject, type LabelSelectorObject } from '../../kube/selector.ts'
import { isRunningAndReady } from '../../runtime/workloads/pod/state.ts'
import { statusPatch } from '../../runtime/workloads/pod/status-patch.ts'
import { countReplicas, isRolledOut } from '../../runtime/workloads/stateful-set/counts.ts'
import { revisionOf } from '../../runtime/workloads/stateful-set/identity.ts'
import { ordinalsOf } from '../../runtime/workloads/stateful-set/ordinals.ts'
import { isUpdating } from './in-place.ts'

export interface StatusInput {
  set: AdvancedStatefulSet
  pods: readonly Pod[]
  /** Names of revisions. */
  currentRevision: string
  updateRevision: string
  collisionCount: number
  /** Pods of the current revision that the same plan takes to the new one. */
  leaving: number
  isAvailable(pod: Pod): boolean
}

export function statusOf(input: StatusInput): AdvancedStatefulSetStatus {
  const { set, pods, currentRevision, updateRevision, collisionCount } = input
  const isReady = (pod: Pod): boolean => isRunningAndReady(pod) && !isUpdating(pod)
  const counts = countReplicas({ ...input, isReady })
  const updated = pods.filter((pod) => revisionOf(pod) === updateRevision && isReady(pod))
  const isComplete = set.spec.updateStrategy?.type !== 'OnDelete' && isRolledOut(counts, ordinalsOf(set).count)
  return {
    observedGeneration: set.metadata.generation ?? 0,
    ...counts,
    updatedReadyReplicas: updated.length,
    updatedAvailableReplicas: updated.filter(input.isAvailable).length,
    ...(isComplete ? { currentReplicas: counts.updatedReplicas } : {}),
    currentRevision: isComplete ? updateRevision : currentRevision,
    updateRevision,
    collisionCount,
    labelSelector: formatSelectorObject(set.spec.selector as LabelSelectorObject),
  }
}

/** The schema requires some of the fields: all are written when one differs. */
export const isStatusCurrent = (old: AdvancedStatefulSetStatus | undefined, next: AdvancedStatefulSetStatus): boolean =>
  old !== undefined && statusPatch(old, next) === undefined

/** Before anything was counted. */
export const NO_REPLICAS = Object.freeze({ replicas: 0, readyReplicas: 0, availableReplicas: 0, currentReplicas: 0, updatedReplicas: 0 })
