import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import { inventoryMountOf } from '../inventory/mounts.ts'
import { openSource, type SourceDeps } from './open.ts'
import { SourceRefused } from './source.ts'
import { inTemporaryDirectory, listAll, namesOf } from './testing.ts'
import { realClock } from './web/testing.ts'

const deps = (mountedAt?: string): SourceDeps => ({
  clock: realClock,
  allowPrivateAddresses: false,
  mountedAt: () => mountedAt,
})
const opened = (mountPoint: string, mountedAt?: string) => openSource({ name: 'm', mountPoint }, deps(mountedAt))

describe('opening a mount', () => {
  it('takes local and pvc from where they are mounted', () =>
    inTemporaryDirectory(async (directory) => {
      await writeFile(path.join(directory, 'f'), 'x')
      for (const mountPoint of ['local:///data', 'pvc://claim/sub']) {
        assert.deepEqual(namesOf(await listAll(await opened(mountPoint, `${directory}/`))), ['f'])
      }
    }))

  for (const [mountPoint, message] of [
    ['oss://bucket/x', /oss:\/\/ cannot be read by this cache: mount local:\/\/.* or s3:\/\/$/],
    ['constructor://x', /mount local:\/\/, pvc:\/\/, http/],
    ['/etc', /"\/etc" cannot be read/],
    ['pvc://claim', /is not mounted into this pod/],
    ['http://user:secret@host/', /must not contain credentials/],
    ['http://host/?x=1', /must not contain a query/],
    ['http://[', /is no URL/],
    ['s3://', /names no bucket/],
  ] as const) {
    it(`says why ${mountPoint} cannot be read`, () =>
      assert.rejects(
        opened(mountPoint),
        (error) => error instanceof SourceRefused && message.test(error.message) && !error.message.includes('secret'),
      ))
  }

  it('does not reach private addresses unless permitted', async () => {
    const source = await opened('http://169.254.169.254/latest/')
    await assert.rejects(listAll(source), /allowPrivateAddresses/)
    await source.close()
  })

  it('is the same mount as long as nothing of it changes, and one with a bad path says so', async () => {
    const mount = { name: 'm', mountPoint: 's3://bucket', options: { a: '1', b: '2' }, encryptOptions: { c: '/secret' } }
    const of = (more: object) => inventoryMountOf({ ...mount, ...more }, deps())
    assert.equal(of({}).identity, of({ options: { b: '2', a: '1' } }).identity)
    for (const more of [{ mountPoint: 's3://other' }, { options: {} }, { encryptOptions: {} }])
      assert.notEqual(of(more).identity, of({}).identity)
    assert.deepEqual([of({}).path, of({ path: '/' }).path, of({ path: '/x/' }).path], ['/m', '/', '/x'])
    await assert.rejects(of({ path: '/../x' }).open(), /mount path "\/\.\.\/x" is not absolute and clean/)
  })
})
