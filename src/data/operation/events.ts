/** The events of data operations, each with the write that makes it true. Pure. */
import type { Operation } from '../../kinds/fluid/operation.ts'
import type { EventIntent } from '../../runtime/controller.ts'
import type { Waiting } from './decide.ts'
import type { End } from './run.ts'

const nameOf = ({ metadata }: Operation): string => metadata.name ?? ''

export function ended(of: Operation, { type }: End, simulated: string | undefined): EventIntent {
  const but = simulated === undefined ? '' : `, but only simulated: ${simulated}`
  return type === 'Complete'
    ? { of, type: 'Normal', reason: 'DataOperationSucceed', message: `${of.kind} ${nameOf(of)} succeeded${but}` }
    : { of, type: 'Warning', reason: 'DataOperationFailed', message: `${of.kind} ${nameOf(of)} failed${but}` }
}

/** While it seems to run. */
export const isSimulated = (of: Operation, simulated: string): EventIntent => ({
  ...{ of, type: 'Warning', reason: 'DataOperationSimulated' },
  message: `${of.kind} ${nameOf(of)} is only simulated: ${simulated}`,
})

/** Released behind something that never ran. */
export const comesAfterSimulated = (of: Operation, before: string): EventIntent => ({
  ...{ of, type: 'Warning', reason: 'DataOperationSimulated' },
  message: `${of.kind} ${nameOf(of)} goes on, but ${before}`,
})

/** One that was refused without having run: Fluid says it in general, and by its reason. */
export const rejected = (of: Operation, { reason, message }: End): EventIntent[] =>
  [...new Set(['DataOperationNotValid', reason])].map((one) => ({ of, type: 'Warning', reason: one, message }))

export const waits = (of: Operation, { reason, message }: Waiting): EventIntent => ({
  of,
  type: reason === 'RuntimeNotReady' ? 'Normal' : 'Warning',
  reason,
  message,
})

/** The Job was not made. */
export const notMade = (of: Operation, why: string): EventIntent => ({
  of,
  type: 'Warning',
  reason: 'DataOperationExecutionFailed',
  message: `fail to execute data operation: ${why}`,
})
