/** From what a pass over a Work observed to what is done: pure. */
import type { Work, WorkStatus } from '../../kinds/karmada/index.ts'
import { WORKS } from '../../kinds/karmada/resources.ts'
import { EXECUTION_FINALIZER, WORK_APPLIED, WORK_DISPATCHING } from '../../kinds/karmada/well-known.ts'
import type { Condition } from '../../kube/conditions.ts'
import {
  type Action,
  type Conclusion,
  type EventIntent,
  type Failure,
  type KeyedEvent,
  NOTHING_TO_DO,
  type Plan,
  type Result,
} from '../../runtime/controller.ts'
import { addFinalizer, hasFinalizer, removeFinalizer } from '../../runtime/finalizer.ts'
import * as events from './events.ts'
import { isUnservedAnswer, notServed } from './member-kinds.ts'
import { sameContent } from './merge.ts'
import type { Observed, View } from './observe.ts'
import { releasePatch } from './preserve.ts'
import {
  APPLIED,
  conditionOf,
  DISPATCHING,
  differInReportsOnly,
  manifestStatuses,
  notApplied,
  SUSPENDED,
  withConditions,
} from './status.ts'

type Seen<State extends Observed['state']> = Extract<Observed, { state: State }>

/** Changes of reported numbers alone are written at most this often for each Work. */
const REPORT_EVERY_MS = 1000
/** After something was sent; normally the member's event enqueues the key before this. */
const LOOK_AFTER_WRITE_MS = 1000
/** A member, or a rule that reads status or health, failed to answer a question that can wait. */
const ASK_AGAIN_MS = 30_000
/** A refused write is retried after as long as it has been refused, within these bounds: in doubling steps. */
const MIN_RETRY_MS = 1000
const MAX_RETRY_MS = 300_000

export function plan(observed: Observed): Plan {
  switch (observed.state) {
    case 'nothing':
      return NOTHING_TO_DO
    case 'suspended':
      return planSuspended(observed)
    case 'waiting':
      return planWaiting(observed)
    case 'going':
      return planGoing(observed)
    case 'placing':
      return planPlacing(observed)
  }
}

function planSuspended(seen: Seen<'suspended'>): Plan {
  const requeueAfterMs = seen.mustAskAgain ? ASK_AGAIN_MS : undefined
  return { ...reported(seen, { conditions: [SUSPENDED], requeueAfterMs }), events: eventsOf(seen) }
}

/** An unavailable cluster changes nothing about a Work that was applied. */
function planWaiting({ why, ...seen }: Seen<'waiting'>): Plan {
  const { work, nowMs } = seen
  const total = work.spec?.workload?.manifests?.length ?? 0
  const applied = wasApplied(work) ? [] : [notApplied([why], 0, total)]
  return { actions: written(seen, withConditions(work.status, [DISPATCHING, ...applied], nowMs)) }
}

function planGoing({ work, cluster, managed, waitsFor, mustEndFirst = false, pods = 0 }: Seen<'going'>): Plan {
  if (waitsFor !== undefined) return { actions: [], events: [{ key: 'cleanup', ...events.cleanupWaits(work, waitsFor) }] }
  const release = work.spec?.preserveResourcesOnDeletion === true
  const actions = managed
    .filter(({ object }) => release || object.metadata.deletionTimestamp === undefined)
    .map(
      ({ resource, object }): Action =>
        release
          ? { do: 'patch', cluster, resource, of: object, patch: releasePatch(object) }
          : { do: 'delete', cluster, resource, of: object, propagation: 'Background' },
    )
  if (!mustEndFirst || (managed.length === 0 && pods === 0))
    return { actions: [...actions, removeFinalizer(WORKS, work, EXECUTION_FINALIZER)] }
  const why = `purge mode is Directly, and ${pods} of its pods have not ended in cluster(${cluster})`
  return { actions, requeueAfterMs: LOOK_AFTER_WRITE_MS, events: pods === 0 ? [] : [{ key: 'ending', ...events.cleanupWaits(work, why) }] }
}

function planPlacing(seen: Seen<'placing'>): Plan {
  const { work, views } = seen
  // Before anything is created in a member, so that a deleted Work never leaves it behind.
  if (!hasFinalizer(work, EXECUTION_FINALIZER)) return { actions: [addFinalizer(WORKS, work, EXECUTION_FINALIZER)] }
  const writes = views.flatMap((view) => {
    const action = writeOf(view, seen.cluster)
    return action === undefined ? [] : [{ view, action }]
  })
  const keyedEvents = eventsOf(seen)
  if (writes.length === 0) return { ...report(seen, errorsOf(views)), events: keyedEvents }
  const conclude = (results: readonly Result[]): Conclusion =>
    concluded(
      seen,
      writes.map(({ view }) => view),
      results,
    )
  return {
    actions: [{ do: 'batch', actions: writes.map(({ action }) => action), areIndependent: true, conclude }],
    requeueAfterMs: Math.max(LOOK_AFTER_WRITE_MS, retryMs(seen) ?? 0),
    events: keyedEvents,
  }
}

function writeOf({ verdict }: View, cluster: string): Action | undefined {
  switch (verdict.do) {
    case 'create':
      return { do: 'create', cluster, resource: verdict.resource, object: verdict.object, mustBeNew: true }
    case 'update':
      return { do: 'update', cluster, resource: verdict.resource, object: verdict.object }
    case 'delete':
      return { do: 'delete', cluster, resource: verdict.resource, of: verdict.object, propagation: 'Background' }
    default:
      return undefined
  }
}

/** Why manifests are not in the member as they should be. */
type Errors = ReadonlyMap<View, string>

const errorsOf = (views: readonly View[]): Map<View, string> =>
  new Map(views.flatMap((view) => (view.verdict.do === 'refuse' ? [[view, view.verdict.why] as const] : [])))

/** Success is reported once the member shows it; refusals are reported now. */
function concluded(seen: Seen<'placing'>, tried: readonly View[], results: readonly Result[]): Conclusion {
  const errors = errorsOf(seen.views)
  let mustRetry = false
  for (const [i, view] of tried.entries()) {
    const failure = results[i]?.failure
    if (failure === undefined || failure.reason === 'Conflict') continue
    // It belongs to someone else, or it is ours and not in the cache yet: the next pass asks the server.
    if (failure.reason === 'AlreadyExists') mustRetry = true
    else if (isUnservedAnswer(failure)) errors.set(view, notServed(seen.cluster, view.desired))
    else if (!isUnanswered(failure) || !wasApplied(seen.work)) errors.set(view, failure.message)
  }
  return { actions: errors.size === 0 ? [] : report(seen, errors).actions, mustRetry }
}

const isUnanswered = ({ code }: Failure): boolean => code === undefined || code >= 500
const wasApplied = (work: Work): boolean => conditionOf(work, WORK_APPLIED)?.status === 'True'

function report(seen: Seen<'placing'>, errors: Errors): Report {
  const { work, views } = seen
  const total = views.filter(({ identifier }) => identifier.ordinal >= 0).length
  const waits = views.flatMap(({ verdict }) => (verdict.do === 'wait' ? [verdict.why] : []))
  const isComplete = errors.size === 0 && waits.length === 0
  const reasons = [...errors.values(), ...(wasApplied(work) ? [] : waits.flatMap((why) => why ?? []))]
  const done = views.filter((view) => view.verdict.do !== 'wait' && !errors.has(view)).length
  const applied = isComplete ? [APPLIED] : reasons.length > 0 ? [notApplied(reasons, Math.min(done, total), total)] : []
  return reported(seen, {
    conditions: [DISPATCHING, ...applied],
    events: writeEventsOf(seen, errors, applied[0]),
    // What is waited for announces itself; only a refusal does not.
    requeueAfterMs: isComplete ? undefined : (retryMs(seen) ?? (errors.size > 0 ? MIN_RETRY_MS : undefined)),
  })
}

interface Reported {
  conditions: readonly Condition[]
  events?: readonly EventIntent[]
  requeueAfterMs?: number
}

/** These conditions and the status of the objects; where only reported numbers change, not too often. */
function reported(seen: Seen<'placing' | 'suspended'>, { conditions, events: writeEvents, ...wanted }: Reported): Report {
  const { work, views, nowMs, reflectedAtMs } = seen
  // No event announces that a webhook has recovered.
  const requeueAfterMs = views.some(isUnread) ? Math.min(ASK_AGAIN_MS, wanted.requeueAfterMs ?? ASK_AGAIN_MS) : wanted.requeueAfterMs
  const statuses = manifestStatuses(work, views)
  const status = {
    ...withConditions(work.status, conditions, nowMs),
    ...(statuses.length > 0 || work.status?.manifestStatuses !== undefined ? { manifestStatuses: statuses } : {}),
  }
  const waitMs = reflectedAtMs + REPORT_EVERY_MS - nowMs
  if (waitMs > 0 && differInReportsOnly(work.status, status))
    return { actions: [], requeueAfterMs: sameContent(work.status, status) ? requeueAfterMs : waitMs }
  return { actions: written(seen, status, writeEvents), requeueAfterMs }
}

const isUnread = ({ reflection }: View): boolean => reflection?.statusFailure !== undefined || reflection?.healthFailure !== undefined

type Report = Pick<Plan, 'requeueAfterMs'> & { actions: Action[] }

/** Undefined while nothing has been refused. */
function retryMs({ work, nowMs }: { work: Work; nowMs: number }): number | undefined {
  const condition = conditionOf(work, WORK_APPLIED)
  if (condition?.status !== 'False') return undefined
  const lastedMs = nowMs - Date.parse(condition.lastTransitionTime ?? '')
  return Number.isNaN(lastedMs) ? MIN_RETRY_MS : Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, lastedMs))
}

/** Nothing when the Work has that status already. */
function written({ work }: { work: Work }, status: WorkStatus, writeEvents: readonly EventIntent[] = []): Action[] {
  if (sameContent(work.status, status)) return []
  const allEvents = [...dispatchingEvents(work, status), ...writeEvents]
  return [{ do: 'patch', resource: WORKS, of: work, patch: { status }, subresource: 'status', events: allEvents }]
}

/** No event for a new Work: that it was synced says it all. */
function dispatchingEvents(work: Work, status: WorkStatus): EventIntent[] {
  const before = conditionOf(work, WORK_DISPATCHING)
  const after = conditionOf({ ...work, status }, WORK_DISPATCHING)
  const isTransition = after !== undefined && before?.status !== after.status && (before !== undefined || after.status === 'False')
  return isTransition ? [events.dispatching(work, after.message ?? '')] : []
}

function writeEventsOf({ work, cluster, views }: Seen<'placing'>, errors: Errors, next: Condition | undefined): EventIntent[] {
  const before = conditionOf(work, WORK_APPLIED)
  if (next === undefined || (before?.status === next.status && before.message === next.message)) return []
  if (next.status === 'True') return [events.synced(work, cluster), ...views.map(({ desired }) => events.applied(desired, cluster))]
  if (errors.size === 0) return []
  return [
    events.notSynced(work, cluster, [...new Set(errors.values())].join(', ')),
    ...[...errors].map(([{ desired }, why]) => events.refused(desired, cluster, why)),
  ]
}

function eventsOf({ work, views }: Seen<'placing' | 'suspended'>): KeyedEvent[] {
  return views.flatMap(({ identifier: { ordinal }, desired, reflection }): KeyedEvent[] => [
    ...(reflection?.statusFailure === undefined
      ? []
      : [{ key: `status ${ordinal}`, ...events.notReflected(work, desired, reflection.statusFailure) }]),
    ...(reflection?.healthFailure === undefined
      ? []
      : [{ key: `health ${ordinal}`, ...events.healthUnknown(work, desired, reflection.healthFailure) }]),
  ])
}
