/**
 * The conditions of a dataset: one of each type. What was said before stays, with its times, until something else is said: so
 * saying the same again is no change.
 */
import { formatTime } from '../../base/clock.ts'
import type { DatasetCondition } from '../../kinds/fluid/index.ts'
import type { DatasetConditionType, DatasetReason } from '../../kinds/fluid/well-known.ts'
import { findCondition } from '../../kube/conditions.ts'

/** Beside Fluid's: what else a person should know. */
export type ConditionType =
  | DatasetConditionType
  /** True: pods are only simulated, so no byte is cached. */
  | 'Simulated'
  /** False: the cache does not report how much it holds; what is shown is old. */
  | 'Reported'
  /** False: a source cannot be listed now; what was found of it before is served. */
  | 'SourcesListed'
  /** True: another runtime has the name of the dataset, and is not used. */
  | 'SecondRuntime'
  /** True: what annotations ask of the runtime is not done. */
  | 'RequestIgnored'
  /** True: somebody else has a volume or claim of the name that the dataset needs, so it has none. */
  | 'NameTaken'
  /** True: the dataset is to be deleted, and something uses it. */
  | 'DeletionHeld'
  /** True, on a reference: it could use its original and may not any more; on an original: references that lost their consent. */
  | 'ConsentWithdrawn'
  /** True, on an original: more datasets refer to it than its list has room for. */
  | 'ReferencesUnlisted'
  /** False, on a reference: what pods with a sidecar need is not copied into its namespace. */
  | 'Mirrored'

export interface Said {
  type: ConditionType
  status: 'True' | 'False'
  reason:
    | DatasetReason
    | 'Simulated'
    | 'ReportFailed'
    | 'ListingFailed'
    | 'SecondRuntime'
    | 'RuntimeStays'
    | 'NameTaken'
    | 'PodsUseIt'
    | 'DatasetsUseIt'
    | 'NoConsent'
    | 'TooManyReferences'
    | 'NotCopied'
  message: string
}

export const READY_MESSAGE = 'The ddc runtime is ready.'
export const UPDATED_MESSAGE = 'The ddc runtime has updated completely.'
const NOT_READY_MESSAGE = 'The ddc runtime is not ready.'
export const UPDATING_MESSAGE = 'The ddc runtime is updating.'

export const ready = (message: string): Said => ({ type: 'Ready', status: 'True', reason: 'DatasetReady', message })
export const unready = (): Said => ({ type: 'Ready', status: 'False', reason: 'DatasetFailed', message: NOT_READY_MESSAGE })
export const waiting = (message: string): Said => ({ type: 'NotReady', status: 'True', reason: 'DatasetFailedToSetup', message })
export const updating = (message: string): Said => ({ type: 'Updating', status: 'True', reason: 'DatasetUpdating', message })

export type Conditions = readonly DatasetCondition[]

/** Exactly what is said, in the order in which it was first said; conditions of other types are gone. */
export function conditionsOf(before: Conditions | undefined, said: readonly Said[], nowMs: number): DatasetCondition[] {
  const now = formatTime(nowMs)
  const kept = (before ?? []).filter(({ type }) => said.some((one) => one.type === type))
  const added = said.filter(({ type }) => findCondition(kept, type) === undefined)
  return [
    ...kept.flatMap((old) => said.filter(({ type }) => type === old.type).map((next) => renewed(old, next, now))),
    ...added.map(fresh),
  ]

  function fresh(next: Said): DatasetCondition {
    return { ...next, lastUpdateTime: now, lastTransitionTime: now }
  }
}

function renewed(old: DatasetCondition, next: Said, now: string): DatasetCondition {
  const { type, status, reason, message } = next
  if (old.status === status && old.reason === reason && old.message === message) return old
  const lastTransitionTime = old.status === status ? (old.lastTransitionTime ?? now) : now
  return { type, status, reason, message, lastUpdateTime: now, lastTransitionTime }
}
