/**
 * From a decision to writes: one patch of the binding (clusters, the placement they were decided for, the reasons), and
 * then, once the cache shows it, one of its status. Nothing is sent when nothing changes, and events are recorded with the
 * writes that make them true.
 */
import { formatTime } from '../../base/clock.ts'
import { deepEqual } from '../../base/json.ts'
import { referredBy } from '../../kinds/karmada/binding-reach.ts'
import type { Binding, BindingStatus, TargetCluster } from '../../kinds/karmada/index.ts'
import { APPLIED_PLACEMENT, BINDING_REASONS, SCHEDULED, SCHEDULED_MESSAGE } from '../../kinds/karmada/well-known.ts'
import { findCondition, setCondition } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { type Action, type EventIntent, type Failure, NOTHING_TO_DO, type Plan } from '../../runtime/controller.ts'
import { DECISION_ANNOTATION, type Decision, readRecord, recordedMessage, recordText } from './decision.ts'

/** What to do about a binding. */
export type Verdict =
  | { do: 'nothing' }
  /** There is nothing to decide; only records that this generation was processed. */
  | { do: 'note' }
  /** The binding contains a decision that its status does not report yet. */
  | { do: 'confirm'; affinityName: string | undefined }
  | { do: 'decide'; decision: Decision }

export interface Observed {
  resource: Resource
  binding: Binding | undefined
  verdict: Verdict
  nowMs: number
  /** Why the last pass failed. */
  failure: Failure | undefined
  /** A binding that waits for capacity is requeued when what is in flight to clusters is no longer counted. */
  requeueAfterMs?: number
}

export function plan(observed: Observed): Plan {
  const { binding, verdict, failure } = observed
  if (binding === undefined || verdict.do === 'nothing') return NOTHING_TO_DO
  const generation = binding.metadata.generation ?? 0
  if (verdict.do === 'note') return { actions: statusPatch(binding, observed, { schedulerObservedGeneration: generation }) }
  if (verdict.do === 'confirm')
    return { actions: statusPatch(binding, observed, success({ binding, nowMs: observed.nowMs, affinityName: verdict.affinityName })) }
  const refused = refusal(binding, failure, observed)
  if (refused.length > 0) return { actions: refused }
  return { actions: carryOut(binding, steadied(binding, verdict.decision), observed), requeueAfterMs: observed.requeueAfterMs }
}

/**
 * A decision that changes something is written first; its status follows once the cache shows it, because only then is the
 * generation known that it refers to. If nothing moves, the status is written first and the reasons after it.
 */
function carryOut(binding: Binding, decision: Decision, observed: Observed): Action[] {
  const { resource, nowMs } = observed
  const change = changeOf(binding, decision)
  const isSuccess = decision.reason === 'Success'
  const wasScheduled = findCondition(binding.status?.conditions, SCHEDULED)?.status === 'True'
  const hasEvent = isSuccess && (change?.isMoved === true || !wasScheduled)
  // Affinities that were tried without success get their events too.
  const events = hasEvent ? [...failureEvents(binding, decision), ...successEvents(binding, decision)] : []
  const main: Action[] = change === undefined ? [] : [{ do: 'patch', resource, of: objectOf(binding), patch: change.patch }]
  if (change?.isDecision === true) return main.map((action) => ({ ...action, events: events }))
  const status = isSuccess
    ? statusPatch(binding, observed, success({ binding, nowMs, affinityName: decision.affinityName }), events)
    : statusPatch(binding, observed, failed(binding, decision, nowMs), failureEvents(binding, decision))
  return status.length > 0 ? status : main
}

/**
 * Shrinking capacity enqueues nothing, so the reported number stays the highest since the wait began. A binding that asks
 * for something else starts a new wait.
 */
function steadied({ metadata, status }: Binding, decision: Decision): Decision {
  const recorded = findCondition(status?.conditions, SCHEDULED)
  if (decision.reason !== 'Unschedulable' || recorded?.reason !== decision.reason || recorded.message === undefined) return decision
  if (readRecord(metadata.annotations)?.generation !== metadata.generation) return decision
  const isSame = recorded.message.replace(NUMBER, '') === decision.message.replace(NUMBER, '')
  return isSame && numberIn(decision.message) < numberIn(recorded.message) ? { ...decision, message: recorded.message } : decision
}

const NUMBER = /[0-9]+/
const numberIn = (text: string): number => Number(NUMBER.exec(text)?.[0] ?? 0)

export interface BindingChange {
  readonly patch: Record<string, unknown>
  /** Clusters or replicas change. */
  readonly isMoved: boolean
  /** More than the reasons changes. */
  readonly isDecision: boolean
}

/** Undefined when the binding already contains all of it. */
export function changeOf(binding: Binding, decision: Decision): BindingChange | undefined {
  const { metadata, spec } = binding
  const { clusters } = decision
  const applied = metadata.annotations?.[APPLIED_PLACEMENT]
  const isMoved = clusters !== undefined && !deepEqual(clusters, spec.clusters ?? [])
  const placement = clusters === undefined ? applied : JSON.stringify(spec.placement)
  const isDecision = isMoved || placement !== applied
  if (!isDecision && isRecorded(binding, decision)) return undefined
  const record = recordText(decision, (metadata.generation ?? 0) + (isMoved ? 1 : 0))
  const annotations = { ...(placement === applied ? {} : { [APPLIED_PLACEMENT]: placement }), [DECISION_ANNOTATION]: record }
  const patch = { metadata: { annotations }, ...(isMoved ? { spec: { clusters: clusters.length === 0 ? null : clusters } } : {}) }
  return { patch, isMoved, isDecision }
}

/** The free capacity of clusters changes all the time: the record stays while its outcome is the same. */
function isRecorded({ metadata }: Binding, { reason, message, affinityName }: Decision): boolean {
  const record = readRecord(metadata.annotations)
  if (record?.reason !== reason) return false
  if (reason === 'Success') return record.affinityName === affinityName
  return record.message === recordedMessage(message) && record.generation === metadata.generation
}

type StatusChange = Partial<BindingStatus>

function success({ binding, nowMs, affinityName }: { binding: Binding; nowMs: number; affinityName: string | undefined }): StatusChange {
  const { status, metadata } = binding
  const condition = { type: SCHEDULED, status: 'True', reason: BINDING_REASONS.success, message: SCHEDULED_MESSAGE }
  const change: StatusChange = {
    schedulerObservedGeneration: metadata.generation,
    ...(affinityName === undefined ? {} : { schedulerObservingAffinityName: affinityName }),
    conditions: setCondition(status?.conditions, condition, formatTime(nowMs)),
  }
  // If nothing else has changed, the time stays too.
  return isIn(status, change) ? change : { ...change, lastScheduledTime: formatTime(nowMs) }
}

function failed({ status }: Binding, { reason, message }: Pick<Decision, 'message'> & { reason: string }, nowMs: number): StatusChange {
  return { conditions: setCondition(status?.conditions, { type: SCHEDULED, status: 'False', reason, message }, formatTime(nowMs)) }
}

/** The server refused the decision: reported once, and retried with growing delays. */
function refusal(binding: Binding, failure: Failure | undefined, observed: Observed): Action[] {
  if (failure === undefined || !isRefused(failure)) return []
  const isQuota = failure.code === 403 && failure.reason === BINDING_REASONS.quotaExceeded
  const reason = isQuota ? BINDING_REASONS.quotaExceeded : BINDING_REASONS.schedulerError
  const decision = { reason, message: failure.message, failures: [failure.message] }
  return statusPatch(binding, observed, failed(binding, decision, observed.nowMs), failureEvents(binding, decision))
}

const isRefused = ({ code = 0 }: Failure): boolean => code === 400 || code === 403 || code === 422

function statusPatch(binding: Binding, { resource }: Observed, status: StatusChange, events: readonly EventIntent[] = []): Action[] {
  if (isIn(binding.status, status)) return []
  return [{ do: 'patch', resource, of: objectOf(binding), patch: { status }, subresource: 'status', events }]
}

const isIn = (status: BindingStatus | undefined, change: StatusChange): boolean =>
  Object.entries(change).every(([field, value]) => deepEqual(value, status?.[field as keyof BindingStatus]))

function successEvents(binding: Binding, { clusters }: Decision): EventIntent[] {
  const colon = binding.metadata.namespace === undefined ? '' : ':'
  const result = (clusters ?? []).map(({ name, replicas = 0 }: TargetCluster) => `${name}:${replicas}`).join(', ')
  return recorded(binding, { type: 'Normal', reason: 'ScheduleBindingSucceed', message: `${SCHEDULED_MESSAGE} Result${colon} {${result}}` })
}

const failureEvents = (binding: Binding, { failures }: Pick<Decision, 'failures'>): EventIntent[] =>
  failures.flatMap((message) => recorded(binding, { type: 'Warning', reason: 'ScheduleBindingFailed', message }))

/** On the binding and on the template. */
function recorded(binding: Binding, events: Omit<EventIntent, 'of'>): EventIntent[] {
  return [objectOf(binding), ...referredBy(binding)].map((of) => ({ of, ...events }))
}

const objectOf = (binding: Binding): KubeObject => binding as KubeObject
