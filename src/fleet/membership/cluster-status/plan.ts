/** The status of a Cluster from what is known about its member. Pure. Conditions of other types are left alone. */
import { formatTime } from '../../../base/clock.ts'
import { deepEqual, isJsonObject, setOwn } from '../../../base/json.ts'
import type { Cluster, ClusterStatus } from '../../../kinds/karmada/index.ts'
import { CLUSTERS } from '../../../kinds/karmada/resources.ts'
import { CLUSTER_READY, COMPLETE_API_ENABLEMENTS } from '../../../kinds/karmada/well-known.ts'
import { type Condition, findCondition, setCondition } from '../../../kube/conditions.ts'
import { NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import type { Enablements } from './enablements.ts'
import { readyCondition, type Streak, type Thresholds } from './readiness.ts'
import type { Summary } from './sums.ts'

/** What is known about a member that answers. */
export interface KnownState {
  isComplete: boolean
  version: string | undefined
  enablements: Enablements | undefined
  summary: Summary | undefined
}

export interface ObservedStatus {
  cluster: Cluster | undefined
  /** Undefined while nothing is known. */
  streak: Streak | undefined
  state: KnownState | undefined
  nowMs: number
}

export const planWith =
  (thresholds: Thresholds) =>
  ({ cluster, streak, state, nowMs }: ObservedStatus): Plan => {
    if (cluster === undefined || streak === undefined) return NOTHING_TO_DO
    const ready = readyCondition(streak, findCondition(cluster.status?.conditions, CLUSTER_READY), { ...thresholds, nowMs })
    if (ready === undefined) return NOTHING_TO_DO
    // A cluster is not reported as ready before what it serves and has is known: schedulers would act on incomplete data.
    if (ready.status === 'True' && state?.isComplete !== true) return NOTHING_TO_DO
    const collected = ready.status === 'True' && state !== undefined ? collectedFrom(state) : { conditions: [] }
    const status = statusWith(cluster.status, [...collected.conditions, ready], formatTime(nowMs))
    const next: ClusterStatus = { ...status, ...('fields' in collected ? collected.fields : {}) }
    const patch = mergePatch(cluster.status ?? {}, next)
    return patch === undefined
      ? NOTHING_TO_DO
      : { actions: [{ do: 'patch', resource: CLUSTERS, of: cluster, patch: { status: patch }, subresource: 'status' }] }
  }

function statusWith(status: ClusterStatus | undefined, conditions: readonly Condition[], now: string): ClusterStatus {
  const all = conditions.reduce<Condition[] | undefined>((list, condition) => setCondition(list, condition, now), status?.conditions)
  return { ...status, conditions: all }
}

/** What is not known (yet, or at the moment) stays as it was reported. */
function collectedFrom({ version, enablements, summary }: KnownState): { fields: ClusterStatus; conditions: Condition[] } {
  return {
    fields: {
      ...(version === undefined ? {} : { kubernetesVersion: version }),
      ...(enablements === undefined ? {} : { apiEnablements: enablements.list }),
      ...summary,
    },
    conditions: enablements === undefined ? [] : [enablementCondition(enablements)],
  }
}

export function enablementCondition({ list, isComplete }: Enablements): Condition {
  const type = COMPLETE_API_ENABLEMENTS
  if (list.length === 0) return { type, status: 'False', reason: 'Empty', message: 'collected empty APIEnablements from the cluster' }
  if (isComplete) return { type, status: 'True', reason: 'Complete', message: 'collected complete APIEnablements from the cluster' }
  const message = `might collect partial APIEnablements(${list.length}) from the cluster`
  return { type, status: 'False', reason: 'Partial', message }
}

/** The merge patch from one object to the other; undefined when they are equal. Fields that are undefined in `after` stay. */
export function mergePatch(before: object, after: object): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? (before as Record<string, unknown>)[key] : undefined
    if (value === undefined || deepEqual(old, value)) continue
    setOwn(patch, key, isJsonObject(old) && isJsonObject(value) ? replaced(old, value) : value)
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

/** For a field that is entirely ours: keys that are no longer there are removed. */
function replaced(before: object, after: object): Record<string, unknown> {
  const patch = mergePatch(before, after) ?? {}
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) setOwn(patch, key, null)
  return patch
}
