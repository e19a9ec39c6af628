import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { aggregated, isHealthy, rulesFor, withStatus } from './asking.ts'
import { ALLUXIO_RUNTIME, CACHE_RUNTIME, DATA_LOAD, DATASET, statusItems } from './testing.ts'

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

describe('fluid CacheRuntime', () => {
  const ready = (replicas: number) => ({ phase: 'Ready', desiredReplicas: replicas, currentReplicas: replicas, readyReplicas: replicas })

  it('adds up numbers per component; ready here and not there is ready in part', () => {
    const status = aggregated(
      CACHE_RUNTIME,
      statusItems(
        {
          master: ready(1),
          worker: { ...ready(2), availableReplicas: 2, unavailableReplicas: 0 },
          client: { phase: 'NotReady', desiredReplicas: 0, readyReplicas: 0 },
          valueFile: 'fluid-runtime-config-demo',
          selector: 'a=b',
          setupDuration: '20s',
          mountTime: '2024-01-01T00:00:00Z',
          conditions: [
            { type: 'MasterReady', status: 'True' },
            { type: 'WorkersReady', status: 'True' },
          ],
        },
        {
          master: ready(1),
          worker: {
            ...{ phase: 'NotReady', reason: 'NoNode', message: 'no node takes a worker' },
            ...{ desiredReplicas: 2, currentReplicas: 2, readyReplicas: 0, unavailableReplicas: 2 },
          },
          valueFile: 'other',
          conditions: [{ type: 'WorkersReady', status: 'False' }],
        },
      ),
    )
    assert.deepEqual(status, {
      master: ready(2),
      worker: {
        ...{ phase: 'PartialReady', reason: 'NoNode', message: 'no node takes a worker' },
        ...{ desiredReplicas: 4, currentReplicas: 4, readyReplicas: 2, availableReplicas: 2, unavailableReplicas: 2 },
      },
      client: { phase: 'NotReady', desiredReplicas: 0, readyReplicas: 0 },
      valueFile: 'fluid-runtime-config-demo',
      selector: 'a=b',
      conditions: [
        { type: 'MasterReady', status: 'True' },
        { type: 'WorkersReady', status: 'False' },
      ],
    })
  })

  it('gives the reason and the message of one cluster, not of two', () => {
    const notReady = (about: object) => ({ worker: { phase: 'NotReady', ...about } })
    const { worker } = aggregated(
      CACHE_RUNTIME,
      statusItems(notReady({ message: 'first' }), notReady({ reason: 'Second', message: 'second' })),
    )
    assert.deepEqual(worker, { phase: 'NotReady', message: 'first' })
  })

  it('is healthy when workers serve, and the master unless there is none', () => {
    const withSpec = (spec: object) => ({ ...CACHE_RUNTIME, spec: { ...(CACHE_RUNTIME.spec as object), ...spec } })
    const withMaster = (master: object) => withSpec({ master })
    const withoutWorkers = withSpec({ worker: { disabled: true } })
    for (const [says, object, status, expected] of [
      ['all ready', CACHE_RUNTIME, { master: { phase: 'Ready' }, worker: { phase: 'Ready' } }, true],
      ['workers in part', CACHE_RUNTIME, { master: { phase: 'Ready' }, worker: { phase: 'PartialReady' } }, true],
      ['no workers', CACHE_RUNTIME, { master: { phase: 'Ready' }, worker: { phase: 'NotReady' } }, false],
      ['workers not known yet', CACHE_RUNTIME, { master: { phase: 'Ready' }, worker: { phase: '' } }, false],
      ['no master', CACHE_RUNTIME, { master: { phase: 'NotReady' }, worker: { phase: 'Ready' } }, false],
      ['masters in part', CACHE_RUNTIME, { master: { phase: 'PartialReady' }, worker: { phase: 'Ready' } }, false],
      ['a class without masters', CACHE_RUNTIME, { worker: { phase: 'Ready' } }, true],
      ['a disabled master', withMaster({ disabled: true }), { master: { phase: 'NotReady' }, worker: { phase: 'Ready' } }, true],
      ['an enabled master', withMaster({ disabled: false }), { master: { phase: 'NotReady' }, worker: { phase: 'Ready' } }, false],
      ['workers left out', withoutWorkers, { master: { phase: 'Ready' } }, true],
      ['nothing but clients', withoutWorkers, { client: { phase: 'NotReady' } }, true],
      ['workers left out, and nothing known', withoutWorkers, {}, false],
      ['a client nobody needs', CACHE_RUNTIME, { worker: { phase: 'Ready' }, client: { phase: 'NotReady' } }, true],
    ] as const)
      assert.equal(isHealthy(object, status), expected, says)
  })

  it('reflects its status without the times of mere looks', () => {
    const status = {
      worker: ready(2),
      mountTime: '2024-01-01T00:00:00Z',
      conditions: [{ type: 'WorkersReady', status: 'True', lastProbeTime: '2024-01-01T00:00:00Z' }],
    }
    assert.deepEqual(rulesFor(CACHE_RUNTIME).reflect(withStatus(CACHE_RUNTIME, status)), {
      worker: ready(2),
      mountTime: '2024-01-01T00:00:00Z',
      conditions: [{ type: 'WorkersReady', status: 'True' }],
    })
  })
})

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
