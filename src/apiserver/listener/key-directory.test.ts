import assert from 'node:assert/strict'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { openKeyDirectory } from './index.ts'

describe('a key directory', () => {
  it('keeps its files from everybody else', async (t) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'sluice-keys-'))
    t.after(() => rm(directory, { recursive: true, force: true }))
    const at = path.join(directory, 'modes')
    const keys = await openKeyDirectory(at)
    assert.equal(await keys.read('a'), undefined)
    await keys.write('a', 'one')
    await keys.write('a', 'two')
    assert.equal(await keys.read('a'), 'two')
    assert.equal((await stat(at)).mode & 0o777, 0o700)
    assert.equal((await stat(path.join(at, 'a'))).mode & 0o777, 0o600)
  })
})
