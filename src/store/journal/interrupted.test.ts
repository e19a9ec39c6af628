/** Every operation at which a first start, a snapshot, a repair or a restore can be interrupted, one after the other. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMemoryStore } from '../memory/memory-store.ts'
import { contentOf, manualClock, put } from '../suite-harness.ts'
import { backup, restoreBackup } from './backup.ts'
import { repairJournal } from './repair.ts'
import { SimulatedMachine, turns } from './simulated-machine.ts'
import { StoreRefusedError } from './store-error.ts'

/** Runs `work` with a power cut before its n-th operation, for n from 0 until it completes. Returns how often it was cut. */
async function cutEverywhere(
  prepare: () => Promise<SimulatedMachine>,
  work: (machine: SimulatedMachine) => Promise<unknown>,
  check: (machine: SimulatedMachine, isDone: boolean) => Promise<void>,
): Promise<number> {
  for (let n = 0; ; n++) {
    const machine = await prepare()
    const cut = new Promise<false>((resolve) => {
      machine.disk.crashAfter(n, () => {
        machine.disk.cutPower()
        resolve(false)
      })
    })
    const isDone = await Promise.race([cut, work(machine).then(() => true)])
    if (isDone) machine.disk.cutPower()
    await check(machine, isDone)
    if (isDone) return n
  }
}

describe('interrupted anywhere', () => {
  it('a first start can be made again', async () => {
    const cuts = await cutEverywhere(
      async () => new SimulatedMachine(),
      (machine) => machine.start(),
      async (machine) => {
        const store = await machine.start()
        assert.equal((await put(store.cluster('hub'), 'pods/ns/a', 1)).revision, 2)
        await store.close()
      },
    )
    assert.ok(cuts > 10)
  })

  it('a snapshot leaves everything readable', async () => {
    const cuts = await cutEverywhere(
      async () => {
        const machine = new SimulatedMachine()
        const store = await machine.start()
        await store.snapshot()
        await put(store.cluster('hub'), 'pods/ns/a', 'kept')
        await store.close()
        return machine
      },
      async (machine) => (await machine.start()).snapshot(),
      async (machine) => {
        const store = await machine.start()
        assert.deepEqual([store.cluster('hub').revision, contentOf(store.cluster('hub').get('pods/ns/a'))], [2, 'kept'])
        await store.snapshot()
        await store.close()
      },
    )
    assert.ok(cuts > 20)
  })

  it('a restore can be made again, or is complete', async () => {
    const source = createMemoryStore({ clock: manualClock() })
    await put(source.cluster('hub'), 'pods/ns/a', 'kept')
    const chunks: Uint8Array[] = []
    await backup(source, async (chunk) => void chunks.push(chunk), manualClock())
    const restore = (machine: SimulatedMachine) =>
      restoreBackup('/backup', '/data', { clock: machine.clock, disk: machine.disk.mount(), processes: machine.nextProcess() })
    const cuts = await cutEverywhere(
      async () => {
        const machine = new SimulatedMachine()
        machine.disk.spoil('/backup', Buffer.concat(chunks))
        return machine
      },
      restore,
      async (machine, isDone) => {
        if (isDone) await assert.rejects(restore(machine), StoreRefusedError)
        else
          await restore(machine).catch((error: unknown) => {
            assert.ok(error instanceof StoreRefusedError && error.code === 'E_STORE_NOT_EMPTY', String(error))
          })
        const store = await machine.start()
        assert.deepEqual([store.cluster('hub').revision, contentOf(store.cluster('hub').get('pods/ns/a'))], [2_000_000, 'kept'])
        await store.close()
      },
    )
    assert.ok(cuts > 10)
  })

  it('a repair can be made again', async () => {
    const repair = (machine: SimulatedMachine) =>
      repairJournal('/data', { clock: machine.clock, disk: machine.disk.mount(), processes: machine.nextProcess() })
    const cuts = await cutEverywhere(
      async () => {
        const machine = new SimulatedMachine()
        const store = await machine.start()
        for (const name of ['a', 'b', 'c']) await put(store.cluster('hub'), `pods/ns/${name}`, name)
        await store.close()
        machine.flipBit('journal-1', 300)
        return machine
      },
      repair,
      async (machine) => {
        await repair(machine)
        const store = await machine.start()
        const c = store.cluster('hub')
        assert.equal(contentOf(c.get('pods/ns/a')), 'a')
        assert.ok(c.revision >= 1_000_000 && c.oldestRevision === c.revision)
        await store.close()
        await turns(2)
      },
    )
    assert.ok(cuts > 10)
  })
})

describe('a directory that the system refuses', () => {
  it('says what to do about rights and room', async () => {
    const cases = [
      ['EACCES', 'E_STORE_ACCESS', /owns the files/],
      ['EROFS', 'E_STORE_ACCESS', /another --data-dir/],
      ['ENOSPC', 'E_STORE_FULL', /Make room/],
    ] as const
    for (const [fault, code, advice] of cases) {
      const machine = new SimulatedMachine()
      machine.disk.failNext('create', fault)
      await assert.rejects(machine.start(), (error) => {
        assert.ok(error instanceof StoreRefusedError)
        assert.equal(error.code, code)
        assert.match(error.message, advice)
        return true
      })
    }
  })
})
