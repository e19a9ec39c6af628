/**
 * When a schedule is due next: the first whole minute after a given moment at which a wall clock in its time zone
 * shows what the schedule says. What a clock change skips is not due, what it repeats is due twice, as in Kubernetes.
 * Pure: the moment is an argument, no clock is read.
 */
import type { CronSchedule } from '../../../kinds/kubernetes/rules/workloads/cron-schedule.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Clocks change at quarters of an hour, and by less than three hours. */
const QUARTER = 15 * MINUTE
const MAX_CHANGE = 3 * HOUR
/** A schedule that is not due within five years is never due. */
const MAX_YEARS = 5

export interface WallClock {
  /** How far the wall clock is ahead of UTC at a moment, in milliseconds. */
  offsetAt(ms: number): number
}

const UTC: WallClock = { offsetAt: () => 0 }

/** Undefined for an unknown zone. */
export function wallClock(zone: string | undefined): WallClock | undefined {
  if (zone === undefined || zone === '' || zone === 'UTC') return UTC
  const format = formatIn(zone)
  if (format === undefined) return undefined
  return {
    offsetAt(ms) {
      const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
      const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
      const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
      return wall - Math.floor(ms / 1000) * 1000
    },
  }
}

function formatIn(timeZone: string): Intl.DateTimeFormat | undefined {
  const numeric = 'numeric'
  const fields = { year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric } as const
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...fields })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Undefined when it is never due again. */
export function nextTime(schedule: CronSchedule, clock: WallClock, afterMs: number): number | undefined {
  if ('everyMs' in schedule) return Math.floor(afterMs / 1000) * 1000 + schedule.everyMs
  let ms = Math.floor(afterMs / MINUTE) * MINUTE + MINUTE
  const lastYear = new Date(ms + clock.offsetAt(ms)).getUTCFullYear() + MAX_YEARS
  for (;;) {
    const offset = clock.offsetAt(ms)
    const wall = new Date(ms + offset)
    if (wall.getUTCFullYear() > lastYear) return undefined
    const next = mismatchUntil(schedule, wall)
    if (next === undefined) return ms
    ms = leap(clock, { ms, offset, toWall: next })
  }
}

/** The next wall-clock time worth checking; undefined when this one is due. */
function mismatchUntil(schedule: Exclude<CronSchedule, { everyMs: number }>, wall: Date): number | undefined {
  const [year, month, day, hour] = [wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate(), wall.getUTCHours()]
  if (!schedule.month.values.has(month + 1)) return Date.UTC(year, month + 1, 1)
  const byDate = schedule.dayOfMonth.values.has(day)
  const byWeekday = schedule.dayOfWeek.values.has(wall.getUTCDay())
  // Both must match if one of them is `*`; otherwise one match is enough.
  const isDay = schedule.dayOfMonth.isAny || schedule.dayOfWeek.isAny ? byDate && byWeekday : byDate || byWeekday
  if (!isDay) return Date.UTC(year, month, day + 1)
  if (!schedule.hour.values.has(hour)) return Date.UTC(year, month, day, hour + 1)
  if (!schedule.minute.values.has(wall.getUTCMinutes())) return wall.getTime() + MINUTE
  return undefined
}

/** To when the wall clock shows that time; to a little before if the clock changes on the way. */
function leap(clock: WallClock, { ms, offset, toWall }: { ms: number; offset: number; toWall: number }): number {
  const target = toWall - offset
  if (target - ms <= MINUTE || clock.offsetAt(target) === offset) return target
  return Math.max(Math.floor(ms / QUARTER) * QUARTER + QUARTER, target - MAX_CHANGE)
}

/** RFC 3339 in wall-clock time. */
export function formatWall(clock: WallClock, ms: number): string {
  const offset = clock.offsetAt(ms)
  const text = new Date(ms + offset).toISOString().slice(0, 19)
  if (offset === 0) return `${text}Z`
  const minutes = Math.floor(Math.abs(offset) / MINUTE)
  const pad = (value: number): string => String(value).padStart(2, '0')
  return `${text}${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`
}
