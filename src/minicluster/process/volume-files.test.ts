import assert from 'node:assert/strict'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { VolumeFile } from '../../runtime/seams/volume-driver.ts'
import type { ContainerMachine } from '../kubelet/container-machine.ts'
import { setUpVolume } from '../kubelet/volumes/set-up.ts'
import { machineFiles } from './machine-files.ts'
import { writeVolumeFiles } from './volume-files.ts'

const file = (name: string, text: string, mode = 0o644): VolumeFile => ({ path: name, content: Buffer.from(text), mode })

describe('volumes of files', () => {
  let top = ''
  let count = 0
  before(() => {
    top = mkdtempSync(path.join(tmpdir(), 'sluice-files-'))
  })
  after(() => rmSync(top, { recursive: true, force: true }))
  const fresh = (): string => path.join(top, `v${++count}`)
  const names = (directory: string): string[] => readdirSync(directory).filter((name) => !name.startsWith('..2'))

  it('are written so that a reader sees the old or the new whole', async () => {
    const at = fresh()
    await writeVolumeFiles(at, [file('a', 'one', 0o600), file('deep/b', 'two')], '2026')
    assert.deepEqual(names(at), ['..data', 'a', 'deep'])
    assert.equal(readlinkSync(path.join(at, 'a')), '..data/a')
    assert.equal(readFileSync(path.join(at, 'deep', 'b'), 'utf8'), 'two')
    assert.equal(statSync(path.join(at, 'a')).mode & 0o777, 0o600)
    const before = readlinkSync(path.join(at, '..data'))
    await writeVolumeFiles(at, [file('a', 'one', 0o600), file('deep/b', 'two')], '2027')
    assert.equal(readlinkSync(path.join(at, '..data')), before)
    await writeVolumeFiles(at, [file('a', 'changed'), file('c', 'three')], '2028')
    assert.notEqual(readlinkSync(path.join(at, '..data')), before)
    assert.deepEqual(names(at), ['..data', 'a', 'c'])
    assert.equal(readFileSync(path.join(at, 'a'), 'utf8'), 'changed')
    assert.equal(readdirSync(at).filter((name) => name.startsWith('..2')).length, 1)
    await writeVolumeFiles(at, [], '2029')
    assert.deepEqual(names(at), ['..data'])
  })

  it('are repaired after a crash in the middle', async () => {
    const at = fresh()
    await writeVolumeFiles(at, [file('a', 'one')], '2026')
    rmSync(path.join(at, 'a'))
    symlinkSync('nowhere', path.join(at, '..data_tmp'))
    await writeVolumeFiles(at, [file('a', 'one')], '2027')
    assert.equal(readFileSync(path.join(at, 'a'), 'utf8'), 'one')
    await writeVolumeFiles(at, [file('a', 'two')], '2028')
    assert.deepEqual(names(at), ['..data', 'a'])
  })

  it('have no names that lead elsewhere', async () => {
    for (const wrong of ['../x', '/x', 'a/../../x', '', '..data', 'a//b', 'a/\0'])
      await assert.rejects(writeVolumeFiles(fresh(), [file(wrong, '')], '2026'), /is no path inside a volume/)
  })

  it('are entered without following links out of them', async () => {
    const files = machineFiles({ directory: top, dataDirectory: top, nameOfMoment: () => '2026' })
    const at = await files.directory('pod', 'volumes', 'v')
    assert.equal(await files.inside(at, 'x/y'), path.join(at, 'x', 'y'))
    assert.ok(lstatSync(path.join(at, 'x', 'y')).isDirectory())
    symlinkSync('x', path.join(at, 'within'))
    symlinkSync('/etc', path.join(at, 'out'))
    symlinkSync('..', path.join(at, 'up'))
    assert.equal(await files.inside(at, 'within/y'), path.join(at, 'x', 'y'))
    for (const wrong of ['out', 'out/passwd', 'up', 'up/v', '../v', 'x/../../..']) await assert.rejects(files.inside(at, wrong), /volume/)
    await assert.rejects(files.directory('..', 'x'), /cannot be the name/)
    await assert.rejects(files.directory('pod', '../x'), /cannot be the name/)
  })

  it('of a node are made in its directory, and no link leads out of it', async () => {
    const machine = machineFiles({ directory: top, dataDirectory: top, nameOfMoment: () => '2026' }) as ContainerMachine
    const within = machine.nodeDirectory('n1')
    assert.equal(within, path.join(top, 'nodes', 'n1'))
    assert.throws(() => machine.nodeDirectory('../n1'), /cannot be the name/)
    const setUp = (below: string, type: string) => {
      const plan = { kind: 'path', path: path.join(within, below), type, readOnly: false, within } as const
      return setUpVolume(machine, { podUid: 'u', name: 'v', plan })
    }
    assert.deepEqual(await setUp('runtime-mnt/a/b', ''), { path: path.join(within, 'runtime-mnt/a/b'), readOnly: false })
    await setUp('runtime-mnt/a/b', 'Directory')
    await setUp('runtime-mnt/f/list', 'FileOrCreate')
    await setUp('runtime-mnt/f/list', '')
    assert.ok(lstatSync(path.join(within, 'runtime-mnt/f/list')).isFile())
    await assert.rejects(setUp('runtime-mnt/none', 'Directory'), /is not a directory/)
    const elsewhere = path.join(top, 'elsewhere')
    mkdirSync(elsewhere)
    symlinkSync(elsewhere, path.join(within, 'runtime-mnt/out'))
    for (const type of ['', 'DirectoryOrCreate', 'FileOrCreate'])
      for (const below of ['runtime-mnt/out/x', 'runtime-mnt/out/x/y']) await assert.rejects(setUp(below, type), /leads out of its volume/)
    await assert.rejects(setUp('runtime-mnt/out', 'Directory'), /leads out of its volume/)
    assert.deepEqual(readdirSync(elsewhere), [])
    assert.equal(existsSync('/runtime-mnt/a'), false)
  })

  it('are read up to a limit', async () => {
    const files = machineFiles({ directory: top, dataDirectory: top, nameOfMoment: () => '2026' })
    const at = fresh()
    await files.writeFiles(at, [file('a', 'content')])
    assert.equal(Buffer.from((await files.readFile(path.join(at, 'a'), 4)) ?? []).toString(), 'cont')
    assert.equal(await files.readFile(path.join(at, 'missing'), 4), undefined)
    assert.deepEqual(await Promise.all([at, path.join(at, 'a'), path.join(at, 'z')].map((one) => files.kindOf(one))), [
      'directory',
      'file',
      undefined,
    ])
  })
})
