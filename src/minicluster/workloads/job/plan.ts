/** What a Job needs next, decided from the Job and its pods alone. Pure: the same input gives the same plan. */
import { formatTime } from '../../../base/clock.ts'
import { JOBS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Job, JobCondition, Pod } from '../../../kinds/kubernetes/types.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import { type Action, type Batch, type EventIntent, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { type Claim, claimActions } from '../../../runtime/workloads/pod/ownership.ts'
import { isPodReady } from '../../../runtime/workloads/pod/state.ts'
import { conditionsOf, finishedCondition, type Outcome, recordedOutcome } from './conditions.ts'
import { isTracked, TRACKING_FINALIZER } from './job-pod.ts'
import { type ManageContext, type Management, manage } from './manage.ts'
import { COMPLETIONS_REACHED, deadlineInMs, outcomeOf } from './outcome.ts'
import { recordsOf } from './record.ts'
import { conditionOf, finalCondition, nextStatus, statusPatch, suspension, withCondition } from './status.ts'
import { type Tally, tallyOf } from './tally.ts'

const CONTROLLER_NAME = 'kubernetes.io/job-controller'

export interface Observed extends ManageContext {
  job: Job | undefined
  claim: Claim<Pod>
  /** Pods that hold the tracking finalizer for a Job that no longer counts them. */
  strays: readonly Pod[]
  /** Whether the last pass failed: then the known status is written before anything is retried. */
  hasFailed: boolean
}

export function plan(observed: Observed): Plan {
  const { job, claim, strays } = observed
  const letGo = batch(strays.map(releaseAction))
  if (job === undefined || isManagedElsewhere(job) || finishedCondition(job) !== undefined) return { actions: letGo }
  const claims = claimActions({ resource: PODS, owner: job, claim, finalizer: TRACKING_FINALIZER })
  // Adopting and releasing changes the pods that everything else is based on.
  if (claims.length > 0) return { actions: [...letGo, ...claims] }
  const { actions, requeueAfterMs } = planRunning(job, claim.claimed, observed)
  return letGo.length + actions.length === 0 && requeueAfterMs === undefined
    ? NOTHING_TO_DO
    : { actions: [...letGo, ...actions], requeueAfterMs }
}

export const isManagedElsewhere = (job: Job): boolean => job.spec?.managedBy !== undefined && job.spec.managedBy !== CONTROLLER_NAME

const NO_CHANGE: Management = { remove: [], create: [] }

function planRunning(job: Job, pods: readonly Pod[], around: Observed): Plan {
  const { nowMs } = around
  const tally = tallyOf(job, pods)
  const isSuspended = job.spec?.suspend === true
  const startTime = job.status?.startTime ?? (isSuspended ? undefined : formatTime(nowMs))
  const times = { startMs: timeToMs(job.status?.startTime) ?? (isSuspended ? undefined : nowMs), nowMs }
  const decided = outcomeOf(tally, times)
  const isStaying = job.metadata.deletionTimestamp === undefined
  const managed = decided === undefined && isStaying ? manage(tally, around) : NO_CHANGE
  const ended = decided === undefined ? [] : tally.active
  const active = tally.active.length - ended.length - managed.remove.length + managed.create.length
  const outcome = decided ?? (isComplete(tally, active) ? COMPLETIONS_REACHED : undefined)
  const change = outcome === undefined && isStaying ? suspension(job, nowMs) : undefined
  const step: Step = { tally, managed, ended, active, outcome, change, startTime: startTimeAfter(change, startTime, nowMs) }
  return {
    actions: actionsOf(step, around),
    requeueAfterMs: soonest(managed.waitMs, outcome === undefined ? deadlineInMs(job, times) : undefined),
  }
}

interface Step {
  tally: Tally
  managed: Management
  /** Active pods that are deleted because the Job has finished. */
  ended: readonly Pod[]
  active: number
  outcome: Outcome | undefined
  /** The Suspended condition, where it changes. */
  change: JobCondition | undefined
  startTime: string | undefined
}

function isComplete({ job, succeeded }: Tally, active: number): boolean {
  const { completions } = job.spec ?? {}
  return active === 0 && (completions === undefined ? succeeded > 0 : succeeded >= completions)
}

/** The time a Job is active counts from its last resumption. */
function startTimeAfter(change: JobCondition | undefined, startTime: string | undefined, nowMs: number): string | undefined {
  if (change === undefined) return startTime
  return change.status === 'True' ? undefined : formatTime(nowMs)
}

const soonest = (...times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((ms) => ms !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

function actionsOf(step: Step, { nowMs, hasFailed }: Observed): (Action | Batch)[] {
  const { tally, managed, ended, outcome } = step
  const { job } = tally
  const records = recordsOf(tally, { isEnding: outcome !== undefined, isSuccess: outcome?.type === 'SuccessCriteriaMet' })
  // Surplus pods lose their finalizer without going on record.
  const removed = new Set(managed.remove.map(({ metadata }) => metadata.uid))
  const release = records.release.filter(({ metadata }) => !removed.has(metadata.uid))
  const isLast = outcome !== undefined && recordedOutcome(job) !== undefined && isAtRest(step, records)
  const write = (active: number): Action[] => statusAction({ ...step, active }, { records, isLast, nowMs })
  const make = batch(managed.create.map((pod) => createAction(job, pod)))
  const takeAway = [
    ...batch(managed.remove.filter(isTracked).map(releaseAction)),
    ...batch(managed.remove.map((pod) => deleteAction(job, pod))),
  ]
  // If pods cannot be created, the status must not wait for them: then it is written first, with what is known.
  const pods =
    hasFailed && make.length > 0 ? [...write(step.active - managed.create.length), ...make] : [...make, ...takeAway, ...write(step.active)]
  // Deleted last: what others do to a terminating pod must not change what is on record about it.
  return [...pods, ...batch(release.map(releaseAction)), ...batch(ended.map((pod) => deleteAction(job, pod)))]
}

/** Nothing is left to record, and nothing is still terminating. */
function isAtRest({ tally, active }: Step, { uncounted }: ReturnType<typeof recordsOf>): boolean {
  const hasUncounted = uncounted.succeeded.length + uncounted.failed.length > 0
  return active === 0 && tally.active.length === 0 && !hasUncounted && tally.terminating === 0 && !tally.pods.some(isTracked)
}

function statusAction(step: Step, of: { records: ReturnType<typeof recordsOf>; isLast: boolean; nowMs: number }): Action[] {
  const { tally, managed, ended, outcome, change } = step
  const { job } = tally
  const { records, isLast, nowMs } = of
  const leaving = [...managed.remove, ...ended]
  let conditions: JobCondition[] = conditionsOf(job)
  if (change !== undefined) conditions = withCondition(conditions, change)
  if (outcome !== undefined && recordedOutcome(job) === undefined)
    conditions = withCondition(conditions, conditionOf(outcome.type, outcome, nowMs))
  const last = isLast && outcome !== undefined ? finalCondition(outcome, nowMs) : undefined
  if (last !== undefined) conditions = withCondition(conditions, last)
  const next = nextStatus({
    tally,
    records,
    active: step.active,
    ready: tally.ready - leaving.filter(isPodReady).length,
    terminating: tally.terminating + leaving.length,
    conditions,
    startTime: step.startTime,
    completionTime: last?.type === 'Complete' ? last.lastTransitionTime : undefined,
  })
  const patch = statusPatch(job, next)
  if (patch === undefined) return []
  return [
    {
      do: 'patch',
      resource: JOBS,
      of: job,
      patch: { status: patch },
      subresource: 'status',
      events: eventsOf(job, { change, last, succeeded: next.succeeded ?? 0 }),
    },
  ]
}

function eventsOf(job: Job, { change, last, succeeded }: { change?: JobCondition; last?: JobCondition; succeeded: number }): EventIntent[] {
  const events: EventIntent[] = []
  const record = (type: EventIntent['type'], reason: string, message: string): void => void events.push({ of: job, type, reason, message })
  if (change !== undefined) record('Normal', change.status === 'True' ? 'Suspended' : 'Resumed', change.message ?? '')
  if (last?.type === 'Failed') record('Warning', last.reason ?? '', last.message ?? '')
  if (last?.type !== 'Complete') return events
  const { completions } = job.spec ?? {}
  if (completions !== undefined && succeeded > completions)
    record('Warning', 'TooManySucceededPods', 'Too many succeeded pods running after completion count reached')
  record('Normal', 'Completed', 'Job completed')
  return events
}

const batch = (actions: readonly Action[]): Batch[] => (actions.length === 0 ? [] : [{ do: 'batch', actions }])

function releaseAction(pod: Pod): Action {
  const finalizers = (pod.metadata.finalizers ?? []).filter((name) => name !== TRACKING_FINALIZER)
  return { do: 'patch', resource: PODS, of: pod, patch: { metadata: { finalizers } } }
}

function createAction(job: Job, pod: Pod): Action {
  return {
    do: 'create',
    resource: PODS,
    object: pod,
    events: { of: job, type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${pod.metadata.name}` },
    eventOnFailure: (why) => ({ of: job, type: 'Warning', reason: 'FailedCreate', message: `Error creating: ${why}` }),
  }
}

function deleteAction(job: Job, pod: Pod): Action {
  return {
    do: 'delete',
    resource: PODS,
    of: pod,
    events: { of: job, type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${pod.metadata.name}` },
    eventOnFailure: (why) => ({ of: job, type: 'Warning', reason: 'FailedDelete', message: `Error deleting: ${why}` }),
  }
}
