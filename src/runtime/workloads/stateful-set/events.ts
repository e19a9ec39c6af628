/** The events of a set about its pods and claims, worded as in kube-controller-manager. */
import type { EventIntent, KeyedEvent, WriteEvents } from '../../controller.ts'
import type { StatefulWorkload } from './workload.ts'

const nameOf = ({ kind, metadata }: StatefulWorkload): string => `${kind} ${metadata.name ?? ''}`

type Verb = 'Create' | 'Update' | 'Delete'

export function podEvents(set: StatefulWorkload, verb: Verb, pod: string): WriteEvents {
  const about = `${verb} Pod ${pod} in ${nameOf(set)}`
  return {
    events: { of: set, type: 'Normal', reason: `Successful${verb}`, message: `${about} successful` },
    eventOnFailure: (why) => ({ of: set, type: 'Warning', reason: `Failed${verb}`, message: `${about} failed error: ${why}` }),
  }
}

export function claimEvents(set: StatefulWorkload, claim: string, pod: string): WriteEvents {
  return {
    events: {
      of: set,
      type: 'Normal',
      reason: 'SuccessfulCreate',
      message: `Create Claim ${claim} Pod ${pod} in ${nameOf(set)} success`,
    },
    eventOnFailure: (why) => ({
      of: set,
      type: 'Warning',
      reason: 'FailedCreate',
      message: `Create Claim ${claim} for Pod ${pod} in ${nameOf(set)} failed error: ${why}`,
    }),
  }
}

export const contestedClaim = (set: StatefulWorkload, claim: string): EventIntent => ({
  of: set,
  type: 'Warning',
  reason: 'ConflictingController',
  message: `PersistentVolumeClaim ${claim} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`,
})

/** A claim with the name that a pod needs is being deleted. */
export const claimGoing = (set: StatefulWorkload, pod: string, claim: string): KeyedEvent => ({
  ...{ key: `${pod} ${claim}`, of: set, type: 'Warning', reason: 'FailedCreate' },
  message: `Create Pod ${pod} in ${nameOf(set)} failed error: pvc ${claim} is being deleted`,
})
