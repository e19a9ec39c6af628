import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { BlockKey } from '../protocol/block.ts'
import { fileIdOf, versionOf } from '../protocol/file.ts'
import { SourceChanged } from '../sources/source.ts'
import { listAll, namesOf, never, readAll } from '../sources/testing.ts'
import { FileChanged } from './block-fetcher.ts'
import { createCacheSource } from './cache-source.ts'
import { applyLine, type Tree } from './tree.ts'

const BLOCK = 10
const KEY = Buffer.alloc(32, 3)
const entryOf = (path: string, content: string) => ({
  ...{ path, fileId: fileIdOf(KEY, path), size: content.length, version: versionOf({ size: content.length, etag: content }) },
  mtimeMs: 1_700_000_000_123,
})

/** A cache with these files; they may change. `incomplete` answers say that the first listing goes on. */
function cacheOf(files: Record<string, string>, { incomplete = 0, subPath = '/' } = {}) {
  const fetched: BlockKey[] = []
  let [left, isClosed] = [incomplete, false]
  const link = {
    async update(tree: Tree) {
      applyLine(tree, { snapshot: true })
      for (const [path, content] of Object.entries(files)) applyLine(tree, { add: entryOf(path, content) })
      applyLine(tree, { revision: 1, isComplete: left-- <= 0 })
    },
  }
  const fetcher = {
    async fetch(key: BlockKey, into: Buffer) {
      fetched.push(key)
      const [path, content = ''] = Object.entries(files).find(([name]) => fileIdOf(KEY, name) === key.fileId) ?? ['']
      if (path === '' || entryOf(path, content).version !== key.version) throw new FileChanged('it has another version')
      into.write(content.slice(key.index * BLOCK, key.index * BLOCK + into.length))
    },
  }
  const close = (): void => {
    isClosed = true
  }
  return { source: createCacheSource({ subPath, link, fetcher, blockBytes: BLOCK, close }), fetched, isClosed: () => isClosed }
}

describe('a dataset as a source', () => {
  it('is listed when its own sources are, below its sub path, without files that are directories as well', async () => {
    const { source, isClosed } = cacheOf({ '/a/b': 'x', '/a/c': 'y', '/a/c/d': 'z' }, { incomplete: 3, subPath: '/a' })
    const listing = await listAll(source)
    assert.deepEqual([namesOf(listing), listing.refusedCount], [['b', 'c/d'], 1])
    assert.equal(listing.files[0]?.mtimeNs, '1700000000123000000')
    assert.equal((await source.stat('b', never()))?.size, 1)
    assert.equal(await source.stat('c', never()), undefined)
    await source.close()
    assert.ok(isClosed())
  })

  it('gives many files in pages, and refuses a page of another listing', async () => {
    const { source } = cacheOf(Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`/f${i}`, 'x'])))
    const first = await source.list(undefined, never())
    assert.deepEqual([(await listAll(source)).files.length, first.files.length], [2500, 1000])
    await assert.rejects(source.list(first.cursor, never()), /begin a new one/)
  })

  it('gives exactly the bytes of any range', async () => {
    const content = Array.from({ length: 47 }, (_, i) => String.fromCharCode(65 + (i % 26))).join('')
    const { source } = cacheOf({ '/f': content })
    const [file] = (await listAll(source)).files
    assert.ok(file)
    const bound = fc.integer({ min: 0, max: 47 })
    await fc.assert(
      fc.asyncProperty(bound, bound, async (a, b) => {
        const [start, end] = [Math.min(a, b), Math.max(a, b)]
        assert.equal(String(await readAll(source, file, { start, end })), content.slice(start, end))
      }),
    )
  })

  it('is one version of a file, or an error', async () => {
    const files: Record<string, string> = { '/f': 'old content', '/gone': 'x' }
    const { source, fetched } = cacheOf(files)
    const listed = (await listAll(source)).files
    files['/f'] = 'NEW CONTENT'
    delete files['/gone']
    for (const file of listed) await assert.rejects(readAll(source, file), SourceChanged)
    assert.ok(fetched.length > 0)
    const now = await source.stat('f', never())
    assert.ok(now)
    assert.equal(String(await readAll(source, now)), 'NEW CONTENT')
    await assert.rejects(readAll(source, { ...now, etag: 'other' }), SourceChanged)
  })
})
