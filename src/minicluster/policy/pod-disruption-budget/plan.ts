/**
 * The status of a disruption budget: how many of its pods are healthy, how many must be, and so how many evictions are
 * allowed. With every eviction the server takes one away and records the pod; here the record is removed when the pod is
 * gone, or when it has not gone after two minutes.
 */

import { formatTime } from '../../../base/clock.ts'
import { deepEqual, setOwn } from '../../../base/json.ts'
import { POD_DISRUPTION_BUDGETS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod, PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../kinds/kubernetes/types.ts'
import { type Condition, findCondition, setCondition } from '../../../kube/conditions.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import { scaledIntOrPercent } from '../../../kube/int-or-string.ts'
import { type EventIntent, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { isPodReady } from '../../../runtime/workloads/pod/state.ts'
import { cannotCount, noPods, notDeleted, unmanagedPods } from './events.ts'
import type { ScaleResult } from './owners.ts'

export interface Observed {
  budget: PodDisruptionBudget
  pods: readonly Pod[]
  /** Of the pods' owners; undefined where the budget does not need it (`needsScale`). */
  owners: ScaleResult | undefined
  nowMs: number
}

const ALLOWED = 'DisruptionAllowed'
/** How long an eviction may take to become visible. */
const DELETION_TIMEOUT_MS = 2 * 60_000

/** An absolute minAvailable is compared with the pods that exist; anything else with what their owners want. */
export const needsScale = ({ spec }: PodDisruptionBudget): boolean =>
  spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string'

export function plan({ budget, pods, owners, nowMs }: Observed): Plan {
  const wanted = wantedOf(budget, pods, owners)
  if (typeof wanted === 'string') return failSafe(budget, wanted, nowMs)
  const disrupted = disruptedOf(budget, pods, nowMs)
  const healthy = pods.filter((pod) => isHealthy(pod, disrupted.kept)).length
  const allowed = wanted.expected > 0 ? Math.max(0, healthy - wanted.desired) : 0
  const counted = {
    currentHealthy: healthy,
    desiredHealthy: wanted.desired,
    expectedPods: wanted.expected,
    disruptionsAllowed: allowed,
    observedGeneration: budget.metadata.generation ?? 0,
  }
  const requeueAfterMs = disrupted.nextMs
  if (isCurrent(budget.status, counted, disrupted.kept)) return { actions: [], requeueAfterMs }
  const condition = {
    ...{ type: ALLOWED, status: allowed > 0 ? 'True' : 'False', reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods', message: '' },
    observedGeneration: counted.observedGeneration,
  }
  const conditions = setCondition(budget.status?.conditions as Condition[] | undefined, condition, formatTime(nowMs))
  const status = { ...counted, conditions, disruptedPods: replacing(budget.status?.disruptedPods, disrupted.kept) }
  const events: EventIntent[] = [
    ...(pods.length === 0 ? [noPods(budget)] : []),
    ...((owners?.scale?.unmanaged.length ?? 0) > 0 ? [unmanagedPods(budget)] : []),
    ...disrupted.givenUp.map((pod) => notDeleted(budget, pod)),
  ]
  return {
    actions: [{ do: 'patch', resource: POD_DISRUPTION_BUDGETS, of: budget, patch: { status }, subresource: 'status', events }],
    requeueAfterMs,
  }
}

interface Wanted {
  expected: number
  desired: number
}

/** A text with the reason when it cannot be determined. */
function wantedOf({ spec }: PodDisruptionBudget, pods: readonly Pod[], owners: ScaleResult | undefined): Wanted | string {
  const { maxUnavailable, minAvailable } = spec ?? {}
  if (maxUnavailable === undefined && typeof minAvailable !== 'string')
    return minAvailable === undefined ? { expected: 0, desired: 0 } : { expected: pods.length, desired: minAvailable }
  if (owners?.scale === undefined) return owners?.problem ?? 'the scale of the owners is not known'
  const { expected } = owners.scale
  const scaled = scaledIntOrPercent(maxUnavailable ?? minAvailable, expected, true)
  if (scaled.error !== undefined) return scaled.error
  return { expected, desired: maxUnavailable === undefined ? scaled.value : Math.max(0, expected - scaled.value) }
}

interface Disrupted {
  /** Evictions that are not visible yet, with their time. */
  kept: Record<string, string>
  givenUp: Pod[]
  /** When the first of them times out. */
  nextMs: number | undefined
}

function disruptedOf({ status }: PodDisruptionBudget, pods: readonly Pod[], nowMs: number): Disrupted {
  const noted = status?.disruptedPods ?? {}
  const disrupted: Disrupted = { kept: {}, givenUp: [], nextMs: undefined }
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata
    const since = deletionTimestamp === undefined && Object.hasOwn(noted, name) ? noted[name] : undefined
    if (since === undefined) continue
    const untilMs = (timeToMs(since) ?? 0) + DELETION_TIMEOUT_MS
    if (untilMs < nowMs) {
      disrupted.givenUp.push(pod)
      continue
    }
    setOwn(disrupted.kept, name, since)
    disrupted.nextMs = Math.min(disrupted.nextMs ?? Number.POSITIVE_INFINITY, untilMs - nowMs + 1)
  }
  return disrupted
}

const isHealthy = (pod: Pod, disrupted: Record<string, string>): boolean =>
  pod.metadata.deletionTimestamp === undefined && !Object.hasOwn(disrupted, pod.metadata.name ?? '') && isPodReady(pod)

function isCurrent(old: PodDisruptionBudgetStatus = {}, next: PodDisruptionBudgetStatus, disrupted: Record<string, string>): boolean {
  const numbers = ['currentHealthy', 'desiredHealthy', 'expectedPods', 'disruptionsAllowed', 'observedGeneration'] as const
  const condition = findCondition(old.conditions as Condition[] | undefined, ALLOWED)
  const isAllowed = (next.disruptionsAllowed ?? 0) > 0
  return (
    numbers.every((field) => (old[field] ?? 0) === (next[field] ?? 0)) &&
    deepEqual(old.disruptedPods ?? {}, disrupted) &&
    condition?.status === (isAllowed ? 'True' : 'False') &&
    condition.reason === (isAllowed ? 'SufficientPods' : 'InsufficientPods')
  )
}

/** A merge patch that leaves exactly `next` of a map. */
function replacing(old: Record<string, unknown> | undefined, next: Record<string, string>): Record<string, string | null> | null {
  if (Object.keys(next).length === 0) return null
  const patch: Record<string, string | null> = {}
  for (const key of Object.keys(old ?? {})) setOwn(patch, key, null)
  for (const [key, value] of Object.entries(next)) setOwn(patch, key, value)
  return patch
}

/** When the pods cannot be counted, no evictions are allowed until they can. */
function failSafe(budget: PodDisruptionBudget, message: string, nowMs: number): Plan {
  const { conditions, disruptionsAllowed = 0, observedGeneration } = budget.status ?? {}
  const condition = {
    type: ALLOWED,
    status: 'False',
    reason: 'SyncFailed',
    message,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  }
  const next = setCondition(conditions as Condition[] | undefined, condition, formatTime(nowMs))
  const held = findCondition(conditions as Condition[] | undefined, ALLOWED)
  if (disruptionsAllowed === 0 && held?.status === 'False' && held.reason === 'SyncFailed' && held.message === message) return NOTHING_TO_DO
  const { currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 } = budget.status ?? {}
  const status = { currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed: 0, conditions: next }
  const events = cannotCount(budget, message)
  return { actions: [{ do: 'patch', resource: POD_DISRUPTION_BUDGETS, of: budget, patch: { status }, subresource: 'status', events }] }
}
