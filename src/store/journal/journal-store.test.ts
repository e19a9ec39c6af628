import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { StoreUnavailableError } from '../store.ts'
import { storeSuite } from '../suite.ts'
import { contentOf, put, record, remove, valueAt } from '../suite-harness.ts'
import { SimulatedMachine, turns } from './simulated-machine.ts'

for (const snapshotAfterBytes of [undefined, 500]) {
  storeSuite(`journal store${snapshotAfterBytes === undefined ? '' : ', always making snapshots'}`, {
    open: async (options = {}) => {
      const machine = new SimulatedMachine()
      const { disk } = machine
      const store = await machine.start({ ...options, snapshotAfterBytes })
      return {
        store,
        hold: () => disk.hold(),
        release: async () => {
          disk.release()
          await turns()
        },
        fail: async () => {
          await turns()
          disk.failNext('write', 'ENOSPC', (file) => /journal-\d+$/.test(file))
          disk.release()
          await turns()
        },
      }
    },
  })
}

describe('journal store: restart', () => {
  it('finds everything as it was: values, revisions, history, watchers that resume', async () => {
    const machine = new SimulatedMachine()
    const first = await machine.start()
    const c = first.cluster('hub')
    await put(c, 'pods/ns/a', 'one')
    await put(c, 'pods/ns/b', 'two')
    await remove(c, 'pods/ns/a')
    await put(first.cluster('member1'), 'nodes//n', 'three')
    await first.close()
    const second = await machine.start()
    const again = second.cluster('hub')
    assert.deepEqual(second.clusterNames(), ['hub', 'member1'])
    assert.deepEqual([again.revision, again.oldestRevision, second.cluster('member1').revision], [4, 1, 2])
    assert.equal(contentOf(again.get('pods/ns/b')), 'two')
    assert.equal(contentOf(again.get('pods/ns/a', 3)), 'one')
    const seen = record(again, 'pods/', 2)
    assert.deepEqual(
      seen.events.map((e) => [e.revision, e.type, contentOf(e.previous)]),
      [
        [3, 'put', undefined],
        [4, 'delete', 'one'],
      ],
    )
    assert.equal((await put(again, 'pods/ns/a', 'new life')).createRevision, 5)
    await second.close()
  })

  it('keeps the generation before the newest snapshot, and watchers resume from before it', async () => {
    const machine = new SimulatedMachine()
    const { disk } = machine
    const first = await machine.start()
    const c = first.cluster('hub')
    for (let i = 0; i < 3; i++) await put(c, 'pods/ns/a', i)
    await first.snapshot()
    for (let i = 3; i < 6; i++) await put(c, 'pods/ns/a', i)
    await first.snapshot()
    for (let i = 6; i < 9; i++) await put(c, 'pods/ns/a', i)
    assert.deepEqual(disk.names(), ['FORMAT', 'LOCK', 'journal-2', 'journal-3', 'snapshot-2', 'snapshot-3'])
    await first.close()
    const second = await machine.start()
    assert.deepEqual([second.cluster('hub').revision, second.cluster('hub').oldestRevision], [10, 4])
    assert.deepEqual(
      record(second.cluster('hub'), '', 4).events.map((e) => contentOf(e.version)),
      [3, 4, 5, 6, 7, 8],
    )
    await second.close()
  })

  it('makes a snapshot when the journal outgrows the threshold and the live data, while writers go on', async () => {
    const machine = new SimulatedMachine()
    const { disk } = machine
    const store = await machine.start({ snapshotAfterBytes: 4000 })
    const c = store.cluster('hub')
    for (let i = 0; i < 40; i++) await Promise.all([put(c, `pods/ns/p${i % 3}`, 'x'.repeat(100)), put(c, `pods/ns/q${i % 3}`, i)])
    await turns()
    assert.ok(store.stats().generation >= 3)
    assert.ok(store.stats().journalBytes < 8000)
    assert.equal(disk.names().filter((name) => name.startsWith('snapshot-')).length, 2)
    await store.close()
  })
})

describe('journal store: what a crash leaves', () => {
  it('what a killed process had written but not synced is made safe before it is shown', async () => {
    const machine = new SimulatedMachine()
    const { disk } = machine
    const first = await machine.start()
    await put(first.cluster('hub'), 'pods/ns/a', 'safe')
    disk.hold((operation) => operation === 'sync')
    void put(first.cluster('hub'), 'pods/ns/a', 'written')
    await turns()
    disk.killProcess()
    const second = await machine.start()
    assert.equal(contentOf(second.cluster('hub').get('pods/ns/a')), 'written')
    disk.cutPower()
    const third = await machine.start()
    assert.deepEqual([third.cluster('hub').revision, contentOf(third.cluster('hub').get('pods/ns/a'))], [3, 'written'])
    await third.close()
  })

  it('a torn end is cut off, whatever part of the frame is there', async () => {
    const machine = new SimulatedMachine()
    const { disk } = machine
    const first = await machine.start()
    await put(first.cluster('hub'), 'pods/ns/a', 'safe')
    const safe = machine.file('journal-1').length
    await put(first.cluster('hub'), 'pods/ns/a', 'x'.repeat(50))
    const whole = Buffer.from(machine.file('journal-1'))
    disk.killProcess()
    for (let length = safe + 1; length < whole.length; length++) {
      const torn = whole.subarray(0, length)
      const zeros = Buffer.concat([torn, Buffer.alloc(whole.length - length)])
      for (const content of [torn, zeros]) {
        machine.spoil('journal-1', content)
        const store = await machine.start()
        assert.deepEqual([store.cluster('hub').revision, store.stats().tornBytes], [2, content.length - safe])
        assert.equal(machine.file('journal-1').length, safe)
        disk.killProcess()
      }
    }
  })

  it('a torn end is no damage when the next journal was made but not used', async () => {
    let met = 0
    for (let seed = 1; seed <= 20; seed++) {
      const machine = new SimulatedMachine(seed)
      const { disk } = machine
      const store = await machine.start()
      await put(store.cluster('hub'), 'pods/ns/a', 'safe')
      disk.hold((operation, file) => operation === 'sync' && file.endsWith('journal-1'))
      void put(store.cluster('hub'), 'pods/ns/a', 'x'.repeat(2000))
      await turns(5)
      void store.snapshot()
      await turns(5)
      disk.cutPower()
      const again = await machine.start()
      if (disk.names().includes('journal-2') && again.stats().tornBytes > 0) met++
      const { revision } = again.cluster('hub')
      assert.ok(revision === 2 || revision === 3)
      assert.equal((await put(again.cluster('hub'), 'pods/ns/a', 'after')).revision, revision + 1)
      disk.cutPower()
      const last = await machine.start()
      assert.equal(contentOf(last.cluster('hub').get('pods/ns/a')), 'after')
      await last.close()
    }
    assert.ok(met > 5, `the case was met ${met} times`)
  })

  it('a write that was refused stays away, although all of it may have reached the disk', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const machine = new SimulatedMachine(seed)
      const { disk } = machine
      const store = await machine.start()
      disk.failNext('write', 'EIO')
      await assert.rejects(put(store.cluster('hub'), 'pods/ns/a', 'refused'), StoreUnavailableError)
      disk.cutPower()
      const again = await machine.start()
      assert.equal(again.cluster('hub').revision, 1)
      await again.close()
    }
  })
})

describe('journal store: a disk that refuses', () => {
  it('full disk: the writes of the batch fail, nothing of them stays, and later ones succeed', async () => {
    const machine = new SimulatedMachine()
    const { disk } = machine
    const store = await machine.start()
    const c = store.cluster('hub')
    await put(c, 'pods/ns/a', 'before')
    const size = machine.file('journal-1').length
    disk.capacity = [...disk.names()].reduce((sum, name) => sum + machine.file(name).length, 0) + 30
    await assert.rejects(put(c, 'pods/ns/b', 'x'.repeat(500)), StoreUnavailableError)
    assert.equal(machine.file('journal-1').length, size)
    assert.equal(c.revision, 2)
    disk.capacity = Number.POSITIVE_INFINITY
    assert.equal((await put(c, 'pods/ns/b', 'after')).revision, 3)
    disk.cutPower()
    const second = await machine.start()
    assert.deepEqual([second.cluster('hub').revision, contentOf(second.cluster('hub').get('pods/ns/b'))], [3, 'after'])
    await second.close()
  })

  it('a failed sync is the end: told once, nothing acknowledged, nothing accepted any more', async () => {
    const machine = new SimulatedMachine()
    const { disk } = machine
    const fatal: Error[] = []
    const store = await machine.start({ onFatal: (error) => fatal.push(error) })
    const c = store.cluster('hub')
    await put(c, 'pods/ns/a', 'before')
    disk.failNext('sync', 'EIO')
    const writes = await Promise.allSettled([put(c, 'pods/ns/a', 'lost'), put(c, 'pods/ns/b', 'lost')])
    assert.deepEqual(
      writes.map((w) => w.status === 'rejected' && w.reason instanceof StoreUnavailableError),
      [true, true],
    )
    await assert.rejects(put(c, 'pods/ns/c', 'refused'), StoreUnavailableError)
    assert.deepEqual([fatal.length, contentOf(c.get('pods/ns/a')), c.revision], [1, 'before', 2])
    await store.close()
  })

  it('a write that cannot be taken back is the end as well', async () => {
    const machine = new SimulatedMachine()
    const { disk } = machine
    const fatal: Error[] = []
    const store = await machine.start({ onFatal: (error) => fatal.push(error) })
    disk.failNext('write', 'EIO')
    disk.failNext('truncate', 'EIO')
    await assert.rejects(put(store.cluster('hub'), 'pods/ns/a', 1), StoreUnavailableError)
    assert.match(fatal[0]?.message ?? '', /could not be taken back/)
    await store.close()
  })

  it('no room for a snapshot: a warning, and writers go on', async () => {
    const machine = new SimulatedMachine()
    const { disk } = machine
    const warnings: string[] = []
    const store = await machine.start({ onWarning: (message) => warnings.push(message) })
    const c = store.cluster('hub')
    await put(c, 'pods/ns/a', 1)
    disk.failNext('write', 'ENOSPC', (file) => file.includes('snapshot-2'))
    await store.snapshot()
    assert.match(warnings[0] ?? '', /snapshot could not be written and will be tried again/)
    await put(c, 'pods/ns/a', 2)
    await store.snapshot()
    assert.deepEqual([warnings.length, disk.names().includes('snapshot-3')], [1, true])
    await store.close()
    const second = await machine.start()
    assert.equal(contentOf(second.cluster('hub').get('pods/ns/a')), 2)
    await second.close()
  })

  it('a snapshot that cannot be synced is the end', async () => {
    const machine = new SimulatedMachine()
    const { disk } = machine
    const fatal: Error[] = []
    const store = await machine.start({ onFatal: (error) => fatal.push(error) })
    await put(store.cluster('hub'), 'pods/ns/a', 1)
    disk.failNext('sync', 'EIO', (file) => file.includes('snapshot-2'))
    await store.snapshot()
    assert.equal(fatal.length, 1)
    const refused = store.cluster('hub').commit({ key: 'pods/ns/a', expect: 'any', type: 'put', encode: valueAt(2) })
    await assert.rejects(refused, StoreUnavailableError)
    await store.close()
  })
})
