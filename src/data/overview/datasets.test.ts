import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { datasetOverview } from './datasets.ts'

const of = (mountPoints: readonly string[] | undefined, status?: object): Dataset => ({
  apiVersion: 'data.fluid.io/v1alpha1',
  kind: 'Dataset',
  metadata: { namespace: 'web', name: 'images' },
  ...(mountPoints === undefined ? {} : { spec: { mounts: mountPoints.map((mountPoint) => ({ mountPoint })) } }),
  ...(status === undefined ? {} : { status: { conditions: [], ...status } }),
})

describe('sluice get datasets', () => {
  const cellsOf = (dataset: Dataset): string[] => datasetOverview.columns.map(({ cell }) => cell(dataset))
  const CASES: [string, Dataset, string[]][] = [
    ['a dataset with sources', of(['s3://one'], { datasetRef: ['web/a', 'lab/b'] }), ['', '2']],
    ['a reference', of(['dataset://data/images'], {}), ['data/images', '0']],
    ['a reference to a part', of(['dataset://data/images/cats/black'], {}), ['data/images/cats/black', '0']],
    ['one that mixes both, which nobody follows', of(['dataset://data/images', 's3://one']), ['', '0']],
    ['one that says nothing', of(undefined), ['', '0']],
  ]
  for (const [name, dataset, expected] of CASES) it(`says what it refers to of ${name}`, () => assert.deepEqual(cellsOf(dataset), expected))

  it('is about datasets alone', () => {
    assert.deepEqual([DATASETS, CACHE_RUNTIMES].map(datasetOverview.shows), [true, false])
  })
})
