import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Operation } from '../../kinds/fluid/operation.ts'
import type { CronJob } from '../../kinds/kubernetes/types.ts'
import { type Decision, decide, type Seen } from './decide.ts'
import { isMigrating, operationRefOf } from './operation-ref.ts'
import { durationBetween, endOf, newestRun } from './run.ts'
import { aDataset, aJob, anOperation, CREATED, CREATED_MS, KINDS } from './testing.ts'
import { expiryOf } from './ttl.ts'

const MADE = { workload: {} }
const REFUSED = { refused: { reason: 'DataOperationNotSupport', message: 'not this engine' } }
const LATER = '2025-06-01T10:01:03Z'

const seenWith = (operation: Operation, more: Partial<Seen> = {}): Seen => ({
  operation,
  dataset: aDataset(),
  built: MADE,
  job: undefined,
  cronJob: undefined,
  runs: [],
  unseen: 0,
  nowMs: CREATED_MS,
  ...more,
})

/** In one line. */
function said(decision: Decision): string {
  switch (decision.do) {
    case 'wait':
      return `wait ${decision.waiting?.reason ?? ''}`.trim()
    case 'reject':
    case 'finish':
      return `${decision.do} ${decision.end.type} ${decision.end.reason} ${decision.end.duration}`
    case 'keep':
      return `keep ${typeof decision.expiry === 'object' ? decision.expiry.inMs : decision.expiry}`
    case 'accept':
      return decision.mustWait ? 'accept and wait' : 'accept'
    default:
      return decision.do
  }
}

const cron = { policy: 'Cron', schedule: '0 3 * * *' }
const cronJob = (status: object = {}): CronJob => ({ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'c' }, status })
const runAfter = { kind: 'DataLoad', name: 'before' }
const going = { deletionTimestamp: CREATED }
const complete = { phase: 'Complete', conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: CREATED }] }
const failed = { phase: 'Failed', conditions: [{ type: 'Failed', status: 'True', lastTransitionTime: CREATED }] }
const reference = { ...aDataset(), spec: { mounts: [{ mountPoint: 'dataset://data/original' }] } }

/** What is so for each kind: what it is, what is around it, what is to be done. */
const ROWS: [string, Parameters<typeof anOperation>[1], Partial<Seen>, string][] = [
  ['new', {}, {}, 'accept'],
  ['new, without a dataset', {}, { dataset: undefined, built: undefined }, 'accept'],
  ['new, after another one', { spec: { runAfter } }, {}, 'accept and wait'],
  ['new, with a time to live that is none', { spec: { ttlSecondsAfterFinished: -1 } }, {}, 'reject Failed DataOperationNotValid 0s'],
  ['new and deleted', { metadata: going }, {}, 'release'],
  ['waiting', { status: { phase: 'Pending', waitingFor: { operationComplete: true } } }, {}, 'wait'],
  ['waiting, by the name of the design alone', { status: { phase: 'Pending', waitFor: { operationComplete: true } } }, {}, 'wait'],
  ['released', { status: { phase: 'Pending', waitingFor: { operationComplete: false } }, spec: { runAfter } }, {}, 'start'],
  [
    'pending, and the dataset is missing',
    { status: { phase: 'Pending' } },
    { dataset: undefined, built: undefined },
    'wait TargetDatasetNotFound',
  ],
  ['pending, and the dataset is not bound', { status: { phase: 'Pending' } }, { dataset: aDataset('NotBound') }, 'wait RuntimeNotReady'],
  ['pending, and the dataset has failed', { status: { phase: 'Pending' } }, { dataset: aDataset('Failed') }, 'wait RuntimeNotReady'],
  [
    'pending, and the engine cannot do it',
    { status: { phase: 'Pending' } },
    { built: REFUSED },
    'reject Failed DataOperationNotSupport 0s',
  ],
  ['pending and ready', { status: { phase: 'Pending' } }, {}, 'start'],
  ['pending while another one migrates', { status: { phase: 'Pending' } }, { dataset: aDataset('DataMigrating') }, 'start'],
  ['pending and deleted', { status: { phase: 'Pending' }, metadata: going }, {}, 'release'],
  ['executing, and nothing is made yet', { status: { phase: 'Executing' } }, {}, 'make'],
  ['executing, and it runs', { status: { phase: 'Executing' } }, { job: aJob('j') }, 'wait'],
  [
    'executing, and it has succeeded',
    { status: { phase: 'Executing' } },
    { job: aJob('j', { type: 'Complete', endedAt: LATER }) },
    'finish Complete CompletionsReached 1m3s',
  ],
  [
    'executing, and it has failed',
    { status: { phase: 'Executing' } },
    { job: aJob('j', { type: 'Failed', endedAt: LATER }) },
    'finish Failed BackoffLimitExceeded 1m3s',
  ],
  [
    'executing, and the dataset went before anything was made',
    { status: { phase: 'Executing' } },
    { dataset: undefined, built: undefined },
    'wait TargetDatasetNotFound',
  ],
  [
    'executing, and the engine cannot do it any more',
    { status: { phase: 'Executing' } },
    { built: REFUSED },
    'reject Failed DataOperationNotSupport 0s',
  ],
  ['executing and deleted', { status: { phase: 'Executing' }, metadata: going }, { job: aJob('j') }, 'end'],
  ['executing and deleted, and the Job is gone', { status: { phase: 'Executing' }, metadata: going }, {}, 'release'],
  ['complete', { status: complete }, {}, 'keep never'],
  ['complete, to be kept a minute', { status: complete, spec: { ttlSecondsAfterFinished: 60 } }, { nowMs: CREATED_MS + 500 }, 'keep 59500'],
  ['complete, to be kept no time', { status: complete, spec: { ttlSecondsAfterFinished: 0 } }, {}, 'expire'],
  ['complete, and its time is over', { status: complete, spec: { ttlSecondsAfterFinished: 60 } }, { nowMs: CREATED_MS + 60_000 }, 'expire'],
  [
    'complete, its time is over, and one does not know',
    { status: complete, spec: { ttlSecondsAfterFinished: 0 } },
    { unseen: 1 },
    'keep when-seen',
  ],
  ['failed, and its time is over', { status: failed, spec: { ttlSecondsAfterFinished: 0 } }, {}, 'expire'],
  ['complete and deleted', { status: complete, metadata: going }, { job: aJob('j', { type: 'Complete' }) }, 'end'],
  ['in a phase that nobody knows', { status: { phase: 'Paused' } }, {}, 'report'],
]

const CRON_ROWS: [string, object | undefined, Partial<Seen>, string][] = [
  ['has no CronJob', { phase: 'Executing' }, {}, 'make'],
  ['has not run', { phase: 'Executing' }, { cronJob: cronJob() }, 'wait'],
  ['runs', { phase: 'Executing' }, { cronJob: cronJob(), runs: [aJob('j')] }, 'wait'],
  [
    'has run',
    { phase: 'Executing' },
    { cronJob: cronJob(), runs: [aJob('j', { type: 'Complete' })] },
    'finish Complete CompletionsReached 0s',
  ],
  [
    'has run before, and a newer run is still to come',
    { phase: 'Executing' },
    { cronJob: cronJob({ lastScheduleTime: LATER }), runs: [aJob('j', { type: 'Complete' })] },
    'wait',
  ],
  ['has said how its run ended', complete, { cronJob: cronJob(), runs: [aJob('j', { type: 'Complete' })] }, 'keep never'],
  ['runs again', complete, { cronJob: cronJob(), runs: [aJob('j', { type: 'Complete' }), aJob('k', { createdAt: LATER })] }, 'repeat'],
  ['runs again after a failure', failed, { cronJob: cronJob(), runs: [aJob('k', { createdAt: LATER })] }, 'repeat'],
  [
    'has run again, and nobody looked',
    complete,
    { cronJob: cronJob(), runs: [aJob('k', { createdAt: LATER, type: 'Failed', endedAt: LATER })] },
    'finish Failed BackoffLimitExceeded 0s',
  ],
  ['is pending again', { phase: 'Pending' }, { cronJob: cronJob(), dataset: aDataset('NotBound') }, 'start'],
  ['is never over', complete, { cronJob: cronJob(), unseen: 1 }, 'keep never'],
]

describe('the state machine', () => {
  for (const kind of KINDS) {
    for (const [what, content, more, expected] of ROWS)
      it(`of a ${kind} that is ${what}`, () => assert.equal(said(decide(seenWith(anOperation(kind, content), more))), expected))
    for (const [what, status, more, expected] of CRON_ROWS)
      it(`of a ${kind} by schedule that ${what}`, () => {
        const operation = anOperation(kind, { status, spec: { ...cron, ttlSecondsAfterFinished: 0 } })
        assert.equal(said(decide(seenWith(operation, more))), expected)
      })
  }

  it('refuses a reference to all but a DataProcess', () => {
    const of = (kind: (typeof KINDS)[number]) =>
      said(decide(seenWith(anOperation(kind, { status: { phase: 'Pending' } }), { dataset: reference })))
    assert.deepEqual(KINDS.map(of), [...Array(3).fill('reject Failed DataOperationNotSupport 0s'), 'start'])
  })

  it('says a reason whenever it fails, and what to do about an unknown phase', () => {
    const rejected = decide(seenWith(anOperation('DataBackup', { spec: { backupPath: 's3://a' } })))
    assert.ok(rejected.do === 'reject')
    assert.match(rejected.end.message, /^spec\.backupPath: Only support pvc and local path now/)
    const reported = decide(seenWith(anOperation('DataLoad', { status: { phase: 'Paused' } })))
    assert.ok(reported.do === 'report')
    assert.match(reported.waiting.message, /"Paused" is unknown, so nothing is done: set it to Pending or Failed/)
  })
})

const PHASES = ['', 'Pending', 'Executing', 'Complete', 'Failed', 'Paused'] as const
const NEXT: Readonly<Record<string, readonly string[]>> = {
  accept: [''],
  start: ['Pending'],
  make: ['Executing'],
  reject: ['', 'Pending', 'Executing'],
  repeat: ['Complete', 'Failed'],
  expire: ['Complete', 'Failed'],
  report: ['Paused'],
}
const anything = fc.record({
  kind: fc.constantFrom(...KINDS),
  phase: fc.constantFrom(...PHASES),
  isWaiting: fc.boolean(),
  policy: fc.constantFrom('Once', 'Cron', 'OnEvent'),
  ttl: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
  dataset: fc.constantFrom(undefined, aDataset(), aDataset('NotBound')),
  built: fc.constantFrom(undefined, MADE, REFUSED),
  job: fc.constantFrom(undefined, aJob('j'), aJob('j', { type: 'Complete' }), aJob('j', { type: 'Failed' })),
  cronJob: fc.constantFrom(undefined, cronJob()),
  unseen: fc.nat(1),
  nowMs: fc.integer({ min: CREATED_MS, max: CREATED_MS + 10_000 }),
  isGoing: fc.boolean(),
})

describe('the state machine, whatever it sees', () => {
  it('only goes forward, starts nobody who waits, and deletes nobody too early', () => {
    fc.assert(
      fc.property(anything, ({ kind, phase, isWaiting, policy, ttl, isGoing, ...around }) => {
        const operation = anOperation(kind, {
          metadata: isGoing ? going : {},
          spec: { policy, schedule: '0 3 * * *', ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }) },
          status: {
            phase,
            waitingFor: { operationComplete: isWaiting },
            conditions: [{ type: phase, status: 'True', lastTransitionTime: CREATED }],
          },
        })
        const decision = decide({ operation, runs: [], ...around })
        if (isGoing) return assert.ok(decision.do === 'end' || decision.do === 'release')
        assert.ok((NEXT[decision.do] ?? PHASES).includes(phase), `${decision.do} from ${phase}`)
        if (decision.do === 'start') assert.ok(!isWaiting)
        if (decision.do === 'finish') assert.ok(phase === 'Executing' || policy === 'Cron')
        if (decision.do === 'expire') {
          assert.equal(policy === 'Cron' || around.unseen > 0, false)
          assert.ok(around.nowMs >= CREATED_MS + (ttl ?? Number.POSITIVE_INFINITY) * 1000)
        }
        if (decision.do === 'reject') assert.ok(decision.end.reason !== '' && decision.end.message !== '')
      }),
      { numRuns: 1000 },
    )
  })
})

describe('how a run ended', () => {
  it('is told by the condition that says so, wherever it is', () => {
    assert.equal(endOf(aJob('j')), undefined)
    assert.deepEqual(endOf(aJob('j', { type: 'Complete', endedAt: LATER })), {
      type: 'Complete',
      reason: 'CompletionsReached',
      message: 'over',
      at: LATER,
      duration: '1m3s',
    })
  })
  it('takes whole seconds, and no negative time', () => {
    assert.equal(durationBetween(CREATED, '2025-06-01T11:00:05Z'), '1h0m5s')
    assert.equal(durationBetween(LATER, CREATED), '0s')
    assert.equal(durationBetween('', 'x'), '0s')
  })
  it('is that of the newest run, if that is not older than what was started last', () => {
    const [old, young] = [aJob('a'), aJob('b', { createdAt: LATER })]
    assert.equal(newestRun(cronJob(), [young, old]), young)
    assert.equal(newestRun(cronJob({ lastScheduleTime: LATER }), [old]), undefined)
    assert.equal(newestRun(cronJob(), []), undefined)
  })
})

describe('the time to live', () => {
  it('counts from the condition of the end, and never without one', () => {
    const of = (conditions: object[]) =>
      expiryOf(anOperation('DataLoad', { spec: { ttlSecondsAfterFinished: 1 }, status: { phase: 'Failed', conditions } }), {
        nowMs: CREATED_MS,
        unseen: 0,
      })
    assert.deepEqual(
      of([
        { type: 'Served', status: 'False', lastTransitionTime: LATER },
        { type: 'Failed', status: 'True', lastTransitionTime: CREATED },
      ]),
      { inMs: 1000 },
    )
    assert.equal(of([]), 'never')
  })
})

describe('who holds a dataset', () => {
  it('is everybody at work, by kind and name', () => {
    const at = (kind: (typeof KINDS)[number], name: string, phase: string) => anOperation(kind, { metadata: { name }, status: { phase } })
    const all = [
      at('DataLoad', 'b', 'Executing'),
      at('DataLoad', 'a', 'Executing'),
      at('DataLoad', 'c', 'Complete'),
      at('DataMigrate', 'm', 'Pending'),
    ]
    assert.deepEqual(operationRefOf(all), { DataLoad: 'a,b' })
    assert.equal(isMigrating(all), false)
    assert.equal(isMigrating([...all, at('DataMigrate', 'n', 'Executing')]), true)
    assert.equal(operationRefOf([]), undefined)
  })
})
