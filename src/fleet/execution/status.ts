/** The status of a Work, always computed as a whole: conditions, and the status of its objects. */
import { formatTime } from '../../base/clock.ts'
import { deepEqual } from '../../base/json.ts'
import type { ManifestStatus, Work, WorkStatus } from '../../kinds/karmada/index.ts'
import { WORK_APPLIED, WORK_DISPATCHING } from '../../kinds/karmada/well-known.ts'
import { type Condition, findCondition, setCondition } from '../../kube/conditions.ts'
import type { View } from './observe.ts'
import { isSameObject } from './observe.ts'

export const DISPATCHING: Condition = {
  type: WORK_DISPATCHING,
  status: 'True',
  reason: 'Dispatching',
  message: 'Work is being dispatched to member clusters.',
}
export const SUSPENDED: Condition = {
  type: WORK_DISPATCHING,
  status: 'False',
  reason: 'SuspendDispatching',
  message: 'Work dispatching is in a suspended state.',
}
export const APPLIED: Condition = {
  type: WORK_APPLIED,
  status: 'True',
  reason: 'AppliedSuccessful',
  message: 'Manifest has been successfully applied',
}

/** `errors` of a Work with `total` manifests, as Go joins them. */
export function notApplied(errors: readonly string[], done: number, total: number): Condition {
  const distinct = [...new Set(errors)]
  const joined = distinct.length === 1 ? distinct[0] : `[${distinct.join(', ')}]`
  const message = `Failed to apply all manifests (${done}/${total}): ${joined}`
  return { type: WORK_APPLIED, status: 'False', reason: 'AppliedFailed', message: short(message) }
}

/** The maximum length of a condition's message, with space for an ellipsis. */
const MAX_MESSAGE = 32_768
const short = (message: string): string => (message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 3)}...`)

export const conditionOf = ({ status }: Work, type: string): Condition | undefined => findCondition(status?.conditions as Condition[], type)

/** The status with these conditions set; the same object when nothing changes. */
export function withConditions(status: WorkStatus | undefined, conditions: readonly Condition[], nowMs: number): WorkStatus {
  const before = (status?.conditions ?? []) as readonly Condition[]
  let after = [...before]
  for (const condition of conditions) after = setCondition(after, condition, formatTime(nowMs))
  return deepEqual(before, after) && status !== undefined ? status : ({ ...status, conditions: after } as WorkStatus)
}

/** The status of the objects now; the previous one for those that could not be read. */
export function manifestStatuses({ status }: Work, views: readonly View[]): ManifestStatus[] {
  const before = (status?.manifestStatuses ?? []) as readonly ManifestStatus[]
  return views.flatMap(({ identifier, reflection, verdict }): ManifestStatus[] => {
    const known = before.find((one) => isSameObject(one.identifier, identifier))
    // The entry of an object to be deleted stays until it is gone: nothing else names it.
    if (reflection === undefined || verdict.do === 'delete')
      return known === undefined ? [] : [{ ...known, identifier: { ...known.identifier, ordinal: identifier.ordinal } }]
    const reflected = reflection.statusFailure === undefined ? reflection.status : known?.status
    return [{ identifier, ...(reflected === undefined ? {} : { status: reflected }), health: reflection.health }]
  })
}

/** Whether two statuses differ only in the numbers that members report during a rollout. */
export function differInReportsOnly(before: WorkStatus | undefined, after: WorkStatus): boolean {
  const rest = (status: WorkStatus | undefined): unknown => ({
    conditions: status?.conditions,
    manifests: (status?.manifestStatuses ?? []).map(({ identifier, health }) => ({ identifier, health })),
  })
  return deepEqual(rest(before), rest(after))
}
