import assert from 'node:assert/strict'
import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import type { Source } from '../sources/source.ts'
import { inTemporaryDirectory } from '../sources/testing.ts'
import { createInventory } from './create-inventory.ts'
import type { InventoryMount, InventoryOptions } from './inventory.ts'
import { fileOf, handClock, mountOf, optionsFor, pathsOf, scriptedSource } from './testing.ts'

/** Never answers, so that what is known comes from the journal alone. */
function silent(name: string, at = '/'): InventoryMount {
  const list: Source['list'] = (_, signal) =>
    new Promise((__, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  return mountOf(name, at, { ...scriptedSource(), list })
}

async function written(journal: string, more: Partial<InventoryOptions> = {}): Promise<number> {
  const source = scriptedSource(['a', 'b', 'c'].map((name) => fileOf(name)))
  const inventory = await createInventory(optionsFor([mountOf('m', '/', source)], { journal, ...more }))
  await inventory.sync()
  source.files = ['a', 'c', 'd'].map((name) => fileOf(name, 2))
  await inventory.sync()
  const { revision } = inventory
  await inventory.close()
  return revision
}

/** Opened, looked at, closed. */
async function reopened(journal: string, more: Partial<InventoryOptions> = {}) {
  const inventory = await createInventory(optionsFor([silent('m')], { journal, clock: handClock(2_000_000), ...more }))
  const seen = { paths: pathsOf(inventory), isComplete: inventory.isComplete, revision: inventory.revision }
  await inventory.close()
  return seen
}

const withJournal = (use: (journal: string) => Promise<void>) => inTemporaryDirectory((directory) => use(path.join(directory, 'journal')))

describe('the journal of an inventory', () => {
  it('lets a restarted master answer at once, with the same revision after an orderly end', () =>
    withJournal(async (journal) => {
      const revision = await written(journal)
      assert.deepEqual(await reopened(journal), { paths: ['/a', '/c', '/d'], isComplete: true, revision })
      assert.deepEqual(await reopened(journal), { paths: ['/a', '/c', '/d'], isComplete: true, revision })
    }))

  it('gives no revision twice after a disorderly end', () =>
    withJournal(async (journal) => {
      const revision = await written(journal)
      const text = await readFile(journal, 'utf8')
      await writeFile(journal, text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1))
      const again = await reopened(journal)
      assert.deepEqual(again.paths, ['/a', '/c', '/d'])
      assert.ok(again.revision > revision)
    }))

  it('cuts a damaged tail, wherever it was cut off', () =>
    withJournal(async (journal) => {
      await written(journal)
      const whole = await readFile(journal)
      const snapshotEnd = whole.indexOf('\n', whole.indexOf('"revision"')) + 1
      const states = new Set<string>()
      for (let size = snapshotEnd; size < whole.length; size += 41) {
        await writeFile(journal, whole)
        await truncate(journal, size)
        states.add((await reopened(journal)).paths.join())
      }
      const steps = new Set(['', '/a,/b', '/a,/b,/c', '/a,/b,/c,/d', '/a,/c,/d'])
      for (const state of states) assert.ok(steps.has(state), `${state} is no state that ever was`)
      await writeFile(journal, Buffer.concat([whole, Buffer.alloc(200_000, 120)]))
      assert.deepEqual((await reopened(journal)).paths, ['/a', '/c', '/d'])
    }))

  it('is of no use with damage inside, another key, or before its snapshot has ended', () =>
    withJournal(async (journal) => {
      await written(journal)
      const whole = await readFile(journal)
      const damaged = Buffer.from(whole)
      damaged[Math.floor(whole.length / 2)] = 1
      for (const bytes of [
        damaged,
        whole.subarray(0, 40),
        Buffer.from('not a journal\n'),
        Buffer.alloc(0),
        Buffer.concat([whole, whole]),
      ]) {
        await writeFile(journal, bytes)
        assert.deepEqual((await reopened(journal)).paths, [])
      }
      await writeFile(journal, whole)
      assert.deepEqual((await reopened(journal, { key: new Uint8Array(32) })).paths, [])
    }))

  it('keeps what belongs to mounts that are the same, and drops the rest', () =>
    withJournal(async (journal) => {
      const [one, two] = [scriptedSource([fileOf('a')]), scriptedSource([fileOf('b')])]
      const inventory = await createInventory(optionsFor([mountOf('one', '/1', one), mountOf('two', '/2', two)], { journal }))
      await inventory.sync()
      await inventory.close()
      const again = await reopened(journal, { mounts: [silent('one', '/1'), { ...silent('two', '/2'), identity: 'another' }] })
      assert.deepEqual([again.paths, again.isComplete], [['/1/a'], false])
    }))

  it('lists nothing after a restart when it is complete and no interval is set', () =>
    withJournal(async (journal) => {
      await written(journal)
      const source = scriptedSource([fileOf('other')])
      const inventory = await createInventory(optionsFor([mountOf('m', '/', source)], { journal, syncIntervalMs: 0 }))
      assert.deepEqual([pathsOf(inventory), source.listings], [['/a', '/c', '/d'], 0])
      await inventory.close()
    }))

  it('does not stop the inventory when it cannot be written', () =>
    inTemporaryDirectory(async (directory) => {
      const messages: string[] = []
      const journal = path.join(directory, 'missing/journal')
      await written(journal, { log: { write: (_, message) => messages.push(message) } })
      assert.deepEqual(messages, ['the journal of the inventory cannot be written; a restart will list again'])
      await assert.rejects(appendFile(journal, ''))
    }))
})
