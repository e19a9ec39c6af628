import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpError } from '../http/errors.ts'
import type { WorkerEntry } from '../protocol/membership.ts'
import { type HandClock, handClock, keptLog, until } from '../testing.ts'
import { type LoadProgress, loadRequestOf } from './load.ts'
import type { LoadRun } from './load-run.ts'
import { Loads } from './loads.ts'
import { Pace } from './pace.ts'
import { fakeInventory, mountStatus } from './testing.ts'

const BLOCK = 100
const workerNamed = (name: string): WorkerEntry => ({ name, address: `${name}:1`, node: name, state: 'serving', weight: 1 })

interface Posted {
  load: [string, number][]
  end?: boolean
  concurrency?: number
}

/** Workers that store what they are given, as far as there is room. */
function aBed({ free = 1e9, workers = ['w0', 'w1'] } = {}) {
  const [clock, inventory] = [handClock(), fakeInventory(Buffer.alloc(32, 3))]
  const posted: { address: string; body: Posted }[] = []
  const stored = new Set<string>()
  const bed = { clock, inventory, posted, stored, workers, gate: undefined as Promise<void> | undefined }
  let left = free
  const loads = new Loads({
    inventory,
    membership: () => ({ epoch: bed.workers.length, workers: bed.workers.map(workerNamed), previous: [] }),
    ...{ blockBytes: BLOCK, replicas: 1, clock, log: keptLog(), underway: new Set<LoadRun>() },
    async askToLoad(address, body) {
      const sent = body as Posted
      posted.push({ address, body: sent })
      await bed.gate
      const answer = { loaded: 0, fetched: 0, noSpace: 0, failed: 0 }
      for (const [block, bytes] of sent.load) {
        const name = `${address} ${block}`
        if (stored.has(name)) answer.loaded += bytes
        else if (left < bytes) answer.noSpace += bytes
        else {
          stored.add(name)
          left -= bytes
          answer.loaded += bytes
          answer.fetched += bytes
        }
      }
      return answer
    },
  })
  const begin = (id: string, request: object = {}) => loads.begin(id, loadRequestOf(request))
  return { ...bed, bed, loads, begin }
}

/** Time moves whenever nothing else does. */
async function done({ loads, clock }: { loads: Loads; clock: HandClock }, id: string): Promise<LoadProgress> {
  return until(`${id} has ended`, () => {
    const progress = loads.progress(id)
    if (progress.state !== 'running') return progress
    clock.advance(500)
    return undefined
  })
}

describe('loads that are asked for', () => {
  it('bring what is there into the cache, and name what is missing', async () => {
    const bed = aBed()
    for (const name of ['/a/1', '/a/2', '/b/3']) bed.inventory.put(name, 250)
    bed.begin('x', { targets: [{ path: '/a', replicas: 2 }, { path: '/none' }, { path: '/b/4' }] })
    assert.deepEqual(await done(bed, 'x'), {
      ...{ state: 'done', step: 'loading', loaded: 1000, noSpace: 0, failed: 0, total: 1000, filesDone: 2, filesTotal: 2 },
      ...{ missing: ['/none', '/b/4'], missingCount: 2 },
    })
    assert.equal(bed.stored.size, 12)
    await bed.loads.close()
    assert.equal(bed.clock.waiting(), 0)
  })

  it('say how much had no room, also of what nobody was asked for any more', async () => {
    const bed = aBed({ free: 1000, workers: ['w0'] })
    for (let i = 0; i < 300; i++) bed.inventory.put(`/f${i}`, 250)
    bed.begin('x')
    const { loaded, noSpace, failed, total, filesDone } = await done(bed, 'x')
    assert.deepEqual([loaded + noSpace, failed, total, filesDone], [75_000, 0, 75_000, 300])
    assert.ok(loaded <= 1000)
    await bed.loads.close()
  })

  it('go on when they are asked for again, and keep apart from others', async () => {
    const bed = aBed()
    bed.inventory.put('/a', 100)
    bed.inventory.put('/b', 100)
    let open: () => void = () => undefined
    bed.bed.gate = new Promise((resolve) => {
      open = resolve
    })
    bed.begin('x', { targets: [{ path: '/a' }] })
    bed.begin('x', { targets: [{ path: '/b' }] })
    bed.begin('y')
    open()
    assert.deepEqual([(await done(bed, 'x')).loaded, (await done(bed, 'y')).loaded], [100, 200])
    assert.equal(bed.stored.size, 2)
    const ends = bed.posted.filter(({ body }) => body.end === true)
    assert.deepEqual(ends.map(({ address }) => address).sort(), ['w0:1', 'w1:1'], 'what is held is let go with the last')
    await bed.loads.close()
  })

  it('list the source first when that is wanted, and fail when it cannot be listed', async () => {
    const bed = aBed()
    bed.inventory.put('/a', 100)
    bed.begin('x', { loadsMetadata: true })
    assert.equal((await done(bed, 'x')).state, 'done')
    assert.equal(bed.inventory.syncs(), 1)
    bed.inventory.setMountStatus([mountStatus('/a', 'failed', 'S3 refuses access'), mountStatus('/b', 'listed')])
    bed.begin('y', { loadsMetadata: true })
    const { state, reason } = await done(bed, 'y')
    assert.deepEqual([state, reason], ['failed', '/a cannot be listed: S3 refuses access'])
    bed.begin('z', { loadsMetadata: true, targets: [{ path: '/b' }] })
    assert.equal((await done(bed, 'z')).state, 'done', 'of mounts that it does not need nothing matters')
    await bed.loads.close()
  })

  it('wait for a first listing, and for workers for five minutes', async () => {
    const bed = aBed({ workers: [] })
    bed.inventory.setComplete(false)
    bed.begin('x')
    await until('it says so', () => bed.loads.progress('x').reason === 'files are still being listed')
    for (let minutes = 0; minutes < 10; minutes++) {
      bed.clock.advance(60_000)
      assert.equal(bed.loads.progress('x').state, 'running', 'a listing may take hours')
    }
    bed.inventory.setComplete(true)
    const { state, reason } = await done(bed, 'x')
    assert.deepEqual([state, reason], ['failed', 'no worker serves yet'])
    await bed.loads.close()
  })

  it('end when nobody asks any more, and when they are ended', async () => {
    const bed = aBed({ workers: [] })
    bed.begin('x')
    bed.begin('y')
    await bed.loads.end('y')
    assert.throws(() => bed.loads.progress('y'), HttpError)
    bed.clock.advance(110_000)
    assert.equal(bed.loads.progress('x').state, 'running')
    bed.clock.advance(120_000)
    assert.throws(() => bed.loads.progress('x'), HttpError)
    await bed.loads.close()
    assert.throws(() => bed.begin('z'), HttpError)
  })

  it('are bounded in number', async () => {
    const bed = aBed({ workers: [] })
    for (let i = 0; i < 64; i++) bed.begin(`x${i}`)
    assert.throws(() => bed.begin('more'), /64 loads are under way/)
    await bed.loads.close()
  })

  it('tell workers how many blocks to fetch at a time, a batch after the other', async () => {
    const bed = aBed({ workers: ['w0'] })
    for (let i = 0; i < 200; i++) bed.inventory.put(`/f${i}`, 100)
    bed.begin('x', { concurrency: 7 })
    await done(bed, 'x')
    assert.ok(bed.posted.filter(({ body }) => body.load.length > 0).every(({ body }) => body.concurrency === 7))
    await bed.loads.close()
  })

  it('read no faster than they may, and what is there already costs nothing', async () => {
    const bed = aBed()
    for (let i = 0; i < 40; i++) bed.inventory.put(`/f${i}`, 100)
    const took = async (id: string): Promise<number> => {
      const from = bed.clock.now()
      bed.begin(id, { bandwidth: 200 })
      await done(bed, id)
      return (bed.clock.now() - from) / 1000
    }
    const first = await took('x')
    assert.ok(first >= 19 && first < 25, `${first} s for 4,000 bytes at 200 in a second`)
    assert.ok(bed.posted.every(({ body }) => body.load.length <= 2))
    assert.ok((await took('y')) < 15, 'the second finds everything there')
    await bed.loads.close()
  })

  for (const bad of [5, { targets: 5 }, { loadsMetadata: 'yes' }, { bandwidth: 0 }, { bandwidth: 1.5 }, { concurrency: 257 }])
    it(`are refused: ${JSON.stringify(bad)}`, () => assert.throws(() => loadRequestOf(bad), HttpError))
})

describe('a pace', () => {
  it('is kept on average, and gives back what was not used', async () => {
    const clock = handClock()
    const pace = new Pace(1000, clock)
    const signal = new AbortController().signal
    await pace.take(5000, signal)
    let taken = false
    const second = pace.take(1000, signal).then(() => {
      taken = true
    })
    clock.advance(4999)
    await Promise.resolve()
    assert.equal(taken, false)
    clock.advance(1)
    await second
    pace.giveBack(1000)
    await pace.take(1000, signal)
    assert.equal(clock.waiting(), 0)
  })

  it('holds nobody who is to end', async () => {
    const pace = new Pace(1, handClock())
    const ending = new AbortController()
    await pace.take(1000, ending.signal)
    const waiting = pace.take(1, ending.signal)
    ending.abort()
    await waiting
    assert.equal(pace.batchBytes, 1)
  })
})
