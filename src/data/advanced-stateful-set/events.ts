/** The events of an AdvancedStatefulSet beside those that every set has: updates in place. */
import type { AdvancedStatefulSet } from '../../kinds/fluid/advanced-stateful-set.ts'
import type { KeyedEvent, WriteEvents } from '../../runtime/controller.ts'

export function inPlaceEvents(set: AdvancedStatefulSet, pod: string, revision: string): WriteEvents {
  const about = `update of Pod ${pod} in place to revision ${revision}`
  return {
    events: { of: set, type: 'Normal', reason: 'SuccessfulUpdatePodInPlace', message: `${about} successful` },
    eventOnFailure: (why) => ({ of: set, type: 'Warning', reason: 'FailedUpdatePodInPlace', message: `${about} failed: ${why}` }),
  }
}

/** With InPlaceOnly the pod stays as it is until somebody decides. */
export const cannotUpdateInPlace = (set: AdvancedStatefulSet, pod: { name: string; revision: string }, why: string): KeyedEvent => ({
  ...{ key: `${pod.name} ${pod.revision}`, of: set, type: 'Warning', reason: 'FailedUpdatePodInPlace' },
  message: `Pod ${pod.name} stays as it is, because ${why}, and podUpdatePolicy is InPlaceOnly: delete the pod, or set podUpdatePolicy to InPlaceIfPossible`,
})
