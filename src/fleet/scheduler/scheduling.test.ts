import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DEFAULT_SCHEDULER } from '../../kinds/karmada/well-known.ts'
import { Scheduling } from './scheduling.ts'
import { aBindingOf, aClusterOf, DYNAMIC, inShort } from './testing.ts'

const NOW_MS = Date.parse('2026-01-01T00:10:00Z')
const WEB = { namespace: 'default', name: 'web-deployment' }

describe('what the scheduler remembers', () => {
  it('is not held against a binding whose decision could not be written: the next look decides the same', () => {
    const scheduling = new Scheduling({ schedulerName: DEFAULT_SCHEDULER })
    for (const [name, pods] of [['m1', 2] as const, ['m2', 3] as const]) scheduling.followCluster(name, aClusterOf(name, { pods }))
    const binding = aBindingOf({ replicas: 5, on: { m1: 2, m2: 1 }, placement: { replicaScheduling: DYNAMIC } })
    scheduling.followBinding(WEB, binding, NOW_MS)
    const decided = (): string => {
      const { verdict } = scheduling.look(WEB, binding, NOW_MS)
      return verdict.do === 'decide' ? inShort(verdict.decision) : verdict.do
    }
    assert.equal(decided(), 'm1:2, m2:3')
    assert.equal(decided(), 'm1:2, m2:3')
  })

  it('is held against others until the cluster counts it, and then they are enqueued', () => {
    let isSummaryCurrent = false
    const scheduling = new Scheduling({ schedulerName: DEFAULT_SCHEDULER, isSummaryCurrent: () => isSummaryCurrent })
    const counted = (pods: number) => scheduling.followCluster('m1', aClusterOf('m1', { pods }))
    const there = { clusterName: 'm1', health: 'Healthy' as const }
    counted(5)
    const lastScheduledTime = '2026-01-01T00:09:59Z'
    scheduling.followBinding(WEB, aBindingOf({ replicas: 3, on: { m1: 3 }, status: { lastScheduledTime } }), NOW_MS)
    scheduling.followBinding(
      WEB,
      aBindingOf({ replicas: 3, on: { m1: 3 }, status: { lastScheduledTime, aggregatedStatus: [there] } }),
      NOW_MS,
    )
    const other = aBindingOf({ name: 'other', replicas: 3, placement: { replicaScheduling: DYNAMIC } })
    const otherSays = (): string => {
      const { verdict } = scheduling.look({ namespace: 'default', name: 'other' }, other, NOW_MS)
      return verdict.do === 'decide' ? inShort(verdict.decision) : verdict.do
    }
    assert.match(otherSays(), /available replicas 2 are not enough/)
    isSummaryCurrent = true
    assert.equal(counted(2)?.hasMore, true)
    assert.match(otherSays(), /available replicas 2 are not enough/)
    counted(3)
    assert.equal(otherSays(), 'm1:3')
  })
})
