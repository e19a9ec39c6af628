import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { volumeDirectories } from './volume-directories.ts'

describe('directories of volumes on disk', () => {
  let home = ''
  let root = ''
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'volumes-'))
    root = join(home, 'volumes')
  })
  afterEach(() => rmSync(home, { recursive: true }))

  it('are made and removed, with what is in them, again and again', async () => {
    const directories = volumeDirectories(root)
    const path = join(root, 'pvc-1')
    await directories.remove(path)
    await directories.make(path)
    await directories.make(path)
    writeFileSync(join(path, 'file'), 'data')
    await directories.make(path)
    assert.ok(existsSync(join(path, 'file')))
    await directories.remove(path)
    await directories.remove(path)
    assert.ok(!existsSync(path) && existsSync(root))
  })

  it('are never outside of the root', async () => {
    const directories = volumeDirectories(root)
    mkdirSync(join(root, 'pvc-1'), { recursive: true })
    writeFileSync(join(home, 'precious'), '')
    for (const path of [
      home,
      root,
      join(home, 'precious'),
      `${root}/../precious`,
      `${root}/pvc-1/..`,
      `${root}/a/b`,
      `${root}/`,
      '',
      'pvc-1',
    ])
      for (const act of [directories.remove, directories.make]) await assert.rejects(act(path), /is not a directory in/, path)
    assert.ok(existsSync(join(home, 'precious')) && existsSync(join(root, 'pvc-1')))
  })

  it('are not followed through links', async () => {
    const directories = volumeDirectories(root)
    const outside = join(home, 'outside')
    mkdirSync(outside)
    mkdirSync(root)
    writeFileSync(join(outside, 'precious'), '')
    symlinkSync(outside, join(root, 'pvc-1'))
    await assert.rejects(directories.make(join(root, 'pvc-1')), /is there and is no directory/)
    await directories.remove(join(root, 'pvc-1'))
    assert.ok(existsSync(join(outside, 'precious')) && !existsSync(join(root, 'pvc-1')))
  })

  it('need an absolute root', () => assert.throws(() => volumeDirectories('volumes'), /absolute/))
})
