/** One step with the pods of a StatefulSet: scaling first, then the update, which goes one by one from the top. */
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../../kinds/kubernetes/types.ts'
import type { Action, Batch, KeyedEvent } from '../../../runtime/controller.ts'
import { isPodAvailable, isPodTerminal } from '../../../runtime/workloads/pod/state.ts'
import { revisionOf, type Version } from '../../../runtime/workloads/stateful-set/identity.ts'
import { firstOrdinal, replicasOf } from '../../../runtime/workloads/stateful-set/ordinals.ts'
import { isGoing, removal, type Scaled, scale } from '../../../runtime/workloads/stateful-set/steps.ts'

export interface StepInput {
  set: StatefulSet
  pods: readonly Pod[]
  claimNamed(name: string): PersistentVolumeClaim | undefined
  current: Version
  update: Version
  nowMs: number
}

export interface Steps {
  actions: (Action | Batch)[]
  events: KeyedEvent[]
  /** How many of them delete a pod for the update. */
  leaving: number
}

export const NO_STEPS: Steps = Object.freeze({ actions: [], events: [], leaving: 0 })

export function nextSteps(input: StepInput): Steps {
  const { set, pods, claimNamed, current, update, nowMs } = input
  const isAvailable = (pod: Pod): boolean => isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs)
  const versionFor = (ordinal: number): Version => (isAtCurrent(set, ordinal) ? current : update)
  const scaled = scale({ set, pods, claimNamed, versionFor, isAvailable })
  const { actions, events } = scaled
  if (scaled.isBlocked) return { actions, events, leaving: 0 }
  const replaced = replaceOne(input, scaled, isAvailable)
  return { actions: [...actions, ...replaced], events, leaving: replaced.length }
}

/** Below the partition pods are created from the current revision. */
function isAtCurrent(set: StatefulSet, ordinal: number): boolean {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  const index = ordinal - firstOrdinal(set)
  if (rollingUpdate !== undefined) return index < (rollingUpdate.partition ?? 0)
  return type === 'RollingUpdate' && index < (set.status?.currentReplicas ?? 0)
}

/** Deletes one pod of an old revision to be recreated from the new one, if all above it are done. */
function replaceOne({ set, update }: StepInput, { replicas }: Scaled, isAvailable: (pod: Pod) => boolean): Action[] {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  if (type === 'OnDelete') return []
  const first = firstOrdinal(set)
  for (let index = replicasOf(set) - 1; index >= (rollingUpdate?.partition ?? 0); index--) {
    const pod = replicas.get(first + index)
    if (pod === undefined || isPodTerminal(pod)) return []
    if (revisionOf(pod) !== update.name && !isGoing(pod)) return [removal(set, pod)]
    if (isGoing(pod) || !isAvailable(pod)) return []
  }
  return []
}
