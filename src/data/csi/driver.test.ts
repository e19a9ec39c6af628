import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dataset, Mount } from '../../kinds/fluid/index.ts'
import type { CsiVolume } from '../../runtime/seams/csi-driver.ts'
import { placeOf } from './place.ts'
import { bytesOf } from './progress-text.ts'
import { type Writable, writableOf } from './writable.ts'

describe('bytes in words', () => {
  const cases: [number, number, string][] = [
    [0, 0, '0 of 0 B'],
    [5, 1023, '5 of 1023 B'],
    [512, 1024, '0.5 of 1.0 KiB'],
    [Math.floor(1.2 * 2 ** 30), 2 ** 31, '1.2 of 2.0 GiB'],
    [1, 2 ** 40, '0.0 of 1.0 TiB'],
    [2 ** 31, 2 ** 30, '1.0 of 1.0 GiB'],
    [2 ** 52, Number.MAX_SAFE_INTEGER, '4.0 of 8.0 PiB'],
  ]
  for (const [done, total, text] of cases) it(text, () => assert.equal(bytesOf(done, total), text))
})

describe('what is published to be written', () => {
  const dataset = (...mounts: Mount[]): Dataset => ({
    apiVersion: 'data.fluid.io/v1alpha1',
    kind: 'Dataset',
    metadata: { namespace: 'ns', name: 'demo' },
    spec: { mounts },
  })
  const local = (path: string, more: Partial<Mount> = {}): Mount => ({ mountPoint: `local://${path}`, ...more })
  const at = (hostPath: string, subPath = '') => ({ source: { hostPath }, subPath })

  const cases: [string, Mount[], string, Writable | undefined][] = [
    ['a directory', [local('/a', { path: '/' })], '/', { root: at('/a'), mounts: [] }],
    ['a sub path of it', [local('/a', { path: '/' })], '/x/y', { root: at('/a', 'x/y'), mounts: [] }],
    ['a mount below its name', [local('/a', { name: 'in' })], '/', { root: undefined, mounts: [{ ...at('/a'), path: 'in' }] }],
    ['a sub path that is a mount', [local('/a', { name: 'in' })], '/in', { root: at('/a'), mounts: [] }],
    ['a sub path inside a mount', [local('/a', { name: 'in' })], '/in/x', { root: at('/a', 'x'), mounts: [] }],
    [
      'a claim',
      [{ mountPoint: 'pvc://store/sub', name: 'in' }],
      '/in/x',
      { root: { source: { namespace: 'ns', claim: 'store' }, subPath: 'sub/x' }, mounts: [] },
    ],
    [
      'a mount inside another',
      [local('/a', { path: '/' }), local('/b', { path: '/b' })],
      '/',
      { root: at('/a'), mounts: [{ ...at('/b'), path: 'b' }] },
    ],
    ['the inner of two', [local('/a', { path: '/' }), local('/b', { path: '/b' })], '/b/x', { root: at('/b', 'x'), mounts: [] }],
    [
      'only what the sub path reaches',
      [local('/a', { path: '/a' }), { mountPoint: 's3://l', path: '/s' }],
      '/a',
      { root: at('/a'), mounts: [] },
    ],
    ['nothing of what is read only', [local('/a', { path: '/', readOnly: true })], '/', undefined],
  ]
  for (const [name, mounts, subPath, expected] of cases)
    it(`is ${name}`, () => assert.deepEqual(writableOf(dataset(...mounts), subPath), expected))

  const refused: [string, Mount[], string, RegExp][] = [
    [
      'objects',
      [{ mountPoint: 's3://lake/x', path: '/' }],
      '/',
      /^writing to s3:\/\/ needs FUSE, which is not there yet: .*readOnly: true/,
    ],
    ['a web server', [local('/a', { name: 'a' }), { mountPoint: 'https://u:p@h/', name: 'b' }], '/', /^writing to https:\/\/ needs FUSE/],
    ['no scheme', [{ mountPoint: 'somewhere', path: '/' }], '/', /^writing to this source needs FUSE/],
    ['a mixture', [local('/a', { name: 'a' }), local('/b', { name: 'b', readOnly: true })], '/', /to a part of the mounts needs FUSE/],
    ['a sub path in no mount', [local('/a', { name: 'a' })], '/b', /no mount of the dataset leads to \/b/],
    ['no mounts', [], '/', /no mount of the dataset/],
    ['a path that climbs', [{ mountPoint: 'local:///a/../../etc', path: '/' }], '/', /contains "\.\."/],
  ]
  for (const [name, mounts, subPath, expected] of refused)
    it(`is refused for ${name}`, () => assert.throws(() => writableOf(dataset(...mounts), subPath), { message: expected }))
})

describe('the place of a volume', () => {
  const volume = (attributes: Record<string, string>, uid = '0-1'): CsiVolume => ({
    ...{ driver: 'd', name: 'v', uid, handle: 'h', accessModes: [] },
    attributes: { fluid_path: '/runtime-mnt/x', runtime_namespace: 'ns', runtime_name: 'demo', ...attributes },
  })

  it('is below its path', () => {
    const { root, subPath, client, holder, id } = placeOf(volume({ fluid_path: '/runtime-mnt/x/', fluid_sub_path: 'a//./b/' }))
    assert.deepEqual([root, subPath, client, holder], ['/runtime-mnt/x', '/a/b', 'demo-fuse', `/runtime-mnt/x/holders/${id}/0-1`])
    assert.equal(placeOf(volume({ mount_type: 'cache' })).client, 'demo-client')
  })

  const refused: [string, CsiVolume, RegExp][] = [
    ['a path of the machine', volume({ fluid_path: '/etc' }), /not a path below \/runtime-mnt/],
    ['a path that climbs', volume({ fluid_path: '/runtime-mnt/../etc' }), /not a path below/],
    ['a relative path', volume({ fluid_path: 'runtime-mnt' }), /not a path below/],
    ['no runtime', volume({ runtime_name: '' }), /runtime_namespace and runtime_name/],
    ['a sub path that climbs', volume({ fluid_sub_path: 'a/../../b' }), /fluid_sub_path: .*contains "\.\."/],
    ['a name that is too long', volume({ fluid_sub_path: 'é'.repeat(128) }), /more than 255 bytes/],
    ['an uid that is a path', volume({}, '../x'), /is no uid/],
  ]
  for (const [name, bad, expected] of refused) it(`is refused with ${name}`, () => assert.throws(() => placeOf(bad), { message: expected }))
})
