import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Work } from '../../kinds/karmada/work.ts'
import { CONFIG_MAPS } from '../../kinds/kubernetes/resources.ts'
import type { Action, Batch, Plan, Result } from '../../runtime/controller.ts'
import { createMemory } from './memory.ts'
import type { View } from './observe.ts'
import { plan } from './plan.ts'
import { aConfigMap, aWork, conditionsOf } from './testing.ts'
import type { Verdict } from './verdict.ts'

const START = Date.UTC(2026, 0, 1)
const time = (ms: number): string => new Date(START + ms).toISOString().replace('.000', '')

function view(name: string, verdict: Verdict, ordinal = 0): View {
  const desired = aConfigMap(name)
  return { identifier: { ordinal, version: 'v1', kind: 'ConfigMap', resource: '', namespace: 'default', name }, desired, verdict }
}
const healthy = (name: string, status: Record<string, unknown> = {}): View => ({
  ...view(name, { do: 'nothing' }),
  reflection: { health: 'Healthy', status },
})
const creating = (name: string, ordinal = 0): View => view(name, { do: 'create', resource: CONFIG_MAPS, object: aConfigMap(name) }, ordinal)

const DISPATCHING = {
  type: 'Dispatching',
  status: 'True',
  reason: 'Dispatching',
  message: 'Work is being dispatched to member clusters.',
  lastTransitionTime: time(0),
}
const withStatus = (applied: 'True' | 'False', more: object = {}, message = 'Manifest has been successfully applied'): Work =>
  ({
    ...aWork('w', [aConfigMap('a')]),
    status: {
      conditions: [
        DISPATCHING,
        {
          type: 'Applied',
          status: applied,
          reason: applied === 'True' ? 'AppliedSuccessful' : 'AppliedFailed',
          message,
          lastTransitionTime: time(0),
        },
      ],
      ...more,
    },
  }) as Work

const placing = (work: Work, views: readonly View[], { nowMs = 0, reflectedMs = -5000 } = {}): Plan =>
  plan({ state: 'placing', work, cluster: 'member1', nowMs: START + nowMs, views, reflectedAtMs: START + reflectedMs })

const batch = ({ actions }: Plan): Batch => {
  const [first] = actions
  assert.ok(first?.do === 'batch')
  return first
}
const statusIn = (actions: readonly (Action | Batch)[]): string[] => {
  const [action] = actions
  assert.ok(action?.do === 'patch' && action.subresource === 'status')
  return conditionsOf({ ...aWork('w', []), status: (action.patch as { status: Work['status'] }).status })
}

describe('what became of writes', () => {
  const fresh = aWork('w', [aConfigMap('a')])
  const table: [string, { work: Work; results: Result[] }, { applied: string | undefined; mustRetry: boolean }][] = [
    [
      'all went well: the member will say so',
      { work: fresh, results: [{ object: aConfigMap('a') }] },
      { applied: undefined, mustRetry: false },
    ],
    [
      'a refusal is said',
      { work: fresh, results: [{ failure: { message: 'no way', code: 422, reason: 'Invalid' } }] },
      { applied: 'Applied False AppliedFailed: Failed to apply all manifests (0/1): no way', mustRetry: false },
    ],
    [
      'a conflict is nothing to tell',
      { work: fresh, results: [{ failure: { message: 'moved', code: 409, reason: 'Conflict' } }] },
      { applied: undefined, mustRetry: false },
    ],
    [
      'what exists is looked at first',
      { work: fresh, results: [{ failure: { message: 'exists', code: 409, reason: 'AlreadyExists' } }] },
      { applied: undefined, mustRetry: true },
    ],
    [
      'no answer is told of what never arrived',
      { work: fresh, results: [{ failure: { message: 'cut off' } }] },
      { applied: 'Applied False AppliedFailed: Failed to apply all manifests (0/1): cut off', mustRetry: false },
    ],
    [
      'and not of what did',
      { work: withStatus('True'), results: [{ failure: { message: 'cut off' } }] },
      { applied: undefined, mustRetry: false },
    ],
    [
      'a refusal also of what did',
      { work: withStatus('True'), results: [{ failure: { message: 'no way', code: 403, reason: 'Forbidden' } }] },
      { applied: 'Applied False AppliedFailed: Failed to apply all manifests (0/1): no way', mustRetry: false },
    ],
  ]
  for (const [name, { work, results }, expected] of table)
    it(name, () => {
      const { areIndependent, conclude } = batch(placing(work, [creating('a')]))
      const { actions, mustRetry = false } = conclude?.(results) ?? { actions: [] }
      assert.equal(areIndependent, true)
      assert.deepEqual({ applied: actions.length === 0 ? undefined : statusIn(actions)[0], mustRetry }, expected)
    })

  it('several errors are listed once each, with how many are in place', () => {
    const views = [creating('a', 0), creating('b', 1), view('c', { do: 'refuse', why: 'not ours' }, 2), { ...healthy('d') }]
    const refused = { failure: { message: 'no way', code: 422, reason: 'Invalid' } }
    const { conclude } = batch(placing(fresh, views))
    const { actions } = conclude?.([refused, refused]) ?? { actions: [] }
    assert.equal(statusIn(actions)[0], 'Applied False AppliedFailed: Failed to apply all manifests (1/4): [not ours, no way]')
  })
})

describe('how often a status is written', () => {
  const [before] = [{ manifestStatuses: [{ identifier: healthy('a').identifier, status: { ready: 1 }, health: 'Healthy' }] }]
  const table: [string, { view: View; reflectedMs: number }, { writes: number; requeueAfterMs: number | undefined }][] = [
    ['not at all when nothing changed', { view: healthy('a', { ready: 1 }), reflectedMs: -5000 }, { writes: 0, requeueAfterMs: undefined }],
    ['at once when it has been quiet', { view: healthy('a', { ready: 2 }), reflectedMs: -1000 }, { writes: 1, requeueAfterMs: undefined }],
    ['later when it has just changed', { view: healthy('a', { ready: 2 }), reflectedMs: -300 }, { writes: 0, requeueAfterMs: 700 }],
    [
      'at once when health changes',
      { view: { ...healthy('a'), reflection: { health: 'Unhealthy', status: { ready: 0 } } }, reflectedMs: -300 },
      { writes: 1, requeueAfterMs: undefined },
    ],
    [
      'at once when nobody can tell its health, which is asked for again',
      { view: { ...healthy('a'), reflection: { health: 'Unknown', status: { ready: 1 }, healthFailure: 'gone' } }, reflectedMs: -300 },
      { writes: 1, requeueAfterMs: 30_000 },
    ],
    [
      'not at all when its status cannot be read, which is asked for again',
      { view: { ...healthy('a'), reflection: { health: 'Healthy', statusFailure: 'gone' } }, reflectedMs: -5000 },
      { writes: 0, requeueAfterMs: 30_000 },
    ],
  ]
  for (const [name, { view: of, reflectedMs }, expected] of table)
    it(name, () => {
      const { actions, requeueAfterMs } = placing(withStatus('True', before), [of], { reflectedMs })
      assert.deepEqual({ writes: actions.length, requeueAfterMs }, expected)
    })
})

it('since when a Work carries its status is never later than now, though the clock was set back', () => {
  const memory = createMemory()
  const ref = { namespace: 'karmada-es-member1', name: 'web' }
  assert.deepEqual(
    [5000, 6000, 100, 200].map((nowMs) => memory.reflectedAtMs(ref, aWork('w', [aConfigMap('a')]), nowMs)),
    [5000, 5000, 100, 100],
  )
})

describe('how soon a refusal is tried again', () => {
  const refusing = view('a', { do: 'refuse', why: 'not ours' })
  const work = withStatus('False', {}, 'Failed to apply all manifests (0/1): not ours')
  const table: [string, number, number][] = [
    ['soon at first', 0, 1000],
    ['after as long as it has lasted', 30_000, 30_000],
    ['at most after five minutes', 3_600_000, 300_000],
    ['soon when the clock went back', -60_000, 1000],
  ]
  for (const [name, nowMs, expected] of table)
    it(name, () => {
      const { actions, requeueAfterMs } = placing(work, [refusing], { nowMs, reflectedMs: nowMs - 5000 })
      assert.deepEqual({ actions, requeueAfterMs }, { actions: [], requeueAfterMs: expected })
    })
})

describe('a Work that another cluster waits for', () => {
  const work = aWork('w', [aConfigMap('a')])
  const seen = { state: 'going', work, cluster: 'member1', nowMs: START, mustEndFirst: true } as const
  const managed = [{ resource: CONFIG_MAPS, object: aConfigMap('a') }]
  const done = ({ actions }: Plan): string[] => actions.map((action) => action.do)

  it('goes when its objects and their pods are gone, not before', () => {
    const patches = done(plan({ ...seen, managed: [], pods: 0 }))
    assert.equal(patches.length, 1)
    assert.deepEqual(done(plan({ ...seen, managed, pods: 0 })), ['delete'])
    assert.deepEqual(done(plan({ ...seen, managed: [], pods: 2 })), [])
    assert.deepEqual(done(plan({ ...seen, mustEndFirst: false, managed })), ['delete', ...patches])
  })
  it('is requeued, with the reason in an event', () => {
    const { requeueAfterMs, events } = plan({ ...seen, managed: [], pods: 2 })
    assert.equal(requeueAfterMs, 1000)
    assert.match(events?.[0]?.message ?? '', /2 of its pods have not ended in cluster\(member1\)$/)
  })
})
