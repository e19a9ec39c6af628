import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Binding } from '../../kinds/karmada/index.ts'
import { RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { APPLIED_PLACEMENT } from '../../kinds/karmada/well-known.ts'
import type { Failure } from '../../runtime/controller.ts'
import { DECISION_ANNOTATION, type Decision, recordText } from './decision.ts'
import { type Observed, plan, type Verdict } from './plan.ts'
import { aBindingOf, type BindingOptions } from './testing.ts'

const NOW_MS = Date.parse('2026-01-01T00:00:10Z')
const explanation = { total: 1, chosen: 1, clusters: [], others: {} }
const success = (clusters: Decision['clusters'], more: Partial<Decision> = {}): Decision => ({
  reason: 'Success',
  message: '',
  clusters,
  affinityName: undefined,
  failures: [],
  explanation,
  ...more,
})
const failure = (reason: Decision['reason'], clusters?: Decision['clusters']): Decision =>
  success(clusters, { reason, message: 'why', failures: ['why'] })

const seen = (binding: Binding, verdict: Verdict, failed?: Failure): Observed => ({
  resource: RESOURCE_BINDINGS,
  binding,
  verdict,
  nowMs: NOW_MS,
  failure: failed,
})
const SCHEDULED = {
  type: 'Scheduled',
  status: 'True',
  reason: 'Success',
  message: 'Binding has been scheduled successfully.',
  lastTransitionTime: '2026-01-01T00:00:05Z',
}
const WAITING = { ...SCHEDULED, status: 'False', reason: 'Unschedulable', message: 'why' }

/** The binding after a decision was carried out. */
const settled = (decision: Decision, more: BindingOptions = {}): Binding =>
  aBindingOf({
    on: { m1: 2 },
    annotations: { [APPLIED_PLACEMENT]: '{}', [DECISION_ANNOTATION]: recordText(decision, 1) },
    status: { schedulerObservedGeneration: 1, conditions: [decision.reason === 'Success' ? SCHEDULED : WAITING] },
    ...more,
  })

function summaryOf(observed: Observed): string[] {
  return plan(observed).actions.map((action) => {
    if (action.do !== 'patch') return action.do
    const { events = [] } = action
    const shown = Array.isArray(events) ? events.map((one) => `${one.reason} of ${one.of.kind}`) : []
    const parts = Object.keys(action.subresource === undefined ? action.patch : (action.patch.status as object))
    return [`${action.subresource ?? 'main'}(${parts.join(' ')})`, ...shown].join(', ')
  })
}

describe('the plan for a binding', () => {
  const M1 = [{ name: 'm1', replicas: 2 }]
  const done = success(M1)
  const recorded = ', ScheduleBindingSucceed of ResourceBinding, ScheduleBindingSucceed of Deployment'
  const failed = ', ScheduleBindingFailed of ResourceBinding, ScheduleBindingFailed of Deployment'
  const decide = (decision: Decision): Verdict => ({ do: 'decide', decision })
  const applied = { [APPLIED_PLACEMENT]: '{}' }
  const table: [string, Observed, string[]][] = [
    ['nothing to do', seen(settled(done), { do: 'nothing' }), []],
    [
      'a generation that changes nothing is noted',
      seen(settled(done, { generation: 2 }), { do: 'note' }),
      ['status(schedulerObservedGeneration)'],
    ],
    ['noted once', seen(settled(done), { do: 'note' }), []],
    ['a new decision: the binding first, with its news', seen(aBindingOf(), decide(done)), [`main(metadata spec)${recorded}`]],
    [
      'then its status, without news',
      seen(aBindingOf({ on: { m1: 2 } }), { do: 'confirm', affinityName: 'near' }),
      ['status(schedulerObservedGeneration schedulerObservingAffinityName conditions lastScheduledTime)'],
    ],
    ['the same decision again: nothing', seen(settled(done), decide(done)), []],
    [
      'the same decision for another generation',
      seen(settled(done, { generation: 2 }), decide(done)),
      ['status(schedulerObservedGeneration conditions lastScheduledTime)'],
    ],
    [
      'the same clusters for another placement',
      seen(settled(done, { placement: { clusterTolerations: [] } }), decide(done)),
      ['main(metadata)'],
    ],
    ['other clusters', seen(settled(done), decide(success([{ name: 'm2', replicas: 2 }]))), [`main(metadata spec)${recorded}`]],
    [
      'other clusters, after affinities in vain',
      seen(settled(done), decide(success([{ name: 'm2', replicas: 2 }], { failures: ['why'] }))),
      [`main(metadata spec)${failed}${recorded}`],
    ],
    ['no cluster fits: they go first', seen(settled(done), decide(failure('NoClusterFit', []))), ['main(metadata spec)']],
    ['room is short: the status first', seen(settled(done), decide(failure('Unschedulable'))), [`status(conditions)${failed}`]],
    ['then the reasons', seen(settled(done, { status: { conditions: [WAITING] } }), decide(failure('Unschedulable'))), ['main(metadata)']],
    ['and then nothing more', seen(settled(failure('Unschedulable')), decide(failure('Unschedulable'))), []],
    [
      'room again, and nothing moves: told with the status',
      seen(
        settled(failure('Unschedulable'), { annotations: { ...applied, [DECISION_ANNOTATION]: recordText(failure('Unschedulable'), 1) } }),
        decide(done),
      ),
      [`status(schedulerObservedGeneration conditions lastScheduledTime)${recorded}`],
    ],
    [
      'a record that cannot be read is written again',
      seen(settled(done, { annotations: { ...applied, [DECISION_ANNOTATION]: '{' } }), decide(done)),
      ['main(metadata)'],
    ],
    [
      'a decision that is refused is told of',
      seen(settled(done), decide(success([])), { message: 'no', code: 403, reason: 'QuotaExceeded' }),
      [`status(conditions)${failed}`],
    ],
    [
      'and tried again',
      seen(settled(done, { status: { conditions: [{ ...WAITING, reason: 'QuotaExceeded', message: 'no' }] } }), decide(success([])), {
        message: 'no',
        code: 403,
        reason: 'QuotaExceeded',
      }),
      [`main(metadata spec)${recorded}`],
    ],
    ['a server that is away is no refusal', seen(settled(done), decide(done), { message: 'away', code: 503 }), []],
  ]
  for (const [name, observed, expected] of table) it(name, () => assert.deepEqual(summaryOf(observed), expected))

  it('says in the record which generation the binding has with it', () => {
    const [action] = plan(seen(aBindingOf({ generation: 4 }), decide(done))).actions
    assert.ok(action?.do === 'patch')
    const { annotations } = action.patch.metadata as { annotations: Record<string, string> }
    assert.equal(JSON.parse(annotations[DECISION_ANNOTATION] ?? '').generation, 5)
    assert.deepEqual(action.patch.spec, { clusters: M1 })
  })

  describe('how much capacity there is', () => {
    const short = (available: number): Decision => ({ ...failure('Unschedulable'), message: `only ${available}` })
    const waiting = (generation: number): Binding =>
      settled(short(5), {
        generation,
        annotations: { ...applied, [DECISION_ANNOTATION]: recordText(short(5), 1) },
        status: { conditions: [{ ...WAITING, message: 'only 5' }] },
      })
    const messageOf = (observed: Observed): string | undefined => {
      const [action] = plan(observed).actions
      const { status } = (action?.do === 'patch' ? action.patch : {}) as { status?: { conditions?: { message: string }[] } }
      return status?.conditions?.[0]?.message
    }
    const cases: [string, number, number, string | undefined][] = [
      ['more than was told is told', 1, 6, 'only 6'],
      ['less is not: nobody would have been woken for it', 1, 4, undefined],
      ['less is told to who asks for something else', 2, 4, 'only 4'],
    ]
    for (const [name, generation, available, expected] of cases)
      it(name, () => assert.equal(messageOf(seen(waiting(generation), decide(short(available)))), expected))

    it('is recorded for the generation that asks', () =>
      assert.deepEqual(summaryOf(seen(waiting(2), decide(short(5)))), ['main(metadata)']))
  })

  it('empties the clusters by taking the field away', () => {
    const [action] = plan(seen(settled(done), decide(failure('NoClusterFit', [])))).actions
    assert.deepEqual(action?.do === 'patch' && action.patch.spec, { clusters: null })
  })
})
