import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { cycleOf } from '../../../kinds/fluid/flow-cycle.ts'
import { nameOfOperation, type Operation, operationText, predecessorOf } from '../../../kinds/fluid/operation.ts'
import { anOperation, CREATED } from '../testing.ts'
import { decideFlow, hasSeenEnd, type Link } from './decide.ts'

const AFTER = { kind: 'DataLoad', namespace: 'default', name: 'before' } as const
const successor = anOperation('DataProcess', {
  metadata: { name: 'next', creationTimestamp: CREATED },
  spec: { runAfter: { kind: 'DataLoad', name: 'before' } },
  status: { phase: 'Pending', waitingFor: { operationComplete: true } },
})
const before = (status?: object, spec: object = {}): Operation => anOperation('DataLoad', { metadata: { name: 'before' }, spec, status })
const cron = { policy: 'Cron', schedule: '* * * * *' }
const failedStatus = { phase: 'Failed', conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }] }

const link = (more: Partial<Link>): Link => ({
  operation: successor,
  after: AFTER,
  predecessor: before(),
  isPermitted: true,
  cycle: undefined,
  ...more,
})

const RELEASED: [string, Partial<Link>][] = [
  ['runAfter was emptied', { after: undefined, predecessor: undefined }],
  ['the predecessor is complete', { predecessor: before({ phase: 'Complete' }) }],
  [
    'one by schedule has completed since',
    { predecessor: before({ phase: 'Executing', lastSuccessfulTime: '2025-06-01T10:00:01Z' }, cron) },
  ],
  ['one by schedule completed in the same second', { predecessor: before({ phase: 'Pending', lastSuccessfulTime: CREATED }, cron) }],
]
const WAITING: [string, Partial<Link>, RegExp][] = [
  ['the predecessor is new', {}, /^Normal DataOperationWaiting: Waiting for operation DataLoad "default\/before" to complete$/],
  ['it runs', { predecessor: before({ phase: 'Executing' }) }, /^Normal DataOperationWaiting: Waiting for operation/],
  [
    'it failed',
    { predecessor: before(failedStatus) },
    /^Warning DataOperationWaiting: .*failed \(BackoffLimitExceeded\): delete it and apply it again, or remove runAfter/,
  ],
  [
    'it is missing',
    { predecessor: undefined },
    /^Warning DataOperationNotFound: Preceding operation DataLoad "default\/before" not found: .*ttlSecondsAfterFinished may have removed it$/,
  ],
  [
    'its namespace does not consent',
    { after: { ...AFTER, namespace: 'other' }, predecessor: undefined, isPermitted: false },
    /^Warning DataOperationNotFound: .*does not exist, or may not be waited for from namespace default: .*ReferenceGrant there from kind DataProcess of namespace default to kind DataLoad$/,
  ],
  [
    'one by schedule has not completed',
    { predecessor: before({ phase: 'Executing' }, cron) },
    /^Normal DataOperationWaiting: Waiting for the next completion/,
  ],
  [
    'one by schedule completed before the successor came',
    { predecessor: before({ phase: 'Complete', lastSuccessfulTime: '2025-06-01T09:59:59Z' }, cron) },
    /^Normal .*next completion/,
  ],
  ['one by schedule failed and will be tried again', { predecessor: before(failedStatus, cron) }, /^Normal .*next completion/],
  [
    'it waits for itself with others',
    { cycle: [AFTER, { ...AFTER, name: 'b' }], predecessor: before({ phase: 'Complete' }) },
    /^Warning DataOperationWaiting: DataLoad default\/before → DataLoad default\/b → DataLoad default\/before: each would wait/,
  ],
]

describe('an operation that waits for another one', () => {
  for (const [what, more] of RELEASED) it(`goes on when ${what}`, () => assert.deepEqual(decideFlow(link(more)), { do: 'release' }))
  for (const [what, more, says] of WAITING)
    it(`waits when ${what}, and says so`, () => {
      const decision = decideFlow(link(more))
      assert.ok(decision.do === 'wait')
      const { type, reason, message } = decision.report
      assert.match(`${type} ${reason}: ${message}`, says)
    })
  it('is told the same of what it may not see, whether that exists or not', () => {
    const of = (predecessor: Operation | undefined) =>
      decideFlow(link({ after: { ...AFTER, namespace: 'other' }, isPermitted: false, predecessor }))
    assert.deepEqual(of(before({ phase: 'Complete' })), of(undefined))
  })
})

describe('whether the end of a predecessor was seen', () => {
  const failed = decideFlow(link({ predecessor: before(failedStatus) }))
  const waiting = (status: object): Operation =>
    anOperation('DataProcess', { status: { phase: 'Pending', waitingFor: { operationComplete: true }, ...status } })
  const cases: [string, Operation, object, boolean][] = [
    ['one that nobody has looked at yet', anOperation('DataProcess'), { phase: 'Complete' }, false],
    ['one that waits', waiting({}), { phase: 'Complete' }, false],
    ['one that was released', waiting({ waitingFor: { operationComplete: false } }), { phase: 'Complete' }, true],
    ['one that runs', waiting({ phase: 'Executing' }), { phase: 'Complete' }, true],
    ['one that does not know of the failure', waiting({ infos: { waiting: 'Waiting for operation' } }), failedStatus, false],
    [
      'one that knows of the failure',
      waiting({ infos: { waiting: failed.do === 'wait' ? failed.report.message : '' } }),
      failedStatus,
      true,
    ],
  ]
  for (const [what, of, status, expected] of cases)
    it(`of ${what}: ${expected}`, () => assert.equal(hasSeenEnd(of, before(status), AFTER), expected))
})

describe('circles', () => {
  it('are found by each of their members and by nobody else, whatever runs after what', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(7), { nil: undefined }), { minLength: 1, maxLength: 8 }), (after) => {
        const all = after.map((to, i) =>
          anOperation('DataLoad', {
            metadata: { name: `n${i}` },
            spec: to === undefined ? {} : { runAfter: { kind: 'DataLoad', name: `n${to}` } },
          }),
        )
        const byText = new Map(all.map((one) => [operationText(nameOfOperation(one)), one]))
        all.forEach((one, i) => {
          const cycle = cycleOf(one, (name) => byText.get(operationText(name)))
          let at: number | undefined = after[i]
          for (let steps = 1; steps < all.length && at !== undefined && at !== i && at < all.length; steps++) at = after[at]
          assert.equal(cycle !== undefined, at === i)
          for (const [k, name] of (cycle ?? []).entries()) {
            const next = cycle?.[(k + 1) % cycle.length]
            assert.deepEqual(predecessorOf(byText.get(operationText(name)) as Operation), next)
          }
        })
      }),
    )
  })
})
