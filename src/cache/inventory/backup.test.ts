import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { inTemporaryDirectory } from '../sources/testing.ts'
import { BadBackup, backupLines, createBackupCheck, readBackup } from './backup.ts'
import { createInventory } from './create-inventory.ts'
import { fileOf, mountOf, optionsFor, pathsOf, scriptedSource } from './testing.ts'

const textOf = (lines: Iterable<unknown>): string => [...lines].map((line) => `${JSON.stringify(line)}\n`).join('')
const HEAD = { head: { format: 1, mounts: [{ name: 'm', path: '/m' }] } }
const FILE = { file: ['/m/a', 'm', 5, '"e"', null] }
const END = { end: { files: 1, bytes: 5 } }
const quiet = { onMounts: () => undefined, onFile: () => undefined }

describe('a backup of an inventory', () => {
  it('gives another one its files before its sources were listed, which then have the last word', () =>
    inTemporaryDirectory(async (directory) => {
      const file = path.join(directory, 'backup.gz')
      const first = await createInventory(optionsFor([mountOf('m', '/m', scriptedSource([fileOf('a', 5), fileOf('b', 7)]))]))
      await first.sync()
      writeFileSync(file, gzipSync(textOf(backupLines(first))))
      await first.close()
      const source = scriptedSource([fileOf('b', 7), fileOf('c', 1)])
      let open: () => void = () => undefined
      const gate = new Promise<void>((resolve) => {
        open = resolve
      })
      const waiting = {
        ...source,
        list: async (cursor: string | undefined, signal: AbortSignal) => gate.then(() => source.list(cursor, signal)),
      }
      const options = { ...optionsFor([mountOf('m', '/m', waiting)]), key: Buffer.alloc(32, 9), syncIntervalMs: 0, backup: file }
      const second = await createInventory(options)
      assert.deepEqual([second.isComplete, second.totals(), pathsOf(second)], [true, { files: 2, bytes: 12 }, ['/m/a', '/m/b']])
      open()
      await second.sync()
      assert.deepEqual(pathsOf(second), ['/m/b', '/m/c'])
      await second.close()
      const elsewhere = await createInventory({ ...optionsFor([mountOf('other', '/other', source)]), backup: file })
      assert.equal(elsewhere.isComplete, false, 'a mount that it does not know is listed first')
      await elsewhere.close()
    }))

  it('that is damaged is none: the sources are listed', () =>
    inTemporaryDirectory(async (directory) => {
      const file = path.join(directory, 'backup.gz')
      writeFileSync(file, gzipSync(textOf([HEAD, FILE])))
      const inventory = await createInventory({ ...optionsFor([mountOf('m', '/m', scriptedSource([fileOf('c', 1)]))]), backup: file })
      assert.deepEqual([inventory.isComplete, pathsOf(inventory)], [false, []])
      await inventory.sync()
      assert.deepEqual(pathsOf(inventory), ['/m/c'])
      await inventory.close()
    }))

  it('that cannot be read whole is refused', () =>
    inTemporaryDirectory(async (directory) => {
      const good = gzipSync(textOf([HEAD, FILE, END]))
      const file = path.join(directory, 'backup.gz')
      writeFileSync(file, good)
      assert.deepEqual(await readBackup(file, quiet), { files: 1, bytes: 5 })
      for (const [i, bad] of [good.subarray(0, -5), Buffer.alloc(0), Buffer.from('text'), gzipSync('x'.repeat(100_000))].entries()) {
        writeFileSync(file, bad)
        await assert.rejects(readBackup(file, quiet), BadBackup, `case ${i}`)
      }
      await assert.rejects(readBackup(path.join(directory, 'none'), quiet), /ENOENT/)
      const pipe = path.join(directory, 'pipe')
      execFileSync('mkfifo', [pipe])
      await assert.rejects(readBackup(pipe, quiet), BadBackup)
    }))

  const BAD: [string, unknown[]][] = [
    ['no head', [FILE, END]],
    ['a later format', [{ head: { format: 2, mounts: [] } }, END]],
    ['a path that leads out', [HEAD, { file: ['/m/../x', 'm', 5, null, '1'] }, END]],
    ['a path of another mount', [HEAD, { file: ['/x/a', 'm', 5, null, '1'] }, END]],
    ['a mount that it does not name', [HEAD, { file: ['/m/a', 'x', 5, null, '1'] }, END]],
    ['a size that is none', [HEAD, { file: ['/m/a', 'm', -5, null, '1'] }, END]],
    ['a time that is none', [HEAD, { file: ['/m/a', 'm', 5, null, 'x'] }, END]],
    ['fewer files than it says', [HEAD, END]],
    ['no end', [HEAD, FILE]],
    ['something after its end', [HEAD, FILE, END, FILE]],
  ]
  for (const [what, lines] of BAD)
    it(`is refused with ${what}`, () => {
      const check = createBackupCheck(quiet)
      assert.throws(() => {
        for (const line of lines) check.line(JSON.stringify(line))
        check.end()
      }, BadBackup)
    })

  it('is refused as a BadBackup, whatever is in it', () => {
    const line = fc.oneof(
      fc.json(),
      fc.string(),
      fc.constantFrom(HEAD, FILE, END).map((good) => JSON.stringify(good)),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
        const check = createBackupCheck(quiet)
        try {
          for (const text of lines) check.line(text)
          check.end()
        } catch (error) {
          assert.ok(error instanceof BadBackup, String(error))
        }
      }),
    )
  })
})
