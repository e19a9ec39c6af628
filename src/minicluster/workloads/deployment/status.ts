/**
 * The status of a Deployment: counts over its ReplicaSets, and the conditions Available, Progressing and ReplicaFailure
 * with the times by which a rollout is judged to be stuck.
 */
import { formatTime } from '../../../base/clock.ts'
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '../../../kinds/kubernetes/types.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import { sizeOf } from './annotations.ts'
import type { Goal } from './sizes.ts'

const MAX_INT32 = 2 ** 31 - 1

export type Conditions = readonly DeploymentCondition[]

export interface ConditionFields {
  type: string
  status: string
  reason: string
  message: string
}

export const conditionOf = (conditions: Conditions, type: string): DeploymentCondition | undefined =>
  conditions.find((condition) => condition.type === type)

const without = (conditions: Conditions, type: string): Conditions => conditions.filter((condition) => condition.type !== type)

/** Left unchanged when status and reason are the same; otherwise it moves to the end. */
export function withCondition(conditions: Conditions, fields: ConditionFields, nowMs: number): Conditions {
  const old = conditionOf(conditions, fields.type)
  if (old !== undefined && old.status === fields.status && old.reason === fields.reason) return conditions
  return [...without(conditions, fields.type), newCondition(old, fields, nowMs)]
}

function newCondition(
  old: DeploymentCondition | undefined,
  { type, status, reason, message }: ConditionFields,
  nowMs: number,
): DeploymentCondition {
  const now = formatTime(nowMs)
  return { type, status, lastUpdateTime: now, lastTransitionTime: old?.status === status ? old.lastTransitionTime : now, reason, message }
}

export const progressing = (status: 'True' | 'False' | 'Unknown', reason: string, message: string): ConditionFields => ({
  type: 'Progressing',
  status,
  reason,
  message,
})

export function deadlineOf({ spec }: Deployment): number | undefined {
  const seconds = spec?.progressDeadlineSeconds
  return seconds === undefined || seconds === MAX_INT32 ? undefined : seconds
}

/** Pausing stops the deadline of a rollout and resuming restarts it; one that has already expired stays expired. */
export function pauseConditions(deployment: Deployment, nowMs: number): Conditions {
  const conditions = deployment.status?.conditions ?? []
  const reason = conditionOf(conditions, 'Progressing')?.reason
  if (deadlineOf(deployment) === undefined || reason === 'ProgressDeadlineExceeded') return conditions
  if (deployment.spec?.paused === true)
    return withCondition(conditions, progressing('Unknown', 'DeploymentPaused', 'Deployment is paused'), nowMs)
  if (reason !== 'DeploymentPaused') return conditions
  return withCondition(conditions, progressing('Unknown', 'DeploymentResumed', 'Deployment is resumed'), nowMs)
}

export interface StatusInput {
  deployment: Deployment
  goal: Goal
  newest: ReplicaSet | undefined
  all: readonly ReplicaSet[]
  /** As computed so far in this pass. */
  conditions: Conditions
  nowMs: number
}

type Count = 'replicas' | 'readyReplicas' | 'availableReplicas'

/** Counts and availability. */
export function countedStatus({ deployment, goal, newest, all, conditions, nowMs }: StatusInput): DeploymentStatus {
  const total = (field: Count): number => all.reduce((sum, set) => sum + (set.status?.[field] ?? 0), 0)
  const available = total('availableReplicas')
  const isAvailable = available >= goal.replicas - goal.maxUnavailable
  const availability = isAvailable
    ? { status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
    : { status: 'False', reason: 'MinimumReplicasUnavailable', message: 'Deployment does not have minimum availability.' }
  return {
    observedGeneration: deployment.metadata.generation,
    replicas: total('replicas'),
    updatedReplicas: newest?.status?.replicas ?? 0,
    readyReplicas: total('readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, all.reduce((sum, set) => sum + sizeOf(set), 0) - available),
    terminatingReplicas: terminatingOf(all),
    collisionCount: deployment.status?.collisionCount,
    conditions: [...withCondition(conditions, { type: 'Available', ...availability }, nowMs)],
  }
}

/** Unknown while an observed ReplicaSet does not report it. */
function terminatingOf(all: readonly ReplicaSet[]): number | undefined {
  let sum = 0
  for (const { status } of all) {
    if (status?.terminatingReplicas !== undefined) sum += status.terminatingReplicas
    else if ((status?.observedGeneration ?? 0) !== 0) return undefined
  }
  return sum
}

export function isComplete(deployment: Deployment, goal: Goal, status: DeploymentStatus): boolean {
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status
  const isEach = updatedReplicas === goal.replicas && replicas === goal.replicas && availableReplicas === goal.replicas
  return isEach && observedGeneration >= (deployment.metadata.generation ?? 0)
}

/** Also progress towards the deadline, and failures of ReplicaSets. For passes that roll out. */
export function rolloutStatus(input: StatusInput): DeploymentStatus {
  const counted = countedStatus(input)
  const judged = deadlineOf(input.deployment) === undefined ? without(counted.conditions ?? [], 'Progressing') : progressOf(input, counted)
  return { ...counted, conditions: [...withFailure(judged, input)] }
}

function progressOf(input: StatusInput, next: DeploymentStatus): Conditions {
  const { deployment, goal, newest, nowMs } = input
  const conditions = next.conditions ?? []
  const current = conditionOf(conditions, 'Progressing')
  if (current?.reason === 'NewReplicaSetAvailable' && (next.replicas ?? 0) === (next.updatedReplicas ?? 0)) return conditions
  const who = newest === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newest.metadata.name}"`
  if (isComplete(deployment, goal, next))
    return withCondition(conditions, progressing('True', 'NewReplicaSetAvailable', `${who} has successfully progressed.`), nowMs)
  if (hasProgressed(deployment.status ?? {}, next)) {
    const fields = progressing('True', 'ReplicaSetUpdated', `${who} is progressing.`)
    // Rewritten with the same reason: the deadline counts from the time of the last progress.
    return [...without(conditions, 'Progressing'), newCondition(current, fields, nowMs)]
  }
  if (isTimedOut(deployment, current, nowMs))
    return withCondition(conditions, progressing('False', 'ProgressDeadlineExceeded', `${who} has timed out progressing.`), nowMs)
  return conditions
}

/** New pods appeared, became ready or available, or old ones disappeared. */
function hasProgressed(old: DeploymentStatus, next: DeploymentStatus): boolean {
  const oldPods = (status: DeploymentStatus): number => (status.replicas ?? 0) - (status.updatedReplicas ?? 0)
  const grew = (field: 'updatedReplicas' | 'readyReplicas' | 'availableReplicas'): boolean => (next[field] ?? 0) > (old[field] ?? 0)
  return grew('updatedReplicas') || oldPods(next) < oldPods(old) || grew('readyReplicas') || grew('availableReplicas')
}

function isTimedOut(deployment: Deployment, current: DeploymentCondition | undefined, nowMs: number): boolean {
  if (current === undefined || current.reason === 'NewReplicaSetAvailable') return false
  if (current.reason === 'ProgressDeadlineExceeded') return true
  const deadline = deadlineOf(deployment)
  return deadline !== undefined && (timeToMs(current.lastUpdateTime) ?? 0) + deadline * 1000 < nowMs
}

/** When to check whether the deadline has passed; undefined when there is none. */
export function deadlineInMs(
  deployment: Deployment,
  goal: Goal,
  { status, nowMs }: { status: DeploymentStatus; nowMs: number },
): number | undefined {
  const deadline = deadlineOf(deployment)
  const current = conditionOf(status.conditions ?? [], 'Progressing')
  if (deadline === undefined || current === undefined || isComplete(deployment, goal, status)) return undefined
  if (current.reason === 'ProgressDeadlineExceeded' || current.reason === 'NewReplicaSetAvailable') return undefined
  // Times of conditions are truncated to seconds: one second is added, so that it has passed by then.
  return Math.max(0, (timeToMs(current.lastUpdateTime) ?? 0) + deadline * 1000 - nowMs) + 1000
}

/** A failure of the newest ReplicaSet takes precedence over those of old ones. */
function withFailure(conditions: Conditions, { newest, all, nowMs }: StatusInput): Conditions {
  const sets = newest === undefined ? all : [newest, ...all]
  const failure = sets.flatMap((set) => set.status?.conditions ?? []).find(({ type }) => type === 'ReplicaFailure')
  if (failure === undefined) return without(conditions, 'ReplicaFailure')
  const { status = 'True', reason = '', message = '', lastTransitionTime } = failure
  const old = conditionOf(conditions, 'ReplicaFailure')
  if (old !== undefined && old.status === status && old.reason === reason) return conditions
  const since = lastTransitionTime ?? formatTime(nowMs)
  const kept = old?.status === status ? old.lastTransitionTime : since
  const replicaFailure: DeploymentCondition = {
    type: 'ReplicaFailure',
    status,
    lastUpdateTime: since,
    lastTransitionTime: kept,
    reason,
    message,
  }
  return [...without(conditions, 'ReplicaFailure'), replicaFailure]
}
