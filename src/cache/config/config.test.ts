import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { engineOptions } from './engine-options.ts'
import { ConfigError } from './fields.ts'
import { datasetPath, isBelow } from './paths.ts'
import { parseRuntimeConfig } from './runtime-config.ts'

const whole = {
  mounts: [
    {
      name: 'images',
      mountPoint: 's3://bucket/images',
      options: { 'aws.region': 'x' },
      encryptOptions: { 'aws.secretKey': '/etc/fluid/secrets/s/k' },
    },
    { name: 'root', mountPoint: 'local:///data', path: '/', readOnly: true, shared: true },
  ],
  accessModes: ['ReadOnlyMany'],
  targetPath: '/runtime-mnt/cache/default/demo/cache-fuse',
  master: {
    enabled: true,
    name: 'demo-master',
    options: { metadataSyncInterval: '5m' },
    replicas: 1,
    service: { name: 'svc-demo-master' },
  },
  worker: {
    enabled: true,
    name: 'demo-worker',
    options: { blockSize: '8Mi', replicas: '2', high: '0.9', low: '0.5' },
    replicas: 2,
    service: { name: '' },
    tieredStoreLevels: [{ mountPaths: ['/a', '/b'], mediumType: 'MEM', quotas: ['1Gi', '2Gi'], high: '0.95', low: '0.7' }],
  },
  client: { enabled: true, name: 'demo-client', service: { name: '' } },
}
const parse = (change: object) => parseRuntimeConfig(JSON.stringify({ ...whole, ...change }))
const options = (worker: object, master: object = {}) =>
  engineOptions(parse({ worker: { ...whole.worker, options: worker }, master: { ...whole.master, options: master } }))

describe('runtime.json', () => {
  for (const file of ['relative', '/etc/fluid/secrets/../../../home/key', '/etc/fluid/secrets/s/..', '/a/./b', '/a\0b', ''])
    it(`names files of Secrets, and no others: ${JSON.stringify(file)}`, () => {
      const mounts = [{ name: 'a', mountPoint: 's3://a/b', encryptOptions: { 'aws.accessKeyId': file } }]
      assert.throws(() => parse({ mounts }), /mounts\[0\]\.encryptOptions\["aws\.accessKeyId"\] must be an absolute path without/)
    })

  it('is read whole', () => {
    const config = parse({})
    assert.deepEqual(
      config.mounts.map(({ name, path, isReadOnly }) => [name, path, isReadOnly]),
      [
        ['images', '/images', false],
        ['root', '/', true],
      ],
    )
    assert.equal(config.mounts[0]?.encryptOptions.get('aws.secretKey'), '/etc/fluid/secrets/s/k')
    assert.equal(config.master.serviceName, 'svc-demo-master')
    assert.deepEqual(config.worker.tiers, [
      {
        medium: 'MEM',
        high: 0.95,
        low: 0.7,
        paths: [
          { directory: '/a', quotaBytes: 2 ** 30 },
          { directory: '/b', quotaBytes: 2 ** 31 },
        ],
      },
    ])
    assert.deepEqual(engineOptions(config), {
      blockBytes: 8 * 2 ** 20,
      syncIntervalMs: 300_000,
      replicas: 2,
      high: 0.9,
      low: 0.5,
      allowPrivateAddresses: false,
      preload: false,
      pin: false,
    })
  })

  it('may leave almost everything out', () => {
    const config = parseRuntimeConfig('{}')
    assert.equal(config.worker.isEnabled, false)
    assert.deepEqual(engineOptions(config), {
      blockBytes: 4 * 2 ** 20,
      syncIntervalMs: 60_000,
      replicas: 1,
      allowPrivateAddresses: false,
      preload: false,
      pin: false,
    })
  })

  const tier = (level: object) => ({ worker: { ...whole.worker, tieredStoreLevels: [level] } })
  const REFUSED: [string, object, RegExp][] = [
    ['mounts that are no list', { mounts: {} }, /mounts must be a list/],
    ['a mount that is no object', { mounts: [1] }, /mounts\[0\] must be an object/],
    ['a mount without a place', { mounts: [{ name: 'a' }] }, /mounts\[0\]\.mountPoint is missing/],
    ['a path that leads out', { mounts: [{ name: 'a', mountPoint: 'x', path: '/../b' }] }, /no empty, \. or \.\. part/],
    ['a mount without name and path', { mounts: [{ mountPoint: 'x' }] }, /a name to take it from/],
    [
      'two mounts at one path',
      {
        mounts: [
          { name: 'a', mountPoint: 'x' },
          { name: 'b', mountPoint: 'y', path: '/a' },
        ],
      },
      /two mounts/,
    ],
    ['options that are no texts', { mounts: [{ name: 'a', mountPoint: 'x', options: { a: 1 } }] }, /options\["a"\] must be a text/],
    ['an unknown access mode', { accessModes: ['Everything'] }, /accessModes/],
    ['a service name that is no name', { master: { ...whole.master, service: { name: 'a b' } } }, /master\.service\.name/],
    ['too many mounts', { mounts: Array.from({ length: 300 }, (_, i) => ({ name: `m${i}`, mountPoint: 'x' })) }, /at most 256/],
    ['quotas that do not fit their paths', tier({ mountPaths: ['/a'], quotas: ['1Gi', '1Gi'] }), /same number/],
    ['a quota of nothing', tier({ mountPaths: ['/a'], quotas: ['0'] }), /amount of bytes/],
    ['a relative tier path', tier({ mountPaths: ['a'], quotas: ['1Gi'] }), /absolute path/],
    ['low above high', tier({ mountPaths: ['/a'], quotas: ['1Gi'], high: '0.5', low: '0.6' }), /low must not be above high/],
    ['a negative number of replicas', { worker: { ...whole.worker, replicas: -1 } }, /worker\.replicas/],
  ]
  for (const [what, change, message] of REFUSED)
    it(`refuses ${what}`, () =>
      assert.throws(
        () => parse(change),
        (error) => error instanceof ConfigError && message.test(error.message),
      ))

  it('is refused with a ConfigError whatever it is', () => {
    const isFine = (text: string) => {
      try {
        engineOptions(parseRuntimeConfig(text))
      } catch (error) {
        assert.ok(error instanceof ConfigError, String(error))
      }
    }
    fc.assert(fc.property(fc.string(), isFine))
    fc.assert(
      fc.property(fc.constantFrom('mounts', 'accessModes', 'targetPath', 'master', 'worker', 'client'), fc.jsonValue(), (key, value) =>
        isFine(JSON.stringify({ ...whole, [key]: value })),
      ),
    )
  })
})

describe('options of the engine', () => {
  it('are read as people write them', () => {
    assert.equal(options({}, { metadataSyncInterval: '90' }).syncIntervalMs, 90_000)
    assert.equal(options({}, { metadataSyncInterval: '0' }).syncIntervalMs, 0)
    assert.equal(options({}, { metadataSyncInterval: '1ms' }).syncIntervalMs, 1000)
    assert.equal(options({ allowPrivateAddresses: 'true' }).allowPrivateAddresses, true)
  })

  for (const [worker, master] of [
    [{ blockSize: '1Ki' }, {}],
    [{ blockSize: '1Gi' }, {}],
    [{ blockSize: 'big' }, {}],
    [{ replicas: '0' }, {}],
    [{ replicas: '-1' }, {}],
    [{ high: '2' }, {}],
    [{ allowPrivateAddresses: 'yes' }, {}],
    [{}, { metadataSyncInterval: '-5s' }],
    [{}, { metadataSyncInterval: '10000h' }],
  ])
    it(`refuse ${JSON.stringify({ ...worker, ...master })}`, () => assert.throws(() => options(worker ?? {}, master), ConfigError))
})

describe('paths of a dataset', () => {
  it('are absolute and clean, or refused', () => {
    assert.deepEqual(['/', '', '/a/b/', '/a'].map(datasetPath), ['/', '/', '/a/b', '/a'])
    for (const bad of ['a', '//', '/a//b', '/a/../b', '/./a', '/a\0', '/a\n']) assert.equal(datasetPath(bad), undefined, bad)
  })

  it('lie below others by whole names', () => {
    assert.ok(isBelow('/a/b', '/a') && isBelow('/a', '/a') && isBelow('/x', '/'))
    assert.ok(!isBelow('/ab', '/a') && !isBelow('/a', '/a/b'))
  })
})
