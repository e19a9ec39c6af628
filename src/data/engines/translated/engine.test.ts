import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dataset, Mount } from '../../../kinds/fluid/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { BUILTIN_CLASS, builtinClass, DEFAULT_LEVELS } from '../builtin/class.ts'
import type { Engine } from '../engine.ts'
import { alluxioEngine, jindoEngine, juicefsEngine } from './engine.ts'
import { type TranslatedSpec, translatedSpec } from './spec.ts'

const CLASS = builtinClass({ version: '1.2.3', allowsPrivateAddresses: true })
const LOCAL: Mount = { mountPoint: 'local:///data', name: 'data' }
const aDataset = (mounts: Mount[]): Dataset => ({
  apiVersion: 'data.fluid.io/v1alpha1',
  kind: 'Dataset',
  metadata: { namespace: 'shop', name: 'demo', uid: 'u1' },
  spec: { mounts },
})
const serve = (
  engine: Engine,
  {
    spec = {},
    mounts = [LOCAL],
    translates = true,
    hasClass = true,
  }: Partial<{
    spec: TranslatedSpec
    mounts: Mount[]
    translates: boolean
    hasClass: boolean
  }> = {},
) => {
  const runtime = {
    apiVersion: 'data.fluid.io/v1alpha1',
    kind: engine.resource.kind,
    metadata: { namespace: 'shop', name: 'demo', uid: 'u2' },
    spec,
  }
  const input = {
    runtime: runtime as KubeObject,
    dataset: aDataset(mounts),
    classOf: () => (hasClass ? CLASS : undefined),
    profileOf: () => undefined,
  }
  return engine.serve(input, { translates, version: '1.2.3', hostPathPrefixes: 'all' })
}

describe('runtimes of other engines', () => {
  it('keep the names that their kind gives to workloads', () => {
    const names = (engine: Engine) => Object.values(serve(engine).prepared?.components ?? {}).map(({ name }) => name)
    assert.deepEqual(names(alluxioEngine), ['demo-master', 'demo-worker', 'demo-fuse'])
    assert.deepEqual(names(juicefsEngine), ['demo-master', 'demo-worker', 'demo-fuse'])
    assert.deepEqual(names(jindoEngine), ['demo-jindofs-master', 'demo-jindofs-worker', 'demo-jindofs-fuse'])
  })

  it('say who serves them', () => assert.match(serve(alluxioEngine).prepared?.servedBy ?? '', /builtin cache of Sluice/))

  it('are refused where they are not translated, with what to use', () => {
    const { refused } = serve(jindoEngine, { translates: false })
    assert.equal(refused?.reason, 'NoEngine')
    assert.match(
      refused?.message ?? '',
      /JindoRuntime here yet: delete it, and create a CacheRuntime of the same name with runtimeClassName builtin/,
    )
  })

  for (const scheme of ['juicefs', 'hdfs', 'oss', 'gs'])
    it(`are refused for mounts that nobody can read: ${scheme}://`, () => {
      const { refused } = serve(alluxioEngine, { mounts: [LOCAL, { mountPoint: `${scheme}://there/x`, name: 'x' }] })
      assert.equal(refused?.reason, 'UnsupportedMount')
      assert.match(refused?.message ?? '', new RegExp(`cannot read ${scheme}://.*(S3 gateway|S3-compatible endpoint)`))
    })

  it('wait for the class', () => assert.equal(serve(alluxioEngine, { hasClass: false }).refused?.reason, 'NoSuchClass'))

  it('hand options of sources on, whether the dataset or the runtime has them; those of the dataset win', () => {
    const mounts = [{ mountPoint: 's3://b', name: 'b', options: { 'aws.region': 'mine' } }]
    const spec = { properties: { 'alluxio.underfs.s3.endpoint': 'http://s3', 'aws.region': 'theirs', 'alluxio.user.block.size': '1' } }
    const config = serve(alluxioEngine, { mounts, spec }).prepared?.objects.configMaps.find(
      ({ data }) => data?.['runtime.json'] !== undefined,
    )
    const { mounts: made } = JSON.parse(config?.data?.['runtime.json'] ?? '{}') as { mounts: { options: Record<string, string> }[] }
    assert.deepEqual(made[0]?.options, { 'alluxio.underfs.s3.endpoint': 'http://s3', 'aws.region': 'mine' })
  })
})

describe('the spec of another engine as one of the class builtin', () => {
  const specOf = (spec: TranslatedSpec) => translatedSpec(spec).spec

  it('has one master, one worker and a gibibyte where nothing is said', () => {
    assert.deepEqual(specOf({}), {
      runtimeClassName: BUILTIN_CLASS,
      master: { replicas: 1 },
      worker: { replicas: 1, tieredStore: { levels: [...DEFAULT_LEVELS] } },
      client: { cleanPolicy: 'OnRuntimeDeleted' },
    })
  })

  it('has as many workers and tiers as were asked for: memory in the process, directories of the node for itself', () => {
    const worker = specOf({
      replicas: 3,
      tieredstore: {
        levels: [
          { mediumtype: 'MEM', volumeType: 'hostPath', path: '/dev/shm', quota: '2Gi', high: '0.9', low: '0.6' },
          { mediumtype: 'SSD', volumeType: 'hostPath', path: '/a,/b', quota: '4Gi' },
          { mediumtype: 'HDD', path: '/c', volumeType: 'emptyDir', quota: '1Gi' },
        ],
      },
    })?.worker
    assert.equal(worker?.replicas, 3)
    assert.deepEqual(worker?.tieredStore?.levels, [
      { processMemory: { quota: String(2 * 2 ** 30) }, high: '0.9', low: '0.6' },
      {
        hostPath: { paths: ['/var/lib/sluice/cache/a', '/var/lib/sluice/cache/b'], quotas: [String(2 * 2 ** 30), String(2 * 2 ** 30)] },
      },
      { emptyDir: { quota: String(2 ** 30) } },
    ])
  })

  it('keeps copies, pins and the policy of metadata as options', () => {
    const spec = specOf({ data: { replicas: 2, pin: true }, management: { metadataSyncPolicy: { autoSync: false } } })
    assert.deepEqual([spec?.worker?.options, spec?.master?.options], [{ replicas: '2', pin: 'true' }, { metadataSyncInterval: '0' }])
    assert.deepEqual(specOf({ data: { replicas: 99 } })?.worker?.options, { replicas: '16' })
    assert.equal(specOf({ data: { replicas: 1, pin: false } })?.worker?.options, undefined)
  })

  it('keeps workers, masters and clients where they may be', () => {
    const tolerations = [{ key: 'gpu', operator: 'Exists' }]
    const place = { nodeSelector: { disk: 'ssd' }, tolerations }
    const spec = specOf({ master: place, worker: place, fuse: place })
    for (const component of [spec?.master, spec?.worker, spec?.client]) {
      assert.deepEqual(component?.nodeSelector, { disk: 'ssd' })
      assert.deepEqual(component?.tolerations, tolerations)
    }
  })

  it('is refused for tiers that make no sense', () => {
    assert.match(
      translatedSpec({ tieredstore: { levels: [{ mediumtype: 'SSD', volumeType: 'hostPath', path: '../x', quota: '1Gi' }] } }).problem ??
        '',
      /no absolute path/,
    )
    assert.match(
      translatedSpec({ tieredstore: { levels: [{ mediumtype: 'SSD', volumeType: 'hostPath', path: '/x' }] } }).problem ?? '',
      /quota/,
    )
  })
})
