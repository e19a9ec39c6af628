import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Membership, WorkerEntry } from '../protocol/membership.ts'
import { handClock, keptLog, until } from '../testing.ts'
import { Preload } from './preload.ts'
import { fakeInventory } from './testing.ts'

const KEY = Buffer.alloc(32, 3)
const BLOCK = 100
const workerNamed = (name: string): WorkerEntry => ({ name, address: `${name}:1`, node: name, state: 'serving', weight: 1 })

interface Bed {
  /** Workers by name, with the bytes that each still takes. */
  free: Map<string, number>
  /** Which blocks each has been given, by address. */
  given: Map<string, Set<string>>
  ends: string[]
  failing: Set<string>
  preload: Preload
  inventory: ReturnType<typeof fakeInventory>
  clock: ReturnType<typeof handClock>
  epoch: number
}

function aBed({ isAutomatic = false, replicas = 1, free = { w0: 1e9, w1: 1e9 } as Record<string, number> } = {}): Bed {
  const [clock, inventory] = [handClock(), fakeInventory(KEY)]
  const bed = {
    free: new Map(Object.entries(free)),
    given: new Map(),
    ends: [],
    failing: new Set(),
    inventory,
    clock,
    epoch: 1,
  } as unknown as Bed
  const membership = (): Membership => ({ epoch: bed.epoch, workers: [...bed.free.keys()].map(workerNamed), previous: [] })
  async function askToLoad(address: string, body: object): Promise<unknown> {
    const { load, end } = body as { load: [string, number][]; end?: boolean }
    if (bed.failing.has(address)) throw new Error('it is down')
    if (end === true) bed.ends.push(address)
    const name = address.split(':')[0] ?? ''
    const given = bed.given.get(name) ?? new Set<string>()
    bed.given.set(name, given)
    let [loaded, noSpace] = [0, 0]
    for (const [block, bytes] of load) {
      const left = bed.free.get(name) ?? 0
      if (given.has(block)) loaded += bytes
      else if (left < bytes) noSpace += bytes
      else {
        given.add(block)
        loaded += bytes
        bed.free.set(name, left - bytes)
      }
    }
    return { loaded, noSpace, failed: 0 }
  }
  bed.preload = new Preload({
    underway: new Set(),
    inventory,
    membership,
    blockBytes: BLOCK,
    replicas,
    askToLoad,
    isAutomatic,
    clock,
    log: keptLog(),
  })
  return bed
}

/** Time moves whenever nothing else does. */
const done = ({ preload, clock }: Bed) =>
  until('it is done', () => {
    if (preload.progress().state === 'done') return true
    clock.advance(1000)
    return false
  })
const blocksOf = ({ given }: Bed): number => [...given.values()].reduce((sum, blocks) => sum + blocks.size, 0)

describe('loading everything that is mounted', () => {
  it('gives each block to its owner, once, and lets go of what was held', async () => {
    const bed = aBed()
    for (let i = 0; i < 300; i++) bed.inventory.put(`/f${i}`, 250)
    assert.deepEqual(bed.preload.progress(), { state: 'idle', loaded: 0, noSpace: 0, failed: 0 })
    assert.equal(bed.preload.begin().state, 'loading')
    await done(bed)
    assert.deepEqual(bed.preload.progress(), { state: 'done', loaded: 75_000, noSpace: 0, failed: 0 })
    assert.equal(blocksOf(bed), 900)
    assert.ok(
      [...bed.given.values()].every(({ size }) => size > 300),
      'both have a share',
    )
    assert.deepEqual(bed.ends.sort(), ['w0:1', 'w1:1'])
    await bed.preload.close()
  })

  it('gives each block to as many workers as there are to be copies', async () => {
    const bed = aBed({ replicas: 2 })
    bed.inventory.put('/f', 1000)
    bed.preload.begin()
    await done(bed)
    assert.deepEqual([bed.preload.progress().loaded, blocksOf(bed)], [2000, 20])
    await bed.preload.close()
  })

  it('stops when nobody has space, however large a file says it is', async () => {
    const bed = aBed({ free: { w0: 10 * BLOCK } })
    bed.inventory.put('/huge', Number.MAX_SAFE_INTEGER)
    bed.preload.begin()
    await done(bed)
    const { loaded, noSpace, failed } = bed.preload.progress()
    assert.deepEqual([loaded, failed, noSpace > 0, noSpace < 1e6], [1000, 0, true, true])
    await bed.preload.close()
  })

  it('waits for the list of files and for a worker, and says so', async () => {
    const bed = aBed({ free: {} })
    bed.inventory.setComplete(false)
    bed.inventory.put('/f', 50)
    bed.preload.begin()
    await until('it says so', () => bed.preload.progress().reason === 'files are still being listed')
    bed.inventory.setComplete(true)
    bed.clock.advance(1000)
    await until('it says so', () => bed.preload.progress().reason === 'no worker serves yet')
    bed.free.set('w0', 1000)
    await done(bed)
    assert.deepEqual(bed.preload.progress(), { state: 'done', loaded: 50, noSpace: 0, failed: 0 })
    await bed.preload.close()
  })

  it('gives the blocks of a worker that is gone to those who own them then', async () => {
    const bed = aBed()
    for (let i = 0; i < 200; i++) bed.inventory.put(`/f${i}`, 100)
    bed.failing.add('w1:1')
    bed.preload.begin()
    await until('one fails', () => bed.preload.progress().reason === 'worker w1: it is down')
    bed.free.delete('w1')
    bed.epoch++
    await done(bed)
    assert.deepEqual([bed.preload.progress().loaded, bed.preload.progress().failed, bed.given.get('w0')?.size], [20_000, 0, 200])
    await bed.preload.close()
  })

  it('says what could not be loaded, and why, and tries again when it is asked again', async () => {
    const bed = aBed({ free: { w0: 1000 } })
    bed.inventory.put('/f', 100)
    bed.failing.add('w0:1')
    bed.preload.begin()
    await done(bed)
    assert.deepEqual(bed.preload.progress(), { state: 'done', loaded: 0, noSpace: 0, failed: 100, reason: 'worker w0: it is down' })
    bed.failing.clear()
    bed.preload.begin()
    await done(bed)
    assert.deepEqual(bed.preload.progress(), { state: 'done', loaded: 100, noSpace: 0, failed: 0 })
    await bed.preload.close()
  })

  it('happens by itself where that is wanted: at the start, for new files, and when workers change', async () => {
    const bed = aBed({ isAutomatic: true })
    bed.inventory.put('/one', 100)
    bed.preload.start()
    await done(bed)
    assert.equal(blocksOf(bed), 1)
    bed.inventory.put('/two', 100)
    await until('the new one is there', () => {
      bed.clock.advance(1000)
      return blocksOf(bed) === 2
    })
    assert.equal(bed.preload.progress().loaded, 100, 'the other one was not looked at again')
    bed.given.clear()
    bed.epoch++
    await until('all of it again', () => {
      bed.clock.advance(1000)
      return blocksOf(bed) === 2
    })
    await bed.preload.close()
    assert.equal(bed.clock.waiting(), 0)
  })
})
