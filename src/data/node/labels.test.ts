import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../../kube/meta.ts'
import { labelChanges } from './labels.ts'
import { aCacheRuntime, anAlluxioRuntime, disk, memory } from './testing.ts'
import { type CachedDataset, quotasOf } from './workers.ts'

const GiB = 1024 ** 3
const UID = '0f0e0d0c-1111-2222-3333-444455556666'
const demo: CachedDataset = {
  ...{ namespace: 'default', name: 'demo', uid: UID, type: 'alluxio' },
  ...{ quotas: { memoryBytes: 2 * GiB, diskBytes: 10 * GiB }, isExclusive: true, isLeaving: false },
}
const LABELS = {
  'fluid.io/s-default-demo': 'true',
  'fluid.io/s-alluxio-default-demo': 'true',
  'fluid.io/s-h-alluxio-m-default-demo': '2GiB',
  'fluid.io/s-h-alluxio-d-default-demo': '10GiB',
  'fluid.io/s-h-alluxio-t-default-demo': '12GiB',
  'fluid.io/dataset-num': '1',
  fluid_exclusive: 'default_demo',
}
const long: CachedDataset = { ...demo, namespace: 'n'.repeat(30), name: 'd'.repeat(33) }

describe('labels of a node', () => {
  const table: [string, Record<string, string>, CachedDataset[], Record<string, string | null> | undefined][] = [
    ['a dataset comes', { other: 'x' }, [demo], LABELS],
    ['nothing differs', { other: 'x', ...LABELS }, [demo], undefined],
    ['nothing was there', { other: 'x', 'fluid.io/f-default-demo': 'true' }, [], undefined],
    [
      'everything goes but what is not ours',
      {
        other: 'x',
        'fluid.io/f-default-demo': 'true',
        'fluid.io/s-h-cache-t-a-b': '0B',
        fluid_exclusive: 'x',
        'fluid.io/dataset-num': '7',
      },
      [],
      { 'fluid.io/s-h-cache-t-a-b': null, fluid_exclusive: null, 'fluid.io/dataset-num': null },
    ],
    [
      'somebody has changed them',
      { ...LABELS, 'fluid.io/dataset-num': '3', 'fluid.io/s-a-b': 'true' },
      [demo],
      {
        'fluid.io/dataset-num': '1',
        'fluid.io/s-a-b': null,
      },
    ],
    [
      'no store',
      LABELS,
      [{ ...demo, quotas: {} }],
      {
        'fluid.io/s-h-alluxio-m-default-demo': null,
        'fluid.io/s-h-alluxio-d-default-demo': null,
        'fluid.io/s-h-alluxio-t-default-demo': '0B',
      },
    ],
    ['shared', LABELS, [{ ...demo, isExclusive: false }], { fluid_exclusive: null }],
    ['the runtime is gone', LABELS, [{ ...demo, quotas: undefined }], undefined],
    ['all but the worker is gone', LABELS, [{ ...demo, quotas: undefined, type: undefined, uid: undefined }], undefined],
    [
      'nothing but the worker was ever seen',
      {},
      [{ ...demo, quotas: undefined, type: undefined, uid: undefined }],
      {
        'fluid.io/s-default-demo': 'true',
        'fluid.io/dataset-num': '1',
        fluid_exclusive: 'default_demo',
      },
    ],
    [
      'of two exclusive ones the first stays',
      { ...LABELS, 'fluid.io/dataset-num': '2' },
      [{ ...demo, name: 'a', quotas: {} }, demo],
      {
        'fluid.io/s-default-a': 'true',
        'fluid.io/s-alluxio-default-a': 'true',
        'fluid.io/s-h-alluxio-t-default-a': '0B',
      },
    ],
    [
      'a long name',
      {},
      [{ ...long, quotas: {} }],
      {
        [`fluid.io/s-${UID}`]: 'true',
        [`fluid.io/s-alluxio-${UID}`]: 'true',
        [`fluid.io/s-h-alluxio-t-${UID}`]: '0B',
        'fluid.io/dataset-num': '1',
        fluid_exclusive: UID,
      },
    ],
    [
      'a long name whose dataset is gone',
      { [`fluid.io/s-${UID}`]: 'true', [`fluid.io/s-h-alluxio-t-${UID}`]: '1GiB', 'fluid.io/s-x': 'true', 'fluid.io/dataset-num': '1' },
      [{ ...long, uid: undefined, quotas: undefined, isExclusive: false }],
      { 'fluid.io/s-x': null },
    ],
  ]
  for (const [name, live, datasets, expected] of table)
    it(name, () => {
      const changes = labelChanges(live, datasets)
      assert.deepEqual(changes, expected)
      const after = Object.fromEntries(
        Object.entries({ ...live, ...changes }).filter((entry): entry is [string, string] => entry[1] !== null),
      )
      assert.equal(labelChanges(after, datasets), undefined, 'a second pass has nothing to do')
    })

  const quotas: [string, KubeObject, object][] = [
    [
      'of a cache',
      aCacheRuntime('a/b', [memory('2Gi'), disk('10Gi'), { emptyDir: { quota: '1Gi', medium: 'Memory' } }]),
      {
        memoryBytes: 3 * GiB,
        diskBytes: 10 * GiB,
      },
    ],
    ['of another runtime', anAlluxioRuntime('a/b', [{ mediumtype: 'SSD', path: '/a,/b', quotaList: '1Gi,2Gi' }]), { diskBytes: 3 * GiB }],
    ['of none', aCacheRuntime('a/b'), {}],
    ['of a level that makes no sense', aCacheRuntime('a/b', [memory('much'), disk('1Gi')]), { diskBytes: GiB }],
  ]
  for (const [name, runtime, expected] of quotas) it(`sizes ${name}`, () => assert.deepEqual(quotasOf(runtime), expected))
})
