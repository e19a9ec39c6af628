/** What somebody who writes a Dataset and its runtime in one namespace cannot reach through the pods that are made of them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { engineOptions } from '../../cache/config/engine-options.ts'
import { parseRuntimeConfig } from '../../cache/config/runtime-config.ts'
import type { Dataset, DatasetSpec } from '../../kinds/fluid/index.ts'
import type { Volume } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { builtinClass } from './builtin/class.ts'
import type { Served } from './engine.ts'
import { ENGINES } from './index.ts'

const API = 'data.fluid.io/v1alpha1'
const metadata = { namespace: 'tenant', name: 'demo', uid: 'u' }
const SAFE: DatasetSpec = { mounts: [{ mountPoint: 'https://example.com/a', name: 'a' }] }

const PROFILE: KubeObject = {
  apiVersion: API,
  kind: 'ThinRuntimeProfile',
  metadata: { name: 'p' },
  spec: { fileSystemType: 'fs', fuse: { image: 'i', imageTag: 't' } },
}
interface Written {
  kind?: string
  spec?: object
  dataset?: DatasetSpec
  prefixes?: readonly string[] | 'all'
  allowsPrivateAddresses?: boolean
}

const THIN: Written = { kind: 'ThinRuntime', dataset: { mounts: [{ mountPoint: 's3://a/b', name: 'a' }] } }

function serve({
  kind = 'CacheRuntime',
  spec = { runtimeClassName: 'builtin' },
  dataset = SAFE,
  prefixes = ['/data'],
  allowsPrivateAddresses = false,
}: Written) {
  const engine = ENGINES.find(({ resource }) => resource.kind === kind)
  assert.ok(engine)
  const input = {
    runtime: { apiVersion: API, kind, metadata, spec } as KubeObject,
    dataset: { apiVersion: API, kind: 'Dataset', metadata, spec: dataset } as Dataset,
    classOf: () => builtinClass({ version: '1', allowsPrivateAddresses }),
    profileOf: () => PROFILE,
  }
  return engine.serve(input, { translates: true, hostPathPrefixes: prefixes, version: '1' })
}

const templatesOf = ({ prepared }: Served) =>
  [...(prepared?.objects.sets ?? []), ...(prepared?.objects.daemonSets ?? [])].map(({ spec }) => spec?.template?.spec)
const hostPathsOf = (served: Served): string[] =>
  templatesOf(served).flatMap((pod) => (pod?.volumes ?? []).flatMap(({ hostPath }: Volume) => hostPath?.path ?? []))

describe('directories of nodes', () => {
  const attempts: [string, Written][] = [
    ['a source', { dataset: { mounts: [{ mountPoint: 'local:///etc', name: 'a' }] } }],
    ['a source in capitals', { dataset: { mounts: [{ mountPoint: 'LOCAL:///etc', name: 'a' }] } }],
    [
      'a source beside one that is allowed',
      {
        dataset: {
          mounts: [
            { mountPoint: 'local:///data/a', name: 'a' },
            { mountPoint: 'local:///database', name: 'b' },
          ],
        },
      },
    ],
    [
      'the option of a mount',
      { dataset: { mounts: [{ mountPoint: 's3://a/b', name: 'a', options: { 'fluid.fuse.hostvolume': '/etc' } }] } },
    ],
    ['the option of all mounts', { dataset: { ...SAFE, sharedOptions: { 'fluid.fuse.hostvolume': '/etc:/x' } } }],
    ['a place to restore from', { dataset: { ...SAFE, dataRestoreLocation: { path: 'local:///etc' } } }],
    [
      'a tier of workers',
      {
        spec: {
          runtimeClassName: 'builtin',
          worker: { replicas: 1, tieredStore: { levels: [{ hostPath: { paths: ['/etc'], quotas: ['1Gi'] } }] } },
        },
      },
    ],
    [
      'a tier of clients',
      { spec: { runtimeClassName: 'builtin', client: { tieredStore: { levels: [{ hostPath: { paths: ['/etc'], quotas: ['1Gi'] } }] } } } },
    ],
    [
      'a tier that climbs',
      {
        spec: {
          runtimeClassName: 'builtin',
          worker: { replicas: 1, tieredStore: { levels: [{ hostPath: { paths: ['/data/../etc'], quotas: ['1Gi'] } }] } },
        },
      },
    ],
    [
      'a volume',
      {
        spec: {
          runtimeClassName: 'builtin',
          volumes: [{ name: 'v', hostPath: { path: '/etc' } }],
          worker: { replicas: 1, volumeMounts: [{ name: 'v', mountPath: '/v' }] },
        },
      },
    ],
    [
      'a volume that climbs',
      {
        spec: {
          runtimeClassName: 'builtin',
          volumes: [{ name: 'v', hostPath: { path: '/data/../etc' } }],
          worker: { replicas: 1, volumeMounts: [{ name: 'v', mountPath: '/v' }] },
        },
      },
    ],
    [
      'a level of another engine',
      { kind: 'AlluxioRuntime', spec: { tieredstore: { levels: [{ mediumtype: 'SSD', path: '/etc', quota: '1Gi' }] } } },
    ],
    [
      'one of many paths of a level',
      { kind: 'JindoRuntime', spec: { tieredstore: { levels: [{ mediumtype: 'SSD', path: '/data/a,/etc', quota: '1Gi' }] } } },
    ],
    [
      'the source of a level',
      {
        kind: 'AlluxioRuntime',
        spec: {
          tieredstore: { levels: [{ mediumtype: 'SSD', path: '/data/a', quota: '1Gi', volumeSource: { hostPath: { path: '/etc' } } }] },
        },
      },
    ],
    ['a volume of another engine', { kind: 'JuiceFSRuntime', spec: { volumes: [{ name: 'v', hostPath: { path: '/etc' } }] } }],
    [
      'a volume of a file system',
      { kind: 'ThinRuntime', spec: { profileName: 'p', volumes: [{ name: 'v', hostPath: { path: '/etc' } }] } },
    ],
    [
      'a level of a file system',
      { kind: 'ThinRuntime', spec: { profileName: 'p', tieredstore: { levels: [{ mediumtype: 'SSD', path: '/etc', quota: '1Gi' }] } } },
    ],
    [
      'a level of a file system that climbs',
      { ...THIN, spec: { profileName: 'p', tieredstore: { levels: [{ mediumtype: 'SSD', path: '/data/../etc', quota: '1Gi' }] } } },
    ],
    [
      'a volume of a file system that climbs',
      {
        ...THIN,
        spec: {
          profileName: 'p',
          volumes: [{ name: 'v', hostPath: { path: '/data/../etc' } }],
          fuse: { volumeMounts: [{ name: 'v', mountPath: '/v' }] },
        },
      },
    ],
    [
      'an option of a file system that climbs',
      {
        ...THIN,
        spec: { profileName: 'p' },
        dataset: { mounts: [{ mountPoint: 's3://a/b', name: 'a', options: { 'fluid.fuse.hostvolume': '/data/../etc' } }] },
      },
    ],
    ['a volume of an engine that nobody serves', { kind: 'EFCRuntime', spec: { volumes: [{ name: 'v', hostPath: { path: '/etc' } }] } }],
  ]
  for (const [attempt, written] of attempts)
    it(`are not reached by ${attempt} that came in past admission`, () => {
      const { refused } = serve(written)
      assert.match(refused?.message ?? 'served', /directory of the node, and the administrator allows only|no absolute path without/)
    })

  it('are given below what is listed, and everywhere where all are', () => {
    const dataset = { mounts: [{ mountPoint: 'local:///data/a', name: 'a' }] }
    assert.ok(hostPathsOf(serve({ dataset })).includes('/data/a'))
    assert.ok(hostPathsOf(serve({ dataset: { mounts: [{ mountPoint: 'local:///etc', name: 'a' }] }, prefixes: 'all' })).includes('/etc'))
  })

  it('of the runtime itself are below its own namespace and name, whatever it is called', () => {
    const own = '/runtime-mnt/cache/tenant/demo/cache-fuse'
    assert.deepEqual([...new Set(hostPathsOf(serve({ prefixes: [] })))], [own])
  })
})

describe('pods', () => {
  for (const [attempt, written] of [
    ['workers', { spec: { runtimeClassName: 'builtin', worker: { replicas: 10_001 } } }],
    ['masters', { spec: { runtimeClassName: 'builtin', master: { replicas: 2 ** 31 - 1 } } }],
    ['workers of another engine', { kind: 'AlluxioRuntime', spec: { replicas: 2 ** 31 - 1 } }],
  ] as [string, Written][])
    it(`are bounded where somebody scales: ${attempt}`, () => {
      assert.match(serve(written).refused?.message ?? 'served', /are more than the 10000 that there may be: scale it in/)
    })
})

describe('Secrets', () => {
  const option = (name: string, key: string): DatasetSpec => ({
    mounts: [
      { mountPoint: 's3://a/b', name: 'a', encryptOptions: [{ name: 'aws.accessKeyId', valueFrom: { secretKeyRef: { name, key } } }] },
    ],
  })
  for (const [name, key] of [
    ['s', '../../../sluice/key/key'],
    ['s', '..'],
    ['s', '/etc/passwd'],
    ['s', 'a/b'],
    ['s', 'a\0'],
    ['../../other', 'key'],
    ['other/s', 'key'],
  ] as const)
    it(`are no other files of the pod: ${JSON.stringify([name, key])}`, () => {
      assert.match(serve({ dataset: option(name, key) }).refused?.message ?? 'served', /names no key of a Secret/)
    })

  it('are those of the namespace, each as a file of its own', () => {
    const served = serve({ dataset: option('s', 'key') })
    const secrets = templatesOf(served).flatMap((pod) => (pod?.volumes ?? []).flatMap(({ secret }: Volume) => secret?.secretName ?? []))
    assert.deepEqual([...new Set(secrets)].sort(), ['demo-cache-key', 's'])
    assert.ok(served.prepared?.objects.sets.every((set) => set.metadata.namespace === 'tenant'))
  })

  it('and keys are not given to clients', () => {
    const { prepared } = serve({ dataset: option('s', 'key') })
    const volumes = prepared?.objects.daemonSets.flatMap(({ spec }) => spec?.template?.spec?.volumes ?? []) ?? []
    assert.deepEqual(
      volumes.filter(({ secret }) => secret !== undefined),
      [],
    )
  })
})

describe('addresses of sources', () => {
  const open = { allowPrivateAddresses: 'true' }
  const isOpen = (written: Written): boolean => {
    const { prepared, refused } = serve(written)
    assert.equal(refused, undefined)
    return engineOptions(parseRuntimeConfig(prepared?.objects.configMaps[0]?.data?.['runtime.json'] ?? '')).allowPrivateAddresses
  }
  const runtimeClassName = 'builtin'
  const attempts: [string, object][] = [
    ['its options', { runtimeClassName, options: open }],
    ['options of the master', { runtimeClassName, master: { replicas: 1, options: open } }],
    ['options of workers', { runtimeClassName, worker: { replicas: 1, options: open } }],
    [
      'options of workers without a master',
      { runtimeClassName, master: { disabled: true, replicas: 1 }, worker: { replicas: 1, options: open } },
    ],
    ['options of clients', { runtimeClassName, options: open, client: { options: open } }],
  ]
  for (const [attempt, spec] of attempts)
    it(`stay public, whatever a runtime says by ${attempt}`, () => assert.equal(isOpen({ spec }), false))

  it('are private where the administrator allows it, also without a master', () => {
    assert.equal(isOpen({ allowsPrivateAddresses: true }), true)
    assert.equal(isOpen({ allowsPrivateAddresses: true, spec: { runtimeClassName, master: { disabled: true, replicas: 1 } } }), true)
  })

  it('stay public, whatever a runtime of another engine says by its properties', () => {
    const properties = { ...open, 'alluxio.underfs.s3.endpoint': 'http://10.0.0.1' }
    assert.equal(isOpen({ kind: 'AlluxioRuntime', spec: { properties } }), false)
  })
})
