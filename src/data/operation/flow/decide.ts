/**
 * Whether an operation that waits for another one may go on, and what it is told meanwhile. Everything is decided from what is
 * there now: nothing is remembered of a predecessor that was. Pure.
 */
import { cycleProblem } from '../../../kinds/fluid/flow-cycle.ts'
import type { Operation, OperationName } from '../../../kinds/fluid/operation.ts'
import { simulatedBefore } from '../simulated.ts'
import { isCron, statusOf } from '../spec.ts'

export interface Link {
  operation: Operation
  /** What it runs after; undefined: nothing any more. */
  after: OperationName | undefined
  /** Undefined: there is none of this name, or nothing may be said about it. */
  predecessor: Operation | undefined
  /** Whether the owner of the other namespace consents; true in the same one. */
  isPermitted: boolean
  /** All who wait in a circle with it; undefined: it is in none. */
  cycle: readonly OperationName[] | undefined
}

export interface WaitReport {
  type: 'Normal' | 'Warning'
  reason: 'DataOperationWaiting' | 'DataOperationNotFound'
  message: string
}

/** `simulated`: what comes before it never ran. */
export type FlowDecision = { do: 'release'; simulated?: string } | { do: 'wait'; report: WaitReport }

export function decideFlow({ operation, after, predecessor, isPermitted, cycle }: Link): FlowDecision {
  if (after === undefined) return { do: 'release' }
  if (cycle !== undefined) return warn('DataOperationWaiting', cycleProblem(cycle))
  if (!isPermitted) return warn('DataOperationNotFound', withheldText(operation, after))
  if (predecessor === undefined) return warn('DataOperationNotFound', missingText(after))
  const simulated = simulatedBefore(predecessor, after)
  if (isCompleteFor(operation, predecessor)) return simulated === undefined ? { do: 'release' } : { do: 'release', simulated }
  // One that runs by schedule is tried again by itself.
  if (statusOf(predecessor).phase === 'Failed' && !isCron(predecessor)) return warn('DataOperationWaiting', failedText(predecessor, after))
  return { do: 'wait', report: { type: 'Normal', reason: 'DataOperationWaiting', message: waitingText(predecessor, after, simulated) } }
}

const warn = (reason: WaitReport['reason'], message: string): FlowDecision => ({ do: 'wait', report: { type: 'Warning', reason, message } })

/** Of one by schedule only a completion counts that came after the successor did: the others were for nobody. */
function isCompleteFor({ metadata }: Operation, predecessor: Operation): boolean {
  const { phase, lastSuccessfulTime } = statusOf(predecessor)
  if (!isCron(predecessor)) return phase === 'Complete'
  return Date.parse(lastSuccessfulTime ?? '') >= Date.parse(metadata.creationTimestamp ?? '')
}

const named = ({ kind, namespace, name }: OperationName): string => `${kind} "${namespace}/${name}"`

const missingText = (after: OperationName): string =>
  `Preceding operation ${named(after)} not found: create it, or remove runAfter if it has run already, for a ttlSecondsAfterFinished may have removed it`

const withheldText = ({ kind, metadata: { namespace = '' } }: Operation, after: OperationName): string =>
  `Preceding operation ${named(after)} does not exist, or may not be waited for from namespace ${namespace}: ask whoever owns namespace ${after.namespace} for the operation, and for a ReferenceGrant there from kind ${kind} of namespace ${namespace} to kind ${after.kind}`

const failedText = (predecessor: Operation, after: OperationName): string => {
  const why = statusOf(predecessor).conditions?.find(({ type }) => type === 'Failed')
  const because = why?.reason === undefined || why.reason === '' ? '' : ` (${why.reason})`
  return `Preceding operation ${named(after)} failed${because}: delete it and apply it again, or remove runAfter to go on without it`
}

function waitingText(predecessor: Operation, after: OperationName, simulated: string | undefined): string {
  const but = simulated === undefined ? '' : `; ${simulated}`
  return isCron(predecessor)
    ? `Waiting for the next completion of operation ${named(after)}, which runs by schedule${but}`
    : `Waiting for operation ${named(after)} to complete${but}`
}

/** Where a successor reads what it waits for. */
export const WAITING_INFO = 'waiting'

/**
 * Whether a successor knows how its predecessor ended: it was released, or says what it was told. Until then the predecessor must
 * not be deleted.
 */
export function hasSeenEnd(successor: Operation, predecessor: Operation, after: OperationName): boolean {
  const { phase = '', waitingFor, infos } = statusOf(successor)
  if (phase === '') return false
  if (phase !== 'Pending' || waitingFor?.operationComplete !== true) return true
  return statusOf(predecessor).phase === 'Failed' && infos?.[WAITING_INFO] === failedText(predecessor, after)
}
