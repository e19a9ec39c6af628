import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { HttpError } from '../http/errors.ts'
import { createRequester } from '../http/request.ts'
import { signRequest } from '../http/signed.ts'
import { signTicket } from '../protocol/ticket.ts'
import { handClock, keptLog, temporaryDirectory, until } from '../testing.ts'
import { createMaster, type Master } from './master.ts'
import { membersJournal } from './members-journal.ts'
import { bytesText, type Report } from './report.ts'
import { fakeInventory, mountStatus } from './testing.ts'

const KEY = Buffer.alloc(32, 3)
const clock = handClock()
const { directory, remove } = temporaryDirectory()
const inventory = fakeInventory(KEY)
const requester = createRequester()
const log = keptLog()
let stays: string[] = []
let isMute = false
let handover: unknown = { state: 'leaving', moved: { bytes: 60 }, dropped: { bytes: 0 }, left: { bytes: 40 } }
const loads: { address: string; body: { load: [string, number][]; end?: boolean } }[] = []
const askToLoad = async (address: string, body: object) => {
  const posted = body as (typeof loads)[number]['body']
  loads.push({ address, body: posted })
  return { loaded: posted.load.reduce((sum, [, bytes]) => sum + bytes, 0), noSpace: 0, failed: 0 }
}
/** Blocks that workers still have, by address. */
const clearing = new Map<string, number>()
let origin = ''
let mounts = ['/a', '/b']
const make = (key: Uint8Array | undefined): Master =>
  createMaster({
    access: {
      key,
      namespace: 'ns',
      verifier: { verify: async () => ({ namespace: 'ns' }) },
      grants: async () => [],
      isWritable: () => false,
    },
    inventory,
    journal: membersJournal(directory),
    blockBytes: 10,
    clock,
    log,
    reloadMounts: async () => mounts,
    askToLeave: async () => handover,
    askToClear: async (address) => {
      if (!clearing.has(address)) throw new Error('silence')
      return { left: clearing.get(address) }
    },
    askToStay: async (address) => {
      if (isMute) throw new Error('no answer')
      stays.push(address)
    },
    preload: { replicas: 1, isAutomatic: false, askToLoad },
    limits: { closeMs: 200 },
  })
let master = make(KEY)
before(async () => {
  origin = `http://127.0.0.1:${await master.listen('127.0.0.1', 0)}`
})
after(async () => {
  requester.close()
  await master.close()
  remove()
})

const signed = (target: string, method = 'GET', value?: unknown, key = KEY): Promise<unknown> => {
  const body = value === undefined ? undefined : Buffer.from(JSON.stringify(value))
  return requester.json({
    origin,
    target,
    method,
    body,
    headers: { authorization: signRequest(key, { method, target, body }, clock.now()) },
  })
}
const ticketFor = (subPath: string) => ({
  authorization: `Bearer ${signTicket(KEY, { namespace: 'ns', subPath, mode: 'read', expiresAt: clock.now() / 1000 + 60 })}`,
})
async function feed(query: string, headers: Record<string, string> = ticketFor('/')): Promise<unknown[]> {
  const lines: unknown[] = []
  for await (const line of requester.lines({ origin, target: `/v1/inventory${query}`, headers })) lines.push(line)
  return lines
}
const report = async () => (await requester.json({ origin, target: '/v1/report' })) as Report
const refused = (status: number) => (error: unknown) => error instanceof HttpError && error.status === status
const beat = (name: string, counters: object = {}) => ({
  name,
  node: 'n1',
  address: '127.0.0.1:1',
  state: 'serving',
  tiers: [{ medium: 'SSD', quotaBytes: 1000, usedBytes: 50, blocks: 5 }],
  counters,
})

describe('the master', () => {
  it('loads everything for whoever has the key', async () => {
    const file = inventory.put('/loaded', 25)
    await assert.rejects(requester.json({ origin, target: '/v1/preload', method: 'POST', body: Buffer.from('{}') }), refused(401))
    await signed('/v1/workers', 'POST', beat('loader'))
    assert.equal(((await signed('/v1/preload', 'POST', {})) as { state: string }).state, 'loading')
    const state = async () => (await signed('/v1/preload')) as { state: string; loaded: number }
    await until('it is loaded', async () => (await state()).state === 'done')
    assert.equal((await state()).loaded, 25)
    const blocks = loads.flatMap(({ body }) => body.load)
    assert.deepEqual(
      blocks.map(([name, bytes]) => [name.startsWith(file.fileId), bytes]),
      [10, 10, 5].map((bytes) => [true, bytes]),
    )
    inventory.remove('/loaded')
  })

  it('lets nobody in without a ticket or a signature', async () => {
    for (const [target, method] of [
      ['/v1/membership', 'GET'],
      ['/v1/inventory', 'GET'],
      ['/v1/files/x', 'GET'],
      ['/v1/workers', 'POST'],
      ['/v1/workers/w0/leave', 'POST'],
      ['/v1/clear', 'POST'],
      ['/v1/workers/w0/stay', 'POST'],
      ['/v1/mounts', 'POST'],
      ['/v1/sync', 'POST'],
    ] as const) {
      await assert.rejects(requester.json({ origin, target, method }), refused(401), target)
      await assert.rejects(signed(target, method, undefined, Buffer.alloc(32, 9)), refused(401), target)
    }
    for (const target of ['/v1/files/x', '/v1/sync'])
      await assert.rejects(
        requester.json({ origin, target, method: target === '/v1/sync' ? 'POST' : 'GET', headers: ticketFor('/') }),
        refused(401),
      )
    assert.equal(
      (
        (await requester.json({ origin, target: '/v1/tickets', method: 'POST', body: Buffer.from('{"token":"t","subPath":"/a"}') })) as {
          ticket: string
        }
      ).ticket.split('.').length,
      2,
    )
    await assert.rejects(requester.json({ origin, target: '/v1/tickets', method: 'POST', body: Buffer.from('{') }), refused(400))
  })

  it('tells of the inventory what a ticket opens, whole or since a revision', async () => {
    const one = inventory.put('/a/1', 100)
    inventory.put('/b/2', 50)
    const start = inventory.revision
    assert.deepEqual(await feed('', ticketFor('/a')), [{ snapshot: true }, { add: one }, { revision: start, isComplete: true }])
    await assert.rejects(feed('?subPath=/b', ticketFor('/a')), refused(403))
    await assert.rejects(feed('?subPath=/../b', ticketFor('/')), refused(400))
    await assert.rejects(feed('?since=x'), refused(400))
    assert.deepEqual(await feed(`?since=${start}`), [{ revision: start, isComplete: true }])
    assert.deepEqual((await feed('?since=5'))[0], { snapshot: true }, 'too old')
    assert.deepEqual((await feed(`?since=${start + 1000}`))[0], { snapshot: true }, 'unknown')
  })

  it('answers a long poll when something below the path changes, or when time is up', async () => {
    const start = inventory.revision
    let isOver = false
    const timers = clock.waiting()
    const waiting = feed(`?since=${start}&wait=30`, ticketFor('/a')).finally(() => {
      isOver = true
    })
    await until('it waits', () => clock.waiting() > timers)
    inventory.put('/b/3', 1)
    assert.equal(isOver, false)
    const four = inventory.put('/a/4', 4)
    assert.deepEqual(await waiting, [{ add: four }, { revision: inventory.revision, isComplete: true }])
    const idle = feed(`?since=${inventory.revision}&wait=9999`)
    await until('it waits', () => clock.waiting() > timers)
    clock.advance(30_000)
    assert.equal((await idle).length, 1)
  })

  it('tells workers where a file comes from', async () => {
    const entry = inventory.byPath('/a/1')
    assert.deepEqual(await signed(`/v1/files/${entry?.fileId}`), { mount: 'm', source: { path: 'a/1', size: 100 }, entry })
    await assert.rejects(signed('/v1/files/ffff'), refused(404))
  })

  it("counts workers in and out, and reports what they hold in Fluid's words", async () => {
    const first = (await signed('/v1/workers', 'POST', beat('w0'))) as { epoch: number }
    const second = (await signed('/v1/workers', 'POST', beat('w1'))) as { epoch: number; workers: unknown[] }
    assert.equal(second.epoch, first.epoch + 1)
    assert.equal(second.workers.length, 2)
    clock.advance(2000)
    await signed('/v1/workers', 'POST', beat('w0', { hits: 6, misses: 2, directUses: 2, hitBytes: 60, missBytes: 20, sourceBytes: 10 }))
    await signed('/v1/workers', 'POST', beat('w1'))
    inventory.setMountStatus([mountStatus('/a', 'listed'), mountStatus('/b', 'failed', 'no route to host')])
    const { workers, mounts: states, ...rest } = await report()
    assert.deepEqual(
      {
        cached: rest.cached,
        cacheCapacity: rest.cacheCapacity,
        cachedPercentage: rest.cachedPercentage,
        ufsTotal: rest.ufsTotal,
        fileNum: rest.fileNum,
      },
      { cached: '100.00B', cacheCapacity: '1.95KiB', cachedPercentage: '64.5%', ufsTotal: '155.00B', fileNum: '4' },
    )
    assert.deepEqual(
      [rest.cacheHitRatio, rest.localHitRatio, rest.remoteHitRatio, rest.remoteThroughputRatio],
      ['80.0%', '20.0%', '60.0%', '60.0%'],
    )
    const read = { servedBytes: 80, sourceBytes: 10 }
    const line = { pod: 'w0', node: 'n1', state: 'serving', cachedBytes: 50, capacityBytes: 1000, ...read, epoch: rest.epoch }
    assert.deepEqual(workers[0], line)
    assert.equal(states[1]?.reason, 'no route to host')
    inventory.setComplete(false)
    assert.equal((await report()).ufsTotal, '[Calculating]')
    inventory.setComplete(true)
    for (let i = 0; i < 6; i++) {
      clock.advance(2000)
      await signed('/v1/workers', 'POST', beat('w1'))
    }
    assert.deepEqual(
      (await report()).workers.map(({ pod }) => pod),
      ['w1'],
    )
  })

  it('lets a worker leave, and says how far it is, also when asked again', async () => {
    await signed('/v1/workers', 'POST', beat('w0'))
    assert.deepEqual(await signed('/v1/workers/w0/leave', 'POST'), { state: 'leaving', moved: 60, dropped: 0, left: 40 })
    handover = { broken: true }
    assert.deepEqual(await signed('/v1/workers/w0/leave', 'POST'), { state: 'leaving', moved: 60, dropped: 0, left: 40 })
    handover = { handover: { state: 'gone', moved: { bytes: 90 }, dropped: { bytes: 10 }, left: { bytes: 0 } } }
    const capacityOf = async (name: string) => (await report()).workers.find(({ pod }) => pod === name)?.capacityBytes
    assert.equal(await capacityOf('w0'), 1000, 'it still has what it has not handed over')
    assert.deepEqual(await signed('/v1/workers/w0/leave', 'POST'), { state: 'gone', moved: 90, dropped: 10, left: 0 })
    assert.equal(await capacityOf('w0'), 0, 'what is gone holds nothing any more')
    await signed('/v1/workers', 'POST', { ...beat('w2'), state: 'leaving' })
    await signed('/v1/workers', 'POST', { ...beat('w2'), state: 'gone' })
    assert.deepEqual(
      await signed('/v1/workers/w2/leave', 'POST'),
      { state: 'gone', moved: 90, dropped: 10, left: 0 },
      'heard before it was asked',
    )
    await assert.rejects(signed('/v1/workers/nobody/leave', 'POST'), refused(404))
  })

  it('lets all workers remove their blocks, and is through when each of them says so', async () => {
    const clear = () => signed('/v1/clear', 'POST')
    await signed('/v1/workers', 'POST', beat('w0'))
    await signed('/v1/workers', 'POST', beat('w1'))
    const addresses = [...master.members().byName.values()].map(({ address }) => address)
    assert.ok(addresses.length >= 2)
    assert.deepEqual(await clear(), { state: 'clearing', left: 0, silent: addresses.length }, 'none of them answers')
    for (const address of addresses) clearing.set(address, 3)
    assert.deepEqual(await clear(), { state: 'clearing', left: 3 * addresses.length, silent: 0 })
    for (const address of addresses) clearing.set(address, 0)
    assert.deepEqual(await clear(), { state: 'cleared', left: 0, silent: 0 })
  })

  it('takes a worker back that is leaving, which is over for whoever leads it out', async () => {
    await signed('/v1/workers', 'POST', beat('w3'))
    handover = { state: 'leaving', moved: { bytes: 1 }, dropped: { bytes: 0 }, left: { bytes: 4 } }
    await signed('/v1/workers/w3/leave', 'POST')
    assert.equal((await report()).workers.find(({ pod }) => pod === 'w3')?.state, 'leaving')
    const capacity = (await report()).capacityBytes
    isMute = true
    await assert.rejects(signed('/v1/workers/w3/stay', 'POST'), refused(503))
    isMute = false
    stays = []
    assert.deepEqual(await signed('/v1/workers/w3/stay', 'POST'), { state: 'serving' })
    assert.deepEqual(await signed('/v1/workers/w3/stay', 'POST'), { state: 'serving' }, 'asked again it is so already')
    assert.deepEqual(stays, ['127.0.0.1:1'])
    assert.ok((await report()).capacityBytes > capacity, 'who leaves is no part of the capacity')
    await assert.rejects(signed('/v1/workers/w3/leave?again=true', 'POST'), refused(409))
    await assert.rejects(signed('/v1/workers/nobody/stay', 'POST'), refused(404))
    handover = { state: 'gone', moved: { bytes: 5 }, dropped: { bytes: 0 }, left: { bytes: 0 } }
    assert.equal(((await signed('/v1/workers/w3/leave', 'POST')) as { state: string }).state, 'gone', 'led out anew it leaves')
  })

  it('names the mounts whose sources answer, and why others do not', async () => {
    assert.deepEqual(await signed('/v1/mounts', 'POST'), { mounted: ['/a'], failed: [{ path: '/b', reason: 'no route to host' }] })
    mounts = ['/a', '/c']
    const timers = clock.waiting()
    const asked = signed('/v1/mounts', 'POST')
    await until('it waits for the new one', () => clock.waiting() > timers)
    inventory.setMountStatus([mountStatus('/a', 'listed'), mountStatus('/c', 'listing')])
    assert.deepEqual(await asked, { mounted: ['/a', '/c'], failed: [] })
    await signed('/v1/sync', 'POST')
    assert.equal(inventory.syncs(), 1)
  })

  it('speaks to Prometheus and to probes', async () => {
    inventory.setMountStatus([mountStatus('/a"\n', 'listed')])
    const text = await fetch(`${origin}/metrics`).then((response) => response.text())
    assert.match(text, /^sluice_cache_cached_bytes\{pod="w1",node="n1"\} 50$/m)
    assert.ok(text.includes('{path="/a\\"\\n"}'))
    for (const probe of ['/healthz', '/readyz']) assert.equal((await fetch(origin + probe)).status, 200)
  })

  it('knows its workers after a restart', async () => {
    const { epoch } = master.members()
    await master.close()
    master = make(KEY)
    origin = `http://127.0.0.1:${await master.listen('127.0.0.1', 0)}`
    const membership = (await signed('/v1/membership')) as { epoch: number; workers: { name: string }[] }
    assert.deepEqual([membership.epoch, membership.workers.map(({ name }) => name)], [epoch, ['w1']])
  })
})

describe('a master without a key', () => {
  it('lets everybody read', async () => {
    const open = make(undefined)
    after(() => open.close())
    const where = `http://127.0.0.1:${await open.listen('127.0.0.1', 0)}`
    const ticket = (await requester.json({ origin: where, target: '/v1/tickets', method: 'POST', body: Buffer.from('{}') })) as {
      ticket: string
    }
    assert.equal(ticket.ticket, '')
    assert.ok(await requester.json({ origin: where, target: '/v1/membership' }))
  })
})

describe('sizes', () => {
  it('are printed as Fluid prints them', () =>
    assert.deepEqual([0, 1023, 1024, 1.5 * 2 ** 30, 2 ** 50].map(bytesText), ['0.00B', '1023.00B', '1.00KiB', '1.50GiB', '1.00PiB']))
})
