import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { filesBelow } from './files-below.ts'

const top = mkdtempSync(path.join(tmpdir(), 'sluice-below-'))
after(() => rmSync(top, { recursive: true }))
let count = 0

/** A directory that belongs to us, and beside it one of somebody else, with a file in it. */
function place() {
  const own = path.join(top, `${++count}`, 'own')
  const others = path.join(top, `${count}`, 'others')
  mkdirSync(own, { recursive: true })
  mkdirSync(others)
  writeFileSync(path.join(others, 'secret'), 'theirs')
  const at = (name: string) => path.join(own, name)
  return {
    own,
    others,
    at,
    files: filesBelow(own),
    theirs: () => readdirSync(others).map((name) => [name, readFileSync(path.join(others, name), 'utf8')]),
  }
}
const UNTOUCHED = [['secret', 'theirs']]
const LEADS = /is a link or a file, where a directory of the node is expected: remove it/

describe('files below a directory in which others write', () => {
  it('are written, read, listed and removed, with the directories that lead to them', async () => {
    const { files, at } = place()
    await files.write('a/b/c', 'text')
    assert.equal(readFileSync(at('a/b/c'), 'utf8'), 'text')
    await files.write('/a/b/c', 'more')
    assert.equal(String(await files.read('a/b/c', 2)), 'mo')
    await files.makeDirectory('a/d')
    assert.deepEqual(await files.namesIn('a'), ['b', 'd'])
    assert.deepEqual(
      [await files.kindOf('a/b'), await files.kindOf('a/b/c'), await files.kindOf('none/x')],
      ['directory', 'file', undefined],
    )
    await files.remove('a')
    assert.deepEqual([await files.namesIn('a'), await files.read('a/b/c', 9), existsSync(at('a'))], [[], undefined, false])
    await files.remove('a')
  })

  it('leave no directories where there are none, and keep those of others', async () => {
    const { files, at } = place()
    await files.makeDirectory('mnt/ns/one/top/users/1')
    await files.makeDirectory('mnt/ns/one/top/states')
    await files.removeEmpty('mnt/ns/one/top')
    assert.deepEqual(await files.namesIn('mnt'), [])
    assert.ok(existsSync(at('mnt')), 'the topmost stays')
    await files.makeDirectory('mnt/ns/one/top/users/1')
    await files.write('mnt/ns/one/top/holders/x', '')
    await files.makeDirectory('mnt/ns/two')
    await files.removeEmpty('mnt/ns/one/top')
    assert.ok(existsSync(at('mnt/ns/one/top/users/1')), 'somebody uses it')
    await files.remove('mnt/ns/one/top/holders/x')
    await files.removeEmpty('/mnt/ns/one/top')
    assert.deepEqual(await files.namesIn('mnt/ns'), ['two'])
    await files.removeEmpty('mnt/none/x')
  })

  it('are not found over a link on the way, whatever it leads to', async () => {
    const { files, at, others, theirs } = place()
    symlinkSync(others, at('link'))
    symlinkSync('..', at('up'))
    symlinkSync('loop', at('loop'))
    writeFileSync(at('file'), '')
    for (const start of ['link', 'up/others', 'loop', 'file']) {
      await assert.rejects(files.write(`${start}/secret`, 'ours'), LEADS)
      await assert.rejects(files.write(`${start}/deep/new`, 'ours'), LEADS)
      await assert.rejects(files.makeDirectory(`${start}/new`), LEADS)
      await assert.rejects(files.remove(`${start}/secret`), LEADS)
      await assert.rejects(files.removeEmpty(`${start}/deep`), LEADS)
      await assert.rejects(files.read(`${start}/secret`, 100), LEADS)
      await assert.rejects(files.kindOf(`${start}/secret`), LEADS)
      await assert.rejects(files.namesIn(start), LEADS)
    }
    assert.deepEqual(theirs(), UNTOUCHED)
  })

  it('are themselves no links', async () => {
    const { files, at, others, theirs } = place()
    symlinkSync(path.join(others, 'secret'), at('link'))
    assert.equal(await files.read('link', 100), undefined)
    assert.equal(await files.kindOf('link'), 'other')
    await files.write('link', 'ours')
    assert.deepEqual([readFileSync(at('link'), 'utf8'), theirs()], ['ours', UNTOUCHED])
    symlinkSync(others, at('folder'))
    await files.remove('folder')
    assert.deepEqual([existsSync(at('folder')), theirs()], [false, UNTOUCHED])
  })

  it('are written into nothing that was put beside them', async () => {
    const { files, at, others, theirs } = place()
    symlinkSync(path.join(others, 'secret'), at('a.new'))
    linkSync(path.join(others, 'secret'), at('b.new'))
    execFileSync('mkfifo', [at('c.new')])
    for (const name of ['a', 'b', 'c']) {
      await files.write(name, 'ours')
      assert.equal(readFileSync(at(name), 'utf8'), 'ours')
    }
    assert.deepEqual(theirs(), UNTOUCHED)
  })

  it('are never waited for, when they are pipes', async () => {
    const { files, at } = place()
    execFileSync('mkfifo', [at('pipe')])
    assert.equal(await files.read('pipe', 100), undefined)
    assert.equal(await files.kindOf('pipe'), 'other')
  })

  it('have no names that climb', async () => {
    const { files, theirs } = place()
    for (const wrong of ['../others/secret', 'a/../../others/secret', '..', 'a\0'])
      await assert.rejects(async () => files.write(wrong, 'ours'), /is not a path without "\.\."/)
    await assert.rejects(async () => files.remove(''), /names nothing below the directory/)
    assert.deepEqual(theirs(), UNTOUCHED)
  })
})
