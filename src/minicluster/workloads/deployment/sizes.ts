/**
 * The arithmetic of a rollout: how large each ReplicaSet of a Deployment may or must be. Two guarantees: a step up never makes
 * the sum exceed replicas + maxSurge, and a step down never removes an available pod that the minimum availability needs.
 */
import type { Deployment } from '../../../kinds/kubernetes/types.ts'
import { type IntOrString, scaledIntOrPercent } from '../../../kube/int-or-string.ts'

/** What a Deployment asks for, in numbers of pods. */
export interface Goal {
  replicas: number
  isRolling: boolean
  maxSurge: number
  maxUnavailable: number
}

/** What matters of one ReplicaSet. */
export interface Sized {
  name: string
  size: number
  available: number
  createdMs: number
  /** Of the whole Deployment when this one was last scaled; undefined when it was not recorded. */
  maxReplicas: number | undefined
  /** What the Deployment asked for when this one was last scaled. */
  desired: number | undefined
}

/** One change of size; in order, and more than one for the same ReplicaSet where Kubernetes takes two steps. */
export interface Step {
  name: string
  to: number
}

export function goalOf({ spec }: Deployment): Goal {
  const replicas = spec?.replicas ?? 1
  const isRolling = spec?.strategy?.type !== 'Recreate'
  if (!isRolling) return { replicas, isRolling, maxSurge: 0, maxUnavailable: 0 }
  const { surge, unavailable } = fenceposts(spec?.strategy?.rollingUpdate ?? {}, replicas)
  return { replicas, isRolling, maxSurge: surge, maxUnavailable: Math.min(unavailable, replicas) }
}

/** Percentages of surge round up, of unavailability down; if both come to zero, one may be unavailable. */
export function fenceposts(
  { maxSurge, maxUnavailable }: { maxSurge?: IntOrString; maxUnavailable?: IntOrString },
  replicas: number,
): { surge: number; unavailable: number } {
  const surge = scaledIntOrPercent(maxSurge ?? 0, replicas, true).value ?? 0
  const unavailable = scaledIntOrPercent(maxUnavailable ?? 0, replicas, false).value ?? 0
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable }
}

const sum = (sets: readonly Sized[]): number => sets.reduce((total, { size }) => total + size, 0)
const isActive = ({ size }: Sized): boolean => size > 0
const oldestFirst = (a: Sized, b: Sized): number => a.createdMs - b.createdMs || (a.name < b.name ? -1 : 1)
/** The available pods that can be relied on although the status lags behind the size. */
const sureOf = ({ size, available }: Sized): number => Math.min(size, available)

/** The size the newest may have now, given the total. */
export function newestSize(goal: Goal, newest: number, total: number): number {
  if (newest >= goal.replicas || !goal.isRolling) return goal.replicas
  const headroom = goal.replicas + goal.maxSurge - total
  return headroom <= 0 ? newest : newest + Math.min(headroom, goal.replicas - newest)
}

/** Shrinks the old ones: first by pods that are not available anyway, then by as many as availability allows. */
export function stepsDown(goal: Goal, newest: Sized, olds: readonly Sized[]): Step[] {
  const minAvailable = goal.replicas - goal.maxUnavailable
  const active = olds.filter(isActive).sort(oldestFirst)
  let allowance = sum(active) + newest.size - minAvailable - (newest.size - sureOf(newest))
  if (active.length === 0 || allowance <= 0) return []
  const steps: Step[] = []
  const sizes = new Map(active.map(({ name, size }) => [name, size]))
  const shrink = ({ name }: Sized, by: number): void => {
    if (by <= 0) return
    const to = (sizes.get(name) ?? 0) - by
    sizes.set(name, to)
    steps.push({ name, to })
  }
  for (const set of active) {
    const unhealthy = Math.min(allowance, set.size - sureOf(set))
    shrink(set, unhealthy)
    allowance -= unhealthy
  }
  let spare = active.reduce((total, set) => total + sureOf(set), sureOf(newest)) - minAvailable
  for (const set of active) {
    const by = Math.min(spare, sizes.get(set.name) ?? 0)
    shrink(set, by)
    spare -= Math.max(0, by)
  }
  return steps
}

/** Whether somebody changed `replicas` since the sizes were last decided. */
export const isScaled = (goal: Goal, sets: readonly Sized[]): boolean =>
  sets.some(({ size, desired }) => size > 0 && desired !== undefined && desired !== goal.replicas)

export interface ScaleInput {
  newest: Sized | undefined
  olds: readonly Sized[]
  /** `status.replicas` of the Deployment: the base of proportions if it was not recorded. */
  statusReplicas: number
}

/**
 * Sizes after a change of `replicas` in the middle of a rollout or while paused: distributed proportionally, so that scaling
 * does not speed up a rollout. Every active ReplicaSet is listed, including those whose size stays.
 */
export function stepsToScale(goal: Goal, { newest, olds, statusReplicas }: ScaleInput): Step[] {
  const all = [...olds, ...(newest === undefined ? [] : [newest])]
  const active = all.filter(isActive)
  if (active.length <= 1) {
    const only = active[0] ?? newest ?? [...olds].sort(oldestFirst).at(-1)
    return only === undefined ? [] : [{ name: only.name, to: goal.replicas }]
  }
  if (newest !== undefined && isSaturated(goal, newest)) return olds.filter(isActive).map(({ name }) => ({ name, to: 0 }))
  return goal.isRolling ? inProportion(goal, active, statusReplicas) : []
}

const isSaturated = ({ replicas }: Goal, { size, desired, available }: Sized): boolean =>
  size === replicas && desired === replicas && available === replicas

function inProportion(goal: Goal, active: readonly Sized[], statusReplicas: number): Step[] {
  const allowed = goal.replicas > 0 ? goal.replicas + goal.maxSurge : 0
  const toAdd = allowed - sum(active)
  // Larger first; of equals the newer grow first and the older shrink first.
  const sorted = [...active].sort((a, b) => b.size - a.size || (toAdd > 0 ? oldestFirst(b, a) : oldestFirst(a, b)))
  let added = 0
  const steps = sorted.map((set) => {
    const share = fractionOf(goal, set, statusReplicas)
    const left = toAdd - added
    const change = toAdd === 0 ? 0 : toAdd > 0 ? Math.min(share, left) : Math.max(share, left)
    added += change
    return { name: set.name, to: set.size + change }
  })
  // The remainder of rounding is added to or taken from the largest; if that is not enough, from the next.
  let left = toAdd - added
  for (const step of steps) {
    const change = Math.max(left, -step.to)
    step.to += change
    left -= change
  }
  return steps
}

function fractionOf(goal: Goal, { size, maxReplicas }: Sized, statusReplicas: number): number {
  if (goal.replicas === 0) return -size
  const before = maxReplicas === undefined || maxReplicas === 0 ? statusReplicas : maxReplicas
  return before === 0 ? 0 : Math.round((size * (goal.replicas + goal.maxSurge)) / before) - size
}
