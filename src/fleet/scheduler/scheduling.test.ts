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
})
