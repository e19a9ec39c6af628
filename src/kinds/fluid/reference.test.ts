import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dataset, Mount } from './index.ts'
import { isReference, mirrorName, publicMount, type Referred, referenceOf, referenceProblem, withoutCredentials } from './reference.ts'

const mounting = (...mounts: Mount[]): Pick<Dataset, 'spec'> => ({ spec: { mounts } })
const at = (mountPoint: string): Mount => ({ mountPoint })

describe('a reference', () => {
  const cases: [string, Mount[], Referred | undefined, RegExp | undefined][] = [
    ['one dataset', [at('dataset://data/images')], { namespace: 'data', name: 'images', subPath: '' }, undefined],
    ['a part of one', [at('dataset://data/images/a//./b/')], { namespace: 'data', name: 'images', subPath: 'a/b' }, undefined],
    ['a scheme in capitals', [at('Dataset://data/images')], { namespace: 'data', name: 'images', subPath: '' }, undefined],
    ['no mounts', [], undefined, undefined],
    ['a source', [at('s3://lake/dataset://data/images')], undefined, undefined],
    ['two', [at('dataset://data/a'), at('dataset://data/b')], undefined, /it has 2 dataset mounts which only expects 1/],
    ['one beside a source', [at('dataset://data/a'), at('s3://b')], undefined, /it has 1 dataset mounts but also contains other types/],
    ['no name', [at('dataset://data')], undefined, /names no dataset: write dataset:\/\/, its namespace and its name/],
    ['a path that climbs', [at('dataset://data/images/../../etc')], undefined, /contains "\.\."/],
  ]
  for (const [what, mounts, referred, problem] of cases)
    it(what, () => {
      assert.deepEqual(referenceOf(mounting(...mounts)), referred)
      assert.equal(isReference(mounting(...mounts)), referred !== undefined)
      if (problem === undefined) assert.equal(referenceProblem(mounts), undefined)
      else assert.match(referenceProblem(mounts) ?? '', problem)
    })
})

describe('what is shown outside a namespace', () => {
  const addresses: [string, string][] = [
    ['https://ann:hunter2@example.com:8443/images?token=x#y', 'https://example.com:8443/images'],
    ['s3://lake/images', 's3://lake/images'],
    ['redis://:secret@host:6379/1', 'redis://host:6379/1'],
    ['ann:p@ss@host:/export', 'host:/export'],
    ['host:/export/a@b', 'host:/export/a@b'],
    ['local:///data/images', 'local:///data/images'],
    ['', ''],
  ]
  for (const [address, shown] of addresses) it(address, () => assert.equal(withoutCredentials(address), shown))

  it('has no options', () => {
    const encryptOptions = [{ name: 'key', valueFrom: { secretKeyRef: { name: 'keys', key: 'key' } } }]
    const mount: Mount = { mountPoint: 's3://lake', name: 'a', path: '/a', readOnly: true, options: { secret: 'x' }, encryptOptions }
    assert.deepEqual(publicMount(mount), { mountPoint: 's3://lake', name: 'a', path: '/a', readOnly: true })
  })
})

describe('the name of a copy', () => {
  it('differs from that of a local object, and of a copy for another original of the name', () => {
    const [one, other] = ['ns-a', 'ns-c'].map((namespace) => mirrorName('demo-client', { namespace, name: 'demo' }))
    assert.equal(one, 'demo-client-276202b7')
    assert.match(other ?? '', /^demo-client-[0-9a-f]{8}$/)
    assert.notEqual(one, other)
    assert.ok(mirrorName('x'.repeat(253), { namespace: 'a', name: 'b' }).length <= 253)
  })
})
