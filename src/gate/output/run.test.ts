import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { ResourceBinding } from '../../kinds/karmada/index.ts'
import { isLater, parseRun, type Run, runOf, runText } from './run.ts'
import { aJob } from './testing.ts'

const CREATED = '2026-01-01T12:00:00Z'
const NOW = Date.parse('2026-01-02T00:00:00Z')

const succeeded = (run: string | undefined, statuses: Record<string, unknown>): Parameters<typeof runOf>[0] => {
  const job = aJob('default/daily')
  const aggregatedStatus = Object.entries(statuses).map(([clusterName, status]) => ({ clusterName, applied: true, status }))
  return {
    template: { ...job, metadata: { ...job.metadata, creationTimestamp: CREATED } },
    binding: { status: { aggregatedStatus } } as unknown as ResourceBinding,
    progress: { state: 'succeeded', succeededIn: ['m1', 'm2'], failedIn: [], run },
    nowMs: NOW,
  }
}

describe('when a run succeeded', () => {
  const [early, late] = ['2026-01-01T13:00:00Z', '2026-01-01T14:00:00Z']
  const table: [string, Record<string, unknown>, string, string?][] = [
    ['a Job', { m1: { completionTime: early } }, early],
    ['the first of two copies', { m1: { completionTime: late }, m2: { completionTime: early } }, early],
    ['a copy that does not count', { m1: { completionTime: late }, m3: { completionTime: early } }, late],
    ['a RayJob', { m1: { endTime: early } }, early],
    ['a Job of Volcano', { m1: { state: { phase: 'Completed', lastTransitionTime: early } } }, early],
    ['a run of a CronJob', { m1: { lastSuccessfulTime: late } }, late, `uid/${late}`],
    ['nobody says when', { m1: {} }, CREATED],
    ['before it was created', { m1: { completionTime: '2020-01-01T00:00:00Z' } }, CREATED],
    ['in the future', { m1: { completionTime: '2030-01-01T00:00:00Z' } }, CREATED],
    ['in the future, a run of a CronJob', {}, CREATED, 'uid/2030-01-01T00:00:00Z'],
    ['no time at all', { m1: { completionTime: { yesterday: true } } }, CREATED],
  ]
  for (const [name, statuses, at, run = 'uid'] of table) it(name, () => assert.deepEqual(runOf(succeeded(run, statuses)), { id: run, at }))

  it('is nothing while none has', () => assert.equal(runOf(succeeded(undefined, {})), undefined))

  it('can be read from whatever members report', () =>
    fc.assert(
      fc.property(fc.jsonValue(), (status) => {
        const run = runOf(succeeded('uid', { m1: status }))
        assert.ok(run !== undefined && run.at >= CREATED && Date.parse(run.at) <= NOW)
      }),
    ))
})

const anyTime = fc
  .date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true })
  .map((date) => `${date.toISOString().slice(0, 19)}Z`)
const anyRun: fc.Arbitrary<Run> = fc.record({ id: fc.string({ minLength: 1 }), at: anyTime }, { noNullPrototype: true })

describe('the annotation of a run', () => {
  it('is read as it was written', () => fc.assert(fc.property(anyRun, (run) => assert.deepEqual(parseRun(runText(run)), run))))

  it('is read or ignored, whatever it contains', () =>
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          anyTime.map((time) => `@${time}`),
        ),
        (text) => {
          const run = parseRun(text)
          assert.ok(run === undefined || (run.id !== '' && Number.isFinite(Date.parse(run.at))))
        },
      ),
    ))
})

describe('the order of runs', () => {
  it('is total: of two different runs exactly one is later, and it is the same in a chain', () =>
    fc.assert(
      fc.property(anyRun, anyRun, anyRun, (a, b, c) => {
        assert.equal(isLater(a, a), false)
        if (runText(a) !== runText(b)) assert.notEqual(isLater(a, b), isLater(b, a))
        if (isLater(a, b) && isLater(b, c)) assert.ok(isLater(a, c))
      }),
    ))
})
