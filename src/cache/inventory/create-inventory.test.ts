import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import { openSource } from '../sources/open.ts'
import { SourceRefused } from '../sources/source.ts'
import { inTemporaryDirectory, readAll } from '../sources/testing.ts'
import { createInventory } from './create-inventory.ts'
import type { Inventory } from './inventory.ts'
import { inventoryMountOf } from './mounts.ts'
import { fileOf, handClock, mountOf, optionsFor, pathsOf, scriptedSource } from './testing.ts'

const changed = (inventory: Inventory) =>
  new Promise<void>((resolve) => {
    const stop = inventory.onChange(() => {
      stop()
      resolve()
    })
  })

async function until(inventory: Inventory, holds: () => boolean): Promise<void> {
  while (!holds()) await changed(inventory)
}

describe('an inventory', () => {
  it('leads from a path of the dataset to the bytes of a mounted directory', () =>
    inTemporaryDirectory(async (directory) => {
      await writeFile(path.join(directory, 'f'), 'bytes')
      const config = { name: 'm', mountPoint: 'pvc://claim', path: '/data' }
      const deps = { clock: handClock(), allowPrivateAddresses: false, mountedAt: () => directory }
      const inventory = await createInventory(optionsFor([inventoryMountOf(config, deps)]))
      await inventory.sync()
      const located = inventory.file(inventory.byPath('/data/f')?.fileId ?? '')
      assert.ok(located)
      const source = await openSource(config, deps)
      assert.equal(String(await readAll(source, located.source)), 'bytes')
      await inventory.close()
    }))

  it('shows files while the first listing comes in, and says when it is complete', async () => {
    const source = scriptedSource(['a', 'b', 'c'].map((path) => fileOf(path)))
    const inventory = await createInventory(optionsFor([mountOf('m', '/m', source)]))
    await until(inventory, () => pathsOf(inventory).length > 0)
    assert.deepEqual([pathsOf(inventory), inventory.isComplete], [['/m/a', '/m/b'], false])
    await until(inventory, () => inventory.isComplete)
    assert.deepEqual(inventory.totals(), { files: 3, bytes: 3 })
    assert.equal(inventory.mounts()[0]?.state, 'listed')
    await inventory.close()
    assert.equal(source.isOpen, false)
  })

  it('tells what changed since a revision, below a path', async () => {
    const source = scriptedSource([fileOf('d/a'), fileOf('d/b'), fileOf('e/c')])
    const inventory = await createInventory(optionsFor([mountOf('m', '/', source)]))
    await inventory.sync()
    const { revision } = inventory
    source.files = [fileOf('d/a', 2), fileOf('e/c'), fileOf('e/new')]
    await inventory.sync()
    const lines = inventory.since(revision, '/d') ?? []
    assert.deepEqual(
      lines.map((line) => ('add' in line ? `+${line.add.path} ${line.add.size}` : 'remove' in line ? `-${line.remove.path}` : line)),
      ['+/d/a 2', '-/d/b', { revision: inventory.revision, isComplete: true }],
    )
    assert.deepEqual(inventory.since(inventory.revision, '/'), [{ revision: inventory.revision, isComplete: true }])
    for (const unknown of [inventory.revision + 1, 0, -1, 0.5, Number.NaN]) assert.equal(inventory.since(unknown, '/'), undefined)
    const settled = inventory.revision
    await inventory.sync()
    assert.equal(inventory.revision, settled, 'the same listing is no change')
    await inventory.close()
  })

  it('keeps everything when a later listing fails midway, and goes on with other mounts', async () => {
    const [one, two] = [scriptedSource(['a', 'b', 'c', 'd'].map((path) => fileOf(path))), scriptedSource([fileOf('x')])]
    const inventory = await createInventory(optionsFor([mountOf('one', '/one', one), mountOf('two', '/two', two)]))
    await inventory.sync()
    one.files = ['a', 'new', 'c', 'd'].map((path) => fileOf(path))
    one.failsAtPage = 1
    two.files = [fileOf('y')]
    await inventory.sync()
    assert.deepEqual(pathsOf(inventory), ['/one/a', '/one/b', '/one/c', '/one/d', '/one/new', '/two/y'])
    const [failed, fine] = inventory.mounts()
    assert.deepEqual([failed?.state, failed?.reason, fine?.state], ['failed', 'the server is down', 'listed'])
    one.failsAtPage = undefined
    await inventory.sync()
    assert.deepEqual(pathsOf(inventory, '/one'), ['/one/a', '/one/c', '/one/d', '/one/new'])
    assert.equal(inventory.mounts()[0]?.reason, undefined)
    await inventory.close()
  })

  it('says why a mount cannot be opened, and tries again', async () => {
    let isFixed = false
    const mount = {
      ...mountOf('m', '/m', scriptedSource()),
      open: async () => {
        if (!isFixed) throw new SourceRefused('juicefs cannot be read')
        return scriptedSource([fileOf('a')])
      },
    }
    const clock = handClock()
    const inventory = await createInventory(optionsFor([mount], { clock, syncIntervalMs: 0 }))
    await until(inventory, () => inventory.mounts()[0]?.state === 'failed')
    assert.deepEqual([inventory.mounts()[0]?.reason, inventory.isComplete], ['juicefs cannot be read', false])
    isFixed = true
    await inventory.sync()
    assert.deepEqual([pathsOf(inventory), inventory.isComplete], [['/m/a'], true])
    await inventory.close()
  })

  it('lists one thing at a time, by the interval, and soon after a hint', async () => {
    const clock = handClock()
    const source = scriptedSource([fileOf('a')])
    const inventory = await createInventory(optionsFor([mountOf('m', '/', source)], { clock, syncIntervalMs: 60_000 }))
    await inventory.sync()
    const after = source.listings
    const [delay = 0] = clock.delays
    assert.ok(delay >= 54_000 && delay <= 66_000)
    source.files = [fileOf('b')]
    source.hint()
    source.hint()
    assert.equal(clock.delays.length, 2)
    clock.advance(2000)
    await until(inventory, () => pathsOf(inventory).includes('/b') && inventory.mounts()[0]?.state === 'listed')
    assert.equal(source.listings, after + 1)
    await inventory.sync()
    const before = source.listings
    let open = () => {}
    const entered = new Promise<void>((isIn) => {
      source.gate = () =>
        new Promise<void>((resolve) => {
          open = resolve
          isIn()
        })
    })
    const first = inventory.sync()
    await entered
    const later = [inventory.sync(), inventory.sync()]
    source.gate = undefined
    open()
    await first
    await Promise.all(later)
    assert.equal(source.listings, before + 2, 'who asks during a listing gets the next one, together')
    await inventory.close()
    assert.deepEqual(clock.delays, [])
  })

  it('opens only what is new when mounts are set, and shows what is mounted deeper', async () => {
    const [root, inner] = [scriptedSource([fileOf('a'), fileOf('in/b')]), scriptedSource([fileOf('c')])]
    const inventory = await createInventory(optionsFor([mountOf('root', '/', root)]))
    await inventory.sync()
    inventory.setMounts([mountOf('root', '/', root), mountOf('inner', '/in', inner)])
    assert.deepEqual([pathsOf(inventory), inventory.isComplete], [['/a'], false])
    await inventory.sync()
    assert.deepEqual(pathsOf(inventory), ['/a', '/in/c'])
    assert.equal(root.isOpen, true)
    const located = inventory.file(inventory.byPath('/in/c')?.fileId ?? '')
    assert.deepEqual([located?.mount, located?.source], ['inner', { path: 'c', size: 1, etag: 'e' }])
    inventory.setMounts([mountOf('root', '/', root)])
    await inventory.sync()
    assert.deepEqual(pathsOf(inventory), ['/a', '/in/b'])
    const { revision } = inventory
    inventory.setMounts([mountOf('root', '/', root)])
    await inventory.sync()
    assert.equal(inventory.revision, revision, 'the same mounts again are no change')
    const other = scriptedSource([fileOf('z')])
    inventory.setMounts([mountOf('root', '/', other, 'elsewhere')])
    assert.deepEqual([pathsOf(inventory), inventory.isComplete], [[], false])
    await inventory.sync()
    assert.deepEqual([pathsOf(inventory), root.isOpen, inner.isOpen], [['/z'], false, false])
    await inventory.close()
  })
})
