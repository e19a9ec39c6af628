import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { utf8Of } from '../../base/byte-text.ts'
import { createMemoryStore } from '../memory/memory-store.ts'
import { CompactedError } from '../store.ts'
import { contentOf, manualClock, put, remove } from '../suite-harness.ts'
import { backup, jumpAhead, restoreBackup } from './backup.ts'
import { openJournalStore } from './open.ts'
import { SimulatedMachine, turns } from './simulated-machine.ts'
import { StoreRefusedError } from './store-error.ts'

async function backUp(machine: SimulatedMachine, store: Parameters<typeof backup>[0], whileRunning = async () => {}): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  const summary = await backup(
    store,
    async (chunk) => {
      chunks.push(Buffer.from(chunk))
      await whileRunning()
    },
    machine.clock,
  )
  const bytes = Buffer.concat(chunks)
  assert.equal(summary.bytes, bytes.length)
  return bytes
}

function restore(machine: SimulatedMachine, content: Buffer, options: { dir?: string; revisionJump?: number } = {}) {
  machine.disk.spoil('/backup', content)
  const { dir = '/new', revisionJump } = options
  return restoreBackup('/backup', dir, { clock: machine.clock, revisionJump, disk: machine.disk.mount(), processes: machine.nextProcess() })
}

describe('backup and restore', () => {
  it('brings back all clusters as they were at one moment, with revisions that jumped ahead', async () => {
    const machine = new SimulatedMachine()
    const store = await machine.start()
    const hub = store.cluster('hub')
    const a = await put(hub, 'pods/ns/a', 'then')
    await put(hub, 'pods/ns/gone', 1)
    await remove(hub, 'pods/ns/gone')
    await put(store.cluster('member1'), 'nodes//n', 'node')
    const content = await backUp(machine, store, async () => void (await put(hub, 'pods/ns/a', 'later')))
    assert.equal(contentOf(hub.get('pods/ns/a')), 'later')
    const summary = await restore(machine, content)
    assert.deepEqual(summary.clusters, [
      { name: 'hub', revision: 2_000_000, objects: 1 },
      { name: 'member1', revision: 2_000_000, objects: 1 },
    ])
    const back = await machine.start({ dir: '/new' })
    const c = back.cluster('hub')
    assert.deepEqual([c.revision, c.oldestRevision, back.clusterNames()], [2_000_000, 2_000_000, ['hub', 'member1']])
    const restored = c.get('pods/ns/a')
    assert.deepEqual([contentOf(restored), restored?.revision, restored?.createRevision], ['then', a.revision, a.createRevision])
    assert.equal(contentOf(back.cluster('member1').get('nodes//n')), 'node')
    assert.throws(() => c.watch('', { after: hub.revision, onEvent: () => {} }), CompactedError)
    assert.throws(() => c.range('pods/', { revision: 2 }), CompactedError)
    const written = await c.commit({
      key: 'pods/ns/a',
      expect: a.revision,
      type: 'put',
      encode: () => ({ text: utf8Of('{"content":1}') }),
    })
    assert.ok(written.ok)
    assert.equal(written.version.revision, 2_000_001)
    await back.close()
    await store.close()
  })

  it('works for a store in memory too, and in chunks that stay small', async () => {
    const machine = new SimulatedMachine()
    const store = createMemoryStore({ clock: manualClock() })
    await Promise.all(Array.from({ length: 2000 }, (_, i) => put(store.cluster('hub'), `pods/ns/p${i}`, 'x'.repeat(1000))))
    const sizes: number[] = []
    await backup(store, async (chunk) => void sizes.push(chunk.byteLength), machine.clock)
    assert.ok(sizes.length > 8 && Math.max(...sizes) < 300_000, `chunks of ${sizes.join(', ')} bytes`)
    const summary = await restore(machine, await backUp(machine, store))
    assert.equal(summary.clusters[0]?.objects, 2000)
    await turns()
  })

  it('refuses a damaged backup, wherever it is damaged or cut, and leaves no store behind', async () => {
    const machine = new SimulatedMachine()
    const store = createMemoryStore({ clock: manualClock() })
    await put(store.cluster('hub'), 'pods/ns/a', 'x')
    await put(store.cluster('hub'), 'pods/ns/b', 'y')
    const content = await backUp(machine, store)
    const damaged = (error: unknown) => {
      assert.ok(error instanceof StoreRefusedError, String(error))
      assert.equal(error.code, 'E_BACKUP_DAMAGED')
      assert.match(error.message, /\/backup is damaged at byte \d+.*Nothing was restored/)
      return true
    }
    for (let byte = 0; byte < content.length; byte++) {
      const flipped = Buffer.from(content)
      flipped[byte] = (flipped[byte] ?? 0) ^ 1
      await assert.rejects(restore(machine, flipped), damaged)
      await assert.rejects(restore(machine, content.subarray(0, byte)), damaged)
    }
    await assert.rejects(restore(machine, Buffer.concat([content, content])), damaged)
    assert.deepEqual(machine.disk.names(), ['backup'])
    await restore(machine, content)
  })

  it('refuses a directory that holds a store, also one that is in use', async () => {
    const machine = new SimulatedMachine()
    const store = await machine.start()
    const content = await backUp(machine, store)
    await assert.rejects(restore(machine, content, { dir: '/data' }), (e) => e instanceof StoreRefusedError)
    await store.close()
    await assert.rejects(
      restore(machine, content, { dir: '/data' }),
      (e) => e instanceof StoreRefusedError && e.code === 'E_STORE_NOT_EMPTY',
    )
  })

  it('jumps further the older the backup is, so that a busy store cannot have been there', async () => {
    const machine = new SimulatedMachine()
    const store = createMemoryStore({ clock: manualClock() })
    await put(store.cluster('hub'), 'pods/ns/a', 'x')
    const content = await backUp(machine, store)
    machine.clock.advance(3600_000)
    const { clusters } = await restore(machine, content)
    assert.equal(clusters[0]?.revision, 37_000_000)
    assert.equal(jumpAhead(5, { step: 10, least: 0 }), 20)
    assert.equal(jumpAhead(10, { step: 10, least: 25 }), 40)
    const back = await openJournalStore({
      dir: '/new',
      clock: machine.clock,
      disk: machine.disk.mount(),
      processes: machine.nextProcess(),
      onFatal: assert.fail,
    })
    assert.equal(back.cluster('hub').revision, 37_000_000)
    await back.close()
  })
})
