import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fleetArguments, fleetOptionsOf, STORY_FLAGS } from './fleet-flags.ts'
import { CommandError } from './machine.ts'

describe('what is set about the fleet', () => {
  it('is nothing when nothing was given, so that defaults hold', () => {
    assert.deepEqual(fleetOptionsOf({}), { clusterStatus: {}, failover: {}, gates: undefined })
  })

  it('is in the units of the controllers', () => {
    const { clusterStatus, failover, gates } = fleetOptionsOf({
      clusterStatusPeriod: '0.5',
      clusterFailureThreshold: '2',
      clusterSuccessThreshold: '0',
      evictionRate: '0.25',
      clusterToleration: '60',
      evictionPurgeMode: 'Directly',
      gracefulEvictionTimeout: '30',
      featureGates: 'Failover=false',
    })
    assert.deepEqual(clusterStatus, { periodMs: 500, failureThresholdMs: 2000, successThresholdMs: 0 })
    assert.deepEqual(failover, {
      evictionsPerSecond: 0.25,
      tolerationSeconds: 60,
      purgeMode: 'Directly',
      gracefulEvictionTimeoutSeconds: 30,
    })
    assert.deepEqual([gates?.Failover, gates?.PropagateDeps], [false, true])
  })

  it('is refused in words when it is no number, or too small to mean anything', () => {
    for (const flags of [
      { evictionRate: '0' },
      { clusterStatusPeriod: '0' },
      { gracefulEvictionTimeout: '-1' },
      { evictionRate: '1e3' },
      { evictionPurgeMode: 'Never' },
    ])
      assert.throws(() => fleetOptionsOf(flags), CommandError, JSON.stringify(flags))
  })

  it('goes along to the background as it was written', () => {
    assert.deepEqual(fleetArguments({ evictionRate: '3', featureGates: 'Failover=false' }), [
      '--eviction-rate',
      '3',
      '--feature-gates',
      'Failover=false',
    ])
  })

  it('of the story can be read', () => {
    assert.equal(fleetOptionsOf(STORY_FLAGS).clusterStatus?.failureThresholdMs, 2000)
  })
})
