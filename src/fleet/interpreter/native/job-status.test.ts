import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepFreeze } from '../../../base/json.ts'
import { jobStatusErrors } from '../../../kinds/kubernetes/rules/workloads/job-status.ts'
import { anObject, itemsOf, ruleOf } from './testing.ts'

const T1 = '2024-01-01T01:00:00Z'
const T2 = '2024-01-01T02:00:00Z'
const T3 = '2024-01-01T03:00:00Z'
const is = (type: string, at: string) => ({ type, status: 'True', lastProbeTime: at, lastTransitionTime: at })
const done = (start: string, end: string) => ({
  startTime: start,
  completionTime: end,
  succeeded: 1,
  conditions: [is('SuccessCriteriaMet', end), is('Complete', end)],
})
const broken = (start: string, end: string) => ({ startTime: start, failed: 1, conditions: [is('FailureTarget', end), is('Failed', end)] })

const complete = [
  { ...is('Complete', T3), reason: 'Completed', message: 'Job completed' },
  { ...is('SuccessCriteriaMet', T3), reason: 'CompletionsReached', message: 'All member clusters have met success criteria' },
]
const failure = (type: string, at: string, clusters: string) => ({
  ...is(type, at),
  reason: 'JobFailed',
  message: `Job executed failed in member clusters ${clusters}`,
})

describe('a Job over all members', () => {
  const cases: [string, object | undefined, Parameters<typeof itemsOf>[0], object | undefined][] = [
    [
      'running: sums, and the start once all have started',
      undefined,
      { a: { active: 1, startTime: T2 }, b: { active: 2, startTime: T1 } },
      { active: 3, startTime: T1 },
    ],
    ['no start before all have started', undefined, { a: { active: 1, startTime: T2 }, b: {} }, { active: 1 }],
    ['a start that was told stays', { startTime: T2 }, { a: { active: 1, startTime: T1 } }, { active: 1, startTime: T2 }],
    [
      'complete everywhere',
      undefined,
      { a: done(T1, T2), b: done(T2, T3) },
      { conditions: complete, startTime: T1, completionTime: T3, succeeded: 2 },
    ],
    ['complete in one of two', undefined, { a: done(T1, T2), b: { active: 1, startTime: T1 } }, { startTime: T1, active: 1, succeeded: 1 }],
    ['complete, but one tells nothing', undefined, { a: done(T1, T2), b: undefined }, { succeeded: 1 }],
    ['no members', undefined, {}, {}],
    [
      'complete without a time of completion: the time of the condition',
      undefined,
      { a: { startTime: T1, conditions: [is('Complete', T3)] } },
      { conditions: complete, startTime: T1, completionTime: T3 },
    ],
    [
      'failed somewhere, nothing active',
      undefined,
      { c: broken(T1, T3), a: broken(T1, T2), b: done(T1, T2) },
      { conditions: [failure('Failed', T3, 'a,c'), failure('FailureTarget', T2, 'a,c')], startTime: T1, succeeded: 1, failed: 2 },
    ],
    [
      'failed somewhere, others still active: announced',
      undefined,
      { a: broken(T1, T2), b: { active: 1 } },
      { conditions: [failure('FailureTarget', T2, 'a')], startTime: T1, active: 1, failed: 1 },
    ],
    [
      'an announced failure stays when the member is left',
      { conditions: [failure('FailureTarget', T2, 'a')], startTime: T1, active: 1, failed: 1 },
      { b: done(T1, T3) },
      { conditions: [failure('Failed', T2, 'a'), failure('FailureTarget', T2, 'a')], startTime: T1, succeeded: 1, failed: 1 },
    ],
    [
      'what a member that was left has done stays done',
      { succeeded: 3, failed: 2 },
      { a: { succeeded: 1, active: 1, startTime: T1 } },
      { active: 1, succeeded: 3, failed: 2, startTime: T1 },
    ],
    ['a completed template is never touched', { conditions: [is('Complete', T1)], succeeded: 1 }, { a: broken(T1, T2) }, undefined],
    ['a failed template is never touched', { conditions: [is('Failed', T1)] }, { a: done(T1, T2) }, undefined],
    [
      'conditions that do not hold do not count',
      undefined,
      { a: { startTime: T1, conditions: [{ ...is('Failed', T1), status: 'False' }] } },
      { startTime: T1 },
    ],
  ]
  for (const [name, old, from, to] of cases) {
    it(name, () => {
      const template = anObject('Job', old === undefined ? {} : { status: old })
      const result = ruleOf('Job', 'aggregate')(template, itemsOf(from))
      if (to === undefined) assert.equal(result, template)
      else assert.deepEqual(result.status ?? {}, to)
      assert.equal(ruleOf('Job', 'aggregate')(result, itemsOf(from)), result)
    })
  }
})

describe('what a server accepts of a Job', () => {
  const time = fc.integer({ min: 0, max: 9 }).map((hour) => `2024-01-01T0${hour}:00:00Z`)
  const running = fc.oneof(
    { arbitrary: fc.constant(undefined), weight: 1 },
    {
      weight: 4,
      arbitrary: fc.record(
        { active: fc.nat(3), succeeded: fc.nat(3), failed: fc.nat(3), startTime: time },
        { requiredKeys: ['startTime'] },
      ),
    },
  )
  const span = fc.tuple(time, time).map((times) => times.sort() as [string, string])
  const completed = span.map((times) => done(...times))
  const stopped = fc.oneof(
    span.map((times) => broken(...times)),
    completed,
    running,
  )
  const clusters = fc.constantFrom('a', 'b', 'c')
  const round = fc.oneof(...[running, completed, stopped].map((member) => fc.dictionary(clusters, member)))

  it('is every step of whatever members tell one after another', () => {
    fc.assert(
      fc.property(fc.array(round, { maxLength: 6 }), (rounds) => {
        let job = anObject('Job', { spec: { parallelism: 3 } })
        for (const from of rounds) {
          const next = deepFreeze(ruleOf('Job', 'aggregate')(job, itemsOf(from)))
          assert.deepEqual(jobStatusErrors(next, job), [])
          job = next
        }
      }),
      { numRuns: 500 },
    )
  })
})
