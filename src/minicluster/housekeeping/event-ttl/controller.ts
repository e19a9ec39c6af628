/**
 * Deletes Events an hour after they were last written, as the real server lets them expire.
 * Each Event requeues its own key for when its hour is up.
 */
import { EVENTS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Controller, defineController, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'

const HOUR_MS = 60 * 60 * 1000

export interface Observed {
  event: KubeObject | undefined
  nowMs: number
  ttlMs: number
}

export function eventTtl(ttlMs = HOUR_MS): Controller {
  return defineController<Observed>({
    name: 'minicluster.housekeeping.event-ttl',
    for: EVENTS,
    writes: [{ resource: EVENTS, verbs: ['delete'] }],
    concurrency: 4,
    observe: (_ref, event, read) => ({ event, nowMs: read.nowMs(), ttlMs }),
    plan,
  })
}

export function plan({ event, nowMs, ttlMs }: Observed): Plan {
  if (event === undefined || event.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  const expiresAtMs = lastWritten(event, nowMs) + ttlMs
  if (expiresAtMs > nowMs) return { actions: [], requeueAfterMs: expiresAtMs - nowMs }
  return { actions: [{ do: 'delete', resource: EVENTS, of: event }] }
}

/**
 * Reported times in the future are ignored: they are a reporter's mistake, or a trick to stay forever. creationTimestamp is
 * set by the server, so when it is in the future the clock was set back: the event then counts as written just now.
 */
function lastWritten(event: KubeObject, nowMs: number): number {
  const series = event.series as { lastObservedTime?: unknown } | undefined
  const toMs = (time: unknown): number => (typeof time === 'string' ? Date.parse(time) : 0)
  const reported = [event.lastTimestamp, event.eventTime, series?.lastObservedTime].map(toMs).filter((ms) => ms <= nowMs)
  return Math.max(0, Math.min(nowMs, toMs(event.metadata.creationTimestamp)), ...reported)
}
