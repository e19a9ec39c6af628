import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../../../kube/meta.ts'
import { AlluxioRuntime, CacheRuntime, JindoRuntime, JuiceFSRuntime, runtimeKinds, ThinRuntime } from '../index.ts'
import { admit, anObject, type Coming } from './testing.ts'

const refused = async (object: KubeObject, coming: Coming = {}) => {
  const { schema, refused: errors } = await admit(object, coming)
  assert.deepEqual(schema, [])
  return errors
}
const alluxio = (...levels: object[]) => anObject(AlluxioRuntime, { spec: { tieredstore: { levels } } })
const cache = (...levels: object[]) =>
  anObject(CacheRuntime, { spec: { runtimeClassName: 'builtin', worker: { tieredStore: { levels } } } })
const memory = { processMemory: { quota: '1Gi' } }

const REFUSED: [string, KubeObject, string][] = [
  [
    'more workers than anybody may have',
    anObject(CacheRuntime, { spec: { runtimeClassName: 'builtin', worker: { replicas: 2 ** 31 - 1 } } }),
    'spec.worker.replicas: Invalid value: 2147483647: must be at most 10000: make several datasets of it',
  ],
  [
    'more workers of another engine than anybody may have',
    anObject(AlluxioRuntime, { spec: { replicas: 10_001 } }),
    'spec.replicas: Invalid value: 10001: must be at most 10000: make several datasets of it',
  ],
  [
    'a level without a quota',
    alluxio({ mediumtype: 'MEM', path: '/a' }),
    'spec.tieredstore.levels[0].quota: Invalid value: either quota or quotaList must be set: say how much the level may hold, for example 10Gi',
  ],
  [
    'fewer quotas than paths',
    alluxio({ mediumtype: 'MEM', quota: 1 }, { mediumtype: 'SSD', path: '/a,/b,/c', quotaList: '1Gi,2Gi' }),
    'spec.tieredstore.levels[1].quotaList: Invalid value: length of quotaList must be consistent with length of paths: it has 2 entries for 3 paths',
  ],
  [
    'a tier in a directory that is not absolute',
    alluxio({ mediumtype: 'MEM', path: 'a', quota: 1 }),
    'spec.tieredstore.levels[0].path: Invalid value: "a" is not absolute: write the whole path of the directory',
  ],
  [
    'a tier in a directory that leads out',
    alluxio({ mediumtype: 'MEM', path: '/a/../..', quota: 1 }),
    'spec.tieredstore.levels[0].path: Invalid value: "/a/../.." contains "..": write the path without it',
  ],
  [
    'two media in a level',
    cache(memory, { emptyDir: { quota: 1 }, hostPath: { paths: ['/a'], quotas: [1] } }),
    'spec.worker.tieredStore.levels[1]: Invalid value: only one storage medium can be specified per level at index 1, but found 2: make a level of each',
  ],
  [
    'memory twice',
    cache(memory, memory),
    'spec.worker.tieredStore.levels[1].processMemory: Invalid value: RuntimeTieredStore should have only one ProcessMemoryMediumSource for all levels: keep one',
  ],
  [
    'no memory',
    cache({ processMemory: { quota: 0 } }),
    'spec.worker.tieredStore.levels[0].processMemory.quota: Invalid value: process memory quota cannot be zero at level index 0: write for example 2Gi',
  ],
  [
    'fewer quotas than directories',
    anObject(CacheRuntime, {
      spec: { runtimeClassName: 'a', client: { tieredStore: { levels: [{ hostPath: { paths: ['/a', '/b'], quotas: [1] } }] } } },
    }),
    'spec.client.tieredStore.levels[0].hostPath.quotas: Invalid value: must have as many entries as paths: it has 1 for 2 paths',
  ],
  [
    'a volume in a directory that leads out',
    anObject(JindoRuntime, { spec: { volumes: [{ name: 'v', hostPath: { path: '/a/..' } }] } }),
    'spec.volumes[0].hostPath.path: Invalid value: "/a/.." contains "..": write the path without it',
  ],
]

describe('admission of a runtime', () => {
  for (const [what, object, error] of REFUSED) it(`refuses ${what}`, async () => assert.deepEqual(await refused(object), [error]))

  for (const kind of runtimeKinds) {
    const spec = kind.kind === 'CacheRuntime' ? { runtimeClassName: 'builtin' } : {}
    it(`refuses a ${kind.kind} with a dot in its name, and takes one without`, async () => {
      assert.match(
        (await refused(anObject(kind, { spec }, { name: 'a.b' }))).join('\n'),
        new RegExp(`^metadata\\.name: Invalid value: "a\\.b": cannot be the name of a ${kind.kind}, because .*63 characters$`),
      )
      assert.deepEqual(await refused(anObject(kind, { spec })), [])
      assert.deepEqual(await refused(anObject(kind, {})), [])
    })
  }

  for (const [kind, longest] of [
    [CacheRuntime, 45],
    [JindoRuntime, 37],
  ] as const)
    it(`refuses a ${kind.kind} whose pods could not be labelled`, async () => {
      const spec = kind.kind === 'CacheRuntime' ? { runtimeClassName: 'builtin' } : {}
      assert.deepEqual(await refused(anObject(kind, { spec }, { name: 'a'.repeat(longest) })), [])
      assert.match(
        (await refused(anObject(kind, { spec }, { name: 'a'.repeat(longest + 1) }))).join('\n'),
        new RegExp(`cannot be the name of a ${kind.kind}, because labels of its pods are made of it: use at most ${longest} characters`),
      )
    })

  it('takes levels of every sort', async () => {
    assert.deepEqual(await refused(alluxio({ mediumtype: 'MEM', quota: 1 }, { mediumtype: 'HDD', path: '/a,/b', quotaList: '1Gi,0' })), [])
    assert.deepEqual(await refused(cache(memory, { emptyDir: { quota: 1 } }, { hostPath: { paths: ['/'], quotas: [1] } })), [])
  })
})

describe('a second runtime of one name', () => {
  const juicefs = anObject(JuiceFSRuntime, { spec: {} })
  it('is refused if it is of another kind', async () => {
    assert.deepEqual(await refused(alluxio(), { existing: [juicefs] }), [
      'metadata.name: Forbidden: JuiceFSRuntime "one" exists in this namespace, and a dataset has one runtime: delete it first, or choose another name',
    ])
  })
  it('is none in another namespace, by another name, or if both were there before', async () => {
    assert.deepEqual(
      await refused(alluxio(), {
        existing: [anObject(JuiceFSRuntime, {}, { namespace: 'other' }), anObject(JuiceFSRuntime, {}, { name: 'two' })],
      }),
      [],
    )
    assert.deepEqual(await refused(anObject(AlluxioRuntime, { spec: { replicas: 2 } }), { existing: [juicefs], old: alluxio() }), [])
  })
})

describe('directories of the node', () => {
  const NONE =
    'is a directory of the node, and the administrator allows none here: use a claim or an emptyDir instead, or ask for it to be listed'
  const cases: [KubeObject, string][] = [
    [alluxio({ mediumtype: 'MEM', path: '/dev/shm', quota: 1 }), `spec.tieredstore.levels[0].path: Forbidden: "/dev/shm" ${NONE}`],
    [
      cache(memory, { hostPath: { paths: ['/a'], quotas: [1] } }),
      `spec.worker.tieredStore.levels[1].hostPath.paths[0]: Forbidden: "/a" ${NONE}`,
    ],
    [
      anObject(CacheRuntime, { spec: { runtimeClassName: 'a', volumes: [{ name: 'v', hostPath: { path: '/' } }] } }),
      `spec.volumes[0].hostPath.path: Forbidden: "/" ${NONE}`,
    ],
    [
      alluxio({ mediumtype: 'SSD', volumeType: 'emptyDir', volumeSource: { hostPath: { path: '/a' } }, quota: 1 }),
      `spec.tieredstore.levels[0].volumeSource.hostPath.path: Forbidden: "/a" ${NONE}`,
    ],
  ]
  for (const [object, error] of cases)
    it(`are refused where none are allowed: ${error.slice(0, 70)}…`, async () => {
      assert.deepEqual(await refused(object, { hostPathPrefixes: [] }), [error])
      assert.deepEqual(await refused(object, { hostPathPrefixes: ['/'] }), [])
    })
  it('are not what an emptyDir has', async () => {
    assert.deepEqual(
      await refused(alluxio({ mediumtype: 'SSD', volumeType: 'emptyDir', path: '/a', quota: 1 }), { hostPathPrefixes: [] }),
      [],
    )
  })
})

describe('the fuse of a ThinRuntime', () => {
  const thin = (lifecycle: object) => anObject(ThinRuntime, { spec: { profileName: 'nfs', fuse: { image: 'nfs', lifecycle } } })
  const exec = { exec: { command: ['true'] } }
  it('may say how it ends, and not what follows its start', async () => {
    assert.deepEqual(await refused(thin({ preStop: exec })), [])
    assert.deepEqual(await refused(thin({ postStart: exec })), [
      'spec.fuse.lifecycle.postStart: Forbidden: custom fuse.lifecycle.postStart configuration in a ThinRuntime is not supported: do its work in the command of the fuse',
    ])
  })
  it('sees no directory of the node that is not allowed', async () => {
    const object = anObject(ThinRuntime, { spec: { profileName: 'nfs', volumes: [{ name: 'v', hostPath: { path: '/etc' } }] } })
    assert.match((await refused(object, { hostPathPrefixes: [] })).join(), /^spec\.volumes\[0\]\.hostPath\.path: Forbidden: "\/etc"/)
    assert.deepEqual(await refused(object, { hostPathPrefixes: ['/etc'] }), [])
  })
})

describe('an update of a runtime', () => {
  it('is refused only for what it brings in', async () => {
    const old = cache({ processMemory: { quota: 0 } })
    assert.deepEqual(await refused(cache({ emptyDir: { quota: 1 } }, { processMemory: { quota: 0 } }), { old }), [])
    assert.equal((await refused(cache({ processMemory: { quota: 0 } }, { emptyDir: { quota: 0 } }), { old })).length, 1)
  })
})
