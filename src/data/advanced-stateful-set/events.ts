/** The events of an AdvancedStatefulSet beside those that every set has: updates in place. */
import type { AdvancedStatefulSet } from '../../kinds/fluid/advanced-stateful-set.ts'
import type { EventIntent, WriteEvents } from '../../runtime/controller.ts'

export function inPlaceEvents(set: AdvancedStatefulSet, pod: string, revision: string): WriteEvents {
  const about = `update of Pod ${pod} in place to revision ${revision}`
  return {
    events: { of: set, type: 'Normal', reason: 'SuccessfulUpdatePodInPlace', message: `${about} successful` },
    eventOnFailure: (why) => ({ of: set, type: 'Warning', reason: 'FailedUpdatePodInPlace', message: `${about} failed: ${why}` }),
  }
}

const MOST_NAMES = 5

/** With InPlaceOnly these pods stay as they are until somebody decides. */
export function cannotUpdateInPlace(set: AdvancedStatefulSet, pods: readonly string[], why: string): EventIntent {
  const more = pods.length > MOST_NAMES ? ` and ${pods.length - MOST_NAMES} more` : ''
  const names = `${pods.slice(0, MOST_NAMES).join(', ')}${more}`
  const message = `${names} stay as they are, because ${why}, and podUpdatePolicy is InPlaceOnly: delete them, or set podUpdatePolicy to InPlaceIfPossible`
  return { of: set, type: 'Warning', reason: 'FailedUpdatePodInPlace', message }
}
