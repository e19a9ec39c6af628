import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { fileIdOf, versionOf } from '../protocol/file.ts'
import type { SourceFile } from '../sources/source.ts'
import { cleanMountPath, isAtOrBelow, type Placed } from './mount-paths.ts'
import { entryOf, Namespace } from './namespace.ts'
import { fileOf, KEY } from './testing.ts'

const shownBy = (namespace: Namespace, subPath = '/') => [...namespace.records(subPath)].map(({ path }) => path)

function listOnce(namespace: Namespace, name: string, files: readonly SourceFile[]): string[] {
  namespace.beginListing(name)
  return [...namespace.add(name, files), ...namespace.endListing(name)]
}

/** The same, in the simplest way: path → which mount, size and etag. */
function model(mounts: readonly Placed[], listings: ReadonlyMap<string, readonly SourceFile[]>): Map<string, string> {
  const all: [string, string][] = []
  for (const [i, { name, path: at }] of mounts.entries()) {
    for (const { path, size, etag } of listings.get(name) ?? []) {
      const full = `${at === '/' ? '' : at}/${path}`
      const isOthers = mounts.some((other, j) => {
        if (j === i || !isAtOrBelow(at, other.path) || (other.path === at && j > i)) return false
        return isAtOrBelow(other.path, full) || isAtOrBelow(full, other.path)
      })
      if (!isOthers) all.push([full, `${name} ${size} ${etag}`])
    }
  }
  return new Map(all.filter(([path]) => !all.some(([other]) => other.startsWith(`${path}/`))).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const MOUNTS: readonly Placed[] = [
  { name: 'root', path: '/' },
  { name: 'a', path: '/a' },
  { name: 'deep', path: '/a/b' },
  { name: 'again', path: '/a' },
]
const segment = fc.constantFrom('a', 'b', 'c', 'a-b', 'é')
const anyFile = fc
  .tuple(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.nat(2), fc.constantFrom('x', 'y'))
  .map(([parts, size, etag]) => fileOf(parts.join('/'), size, etag))
const anyListing = fc.uniqueArray(anyFile, { maxLength: 12, selector: ({ path }) => path })
const anyStep = fc.oneof(
  { weight: 4, arbitrary: fc.record({ list: fc.constantFrom('root', 'a', 'deep', 'again'), files: anyListing }) },
  { weight: 1, arbitrary: fc.record({ mounts: fc.subarray([...MOUNTS]) }) },
)

describe('the namespace of a dataset', () => {
  it('is what the last listings say, in whatever order they came, and every difference is told', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 12 }), (steps) => {
        const namespace = new Namespace(KEY)
        let mounts: readonly Placed[] = MOUNTS
        const listings = new Map<string, readonly SourceFile[]>()
        const reported = new Map<string, string>()
        const follow = (changes: readonly string[]) => {
          for (const path of changes) {
            const record = namespace.get(path)
            if (record === undefined) reported.delete(path)
            else reported.set(path, `${record.mount.name} ${record.size} ${record.etag}`)
          }
        }
        namespace.setMounts(mounts)
        for (const step of steps) {
          if ('mounts' in step) {
            mounts = step.mounts
            for (const name of [...listings.keys()]) if (!mounts.some((mount) => mount.name === name)) listings.delete(name)
            follow(namespace.setMounts(mounts))
          } else if (mounts.some(({ name }) => name === step.list)) {
            listings.set(step.list, step.files)
            follow(listOnce(namespace, step.list, step.files))
          }
        }
        // What a mount that went away had hidden comes with the next listing.
        for (const [name, files] of listings) follow(listOnce(namespace, name, files))
        const expected = model(mounts, listings)
        assert.deepEqual(shownBy(namespace), [...expected.keys()])
        assert.deepEqual(new Map([...reported].sort(([a], [b]) => (a < b ? -1 : 1))), expected)
        assert.equal(namespace.totals().files, expected.size)
        assert.deepEqual(namespace.totals('/a'), {
          files: shownBy(namespace, '/a').length,
          bytes: [...namespace.records('/a')].reduce((sum, { size }) => sum + size, 0),
        })
        for (const record of namespace.records('/')) assert.equal(namespace.byId(record.fileId), record)
        for (const [name, files] of listings) assert.deepEqual(listOnce(namespace, name, files), [], 'the same again changes nothing')
      }),
    )
  })

  it('gives ids by path and versions by content', () => {
    const namespace = new Namespace(KEY)
    namespace.setMounts([{ name: 'm', path: '/m' }])
    namespace.add('m', [{ path: 'f', size: 3, mtimeNs: '1700000000123456789' }])
    const record = namespace.get('/m/f')
    assert.ok(record)
    assert.deepEqual(entryOf(record), {
      path: '/m/f',
      fileId: fileIdOf(KEY, '/m/f'),
      size: 3,
      version: versionOf({ size: 3, mtimeNs: '1700000000123456789' }),
      mtimeMs: 1_700_000_000_123,
    })
  })

  it('finds what lies at or below a path, and nothing beside it', () => {
    const namespace = new Namespace(KEY)
    namespace.setMounts([{ name: 'm', path: '/' }])
    namespace.add(
      'm',
      ['a/x', 'a-b', 'a.b/y', 'a0', 'ab', 'a/y/z'].map((path) => fileOf(path)),
    )
    assert.deepEqual(shownBy(namespace, '/a'), ['/a/x', '/a/y/z'])
    assert.deepEqual(shownBy(namespace, '/a0'), ['/a0'])
    assert.deepEqual(shownBy(namespace, '/none'), [])
  })

  it('can be read slowly while it changes', () => {
    const namespace = new Namespace(KEY)
    namespace.setMounts([{ name: 'm', path: '/' }])
    const files = Array.from({ length: 1000 }, (_, i) => fileOf(`f${String(i).padStart(4, '0')}`))
    namespace.add('m', files)
    const seen: string[] = []
    for (const { path } of namespace.records('/')) {
      seen.push(path)
      if (seen.length === 10) listOnce(namespace, 'm', files.slice(500))
    }
    assert.equal(seen.length, new Set(seen).size)
    assert.deepEqual(
      seen.slice(-500),
      files.slice(500).map(({ path }) => `/${path}`),
    )
  })

  it('takes mount paths that are absolute and clean', () => {
    for (const [path, clean] of [
      ['/', '/'],
      ['/a/', '/a'],
      ['/a/b', '/a/b'],
      ['', undefined],
      ['a', undefined],
      ['/../a', undefined],
      ['//a', undefined],
      ['/a\n', undefined],
    ] as const) {
      assert.equal(cleanMountPath(path), clean, path)
    }
  })
})
