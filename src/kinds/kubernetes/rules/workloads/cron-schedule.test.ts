import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { scheduleProblem, timeZoneProblem } from './cron-schedule.ts'

describe('cron schedules', () => {
  for (const schedule of [
    '* * * * *',
    '*/5 0-12/2 1,15 jan-mar MON-fri',
    '? ? ? ? ?',
    '  5 4 * * sun ',
    '@hourly',
    '@every 1h30m',
    'TZ=UTC * * * * *',
    'CRON_TZ=Europe/Rome @daily',
  ]) {
    it(`accepts ${schedule}`, () => assert.equal(scheduleProblem(schedule), undefined))
  }

  const refused: [schedule: string, problem: string][] = [
    ['x', 'expected exactly 5 fields, found 1: [x]'],
    ['* * * * * *', 'expected exactly 5 fields, found 6: [* * * * * *]'],
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
    [
      '99999999999999999999 * * * *',
      'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range',
    ],
    ['@reboot', 'unrecognized descriptor: @reboot'],
    ['@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
    ['TZ=0', 'invalid schedule format: runtime error: slice bounds out of range [:-1]'],
    ['TZ=Nowhere * * * * *', 'provided bad location Nowhere: unknown time zone Nowhere'],
  ]
  for (const [schedule, problem] of refused) it(`refuses ${schedule}`, () => assert.equal(scheduleProblem(schedule), problem))

  it('has an answer to any text', () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'0123456789*/-,@ TZ=even') }), (text) => scheduleProblem(text) !== ''))
  })
})

describe('time zones', () => {
  for (const zone of ['UTC', 'Europe/Rome', 'America/Argentina/Buenos_Aires', 'US/Pacific', 'Etc/GMT+1', 'EST5EDT']) {
    it(`knows ${zone}`, () => assert.equal(timeZoneProblem(zone), undefined))
  }
  for (const zone of ['Utc', 'europe/rome', 'EUROPE/ROME', 'Nowhere/None', '+01:00', 'Etc/GMT+15']) {
    it(`does not know ${zone}`, () => assert.equal(timeZoneProblem(zone), `unknown time zone ${zone}`))
  }
})
