import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseSchedule } from '../../../kinds/kubernetes/rules/workloads/cron-schedule.ts'
import { formatWall, nextTime, wallClock } from './next-time.ts'

function next(schedule: string, zone: string | undefined, after: string): string | undefined {
  const { value, error } = parseSchedule(schedule)
  const clock = wallClock(zone)
  assert.ok(value !== undefined && clock !== undefined, error)
  const ms = nextTime(value, clock, Date.parse(after))
  return ms === undefined ? undefined : formatWall(clock, ms)
}

const CASES: [schedule: string, zone: string | undefined, after: string, next: string | undefined][] = [
  ['* * * * *', undefined, '2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'],
  ['* * * * *', undefined, '2026-01-01T00:00:59.900Z', '2026-01-01T00:01:00Z'],
  ['*/15 * * * *', undefined, '2026-01-01T00:46:00Z', '2026-01-01T01:00:00Z'],
  ['5/20 * * * *', undefined, '2026-01-01T00:26:00Z', '2026-01-01T00:45:00Z'],
  ['30 4 * * *', undefined, '2026-01-31T04:30:00Z', '2026-02-01T04:30:00Z'],
  ['0 0 31 * *', undefined, '2026-01-31T00:00:00Z', '2026-03-31T00:00:00Z'],
  ['0 0 29 2 *', undefined, '2026-01-01T00:00:00Z', '2028-02-29T00:00:00Z'],
  ['0 0 31 2 *', undefined, '2026-01-01T00:00:00Z', undefined],
  ['0 0 13 * FRI', undefined, '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
  ['0 0 * * FRI', undefined, '2026-01-03T00:00:00Z', '2026-01-09T00:00:00Z'],
  ['0 0 13 * *', undefined, '2026-01-03T00:00:00Z', '2026-01-13T00:00:00Z'],
  ['0 0 */2 * FRI', undefined, '2026-01-03T00:00:00Z', '2026-01-05T00:00:00Z'],
  ['0 9-17/4 * jan,mar MON-WED', undefined, '2026-01-28T17:30:00Z', '2026-03-02T09:00:00Z'],
  ['@hourly', undefined, '2026-01-01T00:59:59Z', '2026-01-01T01:00:00Z'],
  ['@daily', undefined, '2026-12-31T12:00:00Z', '2027-01-01T00:00:00Z'],
  ['@weekly', undefined, '2026-01-01T00:00:00Z', '2026-01-04T00:00:00Z'],
  ['@monthly', undefined, '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'],
  ['@yearly', undefined, '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ['@every 90m', undefined, '2026-01-01T00:00:00.500Z', '2026-01-01T01:30:00Z'],
  ['0 12 * * *', 'Asia/Kolkata', '2026-01-01T00:00:00Z', '2026-01-01T12:00:00+05:30'],
  ['0 0 1 7 *', 'America/New_York', '2026-01-01T00:00:00Z', '2026-07-01T00:00:00-04:00'],
  // Clocks go forward: what is skipped is not due.
  ['30 2 * * *', 'America/New_York', '2026-03-08T05:00:00Z', '2026-03-09T02:30:00-04:00'],
  ['30 1 * * *', 'America/New_York', '2026-03-08T05:00:00Z', '2026-03-08T01:30:00-05:00'],
  ['0 * * * *', 'America/New_York', '2026-03-08T06:00:00Z', '2026-03-08T03:00:00-04:00'],
  ['0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00:00Z', '2018-11-05T00:00:00-02:00'],
  // Clocks go back: what is repeated is due twice.
  ['30 1 * * *', 'America/New_York', '2026-11-01T04:00:00Z', '2026-11-01T01:30:00-04:00'],
  ['30 1 * * *', 'America/New_York', '2026-11-01T05:30:00Z', '2026-11-01T01:30:00-05:00'],
  ['30 1 * * *', 'America/New_York', '2026-11-01T06:30:00Z', '2026-11-02T01:30:00-05:00'],
  ['0 3 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T03:00:00+01:00'],
]

describe('the next time of a schedule', () => {
  for (const [schedule, zone, after, expected] of CASES)
    it(`${schedule} ${zone ?? 'UTC'} after ${after}: ${expected}`, () => assert.equal(next(schedule, zone, after), expected))

  it('knows no zone that does not exist', () => assert.equal(wallClock('Mars/Phobos'), undefined))

  it('is the first minute whose face on the wall matches', () => {
    const zones = fc.constantFrom('America/New_York', 'Europe/Berlin', 'Australia/Sydney', 'Asia/Kolkata', 'UTC')
    const field = (max: number, min = 0) => fc.oneof(fc.constant('*'), fc.integer({ min, max }).map(String))
    const schedules = fc.tuple(field(59), field(23), field(28, 1), fc.constant('*'), field(6)).map((fields) => fields.join(' '))
    // Around the clock changes of 2026.
    const starts = fc.constantFrom(
      '2026-03-07T20:00:00Z',
      '2026-03-28T20:00:00Z',
      '2026-10-31T20:00:00Z',
      '2026-04-04T10:00:00Z',
      '2026-10-24T18:00:00Z',
    )
    const offsets = fc.integer({ min: 0, max: 20 * 60 })
    fc.assert(
      fc.property(schedules, zones, starts, offsets, (text, zone, start, minutes) => {
        const { value: schedule } = parseSchedule(text)
        const clock = wallClock(zone)
        assert.ok(schedule !== undefined && !('everyMs' in schedule) && clock !== undefined)
        const after = Date.parse(start) + minutes * 60_000
        const isDue = (ms: number): boolean => {
          const wall = new Date(ms + clock.offsetAt(ms))
          const days = [schedule.dayOfMonth.values.has(wall.getUTCDate()), schedule.dayOfWeek.values.has(wall.getUTCDay())]
          const isDay = schedule.dayOfMonth.isAny || schedule.dayOfWeek.isAny ? days.every(Boolean) : days.some(Boolean)
          return isDay && schedule.hour.values.has(wall.getUTCHours()) && schedule.minute.values.has(wall.getUTCMinutes())
        }
        const limit = after + 30 * 3_600_000
        let expected: number | undefined
        for (let ms = after + 60_000; ms <= limit && expected === undefined; ms += 60_000) if (isDue(ms)) expected = ms
        const found = nextTime(schedule, clock, after)
        assert.equal(found !== undefined && found <= limit ? found : undefined, expected)
      }),
      { numRuns: 150 },
    )
  })
})
