import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import { SourceChanged, type SourceFile, SourceRefused } from '../source.ts'
import { inTemporaryDirectory, listAll, namesOf, never, readAll } from '../testing.ts'
import { createLocalSource } from './local.ts'
import { walkLocal } from './walk.ts'
import { createWatches } from './watches.ts'

const sourceAt = (place: string) => createLocalSource({ mountPoint: 'local:///data', path: place })

/** A file `name` with a content, found by a listing. */
async function listed(directory: string, name: string, content: string | Buffer) {
  await writeFile(path.join(directory, name), content)
  const source = sourceAt(directory)
  const file = (await listAll(source)).files.find((found) => found.path === name)
  assert.ok(file)
  return { source, file, at: path.join(directory, name) }
}

describe('listing a local directory', () => {
  it('finds every regular file, with size and time of change', () =>
    inTemporaryDirectory(async (root) => {
      await mkdir(path.join(root, 'a/b'), { recursive: true })
      await writeFile(path.join(root, 'top'), 'x')
      await writeFile(path.join(root, 'a/b/deep.txt'), 'hello')
      await writeFile(path.join(root, 'a/empty'), '')
      const listing = await listAll(sourceAt(root))
      assert.deepEqual(
        listing.files.map(({ path: name, size }) => [name, size]),
        [
          ['a/b/deep.txt', 5],
          ['a/empty', 0],
          ['top', 1],
        ],
      )
      assert.match(listing.files[0]?.mtimeNs ?? '', /^\d{19}$/)
      assert.equal(listing.refusedCount, 0)
    }))

  it('comes in pages', () =>
    inTemporaryDirectory(async (root) => {
      for (let i = 0; i < 1050; i++) await writeFile(path.join(root, `f${i}`), '')
      const source = sourceAt(root)
      const listing = await listAll(source)
      assert.equal(listing.files.length, 1050)
      assert.equal(listing.pages, 2)
      const first = await source.list(undefined, never())
      await source.list(undefined, never())
      await assert.rejects(source.list(first.cursor, never()), /begin a new one/)
      await source.close()
    }))

  it('follows links that stay inside, and refuses those that lead out, back, or nowhere', () =>
    inTemporaryDirectory(async (directory) => {
      const root = path.join(directory, 'root')
      await mkdir(path.join(root, 'a/b'), { recursive: true })
      await mkdir(path.join(directory, 'root-of-another'))
      await writeFile(path.join(directory, 'secret'), 'secret')
      await writeFile(path.join(root, 'a/file'), 'x')
      await symlink('a/file', path.join(root, 'link'))
      await symlink('../a', path.join(root, 'a/b/back'))
      await symlink('a', path.join(root, 'alias'))
      await symlink('../secret', path.join(root, 'out'))
      await symlink(directory, path.join(root, 'a/b/out'))
      await symlink('../root-of-another', path.join(root, 'sibling'))
      await symlink('self', path.join(root, 'self'))
      await symlink('missing', path.join(root, 'dangling'))
      const listing = await listAll(sourceAt(root))
      assert.deepEqual(namesOf(listing), ['a/file', 'alias/file', 'link'])
      const refused = ['a/b/back', 'a/b/out', 'alias/b/back', 'alias/b/out', 'dangling', 'out', 'self', 'sibling']
      assert.deepEqual(
        listing.refused.toSorted(),
        refused.map((name) => JSON.stringify(name)),
      )
    }))

  it('ends when more directories wait than may', () =>
    inTemporaryDirectory(async (root) => {
      for (const name of ['a', 'b', 'c']) await mkdir(path.join(root, name))
      const walked = async (mostDirectories: number) => {
        for await (const _ of walkLocal({ root, signalNow: never, onDirectory: () => undefined, mostDirectories })) assert.fail('a file')
      }
      await walked(4)
      await assert.rejects(walked(3), /more than 3 directories: mount parts of it separately/)
    }))

  it('refuses names that are no text, and what is no file', () =>
    inTemporaryDirectory(async (root) => {
      await writeFile(Buffer.concat([Buffer.from(`${root}/bad-`), Buffer.from([0xff, 0xfe])]), '')
      await writeFile(path.join(root, 'line\nbreak'), '')
      await writeFile(path.join(root, '\u001b[2J'), '')
      execFileSync('mkfifo', [path.join(root, 'pipe')])
      await writeFile(path.join(root, 'good'), '')
      const source = sourceAt(root)
      const listing = await listAll(source)
      assert.deepEqual(namesOf(listing), ['good'])
      assert.equal(listing.refusedCount, 4)
      assert.equal(await source.stat('pipe', never()), undefined)
    }))

  it('can be a single file, also by a link', () =>
    inTemporaryDirectory(async (root) => {
      await writeFile(path.join(root, 'real.bin'), 'bytes')
      await writeFile(path.join(root, 'other'), 'other')
      await symlink('real.bin', path.join(root, 'name.bin'))
      const source = sourceAt(path.join(root, 'name.bin'))
      const [file, ...more] = (await listAll(source)).files
      assert.deepEqual([file?.path, more.length], ['name.bin', 0])
      assert.equal(String(await readAll(source, file as SourceFile)), 'bytes')
      assert.equal(await source.stat('other', never()), undefined)
    }))

  it('says what to do when there is nothing to list', () =>
    inTemporaryDirectory(async (root) => {
      await assert.rejects(listAll(sourceAt(path.join(root, 'missing'))), (error: Error) => {
        assert.ok(error instanceof SourceRefused)
        assert.match(error.message, /local:\/\/\/data cannot be read \(ENOENT\): check that the volume is mounted/)
        return true
      })
      await assert.rejects(listAll(sourceAt('/dev/null')), /neither a directory nor a file/)
    }))

  it('ends when its signal is aborted', () =>
    inTemporaryDirectory(async (root) => {
      await writeFile(path.join(root, 'a'), '')
      await assert.rejects(sourceAt(root).list(undefined, AbortSignal.abort()), { name: 'AbortError' })
    }))
})

describe('reading a local file', () => {
  it('gives exactly the range', () =>
    inTemporaryDirectory(async (root) => {
      const bytes = Buffer.from(Array.from({ length: 700_000 }, (_, i) => (i * 7) % 251))
      const { source, file } = await listed(root, 'f', bytes)
      for (const [start, end] of [
        [0, 700_000],
        [1, 699_999],
        [262_143, 262_145],
        [5, 5],
      ] as const) {
        assert.deepEqual(await readAll(source, file, { start, end }), bytes.subarray(start, end))
      }
      for (const [start, end] of [
        [-1, 2],
        [3, 2],
        [0, 700_001],
        [0.5, 2],
      ] as const) {
        await assert.rejects(readAll(source, file, { start, end }), RangeError)
      }
    }))

  const changes: Record<string, (at: string) => Promise<unknown>> = {
    'another size': (at) => appendFile(at, 'more'),
    'another time of change': (at) => utimes(at, 1, 1),
    'that is gone': (at) => rm(at),
    'that became a directory': async (at) => {
      await rm(at)
      await mkdir(at)
    },
    'that became a link out of the mount': async (at) => {
      await rm(at)
      await symlink('/etc/hostname', at)
    },
    'that was replaced': async (at) => {
      await writeFile(`${at}.new`, 'other bytes')
      // As long as the first: only the time tells, and the kernel's ticks are as long as this test.
      await utimes(`${at}.new`, 1, 1)
      await rename(`${at}.new`, at)
    },
  }
  for (const [what, change] of Object.entries(changes)) {
    it(`refuses a file ${what}`, () =>
      inTemporaryDirectory(async (root) => {
        const { source, file, at } = await listed(root, 'f', 'these bytes')
        await change(at)
        await assert.rejects(readAll(source, file), SourceChanged)
      }))
  }

  it('never hands out the last piece of a file that changes meanwhile', () =>
    inTemporaryDirectory(async (root) => {
      const { source, file, at } = await listed(root, 'f', Buffer.alloc(600_000, 1))
      let taken = 0
      await assert.rejects(async () => {
        for await (const part of source.read(file, { start: 0, end: file.size }, never())) {
          if (taken === 0) await appendFile(at, 'x')
          taken += part.length
        }
      }, SourceChanged)
      assert.ok(taken < file.size)
    }))

  it('refuses a directory on the way that became a link out of the mount', () =>
    inTemporaryDirectory(async (directory) => {
      const root = path.join(directory, 'root')
      for (const at of ['root/d', 'outside']) {
        await mkdir(path.join(directory, at), { recursive: true })
        await writeFile(path.join(directory, at, 'f'), 'x')
        await utimes(path.join(directory, at, 'f'), 1, 1)
      }
      const source = sourceAt(root)
      const [file] = (await listAll(source)).files
      await rm(path.join(root, 'd'), { recursive: true })
      await symlink('../outside', path.join(root, 'd'))
      await assert.rejects(readAll(source, file as SourceFile), SourceChanged)
      assert.equal(await source.stat('d/f', never()), undefined)
      assert.equal(await source.stat('../outside/f', never()), undefined)
    }))
})

describe('watching a local directory', () => {
  it('tells of new, changed and removed files, also in directories that are new', () =>
    inTemporaryDirectory(async (root) => {
      const source = sourceAt(root)
      let wake = () => {}
      const stop = source.watch?.(() => wake())
      const changed = async (change: () => Promise<unknown>) => {
        const noticed = new Promise<void>((resolve) => {
          wake = resolve
        })
        await change()
        await noticed
        await listAll(source)
      }
      await listAll(source)
      await changed(() => mkdir(path.join(root, 'd')))
      await changed(() => writeFile(path.join(root, 'd/f'), 'x'))
      await changed(() => appendFile(path.join(root, 'd/f'), 'y'))
      await changed(() => rm(path.join(root, 'd/f')))
      assert.deepEqual(namesOf(await listAll(source)), [])
      stop?.()
      await source.close()
    }))

  it('watches nothing rather than too much', () =>
    inTemporaryDirectory(async (root) => {
      const watches = createWatches(2)
      watches.start(() => {})
      for (const name of ['a', 'b', 'c']) await mkdir(path.join(root, name))
      watches.begin()
      watches.add(path.join(root, 'a'))
      watches.add(path.join(root, 'b'))
      assert.equal(watches.size, 2)
      watches.begin()
      watches.add(path.join(root, 'b'))
      watches.end()
      assert.equal(watches.size, 1)
      watches.add(path.join(root, 'a'))
      watches.add(path.join(root, 'c'))
      assert.equal(watches.size, 0)
    }))
})
