import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectGone } from '../../faultsim/expect/index.ts'
import { survives } from '../../faultsim/survives.ts'
import type { DatasetStatus } from '../../kinds/fluid/index.ts'
import { CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import type { InvariantView } from '../../runtime/seams/seeded.ts'
import { datasetController } from './controller.ts'
import {
  aDataset,
  answering,
  aReader,
  aRuntime,
  createPod,
  DECLARED,
  datasetIn,
  deletePod,
  FIGURES,
  MOUNTS,
  modules,
  phaseIn,
  phases,
} from './testing.ts'

const TWO = [...MOUNTS, { mountPoint: 's3://two', name: 'two', path: '/two' }]

const statusOf = (view: InvariantView): Partial<DatasetStatus> =>
  (view.get('datasets', 'default/demo')?.status ?? {}) as Partial<DatasetStatus>

describe('data.dataset', () => {
  survives(datasetController(DECLARED), {
    modules,
    nodes: 1,
    steps: [
      async (cluster) => {
        answering(cluster)
        await cluster.create(aDataset())
      },
      async (cluster) => {
        await cluster.create(aRuntime())
        for (const type of ['master', 'worker'] as const) await createPod(cluster, type)
        await phases(cluster, 'Ready', 'Ready')
      },
      async (cluster) => {
        answering(cluster, {}, ['/one', '/two'])
        await cluster.patch(DATASETS, 'default/demo', { spec: { mounts: TWO } })
      },
      (cluster) => deletePod(cluster, 'demo-worker-0'),
      (cluster) => cluster.delete(CACHE_RUNTIMES, 'default/demo'),
      async (cluster) => {
        assert.equal(await phaseIn(cluster), 'NotBound', 'bound, and its runtime is gone')
        await createPod(cluster, 'worker')
        await cluster.create(aRuntime())
        await phases(cluster, 'Ready', 'Ready')
      },
    ],
    invariants: [
      {
        says: 'a dataset that has a status has its finalizer and its label',
        about: ['datasets'],
        broken: (view) => {
          const dataset = view.get('datasets', 'default/demo')
          if (dataset?.status === undefined) return undefined
          const { finalizers = [], labels = {} } = dataset.metadata
          return finalizers.length === 1 && labels['fluid.io/dataset-id'] === 'default-demo' ? undefined : 'one of them is missing'
        },
      },
      {
        says: 'a dataset is either ready or says what it waits for',
        about: ['datasets'],
        broken: (view) => {
          const { phase, conditions = [] } = statusOf(view)
          const isWaiting = conditions.some(({ type }) => type === 'NotReady')
          return phase === undefined || isWaiting === (phase === 'NotBound' || phase === 'Failed')
            ? undefined
            : `${phase}, waiting: ${isWaiting}`
        },
      },
      {
        says: 'the mounts of a bound dataset are some that its user wrote',
        about: ['datasets'],
        broken: (view) => {
          const mounts = JSON.stringify(statusOf(view).mounts?.map(({ name }) => name) ?? [])
          return ['[]', '["one"]', '["one","two"]'].includes(mounts) ? undefined : mounts
        },
      },
    ],
    async atRest(cluster) {
      assert.equal(await phaseIn(cluster), 'Bound')
      const { status } = await datasetIn(cluster)
      assert.deepEqual([status.mounts, status.ufsTotal], [TWO, FIGURES.ufsTotal])
    },
  })

  survives(datasetController(DECLARED), {
    modules,
    nodes: 1,
    steps: [
      async (cluster) => {
        answering(cluster)
        await cluster.create(aDataset({ mounts: MOUNTS }, { 'sluice.dev/runtime': 'sample' }))
      },
      async (cluster) => {
        for (const type of ['master', 'worker'] as const) await createPod(cluster, type)
        await phases(cluster, 'Ready', 'Ready')
      },
      (cluster) => cluster.patch(DATASETS, 'default/demo', { metadata: { annotations: { 'sluice.dev/cache-quota': '2Gi' } } }),
      (cluster) => cluster.create(aReader()),
      (cluster) => cluster.delete(DATASETS, 'default/demo'),
      (cluster) => cluster.delete(CACHE_RUNTIMES, 'default/demo'),
      async (cluster) => {
        assert.equal(await phaseIn(cluster), 'NotBound', 'bound, and its runtime is gone')
        await deletePod(cluster, 'reader')
      },
    ],
    invariants: [
      {
        says: 'a dataset is there while a pod uses it',
        about: ['datasets', 'pods'],
        broken: (view) => {
          const reader = view.get('pods', 'default/reader')
          const isHeld = reader !== undefined && reader.metadata.deletionTimestamp === undefined
          return isHeld && view.get('datasets', 'default/demo') === undefined ? 'it is gone' : undefined
        },
      },
    ],
    async atRest(cluster) {
      await expectGone(cluster, DATASETS, 'default/demo')
      await expectGone(cluster, CACHE_RUNTIMES, 'default/demo')
    },
  })
})
