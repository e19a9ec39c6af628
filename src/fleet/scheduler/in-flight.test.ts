import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Binding, BindingStatus } from '../../kinds/karmada/index.ts'
import { ClusterIndex } from './cluster-index.ts'
import { type Demand, demandOf } from './demand.ts'
import { IN_FLIGHT_MS, InFlightIndex } from './in-flight.ts'
import { aBindingOf, aClusterOf, type BindingOptions } from './testing.ts'

const NOW_MS = Date.parse('2026-01-01T00:10:00Z')
const at = (status: Partial<BindingStatus>): BindingOptions => ({
  replicas: 5,
  replicaRequirements: { resourceRequest: { cpu: '500m' } },
  on: { m1: 2, m2: 3 },
  status: { schedulerObservedGeneration: 1, ...status },
})
function followed(index: InFlightIndex, options: BindingOptions, nowMs = NOW_MS): string[] {
  const binding = aBindingOf(options)
  return index.follow('default/web', binding, demandFor(binding), nowMs)
}
const demandFor = (binding: Binding): Demand => demandOf(binding, {})
const podsOn = (index: InFlightIndex): (number | undefined)[] => ['m1', 'm2'].map((name) => index.of(name)?.pods)

describe('what is on its way', () => {
  const just = '2026-01-01T00:09:00Z'
  const table: [string, BindingOptions, (number | undefined)[]][] = [
    ['is what was scheduled a moment ago', at({ lastScheduledTime: just }), [2, 3]],
    [
      'is not what is healthy there',
      at({ lastScheduledTime: just, aggregatedStatus: [{ clusterName: 'm1', health: 'Healthy' }] }),
      [undefined, 3],
    ],
    ['is what is not yet well', at({ lastScheduledTime: just, aggregatedStatus: [{ clusterName: 'm1', health: 'Unhealthy' }] }), [2, 3]],
    ['is not what was scheduled long ago', at({ lastScheduledTime: '2026-01-01T00:05:00Z' }), [undefined, undefined]],
    ['is no longer than from now, whatever the clock said', at({ lastScheduledTime: '2030-01-01T00:00:00Z' }), [2, 3]],
    [
      'is not what has no pods',
      { ...at({ lastScheduledTime: just }), replicas: 0, replicaRequirements: undefined },
      [undefined, undefined],
    ],
  ]
  for (const [name, options, expected] of table)
    it(name, () => {
      const index = new InFlightIndex()
      followed(index, options)
      assert.deepEqual(podsOn(index), expected)
    })

  it('is counted once, with what it needs, and says who has more capacity when it ends', () => {
    const index = new InFlightIndex()
    followed(index, at({ lastScheduledTime: just }))
    assert.deepEqual(followed(index, at({ lastScheduledTime: just })), [])
    assert.equal(index.of('m2')?.amounts.get('cpu'), 1500)
    assert.deepEqual(followed(index, at({ lastScheduledTime: just, aggregatedStatus: [{ clusterName: 'm2', health: 'Healthy' }] })), ['m2'])
    assert.deepEqual(index.follow('default/web', undefined, undefined, NOW_MS), ['m1'])
    assert.deepEqual([podsOn(index), index.nextEndMs()], [[undefined, undefined], undefined])
  })

  it('is remembered from the decision until the cache shows all of it', () => {
    const index = new InFlightIndex()
    const old = aBindingOf({ ...at({ lastScheduledTime: '2026-01-01T00:00:00Z' }), on: { m1: 2 } })
    index.decided('default/web', demandFor(old), { clusters: [{ name: 'm1', replicas: 4 }], generation: 2, nowMs: NOW_MS })
    index.follow('default/web', old, demandFor(old), NOW_MS)
    // Two of the four have arrived already.
    assert.deepEqual(podsOn(index), [2, undefined])
    const moved = aBindingOf({ ...at({ lastScheduledTime: '2026-01-01T00:00:00Z' }), on: { m1: 4 }, generation: 2 })
    index.follow('default/web', moved, demandFor(moved), NOW_MS)
    assert.deepEqual(podsOn(index), [2, undefined])
    const elsewhere = aBindingOf({ ...at({ lastScheduledTime: just }), on: { m2: 1 }, generation: 3 })
    index.follow('default/web', elsewhere, demandFor(elsewhere), NOW_MS)
    assert.deepEqual(podsOn(index), [undefined, 1])
  })

  it('ends by itself', () => {
    const index = new InFlightIndex()
    followed(index, at({ lastScheduledTime: just }))
    const endMs = Date.parse(just) + IN_FLIGHT_MS
    assert.equal(index.nextEndMs(), endMs)
    index.expire(endMs - 1)
    assert.deepEqual(podsOn(index), [2, 3])
    index.expire(endMs)
    assert.deepEqual([podsOn(index), index.isEmpty], [[undefined, undefined], true])
  })
})

describe('what a cluster says of a binding', () => {
  const just = '2026-01-01T00:09:00Z'
  const item = (health: 'Healthy' | 'Unhealthy', replicas: number) => ({ clusterName: 'm1', health, status: { replicas } })
  const running = (replicas: number, reported: ReturnType<typeof item>, generation: number): Binding =>
    aBindingOf({
      replicas,
      on: { m1: replicas },
      generation,
      status: { schedulerObservedGeneration: generation, lastScheduledTime: just, aggregatedStatus: [reported] },
    })
  /** Two are running and healthy; then six are decided. */
  function grown(index: InFlightIndex): (binding: Binding) => number | undefined {
    const see = (binding: Binding): number | undefined => {
      index.follow('default/web', binding, demandFor(binding), NOW_MS)
      return index.of('m1')?.pods
    }
    const before = running(2, item('Healthy', 2), 1)
    see(before)
    index.decided('default/web', demandFor(before), { clusters: [{ name: 'm1', replicas: 6 }], generation: 2, nowMs: NOW_MS })
    return see
  }

  it('says nothing about a decision that was made after it', () => {
    const index = new InFlightIndex()
    const see = grown(index)
    assert.deepEqual(
      [item('Healthy', 2), item('Unhealthy', 4), item('Healthy', 6), item('Unhealthy', 5)].map((reported) => see(running(6, reported, 2))),
      [4, 4, undefined, undefined],
    )
  })

  it('is believed when what it has is known to count it, not before', () => {
    let isCurrent = true
    const index = new InFlightIndex(() => isCurrent)
    const see = grown(index)
    isCurrent = false
    assert.equal(see(running(6, item('Healthy', 6), 2)), 4)
    assert.deepEqual([index.count('m1'), index.of('m1')?.pods], [false, 4])
    isCurrent = true
    assert.deepEqual([index.count('m2'), index.count('m1'), index.count('m1'), index.of('m1')], [false, true, false, undefined])
  })

  it('is asked for again before a decision', () => {
    let isCurrent = true
    const index = new InFlightIndex(() => isCurrent)
    const see = grown(index)
    isCurrent = false
    see(running(6, item('Healthy', 6), 2))
    isCurrent = true
    index.expire(NOW_MS)
    assert.equal(index.of('m1'), undefined)
  })

  it('still counts what came before it, when more is decided meanwhile', () => {
    const index = new InFlightIndex()
    const see = grown(index)
    const unwell = running(6, item('Unhealthy', 3), 2)
    see(unwell)
    index.decided('default/web', demandFor(unwell), { clusters: [{ name: 'm1', replicas: 9 }], generation: 3, nowMs: NOW_MS })
    assert.equal(index.of('m1')?.pods, 7)
    // This decision was never written.
    index.forgetUnwritten('default/web', unwell, demandFor(unwell), NOW_MS)
    assert.equal(index.of('m1')?.pods, 4)
    assert.equal(see(running(3, item('Unhealthy', 3), 3)), 3)
  })

  it('is not asked about sets of components that are decided anew', () => {
    const index = new InFlightIndex()
    const components = [{ name: 'a', replicas: 2 }]
    const binding = aBindingOf({ components, on: { m1: 0 }, status: { lastScheduledTime: just, aggregatedStatus: [item('Healthy', 2)] } })
    index.follow('default/web', binding, demandFor(binding), NOW_MS)
    assert.equal(index.of('m1'), undefined)
    index.decided('default/web', demandFor(binding), { clusters: [{ name: 'm1', components }], generation: 2, nowMs: NOW_MS })
    assert.equal(index.of('m1')?.pods, 2)
  })
})

describe('a change of a cluster', () => {
  const changed = (before: Parameters<typeof aClusterOf>[1], after: Parameters<typeof aClusterOf>[1]) => {
    const index = new ClusterIndex()
    index.follow('m1', aClusterOf('m1', before))
    const { isLost, isDifferent, gainedApis, hasMore } = index.follow('m1', aClusterOf('m1', after)) ?? {}
    return { isLost, isDifferent, gainedApis, hasMore }
  }
  const none = { isLost: false, isDifferent: false, gainedApis: [], hasMore: false }
  const table: [
    string,
    Parameters<typeof aClusterOf>[1],
    Parameters<typeof aClusterOf>[1],
    Partial<typeof none> | { gainedApis: string[] },
  ][] = [
    ['that says the same', {}, {}, {}],
    ['to less room', { pods: 5 }, { pods: 4 }, {}],
    ['to more room', { pods: 5 }, { pods: 6 }, { hasMore: true }],
    ['to more of one and less of another', { pods: 5, cpu: '4' }, { pods: 4, cpu: '5' }, { hasMore: true }],
    ['that says what it has at last', { isSilent: true }, {}, { hasMore: true }],
    ['of its labels', {}, { labels: { a: 'b' } }, { isDifferent: true }],
    ['of its taints', {}, { taints: [{ key: 'k', effect: 'NoSchedule' }] }, { isDifferent: true }],
    ['that goes', {}, { isDeleting: true }, { isLost: true }],
    ['to more kinds', { kinds: ['Deployment'] }, {}, { gainedApis: ['v1/ConfigMap'] }],
    ['to fewer kinds', {}, { kinds: ['Deployment'] }, {}],
  ]
  for (const [name, before, after, expected] of table) it(name, () => assert.deepEqual(changed(before, after), { ...none, ...expected }))

  it('that the cache reports twice is one', () => {
    const index = new ClusterIndex()
    const cluster = aClusterOf('m1')
    assert.equal(index.follow('m1', cluster)?.isDifferent, true)
    assert.equal(index.follow('m1', cluster), undefined)
    assert.equal(index.follow('m1', undefined)?.isLost, true)
    assert.deepEqual([index.clusters, index.isGone('m1'), index.follow('m1', undefined)], [[], true, undefined])
  })
})
