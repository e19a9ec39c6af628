/**
 * From what a member answers to the condition Ready. A change is published only after it has lasted: a cluster with a brief
 * failure is not given up at once, and one that flaps is not trusted at once. Pure; time and thresholds are passed in.
 */
import { CLUSTER_READY } from '../../../kinds/karmada/well-known.ts'
import type { Condition } from '../../../kube/conditions.ts'

/** `unconnected`: there is no address, or there are no credentials. */
export type Health = 'ready' | 'unhealthy' | 'unreachable' | 'unconnected'

export interface Thresholds {
  /** How long a cluster that came back must stay ready (default 30 s). */
  successThresholdMs: number
  /** How long a ready cluster may fail (default 30 s). */
  failureThresholdMs: number
}

/** Since when the readiness of a member is what it is. */
export interface Streak {
  health: Health
  /** Since when it is ready, or is not. */
  sinceMs: number
  /** It has never been different over this connection. */
  isFirst: boolean
}

export function nextStreak(before: Streak | undefined, health: Health, nowMs: number): Streak {
  if (before === undefined) return { health, sinceMs: nowMs, isFirst: true }
  // After a clock was set back, a streak must not last until the clock has caught up.
  if (isReady(before.health) === isReady(health)) return { ...before, health, sinceMs: Math.min(before.sinceMs, nowMs) }
  return { health, sinceMs: nowMs, isFirst: false }
}

const isReady = (health: Health): boolean => health === 'ready'

/** What to publish now; undefined: the published condition stays until the streak has lasted long enough. */
export function readyCondition(
  streak: Streak,
  published: Condition | undefined,
  at: Thresholds & { nowMs: number },
): Condition | undefined {
  const observed = CONDITIONS[streak.health]
  // Nothing has been published yet, or only the reason differs.
  if (published === undefined || (published.status === 'True') === isReady(streak.health)) return observed
  const lastedMs = at.nowMs - streak.sinceMs
  if (isReady(streak.health)) return streak.isFirst || lastedMs >= at.successThresholdMs ? observed : undefined
  return lastedMs >= at.failureThresholdMs ? observed : undefined
}

const CONDITIONS: Readonly<Record<Health, Condition>> = Object.freeze({
  ready: {
    type: CLUSTER_READY,
    status: 'True',
    reason: 'ClusterReady',
    message: 'cluster is healthy and ready to accept workloads',
  },
  unhealthy: {
    type: CLUSTER_READY,
    status: 'False',
    reason: 'ClusterNotReady',
    message: 'cluster is reachable but health endpoint responded without ok',
  },
  unreachable: { type: CLUSTER_READY, status: 'False', reason: 'ClusterNotReachable', message: 'cluster is not reachable' },
  unconnected: {
    type: CLUSTER_READY,
    status: 'False',
    reason: 'StatusCollectionFailed',
    message: 'failed to create a ClusterClient: there is no apiEndpoint, or the Secret that secretRef names has no token',
  },
})
