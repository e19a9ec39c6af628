/** The events of a StatefulSet, worded as in kube-controller-manager. */
import type { StatefulSet } from '../../../kinds/kubernetes/types.ts'
import type { EventIntent, KeyedEvent, WriteEvents } from '../../../runtime/controller.ts'

type Verb = 'Create' | 'Update' | 'Delete'

export function podEvents(set: StatefulSet, verb: Verb, pod: string): WriteEvents {
  const about = `${verb} Pod ${pod} in StatefulSet ${set.metadata.name ?? ''}`
  return {
    events: { of: set, type: 'Normal', reason: `Successful${verb}`, message: `${about} successful` },
    eventOnFailure: (why) => ({ of: set, type: 'Warning', reason: `Failed${verb}`, message: `${about} failed error: ${why}` }),
  }
}

export function claimEvents(set: StatefulSet, claim: string, pod: string): WriteEvents {
  const name = set.metadata.name ?? ''
  return {
    events: {
      of: set,
      type: 'Normal',
      reason: 'SuccessfulCreate',
      message: `Create Claim ${claim} Pod ${pod} in StatefulSet ${name} success`,
    },
    eventOnFailure: (why) => ({
      of: set,
      type: 'Warning',
      reason: 'FailedCreate',
      message: `Create Claim ${claim} for Pod ${pod} in StatefulSet ${name} failed error: ${why}`,
    }),
  }
}

export const contestedClaim = (set: StatefulSet, claim: string): EventIntent => ({
  of: set,
  type: 'Warning',
  reason: 'ConflictingController',
  message: `PersistentVolumeClaim ${claim} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`,
})

/** A claim with the name that a pod needs is being deleted. */
export const claimGoing = (set: StatefulSet, pod: string, claim: string): KeyedEvent => ({
  ...{ key: `${pod} ${claim}`, of: set, type: 'Warning', reason: 'FailedCreate' },
  message: `Create Pod ${pod} in StatefulSet ${set.metadata.name ?? ''} failed error: pvc ${claim} is being deleted`,
})
