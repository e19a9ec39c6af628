import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DatasetSpec } from '../../../kinds/fluid/index.ts'
import { runtimeConfigText } from './runtime-config.ts'
import { aCache, aClass } from './testing.ts'

const configOf = (dataset: DatasetSpec = {}, spec: Parameters<typeof aCache>[0] = {}): Record<string, unknown> =>
  JSON.parse(runtimeConfigText(aCache({ dataset, ...spec }))) as Record<string, unknown>

describe('runtime.json', () => {
  it('tells each component what it is, with its options: of the class, of the runtime, of the component', () => {
    const topology = {
      worker: { options: { a: 'class', b: 'class', c: 'class' }, template: { spec: { containers: [{ name: 'worker' }] } } },
    }
    const worker = {
      replicas: 2,
      options: { c: 'own' },
      tieredStore: { levels: [{ emptyDir: { quota: '1Gi', medium: 'Memory' }, high: '0.9' }] },
    }
    const config = configOf({}, { runtimeClass: aClass({ topology }), spec: { options: { b: 'runtime', c: 'runtime' }, worker } })
    assert.deepEqual(config, {
      accessModes: ['ReadOnlyMany'],
      targetPath: '/runtime-mnt/cache/default/demo/cache-fuse',
      worker: {
        enabled: true,
        name: 'demo-worker',
        options: { a: 'class', b: 'runtime', c: 'own' },
        replicas: 2,
        service: { name: '' },
        tieredStoreLevels: [
          { mountPaths: ['/etc/fluid/mount/tiered-store/level-0-index-0-emptydir'], mediumType: 'MEM', quotas: ['1Gi'], high: '0.9' },
        ],
      },
    })
  })

  it('tells mounts with their options; values of Secrets only as paths of files', () => {
    const secret = (name: string, key: string) => ({ name, valueFrom: { secretKeyRef: { name: 'keys', key } } })
    const { mounts } = configOf({
      accessModes: ['ReadWriteMany'],
      sharedOptions: { region: 'east', endpoint: 'http://a' },
      sharedEncryptOptions: [secret('token', 'shared'), secret('user', 'user')],
      mounts: [
        {
          mountPoint: 's3://bucket/x',
          name: 'x',
          readOnly: true,
          options: { endpoint: 'http://b', user: 'plain' },
          encryptOptions: [secret('token', 'own')],
        },
        { mountPoint: 'https://example.com/data/', name: 'y', path: '/deep/y' },
      ],
    })
    assert.deepEqual(mounts, [
      {
        name: 'x',
        mountPoint: 's3://bucket/x',
        readOnly: true,
        path: '/x',
        options: { endpoint: 'http://b', region: 'east', user: 'plain' },
        encryptOptions: { token: '/etc/fluid/secrets/keys/own' },
      },
      {
        name: 'y',
        mountPoint: 'https://example.com/data/',
        path: '/deep/y',
        options: { endpoint: 'http://a', region: 'east' },
        encryptOptions: { token: '/etc/fluid/secrets/keys/shared', user: '/etc/fluid/secrets/keys/user' },
      },
    ])
  })

  it('is the same text for the same cache, whatever the order of its options', () => {
    const texts = [
      { a: '1', b: '2' },
      { b: '2', a: '1' },
    ].map((options) => runtimeConfigText(aCache({ dataset: { mounts: [{ mountPoint: 's3://b', name: 'b', options }] } })))
    assert.equal(texts[0], texts[1])
  })
})
