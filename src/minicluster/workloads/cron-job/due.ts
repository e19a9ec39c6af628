/** Which run of a CronJob is due, and when to requeue: Kubernetes' computation of missed starts. Pure. */
import type { CronSchedule } from '../../../kinds/kubernetes/rules/workloads/cron-schedule.ts'
import type { CronJob } from '../../../kinds/kubernetes/types.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import { nextTime, type WallClock } from './next-time.ts'

/** Requeued a little late, so that a slightly slow clock does not miss the start. */
const PADDING_MS = 100
const MANY = 100

export interface Timetable {
  schedule: CronSchedule
  clock: WallClock
  nowMs: number
}

export interface Due {
  /** The most recent start that has not happened; undefined when there is none. */
  scheduledMs?: number
  hasManyMissed: boolean
  /** Why no start can be found. */
  error?: string
}

interface Missed extends Due {
  earliestMs: number
  hasMissed: boolean
}

function mostRecent(cron: CronJob, { schedule, clock, nowMs }: Timetable, usesDeadline: boolean): Missed {
  const { startingDeadlineSeconds } = cron.spec ?? {}
  let earliestMs = timeToMs(cron.status?.lastScheduleTime) ?? timeToMs(cron.metadata.creationTimestamp) ?? nowMs
  // Starts older than the deadline no longer happen.
  if (usesDeadline && startingDeadlineSeconds !== undefined) earliestMs = Math.max(earliestMs, nowMs - startingDeadlineSeconds * 1000)
  const none = { earliestMs, hasManyMissed: false, hasMissed: false }
  const first = nextTime(schedule, clock, earliestMs)
  const second = first === undefined ? undefined : nextTime(schedule, clock, first)
  if (first === undefined || second === undefined) return { ...none, error: 'time difference between two schedules is less than 1 second' }
  if (nowMs < first) return none
  if (nowMs < second) return { ...none, scheduledMs: first }
  const betweenSeconds = Math.round((second - first) / 1000)
  if (betweenSeconds < 1) return { ...none, error: 'time difference between two schedules is less than 1 second' }
  // An estimate: as many as fit if all were as far apart as the first two.
  const missed = Math.floor(Math.floor((nowMs - first) / 1000) / betweenSeconds) + 1
  let scheduledMs: number | undefined
  const from = first + (missed - 2) * betweenSeconds * 1000
  for (let ms = nextTime(schedule, clock, from); ms !== undefined && ms <= nowMs; ms = nextTime(schedule, clock, ms)) scheduledMs = ms
  return { earliestMs, hasMissed: true, hasManyMissed: missed > MANY, ...(scheduledMs === undefined ? {} : { scheduledMs }) }
}

export function dueOf(cron: CronJob, timetable: Timetable): Due {
  const { scheduledMs, hasManyMissed, error } = mostRecent(cron, timetable, true)
  return { scheduledMs, hasManyMissed, error }
}

/** How long until the next start is due; undefined when there will be none. */
export function nextLookMs(cron: CronJob, timetable: Timetable): number | undefined {
  const { schedule, clock, nowMs } = timetable
  const { scheduledMs, earliestMs, hasMissed, error } = mostRecent(cron, timetable, false)
  const from = error !== undefined ? nowMs : (scheduledMs ?? (hasMissed ? nowMs : earliestMs))
  const next = nextTime(schedule, clock, from)
  return next === undefined ? undefined : Math.max(PADDING_MS, next + PADDING_MS - nowMs)
}
