/**
 * Jobs that are simulated: their pods are on nodes where nothing runs, and succeed all the same. The operation says so wherever its
 * end is read, and so does everything that comes after it in a flow, so that nobody takes what was never made for a result. Pure.
 */
import type { Operation, OperationName } from '../../kinds/fluid/operation.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { simulatedBecause } from '../dataset/pods.ts'
import { shown } from '../dataset/text.ts'
import type { End } from './run.ts'
import { statusOf } from './spec.ts'

/** In `status.infos`: that the operation itself is simulated, and what to do. */
export const SIMULATED_INFO = 'simulated'
/** In `status.infos`: which operation before it was simulated. Written by the flow, with the release. */
export const BEFORE_INFO = 'simulatedBefore'

const LONGEST = 512

/** One simulated pod is enough: its part of the work was not done. Undefined: all of them are real, or there are none. */
function simulationOf(pods: readonly Pod[]): string | undefined {
  // The same reason each time, in whatever order pods are found.
  const [because] = pods.flatMap((pod) => simulatedBecause(pod) ?? []).sort()
  return because === undefined ? undefined : shown(`nothing of its Job runs: ${because}`, LONGEST)
}

/** Of the pods of a run; what was said of it before holds while none is to be seen. */
export const simulationNow = (operation: Operation, pods: readonly Pod[]): string | undefined =>
  pods.length === 0 ? statusOf(operation).infos?.[SIMULATED_INFO] : simulationOf(pods)

/** Of a failure the reason of its Job is kept in the message. */
export function simulatedEnd(end: End, simulated: string | undefined): End {
  if (simulated === undefined) return end
  const { type, reason, message } = end
  const because = type === 'Failed' ? ` (${[reason, message].filter((part) => part !== '').join(': ')})` : ''
  return { ...end, reason: 'Simulated', message: `${simulated}${because}` }
}

/** What a successor says of the operation that it comes after, and of those before that; undefined: all of them really ran. */
export function simulatedBefore(predecessor: Operation, { kind, namespace, name }: OperationName): string | undefined {
  const { [SIMULATED_INFO]: simulated, [BEFORE_INFO]: before } = statusOf(predecessor).infos ?? {}
  return simulated === undefined ? before : shown(`${kind} "${namespace}/${name}" is only simulated: ${simulated}`, LONGEST)
}
