import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { writeInPlace } from './file-in-place.ts'

describe('a file that is replaced in place', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'sluice-in-place-'))
  after(() => rmSync(directory, { recursive: true, force: true }))

  it('stays the same file, whether the text grows or shrinks', async () => {
    const file = path.join(directory, 'hosts')
    await writeInPlace(file, 'one\n', 'create')
    const { ino, mode } = statSync(file)
    assert.equal(mode & 0o044, 0o044, 'programs of other users read it')
    for (const text of ['one\ntwo\n'.repeat(2000), 'short\n', '', 'again\n']) {
      await writeInPlace(file, text, 'replace')
      assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).ino], [text, ino])
    }
  })

  it('is left alone when nothing differs', async () => {
    const file = path.join(directory, 'same')
    await writeInPlace(file, 'text\n', 'create')
    utimesSync(file, 1, 1)
    await writeInPlace(file, 'text\n', 'create')
    assert.equal(statSync(file).mtimeMs, 1000)
  })

  it('is not made where it is only to be replaced, and no link is followed', async () => {
    const missing = path.join(directory, 'missing', 'hosts')
    await writeInPlace(missing, 'text\n', 'replace')
    assert.ok(!existsSync(missing))
    const target = path.join(directory, 'target')
    writeFileSync(target, 'precious\n')
    symlinkSync(target, path.join(directory, 'link'))
    for (const how of ['create', 'replace'] as const)
      await assert.rejects(writeInPlace(path.join(directory, 'link'), 'text\n', how), /ELOOP/)
    assert.equal(readFileSync(target, 'utf8'), 'precious\n')
  })
})
