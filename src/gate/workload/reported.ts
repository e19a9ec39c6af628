/** Reads what a member reported: any JSON, or nothing at all. */
import { isJsonObject } from '../../base/json.ts'
import { listAt } from '../../kube/fields.ts'
import type { MemberState } from './workload.ts'

/** Whether a status has a condition of this type that is True. */
export const isTrue = (status: unknown, type: string): boolean =>
  listAt(status, 'conditions').some((condition) => condition.type === type && condition.status === 'True')

/** Of a copy that has not ended: it runs, as soon as there is a report of any kind. */
export const notEnded = (status: unknown): MemberState => (isJsonObject(status) ? 'running' : 'unknown')
