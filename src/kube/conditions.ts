/** Conditions of a status: found by type, set without losing the time of the last transition. */
export interface Condition {
  type: string
  status: string
  observedGeneration?: number
  lastTransitionTime?: string
  reason?: string
  message?: string
}

export function findCondition<C extends { type: string }>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((condition) => condition.type === type)
}

export const isConditionTrue = (conditions: readonly { type: string; status: string }[] | undefined, type: string): boolean =>
  findCondition(conditions, type)?.status === 'True'

/** A new list with `next` in it. The transition time is `now` (metav1.Time) only where the status changed. */
export function setCondition(conditions: readonly Condition[] | undefined, next: Condition, now: string): Condition[] {
  const list = conditions ?? []
  const old = findCondition(list, next.type)
  const transition = old !== undefined && old.status === next.status ? old.lastTransitionTime : undefined
  const condition: Condition = { ...next, lastTransitionTime: transition ?? next.lastTransitionTime ?? now }
  return old === undefined ? [...list, condition] : list.map((item) => (item === old ? condition : item))
}
