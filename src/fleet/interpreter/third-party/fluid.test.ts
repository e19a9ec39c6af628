import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runtimeKinds } from '../../../kinds/fluid/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { aggregated, isHealthy, rulesFor, withStatus } from './asking.ts'
import { ALLUXIO_RUNTIME, CACHE_RUNTIME, DATA_LOAD, DATASET, statusItems, THIN_RUNTIME } from './testing.ts'

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

  it('is not bound while a cluster has said nothing', () => {
    const status = aggregated(DATASET, [...statusItems(bound), { clusterName: 'silent' }])
    assert.equal(status.phase, 'NotBound')
    assert.deepEqual(status.conditions, [{ type: 'Ready', status: 'False', reason: 'NotEverywhere', message: 'not ready in silent' }])
    assert.equal(aggregated(DATASET, [...statusItems({ phase: 'Failed' }), { clusterName: 'silent' }]).phase, 'Failed')
  })

  it('has the size that those see who have listed it, in whatever order they report', () => {
    const counting = { phase: 'Bound', ufsTotal: '[Calculating]', fileNum: '[Calculating]' }
    const [half, all] = [
      { phase: 'Bound', ufsTotal: '1.00GiB', fileNum: '9' },
      { phase: 'Bound', ufsTotal: '2.00GiB', fileNum: '40' },
    ]
    for (const statuses of [
      [counting, half, all],
      [all, half, counting],
    ]) {
      const { ufsTotal, fileNum } = aggregated(DATASET, statusItems(...statuses))
      assert.deepEqual([ufsTotal, fileNum], ['2.00GiB', '40'])
    }
    assert.equal(aggregated(DATASET, statusItems({ phase: 'NotBound', ufsTotal: '' }, counting)).ufsTotal, '[Calculating]')
    assert.equal(aggregated(DATASET, statusItems({ phase: '' }, { phase: '' })).ufsTotal, undefined)
  })

  it('complains about what is wrong in a cluster, and says in which', () => {
    const ready = { type: 'Ready', status: 'True', reason: 'DatasetReady', message: 'The ddc runtime is ready.' }
    const notReady = (message: string) => ({ type: 'NotReady', status: 'True', reason: 'DatasetFailedToSetup', message })
    const said = (...clusters: object[][]) =>
      aggregated(DATASET, statusItems(...clusters.map((conditions) => ({ phase: 'Bound', conditions })))).conditions
    assert.deepEqual(said([ready], [ready]), [ready])
    assert.deepEqual(said([ready], [notReady('no runtime')], [notReady('no class')]), [
      { type: 'Ready', status: 'False', reason: 'NotEverywhere', message: 'not ready in member2, member3' },
      notReady('member2: no runtime; member3: no class'),
    ])
    const nowhere = { type: 'Ready', status: 'False', reason: 'NotEverywhere', message: 'not ready in member1, member2' }
    assert.deepEqual(said([notReady('why')], [notReady('why')]), [notReady('why'), nowhere])
    const held = { type: 'DeletionHeld', status: 'True', reason: 'PodsUseIt', message: 'pod a uses it' }
    assert.deepEqual(said([ready, { ...held, status: 'False' }], [ready, held]), [ready, { ...held, message: 'member2: pod a uses it' }])
    assert.deepEqual(said([ready, held], [ready, held]), [ready, held])
    const many = said(...Array.from({ length: 6 }, (_, i) => [notReady(`${i}`)])) as { message: string }[]
    assert.equal(many[0]?.message, 'member1: 0; member2: 1; member3: 2; member4: 3; and 2 more clusters')
  })

  it('has what its definition demands, also where a cluster has said next to nothing', () => {
    const nowhere = { type: 'Ready', status: 'False', reason: 'NotEverywhere', message: 'not ready in member1' }
    assert.deepEqual(aggregated(DATASET, statusItems({ phase: 'NotBound', conditions: [] })), { phase: 'NotBound', conditions: [nowhere] })
    assert.equal((aggregated(DATASET, statusItems({ phase: '' }, { phase: '' })).conditions as object[]).length, 1)
    for (const items of [statusItems({}), statusItems({}, {})]) assert.equal(aggregated(DATASET, items), undefined)
  })

  it('names everybody who refers to it in any cluster', () => {
    const of = (...datasetRef: string[]) => ({ phase: 'Bound', datasetRef })
    assert.deepEqual(aggregated(DATASET, statusItems(of('web/a', 'lab/x'), of('web/a', 'db/y'))).datasetRef, ['db/y', 'lab/x', 'web/a'])
    assert.equal('datasetRef' in aggregated(DATASET, statusItems(of(), of())), false)
  })

  it('depends on the secrets of its mounts, and on the runtime of its name', () => {
    const needed = rulesFor(DATASET).dependencies(DATASET)
    const namesOf = (isMeant: (kind: string) => boolean) => needed.filter(({ kind }) => isMeant(kind)).map(({ name }) => name)
    assert.deepEqual(
      namesOf((kind) => kind === 'Secret'),
      ['bucket-key', 'shared-key'],
    )
    assert.deepEqual([...new Set(namesOf((kind) => kind.endsWith('Runtime')))], ['demo'])
    const kinds = needed.filter(({ apiVersion }) => apiVersion === 'data.fluid.io/v1alpha1').map(({ kind }) => kind)
    assert.deepEqual(kinds, runtimeKinds.map(({ kind }) => kind).sort())
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

describe('workers of a fluid runtime that were scaled in a cluster', () => {
  const labelled = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, labels: { 'resourcetemplate.karmada.io/retain-replicas': 'true' } },
  })
  const translated = (kind: string, replicas: number): KubeObject => ({ ...ALLUXIO_RUNTIME, kind, spec: { replicas } })
  const cache = (replicas: number): KubeObject => ({
    ...CACHE_RUNTIME,
    spec: { runtimeClassName: 'builtin', worker: { replicas, options: { a: 'b' } } },
  })
  const CASES: [string, KubeObject, KubeObject][] = [
    ...['AlluxioRuntime', 'JuiceFSRuntime', 'JindoRuntime'].map((kind): [string, KubeObject, KubeObject] => [
      kind,
      translated(kind, 2),
      translated(kind, 5),
    ]),
    ['CacheRuntime', cache(2), cache(5)],
  ]
  for (const [kind, desired, observed] of CASES)
    it(`of kind ${kind} are as many as the template says, unless its label leaves that to the cluster`, () => {
      assert.deepEqual(rulesFor(desired).retain(desired, observed).spec, desired.spec)
      assert.deepEqual(rulesFor(desired).retain(labelled(desired), observed).spec, observed.spec)
      const { spec: _, ...bare } = observed
      assert.deepEqual(rulesFor(desired).retain(labelled(desired), bare).spec, desired.spec)
    })
})

describe('what goes along with a fluid runtime', () => {
  it('is the class or profile that it names, and what its volumes are of', () => {
    const apiVersion = 'data.fluid.io/v1alpha1'
    assert.deepEqual(rulesFor(CACHE_RUNTIME).dependencies(CACHE_RUNTIME), [{ apiVersion, kind: 'CacheRuntimeClass', name: 'builtin' }])
    assert.deepEqual(rulesFor(THIN_RUNTIME).dependencies(THIN_RUNTIME), [
      { apiVersion, kind: 'ThinRuntimeProfile', name: 'nfs' },
      { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'nfs-settings' },
    ])
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
      const unfinished = [{ type: 'Complete', status: 'False', reason: 'Unfinished' }]
      for (const items of [statusItems(done('Complete', '42s'), { phase: 'Executing' }), statusItems({ phase: 'Pending', conditions: [] })])
        assert.deepEqual(aggregated(object, items).conditions, unfinished, 'the definition demands conditions')
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
