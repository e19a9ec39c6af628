import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Binding, BindingStatus } from '../../kinds/karmada/index.ts'
import { ClusterBook } from './cluster-book.ts'
import { type Demand, demandOf } from './demand.ts'
import { IN_FLIGHT_MS, InFlightBook } from './in-flight.ts'
import { aBindingOf, aClusterOf, type BindingWish } from './testing.ts'

const NOW_MS = Date.parse('2026-01-01T00:10:00Z')
const at = (status: Partial<BindingStatus>): BindingWish => ({
  replicas: 5,
  replicaRequirements: { resourceRequest: { cpu: '500m' } },
  on: { m1: 2, m2: 3 },
  status: { schedulerObservedGeneration: 1, ...status },
})
function followed(book: InFlightBook, wish: BindingWish, nowMs = NOW_MS): string[] {
  const binding = aBindingOf(wish)
  return book.follow('default/web', binding, demandFor(binding), nowMs)
}
const demandFor = (binding: Binding): Demand => demandOf(binding, {})
const podsOn = (book: InFlightBook): (number | undefined)[] => ['m1', 'm2'].map((name) => book.of(name)?.pods)

describe('what is on its way', () => {
  const just = '2026-01-01T00:09:00Z'
  const table: [string, BindingWish, (number | undefined)[]][] = [
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
  for (const [name, wish, expected] of table)
    it(name, () => {
      const book = new InFlightBook()
      followed(book, wish)
      assert.deepEqual(podsOn(book), expected)
    })

  it('is counted once, with what it needs, and says who has more room when it ends', () => {
    const book = new InFlightBook()
    followed(book, at({ lastScheduledTime: just }))
    assert.deepEqual(followed(book, at({ lastScheduledTime: just })), [])
    assert.equal(book.of('m2')?.amounts.get('cpu'), 1500)
    assert.deepEqual(followed(book, at({ lastScheduledTime: just, aggregatedStatus: [{ clusterName: 'm2', health: 'Healthy' }] })), ['m2'])
    assert.deepEqual(book.follow('default/web', undefined, undefined, NOW_MS), ['m1'])
    assert.deepEqual([podsOn(book), book.nextEndMs()], [[undefined, undefined], undefined])
  })

  it('is remembered from the decision until the cache shows all of it', () => {
    const book = new InFlightBook()
    const old = aBindingOf({ ...at({ lastScheduledTime: '2026-01-01T00:00:00Z' }), on: { m1: 2 } })
    book.decided('default/web', demandFor(old), { clusters: [{ name: 'm1', replicas: 4 }], generation: 2, nowMs: NOW_MS })
    book.follow('default/web', old, demandFor(old), NOW_MS)
    // Two of the four are there already.
    assert.deepEqual(podsOn(book), [2, undefined])
    const moved = aBindingOf({ ...at({ lastScheduledTime: '2026-01-01T00:00:00Z' }), on: { m1: 4 }, generation: 2 })
    book.follow('default/web', moved, demandFor(moved), NOW_MS)
    assert.deepEqual(podsOn(book), [2, undefined])
    const elsewhere = aBindingOf({ ...at({ lastScheduledTime: just }), on: { m2: 1 }, generation: 3 })
    book.follow('default/web', elsewhere, demandFor(elsewhere), NOW_MS)
    assert.deepEqual(podsOn(book), [undefined, 1])
  })

  it('ends by itself', () => {
    const book = new InFlightBook()
    followed(book, at({ lastScheduledTime: just }))
    const endMs = Date.parse(just) + IN_FLIGHT_MS
    assert.equal(book.nextEndMs(), endMs)
    book.expire(endMs - 1)
    assert.deepEqual(podsOn(book), [2, 3])
    book.expire(endMs)
    assert.deepEqual([podsOn(book), book.isEmpty], [[undefined, undefined], true])
  })
})

describe('what a cluster says of a binding', () => {
  const just = '2026-01-01T00:09:00Z'
  const item = (health: 'Healthy' | 'Unhealthy', replicas: number) => ({ clusterName: 'm1', health, status: { replicas } })
  const running = (replicas: number, said: ReturnType<typeof item>, generation: number): Binding =>
    aBindingOf({
      replicas,
      on: { m1: replicas },
      generation,
      status: { schedulerObservedGeneration: generation, lastScheduledTime: just, aggregatedStatus: [said] },
    })
  /** Two are there and well; then six are decided. */
  function grown(book: InFlightBook): (binding: Binding) => number | undefined {
    const see = (binding: Binding): number | undefined => {
      book.follow('default/web', binding, demandFor(binding), NOW_MS)
      return book.of('m1')?.pods
    }
    const before = running(2, item('Healthy', 2), 1)
    see(before)
    book.decided('default/web', demandFor(before), { clusters: [{ name: 'm1', replicas: 6 }], generation: 2, nowMs: NOW_MS })
    return see
  }

  it('tells nothing of a decision that was made after it', () => {
    const book = new InFlightBook()
    const see = grown(book)
    assert.deepEqual(
      [item('Healthy', 2), item('Unhealthy', 4), item('Healthy', 6), item('Unhealthy', 5)].map((said) => see(running(6, said, 2))),
      [4, 4, undefined, undefined],
    )
  })

  it('is believed when what it has is known to count it, not before', () => {
    let isCurrent = true
    const book = new InFlightBook(() => isCurrent)
    const see = grown(book)
    isCurrent = false
    assert.equal(see(running(6, item('Healthy', 6), 2)), 4)
    assert.deepEqual([book.count('m1'), book.of('m1')?.pods], [false, 4])
    isCurrent = true
    assert.deepEqual([book.count('m2'), book.count('m1'), book.count('m1'), book.of('m1')], [false, true, false, undefined])
  })

  it('is asked for again before a decision', () => {
    let isCurrent = true
    const book = new InFlightBook(() => isCurrent)
    const see = grown(book)
    isCurrent = false
    see(running(6, item('Healthy', 6), 2))
    isCurrent = true
    book.expire(NOW_MS)
    assert.equal(book.of('m1'), undefined)
  })

  it('still counts what came before it, when more is decided meanwhile', () => {
    const book = new InFlightBook()
    const see = grown(book)
    const unwell = running(6, item('Unhealthy', 3), 2)
    see(unwell)
    book.decided('default/web', demandFor(unwell), { clusters: [{ name: 'm1', replicas: 9 }], generation: 3, nowMs: NOW_MS })
    assert.equal(book.of('m1')?.pods, 7)
    // That was never written.
    book.forgetUnwritten('default/web', unwell, demandFor(unwell), NOW_MS)
    assert.equal(book.of('m1')?.pods, 4)
    assert.equal(see(running(3, item('Unhealthy', 3), 3)), 3)
  })

  it('is not asked about sets of components that are decided anew', () => {
    const book = new InFlightBook()
    const components = [{ name: 'a', replicas: 2 }]
    const binding = aBindingOf({ components, on: { m1: 0 }, status: { lastScheduledTime: just, aggregatedStatus: [item('Healthy', 2)] } })
    book.follow('default/web', binding, demandFor(binding), NOW_MS)
    assert.equal(book.of('m1'), undefined)
    book.decided('default/web', demandFor(binding), { clusters: [{ name: 'm1', components }], generation: 2, nowMs: NOW_MS })
    assert.equal(book.of('m1')?.pods, 2)
  })
})

describe('a change of a cluster', () => {
  const changed = (before: Parameters<typeof aClusterOf>[1], after: Parameters<typeof aClusterOf>[1]) => {
    const book = new ClusterBook()
    book.follow('m1', aClusterOf('m1', before))
    const { isLost, isDifferent, gainedApis, hasMore } = book.follow('m1', aClusterOf('m1', after)) ?? {}
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

  it('that the cache tells twice is one', () => {
    const book = new ClusterBook()
    const cluster = aClusterOf('m1')
    assert.equal(book.follow('m1', cluster)?.isDifferent, true)
    assert.equal(book.follow('m1', cluster), undefined)
    assert.equal(book.follow('m1', undefined)?.isLost, true)
    assert.deepEqual([book.clusters, book.isGone('m1'), book.follow('m1', undefined)], [[], true, undefined])
  })
})
