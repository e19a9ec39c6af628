import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../../../kube/meta.ts'
import { CacheRuntime, Dataset, ThinRuntime } from '../index.ts'
import { admit, anObject, type Coming } from './testing.ts'

const GOING = { deletionTimestamp: '2025-06-01T10:20:30Z', finalizers: ['x'] }
const dataset = (mountPoint: string, metadata: KubeObject['metadata'] = {}): KubeObject =>
  anObject(Dataset, { spec: { mounts: [{ mountPoint }] } }, metadata)
const original = (more: KubeObject['metadata'] = {}, mountPoint = 's3://lake'): KubeObject =>
  dataset(mountPoint, { namespace: 'data', name: 'images', ...more })
const reference = (mountPoint = 'dataset://data/images', more: KubeObject['metadata'] = {}): KubeObject => dataset(mountPoint, more)
const cache = (metadata: KubeObject['metadata'] = {}): KubeObject =>
  anObject(CacheRuntime, { spec: { runtimeClassName: 'builtin' } }, metadata)
const thin = (profileName: string): KubeObject => anObject(ThinRuntime, { spec: { profileName } })

describe('a new reference', () => {
  const cases: [string, KubeObject, Coming, RegExp | undefined][] = [
    ['to nothing yet is admitted', reference(), {}, undefined],
    ['to a dataset is admitted', reference(), { existing: [original()] }, undefined],
    [
      'to one that is being deleted is not',
      reference(),
      { existing: [original(GOING)] },
      /data\/images is being deleted, and takes no new references/,
    ],
    ['to one that refers to another is not', reference(), { existing: [original({}, 'dataset://data/more')] }, /references do not chain/],
    ['to itself is not', reference('dataset://work/one'), {}, /cannot refer to itself/],
    ['hears nothing about one that it may not use', reference(), { existing: [original(GOING)], mayRefer: false }, undefined],
    [
      'hears all about its own namespace',
      reference('dataset://work/two'),
      { existing: [dataset('s3://x', { name: 'two', ...GOING })], mayRefer: false },
      /is being deleted/,
    ],
    [
      'beside a cache of its name is not',
      reference(),
      { existing: [cache()] },
      /can only use thin runtime: delete CacheRuntime "one" first/,
    ],
    ['beside a cache that goes is admitted', reference(), { existing: [cache(GOING)] }, undefined],
    ['beside a ThinRuntime without a profile is admitted', reference(), { existing: [thin('')] }, undefined],
    [
      'beside a ThinRuntime with one is not',
      reference(),
      { existing: [thin('nfs')] },
      /can only use thin runtime: delete ThinRuntime "one" first/,
    ],
    ['that replaces sources is judged', reference(), { old: dataset('s3://x'), existing: [original(GOING)] }, /is being deleted/],
    [
      'that was there before may change otherwise',
      reference(undefined, { labels: { a: 'b' } }),
      { old: reference(), existing: [original(GOING)] },
      undefined,
    ],
    ['that is being deleted may go', reference(undefined, GOING), { old: dataset('s3://x'), existing: [original(GOING)] }, undefined],
  ]
  for (const [what, coming, given, expected] of cases)
    it(what, async () => {
      const { refused, schema } = await admit(coming, given)
      assert.deepEqual(schema, [])
      if (expected === undefined) assert.deepEqual(refused, [])
      else assert.match(refused.join('; '), expected)
    })
})

describe('a runtime for a reference', () => {
  const existing = [reference()]
  const cases: [string, KubeObject, Coming, RegExp | undefined][] = [
    ['with a cache is refused', cache(), { existing }, /metadata.name: .*can only use thin runtime, and Dataset "one" does/],
    ['without a profile is admitted', thin(''), { existing }, undefined],
    ['with a profile is refused', thin('nfs'), { existing }, /spec.profileName: .*can only use thin runtime/],
    ['that gets a profile is refused', thin('nfs'), { existing, old: thin('') }, /can only use thin runtime/],
    [
      'that had one may change',
      { ...thin('nfs'), metadata: { ...thin('nfs').metadata, labels: { a: 'b' } } },
      { existing, old: thin('nfs') },
      undefined,
    ],
    ['beside sources is none of this', cache(), { existing: [dataset('s3://x')] }, undefined],
  ]
  for (const [what, coming, given, expected] of cases)
    it(what, async () => {
      const { refused } = await admit(coming, given)
      if (expected === undefined) assert.deepEqual(refused, [])
      else assert.match(refused.join('; '), expected)
    })
})
