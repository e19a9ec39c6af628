/** When an operation that has ended is deleted: at its time, and not before whoever waits for it has seen the end. Pure. */
import type { Operation } from '../../kinds/fluid/operation.ts'
import { commonSpec, isCron, statusOf } from './spec.ts'

export type Expiry = 'never' | 'now' | 'when-seen' | { inMs: number }

/**
 * The end counts from the condition that says it, whatever else is among the conditions. Operations by schedule never end.
 * `unseen`: how many wait for this operation and do not know its end yet.
 */
export function expiryOf(operation: Operation, { nowMs, unseen }: { nowMs: number; unseen: number }): Expiry {
  const { ttlSecondsAfterFinished: seconds } = commonSpec(operation)
  if (seconds === undefined || isCron(operation)) return 'never'
  const { phase, conditions = [] } = statusOf(operation)
  if (phase !== 'Complete' && phase !== 'Failed') return 'never'
  const ended = Date.parse(conditions.find(({ type }) => type === phase)?.lastTransitionTime ?? '')
  if (Number.isNaN(ended)) return 'never'
  const inMs = ended + seconds * 1000 - nowMs
  if (inMs > 0) return { inMs }
  return unseen > 0 ? 'when-seen' : 'now'
}
