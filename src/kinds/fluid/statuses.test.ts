import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OwnKind } from '../schema/define-kind.ts'
import { admit, anObject } from './admission/testing.ts'
import {
  AdvancedStatefulSet,
  type AdvancedStatefulSetStatus,
  AlluxioRuntime,
  CacheRuntime,
  CacheRuntimeClass,
  type CacheRuntimeComponent,
  type CacheRuntimeComponentStatus,
  type CacheRuntimeStatus,
  type CacheRuntimeTopology,
  Dataset,
  type DatasetCondition,
  type DatasetStatus,
  type RuntimeCondition,
  type RuntimeStatus,
} from './index.ts'
import { volumeName } from './names.ts'
import { durationText, percentText, sizeText } from './sizes.ts'
import {
  CALCULATING,
  type CacheState,
  CSI_DRIVER,
  DATASET_FINALIZER,
  type DatasetConditionType,
  type DatasetPhase,
  type DatasetReason,
  RUNTIME_CATEGORY,
  RUNTIME_CONDITION_REASONS,
  RUNTIME_TYPES,
  type RuntimeConditionType,
  type RuntimePhase,
  STORAGE_CLASS,
} from './well-known.ts'

const NOW = '2025-06-01T10:20:30Z'
const MIB = 1024 ** 2

const datasetCondition = (type: DatasetConditionType, reason: DatasetReason): DatasetCondition => ({
  type,
  status: 'True',
  reason,
  message: 'The ddc runtime is ready.',
  lastUpdateTime: NOW,
  lastTransitionTime: NOW,
})
const runtimeCondition = (type: RuntimeConditionType): RuntimeCondition => ({
  type,
  status: 'True',
  reason: RUNTIME_CONDITION_REASONS[type],
  lastProbeTime: NOW,
  lastTransitionTime: NOW,
})

/** As controllers write them: these compile because the types are those of the definitions. */
const bound = (phase: DatasetPhase): DatasetStatus => {
  const cacheStates: Partial<Record<CacheState, string>> = { cached: sizeText(10 * MIB), cachedPercentage: percentText(10, 40) }
  return {
    phase,
    ufsTotal: CALCULATING,
    runtimes: [{ name: 'one', namespace: 'work', category: RUNTIME_CATEGORY, type: RUNTIME_TYPES.CacheRuntime, masterReplicas: 1 }],
    conditions: [datasetCondition('Ready', 'DatasetReady')],
    cacheStates,
  }
}
const component = (phase: RuntimePhase): CacheRuntimeComponentStatus => ({
  phase,
  desiredReplicas: 2,
  currentReplicas: 2,
  readyReplicas: 1,
})
const cacheStatus: CacheRuntimeStatus = {
  setupDuration: durationText(80_000),
  conditions: [runtimeCondition('WorkersReady'), runtimeCondition('MasterReady')],
  master: component('Ready'),
  worker: component('PartialReady'),
}
const runtimeStatus = (phase: RuntimePhase): RuntimeStatus => ({
  valueFile: 'one-values',
  masterPhase: phase,
  desiredMasterNumberScheduled: 1,
  currentMasterNumberScheduled: 1,
  masterNumberReady: 1,
  workerPhase: phase,
  desiredWorkerNumberScheduled: 2,
  currentWorkerNumberScheduled: 2,
  workerNumberReady: 2,
  fusePhase: phase,
  desiredFuseNumberScheduled: 0,
  currentFuseNumberScheduled: 0,
  fuseNumberReady: 0,
  conditions: [runtimeCondition('WorkersReady')],
})
const setStatus: AdvancedStatefulSetStatus = {
  replicas: 2,
  readyReplicas: 2,
  availableReplicas: 2,
  currentReplicas: 0,
  updatedReplicas: 2,
  updatedReadyReplicas: 2,
  labelSelector: 'app=a',
}
const worker: CacheRuntimeComponent = { template: { spec: { containers: [{ name: 'worker', image: 'i' }] } }, service: { headless: {} } }
const topology: CacheRuntimeTopology = { worker }

const STORED: [OwnKind, Record<string, unknown>][] = [
  [Dataset, { status: bound('Bound') }],
  [CacheRuntime, { spec: { runtimeClassName: 'builtin' }, status: cacheStatus }],
  [AlluxioRuntime, { status: runtimeStatus('Ready') }],
  [
    AdvancedStatefulSet,
    {
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
      status: setStatus,
    },
  ],
  [CacheRuntimeClass, { fileSystemType: 'x', topology }],
]

describe('what controllers write', () => {
  for (const [kind, content] of STORED)
    it(`is stored as it is in a ${kind.kind}`, async () => {
      const object = anObject(kind, content)
      assert.deepEqual(await admit(object), { object, unknown: [], schema: [], refused: [], warnings: [] })
    })

  it('has the words of Fluid', () => {
    assert.deepEqual([bound('Bound').cacheStates, cacheStatus.setupDuration], [{ cached: '10.00MiB', cachedPercentage: '25.0%' }, '1m20s'])
    assert.deepEqual(
      [DATASET_FINALIZER, CSI_DRIVER, STORAGE_CLASS, volumeName({ namespace: 'work', name: 'one' })],
      ['fluid-dataset-controller-finalizer', 'fuse.csi.fluid.io', 'fluid', 'work-one'],
    )
  })
})
