/** The events of data operations, each with the write that makes it true. Pure. */
import type { Operation } from '../../kinds/fluid/operation.ts'
import type { EventIntent } from '../../runtime/controller.ts'
import type { Waiting } from './decide.ts'
import type { End } from './run.ts'

const nameOf = ({ metadata }: Operation): string => metadata.name ?? ''

export const ended = (of: Operation, { type }: End): EventIntent =>
  type === 'Complete'
    ? { of, type: 'Normal', reason: 'DataOperationSucceed', message: `${of.kind} ${nameOf(of)} succeeded` }
    : { of, type: 'Warning', reason: 'DataOperationFailed', message: `${of.kind} ${nameOf(of)} failed` }

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
