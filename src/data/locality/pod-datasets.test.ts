import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../../kube/meta.ts'
import { datasetsOf } from './pod-datasets.ts'
import { aBoundDataset, aClaim, aDataset, aPod, aRuntime, aVolume, readerOf, zone } from './testing.ts'

const found = (objects: readonly KubeObject[], pod = aPod(['demo'])) => datasetsOf(pod, 'default', readerOf(objects))
const names = (objects: readonly KubeObject[], pod = aPod(['demo'])) =>
  found(objects, pod).value?.map(({ claim, name }) => `${claim}=${name}`)

describe('the datasets of a pod', () => {
  it('are those of its claims, each with its labels, the nodes of its clients and the places of its cache', () => {
    const spec = { client: { nodeSelector: { disk: 'ssd' } } }
    const status = { cacheAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [zone('x')] } } }
    assert.deepEqual(found(aBoundDataset('demo', { spec, status })), {
      value: [
        {
          claim: 'demo',
          name: 'demo',
          namespace: 'default',
          cacheLabel: 'fluid.io/s-default-demo',
          fuseLabel: 'fluid.io/f-default-demo',
          fuseNodeSelector: { disk: 'ssd' },
          cacheTerms: [zone('x')],
          attributes: { runtime_namespace: 'default', runtime_name: 'demo' },
          accessModes: ['ReadOnlyMany'],
          holder: { namespace: 'default', name: 'demo' },
          runtime: aRuntime('default/demo', { spec, status }),
        },
      ],
    })
  })

  it('come in the order of their claims, each claim once', () => {
    const objects = [...aBoundDataset('b'), ...aBoundDataset('a'), aClaim('plain', {})]
    assert.deepEqual(names(objects, aPod(['b', 'plain', 'a', 'b'])), ['a=a', 'b=b'])
    assert.deepEqual(names(objects, aPod([])), [])
  })

  it('are known by labels of the claim', () => {
    const objects = [aDataset('default/real'), aRuntime('default/real'), aDataset('default/demo'), aRuntime('default/demo')]
    for (const [labels, expected] of [
      [{ 'fluid.io/s-anything': 'true' }, ['demo=demo']],
      [{ 'fluid.io/managed-by': 'real' }, ['demo=real']],
      [{ 'fluid.io/wrapped-by': 'real' }, ['demo=real']],
      [{ 'fluid.io/managed-by': 'real', 'fluid.io/wrapped-by': 'demo', 'fluid.io/s-default-demo': 'true' }, ['demo=real']],
      [{ 'fluid.io/dataset-id': 'default-demo' }, []],
      [{}, []],
    ] as const)
      assert.deepEqual(names([...objects, aClaim('demo', labels)]), expected, JSON.stringify(labels))
  })

  it('have the runtime that they are bound to, of any kind', () => {
    const fuse = { fuse: { nodeSelector: { disk: 'hdd' } } }
    const bound = (type: string) => aDataset('default/demo', { runtimes: [{ type }] })
    for (const [type, kind] of [
      ['alluxio', 'AlluxioRuntime'],
      ['juicefs', 'JuiceFSRuntime'],
      ['jindo', 'JindoRuntime'],
      ['thin', 'ThinRuntime'],
      ['efc', 'EFCRuntime'],
      ['vineyard', 'VineyardRuntime'],
    ] as const) {
      const objects = [aClaim('demo'), bound(type), aRuntime('default/demo'), aRuntime('default/demo', { kind, spec: fuse })]
      assert.deepEqual(found(objects).value?.[0]?.fuseNodeSelector, { disk: 'hdd' }, kind)
    }
    const unbound = aDataset('default/demo', { runtimes: [] })
    const objects = [aClaim('demo'), unbound, aRuntime('default/demo', { kind: 'JindoRuntime', spec: fuse })]
    assert.deepEqual(found(objects).value?.[0]?.fuseNodeSelector, { disk: 'hdd' }, 'by its name')
  })

  it('that refer to another are where the cache of that one is', () => {
    const other = aDataset('storage/real')
    const runtime = aRuntime('storage/real', { spec: { client: { nodeSelector: { disk: 'ssd' } } } })
    const attributes = { runtime_namespace: 'storage', runtime_name: 'real' }
    const reference = [aClaim('demo'), aDataset('default/demo', { runtimes: [{ type: 'thin' }] }), other, runtime]
    const { value: [dataset] = [] } = found([...reference, aVolume('demo', attributes)])
    assert.deepEqual([dataset?.name, dataset?.cacheLabel, dataset?.fuseNodeSelector], ['demo', 'fluid.io/s-storage-real', { disk: 'ssd' }])
    assert.match(
      found([...reference.slice(0, 2), aVolume('demo', attributes)]).error ?? '',
      /"storage\/real", to which .* refers, has no runtime/,
    )
  })

  it('are not where the volume of somebody else points', () => {
    const volume = aVolume('demo', { runtime_namespace: 'secret', runtime_name: 'x' })
    for (const spec of [
      { ...volume.spec, claimRef: { namespace: 'other', name: 'demo' } },
      { ...volume.spec, csi: { ...volume.spec?.csi, driver: 'another' } },
    ]) {
      const objects = [aClaim('demo'), aDataset('default/demo'), aRuntime('default/demo'), { ...volume, spec }]
      assert.equal(found(objects).value?.[0]?.cacheLabel, 'fluid.io/s-default-demo')
    }
  })

  describe('are refused', () => {
    const dataset = (status: Parameters<typeof aDataset>[1]) => [aClaim('demo'), aDataset('default/demo', status), aRuntime('default/demo')]
    const notReady = { type: 'NotReady', status: 'True', reason: 'DatasetFailedToSetup', message: 'no node takes its workers' }
    for (const [says, objects, expected] of [
      ['without their claims', [], /^failed to get the following PVCs \[demo\]: /],
      ['without a dataset', [aClaim('demo')], /^dataset "default\/demo" not found: /],
      ['before anything is known', dataset({ phase: '' }), /^dataset "default\/demo" not bound: wait until/],
      ['when not bound', dataset({ phase: 'NotBound' }), /^dataset "default\/demo" not bound: wait until/],
      [
        'with the reason',
        dataset({ phase: 'NotBound', conditions: [notReady] }),
        /^dataset "default\/demo" not ready because no node takes its workers$/,
      ],
      ['without a runtime', [aClaim('demo'), aDataset('default/demo')], /^dataset "default\/demo" has no runtime: /],
    ] as const)
      it(says, () => assert.match(found(objects).error ?? '', expected))

    it('for all claims that are missing at once', () => {
      assert.match(found(aBoundDataset('demo'), aPod(['x', 'demo', 'c'])).error ?? '', /^failed to get the following PVCs \[c x\]/)
    })
  })

  it('need not be bound if the pod says so, nor be healthy', () => {
    const objects = [aClaim('demo'), aDataset('default/demo', { phase: 'NotBound' }), aRuntime('default/demo')]
    assert.deepEqual(names(objects, aPod(['demo'], {}, { annotations: { 'sidecar.fluid.io/skip-precheck': 'true' } })), ['demo=demo'])
    assert.equal(names(objects, aPod(['demo'], {}, { annotations: { 'sidecar.fluid.io/skip-precheck': 'false' } })), undefined)
    for (const phase of ['Bound', 'Failed', 'Updating', 'DataMigrating'])
      assert.deepEqual(names([aClaim('demo'), aDataset('default/demo', { phase }), aRuntime('default/demo')]), ['demo=demo'], phase)
  })
})
