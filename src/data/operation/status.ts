/** What the status of an operation says in each phase. Pure. */
import { deepEqual } from '../../base/json.ts'
import type { Operation } from '../../kinds/fluid/operation.ts'
import type { OperationStatus } from '../../kinds/fluid/operation-parts.ts'
import { WAITING_INFO } from './flow/decide.ts'
import type { Observed } from './observe.ts'
import { withoutProgress } from './progress/figures.ts'
import { infosWith } from './progress/plan.ts'
import type { End } from './run.ts'
import { SIMULATED_INFO, simulatedEnd } from './simulated.ts'
import { statusOf } from './spec.ts'
import { besides } from './ssh.ts'

type Status = Partial<OperationStatus>

/** With `runAfter` the wait is recorded in the same write: there is no moment in which it could start too early. */
export const accepted = (operation: Operation, mustWait: boolean, nowMs: number): Status => ({
  phase: 'Pending',
  duration: 'Unfinished',
  conditions: besides(operation, nowMs),
  infos: {},
  ...(mustWait ? { waitFor: { operationComplete: true }, waitingFor: { operationComplete: true } } : {}),
})

/** How it ended comes first, because Fluid's clients look there. */
export const endStatus = ({ operation, nowMs }: Observed, { type, reason, message, at, duration }: End): Status => ({
  phase: type,
  duration,
  conditions: [{ type, status: 'True', reason, message, lastProbeTime: at, lastTransitionTime: at }, ...besides(operation, nowMs)],
})

/** What the program said last of its progress is not true any more. */
export function finishedStatus(observed: Observed, end: End): Status {
  const { operation, place, infos, simulated } = observed
  return {
    ...endStatus(observed, simulatedEnd(end, simulated)),
    infos: { ...withoutProgress(ofRun(operation, simulated)), ...infos },
    ...(place === undefined ? {} : { nodeAffinity: place }),
    ...timesOf(observed),
  }
}

export function runningStatus(observed: Observed): Status {
  const { operation, simulated, progress } = observed
  const known = ofRun(operation, simulated)
  const infos = simulated === undefined ? infosWith(known, progress) : withoutProgress(known)
  return { ...timesOf(observed), ...(deepEqual(statusOf(operation).infos ?? {}, infos) ? {} : { infos }) }
}

/** What was said of the run before it does not hold for the next. */
export const nextRunInfos = (operation: Operation): Record<string, string> => withoutProgress(ofRun(operation, undefined))

function ofRun(operation: Operation, simulated: string | undefined): Record<string, string> {
  const { [SIMULATED_INFO]: _, ...rest } = withoutWaiting(operation)
  return simulated === undefined ? rest : { ...rest, [SIMULATED_INFO]: simulated }
}

/** What is said there while it waits is not true any more. */
export function withoutWaiting(operation: Operation): Record<string, string> {
  const { [WAITING_INFO]: _, ...rest } = statusOf(operation).infos ?? {}
  return rest
}

/** Of a schedule. */
export function timesOf({ cronJob }: Observed): Status {
  const { lastScheduleTime, lastSuccessfulTime } = cronJob?.status ?? {}
  return {
    ...(lastScheduleTime === undefined ? {} : { lastScheduleTime }),
    ...(lastSuccessfulTime === undefined ? {} : { lastSuccessfulTime }),
  }
}
