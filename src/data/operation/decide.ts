/**
 * The one state machine of all four kinds: None → Pending → Executing → Complete or Failed, and by schedule from an end to Pending
 * again. Says what is to be done next, from what was observed. Pure.
 */

import { formatTime } from '../../base/clock.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { isWaiting, type Operation, predecessorOf, targetOf } from '../../kinds/fluid/operation.ts'
import { operationProblems } from '../../kinds/fluid/operation-problems.ts'
import { referenceProblemOf } from '../../kinds/fluid/operation-target.ts'
import { isReference } from '../../kinds/fluid/reference.ts'
import { RUNTIME_CATEGORY } from '../../kinds/fluid/well-known.ts'
import type { CronJob, Job, NodeAffinity } from '../../kinds/kubernetes/types.ts'
import { isGoing } from '../reference/indexes.ts'
import type { Built } from './build/index.ts'
import { type End, endOf, newestRun } from './run.ts'
import { isCron, statusOf } from './spec.ts'
import { type Expiry, expiryOf } from './ttl.ts'

export interface Seen {
  operation: Operation
  dataset: Dataset | undefined
  /** Undefined: there is no dataset yet for which it could be made. */
  built: Built | undefined
  job: Job | undefined
  cronJob: CronJob | undefined
  /** Of the CronJob. */
  runs: readonly Job[]
  /** How many wait for this operation and do not know its end. */
  unseen: number
  /** Of the node where its pod succeeded; only looked up when it has. */
  place?: NodeAffinity
  /** What the end is worth saying beside the phase. */
  infos?: Record<string, string>
  nowMs: number
}

export interface Waiting {
  reason: string
  message: string
}

export type Decision =
  /** Deleted: the Job first, then the finalizer. */
  | { do: 'end' }
  | { do: 'release' }
  | { do: 'report'; waiting: Waiting }
  | { do: 'accept'; mustWait: boolean }
  | { do: 'reject'; end: End }
  | { do: 'wait'; waiting?: Waiting }
  | { do: 'start' }
  | { do: 'make' }
  | { do: 'finish'; end: End }
  /** A schedule has started another run. */
  | { do: 'repeat' }
  | { do: 'keep'; expiry: Expiry }
  | { do: 'expire' }

export function decide(seen: Seen): Decision {
  const { operation, job, cronJob } = seen
  if (isGoing(operation)) return job === undefined && cronJob === undefined ? { do: 'release' } : { do: 'end' }
  switch (statusOf(operation).phase ?? '') {
    case '':
      return unseenYet(seen)
    case 'Pending':
      return pending(seen)
    case 'Executing':
      return executing(seen)
    case 'Complete':
    case 'Failed':
      return ended(seen)
    default:
      return { do: 'report', waiting: strange(operation) }
  }
}

const strange = (operation: Operation): Waiting => ({
  reason: 'DataOperationNotValid',
  message: `its phase ${JSON.stringify(statusOf(operation).phase)} is unknown, so nothing is done: set it to Pending or Failed, or delete the operation and apply it again`,
})

const failure = ({ nowMs }: Seen, reason: string, message: string): Decision => ({
  do: 'reject',
  end: { type: 'Failed', reason, message, at: formatTime(nowMs), duration: '0s' },
})

function unseenYet(seen: Seen): Decision {
  const [problem] = operationProblems(seen.operation)
  if (problem !== undefined) return failure(seen, problem.reason, `${problem.field}: ${problem.message}`)
  return { do: 'accept', mustWait: predecessorOf(seen.operation) !== undefined }
}

function pending(seen: Seen): Decision {
  const { operation, dataset, built, cronJob } = seen
  if (isWaiting(operation)) return { do: 'wait' }
  // Of an operation by schedule that runs already: it has only ended a run.
  if (cronJob !== undefined) return { do: 'start' }
  const { namespace = '', name = '' } = targetOf(operation) ?? {}
  if (dataset === undefined || isGoing(dataset))
    return wait('TargetDatasetNotFound', `Target dataset not found: Dataset ${namespace}/${name} does not exist: create it`)
  const reference = referenceProblemOf(operation.kind, dataset)
  if (reference !== undefined) return failure(seen, 'DataOperationNotSupport', reference)
  if (!isReady(dataset))
    return wait('RuntimeNotReady', `Bounded accelerate runtime not ready: Dataset ${name} is ${dataset.status?.phase ?? 'not bound'}`)
  if (built?.refused !== undefined) return failure(seen, built.refused.reason, built.refused.message)
  return { do: 'start' }
}

const wait = (reason: string, message: string): Decision => ({ do: 'wait', waiting: { reason, message } })

/** While it is being filled or its mounts change it can be read as well. */
const READY_PHASES: readonly string[] = ['Bound', 'Updating', 'DataMigrating']

const isReady = (dataset: Dataset): boolean =>
  READY_PHASES.includes(dataset.status?.phase ?? '') &&
  (isReference(dataset) || (dataset.status?.runtimes ?? []).some(({ category }) => category === RUNTIME_CATEGORY))

function executing(seen: Seen): Decision {
  const { operation, job, cronJob, runs } = seen
  if (isCron(operation)) {
    if (cronJob === undefined) return making(seen)
    const run = newestRun(cronJob, runs)
    const end = run === undefined ? undefined : endOf(run)
    return end === undefined ? { do: 'wait' } : { do: 'finish', end }
  }
  if (job !== undefined) {
    const end = endOf(job)
    return end === undefined ? { do: 'wait' } : { do: 'finish', end }
  }
  return making(seen)
}

/** The dataset may have gone since: then the operation goes with it. */
function making(seen: Seen): Decision {
  if (seen.built === undefined) return wait('TargetDatasetNotFound', 'Target dataset not found: it was deleted while the operation began')
  const { refused } = seen.built
  return refused === undefined ? { do: 'make' } : failure(seen, refused.reason, refused.message)
}

function ended(seen: Seen): Decision {
  const { operation, cronJob, runs, nowMs, unseen } = seen
  if (isCron(operation)) {
    const run = cronJob === undefined ? undefined : newestRun(cronJob, runs)
    const end = run === undefined ? undefined : endOf(run)
    if (run !== undefined && end === undefined) return { do: 'repeat' }
    if (end !== undefined && isNotRecorded(operation, end)) return { do: 'finish', end }
    return { do: 'keep', expiry: 'never' }
  }
  const expiry = expiryOf(operation, { nowMs, unseen })
  return expiry === 'now' ? { do: 'expire' } : { do: 'keep', expiry }
}

/** A whole run may have come and gone unseen. */
const isNotRecorded = (operation: Operation, { type, at }: End): boolean => {
  const { phase, conditions = [] } = statusOf(operation)
  return phase !== type || conditions.find((condition) => condition.type === type)?.lastTransitionTime !== at
}
