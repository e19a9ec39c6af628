import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { contentOf, put } from '../suite-harness.ts'
import { repairJournal } from './repair.ts'
import { SimulatedMachine } from './simulated-machine.ts'
import { StoreRefusedError } from './store-error.ts'

const refusedWith =
  (code: string, ...words: (string | RegExp)[]) =>
  (error: unknown) => {
    assert.ok(error instanceof StoreRefusedError, String(error))
    assert.equal(error.code, code)
    for (const word of words) assert.match(error.message, typeof word === 'string' ? new RegExp(word) : word)
    return true
  }

/** Two generations: revisions 2 to 4 in journal-2, 5 to 7 in journal-3; stopped cleanly. */
async function twoGenerations(): Promise<SimulatedMachine> {
  const machine = new SimulatedMachine()
  const store = await machine.start()
  const c = store.cluster('hub')
  await store.snapshot()
  for (let i = 2; i <= 4; i++) await put(c, `pods/ns/p${i}`, i)
  await store.snapshot()
  for (let i = 5; i <= 7; i++) await put(c, `pods/ns/p${i}`, i)
  await store.close()
  assert.deepEqual(machine.disk.names(), ['FORMAT', 'journal-2', 'journal-3', 'snapshot-2', 'snapshot-3'])
  return machine
}

function repair(machine: SimulatedMachine) {
  return repairJournal('/data', { clock: machine.clock, disk: machine.disk.mount(), processes: machine.nextProcess() })
}

describe('a damaged data directory', () => {
  it('is refused for any flipped bit of the journal, or has lost nothing', async () => {
    const machine = await twoGenerations()
    const whole = Buffer.from(machine.file('journal-3'))
    for (let byte = 0; byte < whole.length; byte++) {
      machine.flipBit('journal-3', byte)
      let refused: unknown
      const store = await machine.start().catch((error: unknown) => {
        refused = error
        return undefined
      })
      if (store === undefined)
        assert.ok(refusedWith('E_STORE_DAMAGED', '/data/journal-3 is damaged at byte \\d+', 'sluice restore', 'sluice repair')(refused))
      else assert.equal(store.cluster('hub').revision, 7, `a flip at byte ${byte} went unnoticed`)
      machine.disk.killProcess()
      machine.spoil('journal-3', whole)
    }
  })

  it('names the file, the byte and what follows when a middle is torn', async () => {
    const machine = await twoGenerations()
    machine.flipBit('journal-3', 150)
    await assert.rejects(
      machine.start(),
      refusedWith('E_STORE_DAMAGED', /journal-3 is damaged at byte \d+: .*wrong checksum, and intact writes follow it at byte \d+/),
    )
    assert.ok(!machine.disk.names().includes('LOCK'), 'a refused start leaves no lock')
  })

  it('is refused when a snapshot is damaged or cut, or a file is missing', async () => {
    const machine = await twoGenerations()
    const snapshot = Buffer.from(machine.file('snapshot-2'))
    for (let byte = 0; byte < snapshot.length; byte += 3) {
      machine.flipBit('snapshot-2', byte)
      await assert.rejects(machine.start(), refusedWith('E_STORE_DAMAGED', 'snapshot-2 is damaged'))
      machine.spoil('snapshot-2', snapshot.subarray(0, byte))
      await assert.rejects(machine.start(), refusedWith('E_STORE_DAMAGED', 'snapshot-2 is damaged'))
      machine.spoil('snapshot-2', snapshot)
    }
    await machine.disk.mount().remove('/data/journal-3')
    await machine.disk.mount().remove('/data/journal-2')
    await assert.rejects(machine.start(), refusedWith('E_STORE_DAMAGED', 'lacks files', 'snapshot-2, snapshot-3'))
  })

  it('repair of what is whole changes nothing', async () => {
    const machine = await twoGenerations()
    const before = machine.disk.names()
    assert.deepEqual(await repair(machine), { outcome: 'intact', damage: [], setAside: [] })
    assert.deepEqual(machine.disk.names(), before)
  })

  it('repair loses only history when a newer snapshot covers the damage', async () => {
    const machine = await twoGenerations()
    machine.flipBit('journal-2', 150)
    await assert.rejects(machine.start(), refusedWith('E_STORE_DAMAGED', 'journal-2 is damaged'))
    const report = await repair(machine)
    assert.equal(report.outcome, 'history lost')
    assert.deepEqual(report.setAside, ['damaged-snapshot-2', 'damaged-journal-2'])
    const store = await machine.start()
    const c = store.cluster('hub')
    assert.deepEqual([c.revision, c.oldestRevision, c.count('pods/')], [7, 4, 6])
    await store.close()
  })

  it('repair keeps what came before the damage, and jumps over the revisions that were lost', async () => {
    const machine = await twoGenerations()
    const original = Buffer.from(machine.file('journal-3'))
    machine.flipBit('journal-3', 330)
    const damaged = Buffer.from(machine.file('journal-3'))
    const report = await repair(machine)
    assert.equal(report.outcome, 'writes lost')
    assert.match(report.damage[0] ?? '', /journal-3 is damaged at byte \d+/)
    assert.deepEqual(machine.file('damaged-journal-3'), damaged)
    assert.notDeepEqual(damaged, original)
    const store = await machine.start()
    const c = store.cluster('hub')
    assert.deepEqual([c.revision, c.oldestRevision], [2_000_000, 2_000_000])
    const kept = c.range('pods/').versions.map(contentOf)
    assert.deepEqual(kept, [2, 3, 4, 5, 6, 7].slice(0, kept.length))
    assert.ok(kept.length >= 3 && kept.length < 6)
    assert.equal((await put(c, 'pods/ns/new', 1)).revision, 2_000_001)
    await store.close()
    assert.deepEqual((await repair(machine)).outcome, 'intact')
  })

  it('repair sets aside a damaged snapshot that is not needed yet', async () => {
    const machine = await twoGenerations()
    machine.flipBit('snapshot-3', 40)
    const report = await repair(machine)
    assert.deepEqual([report.outcome, report.setAside], ['intact', ['damaged-snapshot-3']])
    const store = await machine.start()
    assert.equal(store.cluster('hub').revision, 7)
    await store.snapshot()
    await store.close()
    const again = await machine.start()
    assert.equal(again.cluster('hub').revision, 7)
    await again.close()
  })

  it('repair says so when nothing is left to keep', async () => {
    const machine = await twoGenerations()
    machine.flipBit('snapshot-2', 40)
    machine.flipBit('snapshot-3', 40)
    await assert.rejects(repair(machine), refusedWith('E_STORE_DAMAGED', 'no intact snapshot', 'sluice restore'))
  })
})

describe('FORMAT and LOCK', () => {
  it('a newer format is refused with advice, and so is nonsense', async () => {
    const machine = await twoGenerations()
    machine.spoil('FORMAT', Buffer.from('2\n'))
    await assert.rejects(machine.start(), refusedWith('E_STORE_FORMAT', 'says version 2', 'newer Sluice', '--data-dir'))
    machine.spoil('FORMAT', Buffer.from('one'))
    await assert.rejects(machine.start(), refusedWith('E_STORE_FORMAT', 'does not say a version'))
    await machine.disk.mount().remove('/data/FORMAT')
    await assert.rejects(machine.start(), refusedWith('E_STORE_DAMAGED', 'no FORMAT'))
  })

  it('a second process is refused with the first one’s number, a dead one’s lock is taken over', async () => {
    const machine = new SimulatedMachine()
    const living = machine.nextProcess()
    const first = await machine.start({ processes: living })
    const second = { self: { pid: 7, startedAt: '7', bootId: 'boot' }, find: living.find }
    await assert.rejects(
      machine.start({ processes: second }),
      refusedWith('E_STORE_LOCKED', `in use by process ${living.self.pid}`, 'sluice down', '--data-dir'),
    )
    await assert.rejects(machine.start({ processes: living }), refusedWith('E_STORE_LOCKED', 'This very process'))
    assert.deepEqual(JSON.parse(machine.file('LOCK').toString()), living.self)
    machine.disk.killProcess()
    const third = await machine.start()
    assert.notEqual(JSON.parse(machine.file('LOCK').toString()).pid, living.self.pid)
    await third.close()
    assert.ok(!machine.disk.names().includes('LOCK'))
    await assert.rejects(put(first.cluster('hub'), 'nokey', 1))
  })

  it('tells a process from a later one with its number, by boot and by start', async () => {
    const held = { pid: 42, startedAt: '100', bootId: 'monday' }
    const cases: [typeof held, boolean][] = [
      [held, true],
      [{ ...held, startedAt: '200' }, false],
      [{ ...held, bootId: 'tuesday' }, false],
      [{ pid: 42, startedAt: '', bootId: '' }, true],
    ]
    for (const [running, isHeld] of cases) {
      const machine = new SimulatedMachine()
      machine.spoil('LOCK', Buffer.from(JSON.stringify(held)))
      const start = machine.start({
        processes: { self: { pid: 1, startedAt: '1', bootId: 'x' }, find: (pid) => (pid === 42 ? running : undefined) },
      })
      if (isHeld) await assert.rejects(start, refusedWith('E_STORE_LOCKED', 'process 42'))
      else await (await start).close()
    }
  })

  it('a lock that was never written to the end holds nobody', async () => {
    for (const content of ['', '{"pid":', 'null', '{"pid":"x"}', '{"pid":-1}']) {
      const machine = new SimulatedMachine()
      machine.spoil('LOCK', Buffer.from(content))
      await (await machine.start()).close()
      assert.deepEqual(machine.disk.names(), ['FORMAT', 'journal-1', 'snapshot-1'])
    }
  })
})
