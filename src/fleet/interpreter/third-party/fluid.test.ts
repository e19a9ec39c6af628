import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { aggregated, isHealthy, rulesFor, withStatus } from './asking.ts'
import { ALLUXIO_RUNTIME, DATA_LOAD, DATASET, statusItems } from './testing.ts'

describe('fluid Dataset', () => {
  const bound = {
    phase: 'Bound',
    ufsTotal: '2.00GiB',
    fileNum: '40',
    cacheStates: { cached: '1.50GiB', cacheCapacity: '4.00GiB', cachedPercentage: '75.0%', cacheHitRatio: '90%' },
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'DatasetReady',
        lastUpdateTime: '2024-01-01T00:00:00Z',
        lastTransitionTime: '2024-01-01T00:00:00Z',
      },
    ],
    runtimes: [{ name: 'demo', namespace: 'default', category: 'Accelerate', type: 'alluxio' }],
    operationRef: { DataLoad: 'warm' },
    mounts: [{ mountPoint: 's3://bucket', name: 'bucket' }],
  }

  it('reflects its status without the times of mere looks', () => {
    const reflected = rulesFor(DATASET).reflect(withStatus(DATASET, bound)) as typeof bound
    assert.deepEqual(reflected.conditions, [
      { type: 'Ready', status: 'True', reason: 'DatasetReady', lastTransitionTime: '2024-01-01T00:00:00Z' },
    ])
    assert.deepEqual(reflected.cacheStates, bound.cacheStates)
    assert.equal(reflected.phase, 'Bound')
  })

  it('of several clusters is bound when it is bound everywhere; caches add up', () => {
    const other = {
      ...bound,
      cacheStates: { cached: '512.00MiB', cacheCapacity: '4.00GiB', cachedPercentage: '25.0%' },
      conditions: [{ type: 'Ready', status: 'False', reason: 'DatasetFailed' }],
      operationRef: { DataLoad: 'warm,again', DataMigrate: 'move' },
    }
    assert.deepEqual(aggregated(DATASET, statusItems(bound, other)), {
      phase: 'Bound',
      ufsTotal: '2.00GiB',
      fileNum: '40',
      cacheStates: { cached: '2.00GiB', cacheCapacity: '8.00GiB', cachedPercentage: '25.0%' },
      conditions: [{ type: 'Ready', status: 'False', reason: 'DatasetFailed' }],
      runtimes: bound.runtimes,
      operationRef: { DataLoad: 'warm,again', DataMigrate: 'move' },
      mounts: bound.mounts,
    })
    for (const [phases, expected] of [
      [['Bound', 'NotBound'], 'NotBound'],
      [['Bound', 'Failed', 'NotBound'], 'Failed'],
      [['Bound', 'Updating'], 'Updating'],
      [['Bound', ''], ''],
    ] as const) {
      assert.equal(aggregated(DATASET, statusItems(...phases.map((phase) => ({ phase })))).phase, expected, phases.join())
    }
  })

  it('is healthy when it can be read', () => {
    for (const phase of ['Bound', 'Updating', 'DataMigrating']) assert.equal(isHealthy(DATASET, { phase }), true, phase)
    for (const phase of ['', 'NotBound', 'Pending', 'Failed']) assert.equal(isHealthy(DATASET, { phase }), false, phase)
  })

  it('depends on the secrets of its mounts', () => {
    assert.deepEqual(
      rulesFor(DATASET)
        .dependencies(DATASET)
        .map((reference) => reference.name),
      ['bucket-key', 'shared-key'],
    )
  })
})

for (const kind of ['AlluxioRuntime', 'JuiceFSRuntime', 'JindoRuntime', 'ThinRuntime']) {
  describe(`fluid ${kind}`, () => {
    const object = { ...ALLUXIO_RUNTIME, kind }

    it('adds up numbers; ready here and not there is ready in part', () => {
      const status = aggregated(
        object,
        statusItems(
          {
            masterPhase: 'Ready',
            workerPhase: 'Ready',
            fusePhase: 'Ready',
            workerNumberReady: 2,
            desiredWorkerNumberScheduled: 2,
            valueFile: 'a',
            conditions: [{ type: 'WorkersReady', status: 'True' }],
          },
          {
            masterPhase: 'Ready',
            workerPhase: 'NotReady',
            workerReason: 'no nodes',
            fusePhase: '',
            workerNumberReady: 0,
            desiredWorkerNumberScheduled: 2,
            valueFile: 'b',
            conditions: [{ type: 'WorkersReady', status: 'False' }],
          },
        ),
      )
      assert.deepEqual(status, {
        masterPhase: 'Ready',
        workerPhase: 'PartialReady',
        workerReason: 'no nodes',
        fusePhase: 'Ready',
        workerNumberReady: 2,
        desiredWorkerNumberScheduled: 4,
        valueFile: 'a',
        conditions: [{ type: 'WorkersReady', status: 'False' }],
      })
    })

    it('is healthy when every part serves', () => {
      assert.equal(isHealthy(object, { masterPhase: 'Ready', workerPhase: 'PartialReady', fusePhase: 'Ready' }), true)
      assert.equal(isHealthy(object, { masterPhase: '', workerPhase: '', fusePhase: 'Ready' }), true)
      assert.equal(isHealthy(object, { masterPhase: 'Ready', workerPhase: 'NotReady' }), false)
      assert.equal(isHealthy(object, { masterPhase: '', workerPhase: '', fusePhase: '' }), false)
    })

    it('reflects its status without the times of mere looks', () => {
      const status = { workerPhase: 'Ready', conditions: [{ type: 'WorkersReady', status: 'True', lastProbeTime: '2024-01-01T00:00:00Z' }] }
      assert.deepEqual(rulesFor(object).reflect(withStatus(object, status)), {
        workerPhase: 'Ready',
        conditions: [{ type: 'WorkersReady', status: 'True' }],
      })
    })
  })
}

for (const kind of ['DataLoad', 'DataMigrate', 'DataBackup', 'DataProcess']) {
  describe(`fluid ${kind}`, () => {
    const object = { ...DATA_LOAD, kind }
    const done = (phase: string, duration: string) => ({ phase, duration, conditions: [{ type: phase, status: 'True' }] })

    it('is complete when it is complete everywhere, and failed when it failed anywhere', () => {
      assert.deepEqual(aggregated(object, statusItems(done('Complete', '42s'), done('Complete', '1m3s'))), {
        phase: 'Complete',
        duration: '1m3s',
        conditions: [
          { type: 'Complete', status: 'True' },
          { type: 'Complete', status: 'True' },
        ],
      })
      assert.deepEqual(aggregated(object, statusItems(done('Complete', '42s'), done('Failed', '5s'))), {
        phase: 'Failed',
        duration: '5s',
        conditions: [{ type: 'Failed', status: 'True' }],
      })
      for (const [phases, expected] of [
        [['Complete', 'Executing'], 'Executing'],
        [['Complete', 'Pending'], 'Executing'],
        [['Pending', ''], 'Pending'],
        [['', ''], ''],
      ] as const) {
        const status = aggregated(object, statusItems(...phases.map((phase) => ({ phase }))))
        assert.deepEqual([status.phase, status.duration], [expected, 'Unfinished'], phases.join())
      }
    })

    it('is healthy unless it failed', () => {
      for (const phase of ['Pending', 'Executing', 'Complete']) assert.equal(isHealthy(object, { phase }), true, phase)
      assert.equal(isHealthy(object, { phase: 'Failed' }), false)
    })

    it('reflects its status without the times of mere looks', () => {
      const status = { phase: 'Complete', conditions: [{ type: 'Complete', status: 'True', lastProbeTime: '2024-01-01T00:00:00Z' }] }
      assert.deepEqual(rulesFor(object).reflect(withStatus(object, status)), {
        phase: 'Complete',
        conditions: [{ type: 'Complete', status: 'True' }],
      })
    })
  })
}
