import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Binding, Cluster, Placement, Policy } from '../../kinds/karmada/index.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { type NarrowingAnswer, RELEASED } from '../../runtime/seams/narrowing.ts'
import { type ClaimFact, decide, type Facts } from './decide.ts'
import { readRelease } from './release.ts'

const INJECTED = 'datadependency.volcano.sh/placement-injected'

const cluster = (name: string, isReady = true): Cluster =>
  ({ metadata: { name }, spec: {}, status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] } }) as unknown as Cluster
const policy = (placement: Placement = {}): Policy =>
  ({ metadata: { namespace: 'a', name: 'all' }, spec: { placement } }) as unknown as Policy
const claim = (name: string, annotations: Record<string, string> = {}, generation = 1): DataSourceClaim =>
  ({ metadata: { namespace: 'a', name, uid: `uid-${name}`, generation, annotations }, spec: {} }) as unknown as DataSourceClaim
const source = (name: string): DataSource => ({ metadata: { name }, spec: {} }) as unknown as DataSource
const met = (name: string, ...clusters: string[]): ClaimFact => ({
  claim: claim(name),
  state: { is: 'met', source: source(`ds-${name}`), clusters },
})
const waiting = (name: string, reason = 'NoSuchSource'): ClaimFact => ({
  claim: claim(name),
  state: { is: 'waiting', reason, message: 'no source' },
})
const unknown = (name: string): ClaimFact => ({ claim: claim(name), state: { is: 'unknown' } })
const binding = (places: readonly string[], annotations: Record<string, string> = {}, spec: Partial<Binding['spec']> = {}): Binding =>
  ({ metadata: { annotations }, spec: { clusters: places.map((name) => ({ name })), ...spec } }) as unknown as Binding

const facts = (more: Partial<Facts>): Facts => ({
  claims: [],
  missing: [],
  policy: policy(),
  clusters: [cluster('east'), cluster('west')],
  binding: undefined,
  nowMs: 0,
  ...more,
})

/** `allow`, or `!Reason`. */
const shortly = (answer: NarrowingAnswer | undefined): string =>
  answer === undefined
    ? 'free'
    : [...(answer.hold === undefined ? [] : [`!${answer.hold.reason}`]), ...(answer.allow === undefined ? [] : [answer.allow.join()])].join(
        ' ',
      )

/** A binding as it is once a release was carried out. */
function released(more: Partial<Facts>, places: readonly string[], spec: Partial<Binding['spec']> = {}): Binding {
  const { annotations = {} } = decide(facts({ ...more, binding: undefined })) ?? {}
  assert.equal(annotations[INJECTED], 'true')
  return binding(places, annotations as Record<string, string>, spec)
}

describe('a workload that runs nowhere yet', () => {
  const table: [string, Partial<Facts>, string][] = [
    ['no claim', {}, 'free'],
    ['a claim that is met', { claims: [met('x', 'west')] }, 'west'],
    ['two: what both allow', { claims: [met('x', 'west', 'east'), met('y', 'west')] }, 'west'],
    ['two with nothing in common', { claims: [met('x', 'west'), met('y', 'east')] }, '!NoCommonCluster'],
    [
      'a policy for other clusters',
      { claims: [met('x', 'west')], policy: policy({ clusterAffinity: { clusterNames: ['east'] } }) },
      '!NoCommonCluster',
    ],
    [
      'a group of the policy that fits',
      {
        claims: [met('x', 'west')],
        policy: policy({
          clusterAffinities: [
            { affinityName: 'a', clusterNames: ['east'] },
            { affinityName: 'b', clusterNames: ['west'] },
          ],
        }),
      },
      'west',
    ],
    [
      'an overflow of the policy that fits',
      {
        claims: [met('x', 'west')],
        policy: policy({
          clusterAffinities: [
            { affinityName: 'a', clusterNames: ['east'], overflowAffinities: [{ affinityName: 'b', clusterNames: ['west'] }] },
          ],
        }),
      },
      'west',
    ],
    [
      'the cluster with the data is not ready',
      { claims: [met('x', 'west')], clusters: [cluster('east'), cluster('west', false)] },
      '!DataClusterUnavailable',
    ],
    [
      'one of two is not ready: both stay allowed',
      { claims: [met('x', 'west', 'east')], clusters: [cluster('east'), cluster('west', false)] },
      'east,west',
    ],
    ['a claim that waits', { claims: [met('x', 'west'), waiting('y')] }, '!NoSuchSource'],
    ['a claim nobody has looked at', { claims: [unknown('x')] }, '!NotResolved'],
    ['a claim it names that does not exist', { claims: [met('x', 'west')], missing: ['y'] }, '!NoSuchClaim'],
    ['names that cannot be read', { unreadable: 'bad' }, '!InvalidAnnotation'],
    ['a source whose clusters have not joined', { claims: [met('x', 'north')] }, '!NoCommonCluster'],
  ]
  for (const [name, more, expected] of table) it(name, () => assert.equal(shortly(decide(facts(more))), expected))

  it('has both sets in the text of a conflict', () => {
    const answer = decide(facts({ claims: [met('x', 'west'), met('y', 'east')] }))
    assert.equal(
      answer?.hold?.message,
      'no cluster is allowed by claim x (source ds-x: west) and claim y (source ds-y: east) and the policy all (east, west)',
    )
    assert.deepEqual(
      answer?.hold?.by.map(({ kind, name }) => `${kind}/${name}`),
      ['DataSourceClaim/x', 'DataSource/ds-x', 'DataSourceClaim/y', 'DataSource/ds-y'],
    )
  })

  it('keeps the text of its hold while a claim is unknown', () => {
    const held = binding([], { 'sluice.dev/held-because': 'claim x: no source', 'sluice.dev/held-reason': 'NoSuchSource' })
    assert.equal(decide(facts({ claims: [unknown('x')], binding: held }))?.hold?.message, 'claim x: no source')
  })

  it('is decided anew each time, and nothing is written when nothing changed', () => {
    const claims = [met('x', 'west')]
    const before = released({ claims }, [])
    assert.deepEqual(decide(facts({ claims, binding: before, nowMs: 99_000 }))?.annotations, before.metadata.annotations)
    assert.equal(shortly(decide(facts({ claims: [met('x', 'east')], binding: before }))), 'east')
    assert.equal(shortly(decide(facts({ claims: [waiting('x')], binding: before }))), '!NoSuchSource')
  })
})

describe('a workload that runs', () => {
  const claims = [met('x', 'west')]
  const moved = [met('x', 'east')]
  const running = released({ claims }, ['west'])
  const table: [string, Partial<Facts>, string][] = [
    ['nothing changed', { claims, binding: running }, 'west'],
    ['a second site of the data', { claims: [met('x', 'east', 'west')], binding: running }, 'west'],
    ['data that moves', { claims: moved, binding: running }, 'west'],
    [
      'data that moves, under a claim that follows it',
      { claims: [{ ...moved[0], claim: claim('x', { 'sluice.dev/on-locality-change': 'Move' }) } as ClaimFact], binding: running },
      'east',
    ],
    ['data that is lost', { claims: [waiting('x', 'NoSuchSource')], binding: running }, 'west'],
    [
      'data that is lost, under a claim that follows it',
      { claims: [{ ...waiting('x'), claim: claim('x', { 'sluice.dev/on-locality-change': 'Move' }) }], binding: running },
      'west',
    ],
    ['data that moved, and another policy', { claims: moved, binding: running, policy: policy({ clusterTolerations: [] }) }, 'east'],
    [
      'data that was lost, and another policy',
      { claims: [waiting('x')], binding: running, policy: policy({ clusterTolerations: [] }) },
      'west',
    ],
    [
      'data that moved, and a reschedule',
      { claims: moved, binding: released({ claims }, ['west'], { rescheduleTriggeredAt: '2026-01-01T00:00:00Z' }) },
      'east',
    ],
    [
      'data that moved, and an eviction',
      { claims: moved, binding: released({ claims }, ['west'], { gracefulEvictionTasks: [{ fromCluster: 'w' } as never] }) },
      'east',
    ],
    [
      'data that moved, and another spec of the claim',
      { claims: [{ ...moved[0], claim: claim('x', {}, 2) } as ClaimFact], binding: running },
      'east',
    ],
    ['another spec that is not met', { claims: [{ ...waiting('x'), claim: claim('x', {}, 2) }], binding: running }, '!NoSuchSource west'],
    ['another spec that nobody has looked at', { claims: [{ ...unknown('x'), claim: claim('x', {}, 2) }], binding: running }, 'west'],
    ['a second claim that is met', { claims: [met('w', 'east', 'west'), met('x', 'west')], binding: running }, 'west'],
    ['a second claim that waits', { claims: [met('x', 'west'), waiting('y')], binding: running }, '!NoSuchSource west'],
    [
      'a second claim without a common cluster',
      { claims: [met('x', 'west'), met('y', 'east')], binding: running },
      '!NoCommonCluster west',
    ],
    ['its cluster is not ready', { claims, binding: running, clusters: [cluster('east'), cluster('west', false)] }, 'west'],
    ['its claim is gone', { binding: running }, ''],
    ['its claim is gone, but still named', { missing: ['x'], binding: running }, 'west'],
    [
      'its claim is gone, but still named, and another policy',
      { missing: ['x'], binding: running, policy: policy({ clusterTolerations: [] }) },
      'west',
    ],
    ['it names one more that does not exist', { claims, missing: ['y'], binding: running }, '!NoSuchClaim west'],
    ['a claim that came after it, and is met', { claims, binding: binding(['east']) }, 'west'],
    ['a claim that came after it, and waits', { claims: [waiting('x')], binding: binding(['east']) }, '!NoSuchSource'],
    ['a claim that came after it, nobody has looked at', { claims: [unknown('x')], binding: binding(['east']) }, ''],
    ['a record that somebody broke', { claims, binding: binding(['west'], { [RELEASED]: '{' }) }, 'west'],
  ]
  for (const [name, more, expected] of table) it(name, () => assert.equal(shortly(decide(facts(more))), expected))

  it('learns from an event what a claim that came later does to it', () => {
    assert.equal(decide(facts({ claims, binding: binding(['east']) }))?.event?.message, 'claim x allows only west: it leaves east')
    assert.equal(decide(facts({ claims, binding: binding(['west']) }))?.event?.message, 'claim x allows only west: it stays where it is')
    assert.equal(decide(facts({ claims, binding: running }))?.event, undefined)
  })

  it('loses both annotations with its last claim', () => {
    assert.deepEqual(decide(facts({ binding: running }))?.annotations, { [RELEASED]: null, [INJECTED]: null })
  })

  it('stays where it is when somebody writes the placement of its policy in another order', () => {
    const one: Placement = { clusterAffinity: { clusterNames: ['east', 'west'], exclude: ['north'] }, clusterTolerations: [] }
    const other: Placement = { clusterTolerations: [], clusterAffinity: { exclude: ['north'], clusterNames: ['east', 'west'] } }
    const binding = released({ claims, policy: policy(one) }, ['west'])
    assert.equal(shortly(decide(facts({ claims: moved, binding, policy: policy(other) }))), 'west')
  })

  it('consumes a change of its policy although it could not be computed anew', () => {
    const other = policy({ clusterTolerations: [] })
    const lost = decide(facts({ claims: [waiting('x')], binding: running, policy: other }))
    const after = binding(['west'], lost?.annotations as Record<string, string>)
    assert.equal(shortly(decide(facts({ claims: moved, binding: after, policy: other }))), 'west')
  })
})

describe('whatever is known', () => {
  const names = fc.subarray(['east', 'north', 'west'], { minLength: 1 })
  const state: fc.Arbitrary<ClaimFact['state']> = fc.oneof(
    names.map((clusters): ClaimFact['state'] => ({ is: 'met', source: source('s'), clusters })),
    fc.constant<ClaimFact['state']>({ is: 'waiting', reason: 'NoSuchSource', message: 'm' }),
    fc.constant<ClaimFact['state']>({ is: 'unknown' }),
  )
  const claims = fc
    .array(state, { maxLength: 3 })
    .map((states) => states.map((one, i): ClaimFact => ({ claim: claim(`c${i}`), state: one })))

  it('what is released had every claim met, and goes only where all of the data is', () => {
    fc.assert(
      fc.property(claims, fc.subarray(['x', 'c0']), (all, missing) => {
        const answer = decide(facts({ claims: all, missing }))
        if (all.length === 0 && missing.length === 0) return assert.equal(answer, undefined)
        if (answer?.hold !== undefined) return assert.equal(answer.allow, undefined)
        assert.deepEqual(missing, [])
        for (const { state: one } of all) {
          assert.equal(one.is, 'met')
          for (const name of answer?.allow ?? []) assert.ok(one.is === 'met' && one.clusters.includes(name))
        }
        assert.notEqual(answer?.allow?.length, 0)
      }),
    )
  })

  it('a second look decides the same, and any record is survived', () => {
    fc.assert(
      fc.property(claims, fc.subarray(['east', 'west']), fc.oneof(fc.json(), fc.string()), (all, places, text) => {
        const first = decide(facts({ claims: all, binding: binding(places, { [RELEASED]: text }) }))
        if (first === undefined || all.some(({ state: one }) => one.is === 'unknown')) return
        const annotations: Record<string, string> = {}
        for (const [key, value] of Object.entries({ [RELEASED]: text, ...first.annotations })) if (value !== null) annotations[key] = value
        if (first.hold !== undefined)
          Object.assign(annotations, { 'sluice.dev/held-because': first.hold.message, 'sluice.dev/held-reason': first.hold.reason })
        const again = decide(facts({ claims: all, binding: binding(places, annotations), nowMs: 5000 }))
        assert.deepEqual([again?.allow, again?.hold?.message], [first.allow, first.hold?.message])
        assert.deepEqual(
          readRelease(annotations[RELEASED]) ?? null,
          readRelease(again?.annotations?.[RELEASED] ?? undefined) ?? readRelease(annotations[RELEASED]) ?? null,
        )
      }),
    )
  })
})
