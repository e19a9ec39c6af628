import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, it } from 'node:test'
import { crc32 } from 'node:zlib'
import { bytesOf, inTemporaryDirectory, tierIn } from '../blocks/testing.ts'
import { formatCrc } from '../blocks/trailer.ts'
import { createPlacement } from '../placement/placement.ts'
import { blockName, MIB } from '../protocol/block.ts'
import { SourceRefused } from '../sources/source.ts'
import type { Worker } from './options.ts'
import { aBed, type Bed, bearer, fileKey, until } from './testing.ts'

const running: Worker[] = []
const withBed = (work: (bed: Bed) => Promise<void>) =>
  inTemporaryDirectory(async (directory) => {
    try {
      await work(aBed(directory, (worker) => running.push(worker)))
    } finally {
      await Promise.all(running.splice(0).map((worker) => worker.close()))
    }
  })

afterEach(() => assert.equal(running.length, 0))

describe('a worker', () => {
  it('reads a block from its source once, and serves it from its tier afterwards and after a restart', () =>
    withBed(async (bed) => {
      const content = bytesOf(MIB + 1000)
      const key = bed.put('/a', content)
      const first = await bed.start('w0')
      const answers = await Promise.all([1, 2, 3].map(() => first.request(key)))
      for (const { status, body } of answers) assert.deepEqual([status, body.equals(content.subarray(0, MIB))], [200, true])
      assert.equal(bed.source.reads, 1)
      await until(() => first.worker.state().tiers[0]?.blocks === 1)
      const again = await first.request(key)
      assert.equal(again.headers['x-sluice-from'], 'disk')
      assert.equal(again.headers['x-sluice-crc32'], formatCrc(crc32(content.subarray(0, MIB))))
      const last = await first.request({ ...key, index: 1 }, { headers: { range: 'bytes=10-19' } })
      assert.deepEqual(
        [last.status, last.headers['content-range'], last.body],
        [206, 'bytes 10-19/1000', content.subarray(MIB + 10, MIB + 20)],
      )
      assert.equal((await first.request({ ...key, index: 2 })).error.code, 'NoSuchBlock')
      await until(() => first.worker.state().tiers[0]?.blocks === 2)
      await running.splice(0)[0]?.close()
      const second = await bed.start('w0')
      assert.deepEqual((await second.request(key)).body, content.subarray(0, MIB))
      assert.equal(bed.source.reads, 2)
      assert.equal((await second.request(key, { method: 'HEAD' })).status, 200)
      assert.equal((await second.request({ ...key, index: 9 }, { method: 'HEAD' })).status, 404)
    }))

  it('loads blocks before anybody reads them, as far as there is room, and drives nothing out', () =>
    withBed(async (bed) => {
      const names = ['/a', '/b', '/c', '/d', '/e']
      const keys = names.map((name) => bed.put(name, bytesOf(MIB)))
      const { request, worker } = await bed.start('w0', { tiers: [tierIn(`${bed.directory}/w0`, 'SSD', 4 * MIB)] })
      const post = (target: string, body: object) =>
        request(target, { method: 'POST', body: Buffer.from(JSON.stringify(body)), isSigned: true })
      const read = keys[0] ?? assert.fail()
      assert.equal((await request(read)).status, 200)
      await until(() => worker.state().tiers[0]?.blocks === 1)
      const load = keys.map((key) => [blockName(key), MIB])
      const { status, body } = await post('/v1/loads', { load, end: true })
      assert.deepEqual([status, JSON.parse(body.toString())], [200, { loaded: 3 * MIB, fetched: 2 * MIB, noSpace: 2 * MIB, failed: 0 }])
      assert.equal(worker.state().blocks.evicted, 0)
      assert.equal((await request(read)).headers['x-sluice-from'], 'disk')
      assert.equal(bed.source.reads, 3)
      bed.source.failure = new Error('the disk is broken')
      const more = bed.put('/f', bytesOf(1000))
      const failed = JSON.parse((await post('/v1/loads', { load: [[blockName(more), 1000]] })).body.toString()) as Record<string, unknown>
      assert.deepEqual([failed.loaded, failed.failed], [0, 1000])
      assert.match(String(failed.reason), /broken/)
      for (const bad of [
        { load: 5 },
        { load: [['x', 1]] },
        { load: [[blockName(more), -1]] },
        { load: [], end: 'yes' },
        { concurrency: 0 },
      ])
        assert.equal((await post('/v1/loads', bad)).status, 400, JSON.stringify(bad))
    }))

  it('reads each block once for several loads, and finds room for it once', () =>
    withBed(async (bed) => {
      const keys = ['/a', '/b', '/c', '/d'].map((name) => bed.put(name, bytesOf(MIB)))
      // Room for these and no more: one that was counted twice would not fit.
      const { request, worker } = await bed.start('w0', { tiers: [tierIn(`${bed.directory}/w0`, 'SSD', 4.5 * MIB)] })
      let open: () => void = () => undefined
      bed.source.gate = new Promise((resolve) => {
        open = resolve
      })
      const load = keys.map((key) => [blockName(key), MIB])
      const post = async (concurrency?: number) => {
        const answer = await request('/v1/loads', {
          method: 'POST',
          body: Buffer.from(JSON.stringify({ load, concurrency })),
          isSigned: true,
        })
        return JSON.parse(answer.body.toString()) as Record<string, number>
      }
      const loads = [post(), post(1), post(8)]
      await until(() => bed.source.reads === 4)
      open()
      const answers = await Promise.all(loads)
      assert.deepEqual(
        answers.map(({ loaded, noSpace, failed }) => [loaded, noSpace, failed]),
        loads.map(() => [4 * MIB, 0, 0]),
      )
      assert.equal(
        answers.reduce((sum, { fetched = 0 }) => sum + fetched, 0),
        4 * MIB,
      )
      assert.deepEqual([bed.source.reads, worker.state().tiers[0]?.blocks], [4, 4])
    }))

  it('fetches many blocks at once without a warning of its process', () =>
    withBed(async (bed) => {
      const warnings: string[] = []
      const note = ({ message }: Error) => void warnings.push(message)
      process.on('warning', note)
      try {
        const keys = Array.from({ length: 40 }, (_, i) => bed.put(`/f${i}`, bytesOf(100_000 + i)))
        const { request } = await bed.start('w0', { limits: { fetches: 2 } })
        let open: () => void = () => undefined
        bed.source.gate = new Promise((resolve) => {
          open = resolve
        })
        const asked = keys.map((key) => request(key))
        await until(() => bed.master.lookups === 40)
        open()
        const answers = await Promise.all(asked)
        assert.ok(answers.every(({ status }) => status === 200))
        // Warnings come in a turn of their own.
        await new Promise((resolve) => setImmediate(resolve))
      } finally {
        process.off('warning', note)
      }
      assert.deepEqual(warnings, [])
    }))

  it('streams while the source still sends, and who goes away stops nothing for others', () =>
    withBed(async (bed) => {
      const content = bytesOf(200_000)
      const key = bed.put('/a', content)
      const { request, worker } = await bed.start('w0')
      let open: () => void = () => undefined
      bed.source.gate = new Promise((resolve) => {
        open = resolve
      })
      const leaver = new AbortController()
      const left = assert.rejects(request(key, { signal: leaver.signal }))
      const early = request(key, { headers: { range: 'bytes=0-999' } })
      assert.deepEqual((await early).body, content.subarray(0, 1000), 'before the gate opens')
      const stays = request(key)
      leaver.abort()
      await left
      open()
      assert.deepEqual((await stays).body, content)
      assert.equal(bed.source.reads, 1)
      await until(() => worker.state().tiers[0]?.blocks === 1)
    }))

  it('says that a file has changed, drops the old version, and never mixes bytes', () =>
    withBed(async (bed) => {
      const [old, now] = [bytesOf(5000, 1), bytesOf(5000, 2)]
      const key = bed.put('/a', old)
      const { request, worker } = await bed.start('w0', { limits: { fileMs: 0 } })
      bed.source.files.set('a', now)
      const stale = await request(key)
      assert.deepEqual([stale.status, stale.error.code], [409, 'Changed'])
      bed.source.files.set('a', old)
      assert.deepEqual((await request(key)).body, old)
      await until(() => worker.state().tiers[0]?.blocks === 1)
      bed.put('/a', now)
      assert.deepEqual((await request(fileKey('/a', now))).body, now)
      await until(() => worker.state().tiers[0]?.blocks === 1)
      assert.equal((await request(key)).error.code, 'Changed')
      assert.equal(worker.state().counters.sourceChanges, 1)
    }))

  it('says why a source fails, without credentials, and cuts an answer that it cannot end', () =>
    withBed(async (bed) => {
      const key = bed.put('/a', bytesOf(200_000))
      const { request } = await bed.start('w0')
      bed.source.failure = new Error('GET https://me:secret@host/x?X-Amz-Signature=abc failed; authorization: Bearer abc')
      const failed = await request(key)
      assert.deepEqual([failed.status, failed.error.code], [502, 'SourceFailed'])
      assert.match(failed.error.message ?? '', /host\/x failed/)
      assert.doesNotMatch(failed.error.message ?? '', /secret|abc/)
      bed.source.failure = new SourceRefused('mount it with the option aws.region')
      assert.match((await request(key)).error.message ?? '', /aws.region/)
      bed.source.failure = undefined
      let open: () => void = () => undefined
      bed.source.gate = new Promise((resolve) => {
        open = resolve
      })
      const cut = assert.rejects(request(key))
      await request(key, { headers: { range: 'bytes=0-9' } })
      bed.source.failure = new Error('reset')
      open()
      await cut
    }))

  it('without the master serves what it has, and says what it waits for', () =>
    withBed(async (bed) => {
      const key = bed.put('/a', bytesOf(10))
      const { request, worker } = await bed.start('w0')
      await request(key)
      await until(() => worker.state().tiers[0]?.blocks === 1)
      bed.master.isDown = true
      assert.equal((await request(key)).status, 200)
      const other = await request(bed.put('/b', bytesOf(10)))
      assert.deepEqual([other.status, other.error.code], [503, 'MasterUnreachable'])
      assert.doesNotMatch(other.error.message ?? '', /pass|sig/)
      assert.equal((await request('/readyz')).status, 200)
    }))

  it('bounds fetches and those who wait', () =>
    withBed(async (bed) => {
      const keys = [1, 2, 3, 4].map((n) => bed.put(`/f${n}`, bytesOf(100_000, n)))
      const { request, worker } = await bed.start('w0', { limits: { fetches: 1, waiting: 3 } })
      let open: () => void = () => undefined
      bed.source.gate = new Promise((resolve) => {
        open = resolve
      })
      const waiting = keys.slice(0, 3).map((key) => request(key))
      await until(() => worker.state().counters.misses === 3)
      await until(() => bed.source.reads === 1)
      const fourth = await request(keys[3] ?? '')
      assert.deepEqual([fourth.status, fourth.error.code, fourth.headers['retry-after']], [503, 'Busy', '1'])
      assert.equal(bed.source.reads, 1)
      open()
      for (const { status } of await Promise.all(waiting)) assert.equal(status, 200)
    }))

  it('serves what it has no room for', () =>
    withBed(async (bed) => {
      const content = bytesOf(5000)
      const key = bed.put('/a', content)
      const { request, worker } = await bed.start('w0', { tiers: [tierIn(bed.directory, 'MEM', 5031)] })
      assert.deepEqual((await request(key)).body, content)
      assert.deepEqual((await request(key)).body, content)
      assert.deepEqual([bed.source.reads, worker.state().tiers[0]?.usedBytes], [2, 0])
      await worker.setQuotas([tierIn(bed.directory, 'MEM', 5032)])
      await request(key)
      await until(() => worker.state().tiers[0]?.blocks === 1)
      assert.equal((await request(key)).headers['x-sluice-from'], 'memory')
    }))

  it('holds files for a load, and drops versions when it is told', () =>
    withBed(async (bed) => {
      const [kept, ...others] = [1, 2, 3, 4, 5, 6].map((n) => bed.put(`/f${n}`, bytesOf(968, n)))
      assert.ok(kept !== undefined)
      const { request, worker } = await bed.start('w0', { tiers: [tierIn(bed.directory, 'SSD', 4000)] })
      const post = async (path: string, value: unknown, isSigned = true) =>
        (await request(path, { method: 'POST', isSigned, body: Buffer.from(JSON.stringify(value)) })).status
      assert.equal(await post('/v1/holds', { hold: [kept.fileId] }, false), 401)
      assert.equal(await post('/v1/holds', { hold: [kept.fileId] }), 204)
      for (const key of [kept, ...others]) {
        await request(key)
        await until(async () => (await request(key, { method: 'HEAD' })).status === 200)
      }
      assert.equal((await request(kept, { method: 'HEAD' })).status, 200)
      assert.equal(await post('/v1/holds', { release: [kept.fileId] }), 204)
      assert.equal(await post('/v1/versions', { versions: { [kept.fileId]: kept.version } }), 204)
      assert.equal((await request(kept, { method: 'HEAD' })).status, 200)
      assert.equal(await post('/v1/versions', { versions: { [kept.fileId]: null } }), 204)
      await until(async () => (await request(kept, { method: 'HEAD' })).status === 404)
      for (const [path, value] of [
        ['/v1/holds', { hold: ['x'] }],
        ['/v1/holds', { hold: 'x' }],
        ['/v1/versions', {}],
        ['/v1/versions', { versions: { x: null } }],
        ['/v1/versions', { versions: { [kept.fileId]: 1 } }],
      ] as const) {
        assert.equal(await post(path, value), 400, JSON.stringify(value))
      }
      assert.ok((worker.state().tiers[0]?.usedBytes ?? 0) <= 4000)
    }))

  it('does not begin with blocks of a size that nobody else could take', () =>
    withBed(async (bed) => {
      for (const blockBytes of [0, MIB - 1, 64 * MIB + 1, Number.NaN, MIB + 0.5])
        await assert.rejects(bed.start('w0', { blockBytes }), /1 to 64 MiB/)
      assert.equal(bed.master.workers.size, 0)
    }))

  it('learns of direct reads, and shows its figures', () =>
    withBed(async (bed) => {
      const key = bed.put('/a', bytesOf(10))
      const { request, worker } = await bed.start('w0')
      await request(key)
      await until(() => worker.state().tiers[0]?.blocks === 1)
      const body = Buffer.from(JSON.stringify({ uses: [blockName(key), blockName({ ...key, index: 7 })] }))
      assert.equal((await request('/v1/uses', { method: 'POST', body })).status, 204)
      assert.equal(worker.state().counters.directUses, 1)
      assert.match((await request('/metrics')).body.toString(), /sluice_cache_worker_direct_uses_total 1\n/)
      assert.deepEqual(JSON.parse((await request('/v1/state')).body.toString()).tiers, worker.state().tiers)
    }))
})

describe('workers that come and leave', () => {
  it('a new owner asks the owner before, and the source only for what nobody has', () =>
    withBed(async (bed) => {
      const w0 = await bed.start('w0')
      const keys = Array.from({ length: 12 }, (_, n) => bed.put(`/f${n}`, bytesOf(1000, n)))
      for (const key of keys) await w0.request(key)
      await until(() => w0.worker.state().tiers[0]?.blocks === 12)
      const w1 = await bed.start('w1')
      await until(() => w1.worker.state().epoch === bed.master.epoch)
      for (const [n, key] of keys.entries()) {
        const { headers, body } = await w1.request(key)
        assert.deepEqual([headers['x-sluice-from'], body], ['peer', bytesOf(1000, n)])
      }
      assert.equal(bed.source.reads, 12)
      assert.equal((await w1.request(bed.put('/new', bytesOf(10)))).headers['x-sluice-from'], 'source')
    }))

  it('who is asked for what belongs to another one, as far as it knows, asks that one before the source', () =>
    withBed(async (bed) => {
      const w0 = await bed.start('w0')
      const w1 = await bed.start('w1')
      await until(() => w0.worker.state().epoch === bed.master.epoch)
      const keys = Array.from({ length: 12 }, (_, n) => bed.put(`/f${n}`, bytesOf(1000, n)))
      for (const key of keys) await w1.request(key)
      await until(() => w1.worker.state().tiers[0]?.blocks === 12)
      const placement = createPlacement(bed.master.membership.workers)
      const others = keys.filter((key) => placement.ownersOf(key, 1)[0]?.name === 'w1')
      assert.ok(others.length > 0)
      bed.source.reads = 0
      for (const key of others) assert.equal((await w0.request(key)).headers['x-sluice-from'], 'peer')
      assert.equal(bed.source.reads, 0)
    }))

  it('who leaves hands over its blocks, the hottest first, and says what became of them', () =>
    withBed(async (bed) => {
      const w0 = await bed.start('w0')
      const keys = Array.from({ length: 10 }, (_, n) => bed.put(`/f${n}`, bytesOf(1000, n)))
      for (const key of keys) await w0.request(key)
      await until(() => w0.worker.state().tiers[0]?.blocks === 10)
      const w1 = await bed.start('w1', { tiers: [tierIn(`${bed.directory}/w1`, 'SSD', 6 * 1032)] })
      await until(() => w0.worker.state().epoch === bed.master.epoch)
      const hottest = keys.slice(7)
      const hold = Buffer.from(JSON.stringify({ hold: hottest.map(({ fileId }) => fileId) }))
      assert.equal((await w0.request('/v1/holds', { method: 'POST', isSigned: true, body: hold })).status, 204)
      bed.master.leave('w0')
      assert.equal((await w0.request('/v1/leave', { method: 'POST' })).status, 401)
      assert.equal((await w0.request('/v1/leave', { method: 'POST', isSigned: true })).status, 202)
      await until(() => w0.worker.state().state === 'gone')
      const { moved, dropped, left } = w0.worker.state().handover
      assert.deepEqual(
        [moved, dropped, left],
        [
          { blocks: 5, bytes: 5000 },
          { blocks: 5, bytes: 5000 },
          { blocks: 0, bytes: 0 },
        ],
      )
      assert.equal(w1.worker.state().counters.taken, 5)
      assert.equal(w1.worker.state().tiers[0]?.blocks, 5)
      for (const key of hottest) assert.equal((await w1.request(key, { method: 'HEAD' })).status, 200, 'the hottest came first')
      bed.source.reads = 0
      for (const [n, key] of keys.entries()) assert.deepEqual((await w0.request(key)).body, bytesOf(1000, n), 'it still answers')
      assert.equal(bed.source.reads, 5)
    }))

  it('who is cleared removes its blocks with their directories, stores nothing any more, and goes on answering', () =>
    withBed(async (bed) => {
      const w0 = await bed.start('w0')
      const keys = Array.from({ length: 5 }, (_, n) => bed.put(`/f${n}`, bytesOf(1000, n)))
      for (const key of keys) await w0.request(key)
      await until(() => w0.worker.state().tiers[0]?.blocks === 5)
      assert.notEqual(readdirSync(bed.directory, { recursive: true }).length, 0)
      assert.equal((await w0.request('/v1/clear', { method: 'POST' })).status, 401)
      const clear = async () => JSON.parse((await w0.request('/v1/clear', { method: 'POST', isSigned: true })).body.toString()) as unknown
      await until(async () => JSON.stringify(await clear()) === '{"left":0}')
      assert.deepEqual(readdirSync(path.join(bed.directory, 'w0'), { recursive: true }), ['SSD'], 'only the directory of the tier is left')
      bed.source.reads = 0
      for (const [n, key] of keys.entries()) assert.deepEqual((await w0.request(key)).body, bytesOf(1000, n))
      assert.deepEqual([bed.source.reads, w0.worker.state().tiers[0]?.blocks], [5, 0])
    }))

  it('who is taken back serves again, and keeps what it gets', () =>
    withBed(async (bed) => {
      const w0 = await bed.start('w0')
      const key = bed.put('/a', bytesOf(1000))
      await w0.request(key)
      await until(() => w0.worker.state().tiers[0]?.blocks === 1)
      const w1 = await bed.start('w1')
      await until(() => w0.worker.state().epoch === bed.master.epoch)
      bed.master.leave('w0')
      await w0.request('/v1/leave', { method: 'POST', isSigned: true })
      await until(() => w0.worker.state().state === 'gone')
      assert.equal((await w0.request('/v1/stay', { method: 'POST' })).status, 401)
      const stay = await w0.request('/v1/stay', { method: 'POST', isSigned: true })
      assert.equal(JSON.parse(stay.body.toString()).state, 'serving')
      await until(() => bed.master.workers.get('w0')?.state === 'leaving')
      assert.equal(w0.worker.state().state, 'serving', 'what the master still says does not lead it out again')
      bed.master.stay('w0')
      await until(() => w0.worker.state().epoch === bed.master.epoch)
      assert.deepEqual((await w0.request(key)).body, bytesOf(1000))
      await until(() => w0.worker.state().tiers[0]?.blocks === 1)
      assert.equal(w1.worker.state().counters.taken, 1)
    }))

  it('a block that the heir is getting from elsewhere is not dropped', () =>
    withBed(async (bed) => {
      const key = bed.put('/a', bytesOf(MIB))
      const first = await bed.start('w0')
      await first.request(key)
      await until(() => first.worker.state().tiers[0]?.blocks === 1)
      await running.splice(0)[0]?.close()
      bed.master.workers.clear()
      const w1 = await bed.start('w1')
      await until(() => w1.worker.state().epoch === bed.master.epoch)
      let open: () => void = () => undefined
      bed.source.gate = new Promise((resolve) => {
        open = resolve
      })
      const read = w1.request(key)
      await until(() => bed.source.reads === 2)
      const w0 = await bed.start('w0')
      await until(() => w0.worker.state().epoch === bed.master.epoch)
      bed.master.leave('w0')
      const leave = async () => JSON.parse((await w0.request('/v1/leave', { method: 'POST', isSigned: true })).body.toString())
      await leave()
      await until(() => w0.worker.state().handover.left.blocks === 1)
      open()
      assert.deepEqual((await read).body, bytesOf(MIB))
      await until(async () => (await leave()).state === 'gone')
      const { moved, dropped } = w0.worker.state().handover
      assert.deepEqual([moved.blocks, dropped.blocks], [1, 0])
    }))

  it('a hand-over that nobody can take is left, and goes on when it is asked again', () =>
    withBed(async (bed) => {
      const w0 = await bed.start('w0')
      await w0.request(bed.put('/a', bytesOf(1000)))
      await until(() => w0.worker.state().tiers[0]?.blocks === 1)
      const w1 = await bed.start('w1')
      await until(() => w0.worker.state().epoch === bed.master.epoch)
      await running.splice(running.indexOf(w1.worker), 1)[0]?.close()
      const leave = async () => JSON.parse((await w0.request('/v1/leave', { method: 'POST', isSigned: true })).body.toString())
      assert.equal((await leave()).state, 'leaving')
      await until(() => w0.worker.state().handover.left.blocks === 1)
      await bed.start('w1')
      await until(async () => (await leave()).state === 'gone')
      assert.deepEqual(w0.worker.state().handover.moved, { blocks: 1, bytes: 1000 })
    }))
})

describe('hostile requests', () => {
  it('are refused by ticket, sub path and signature', () =>
    withBed(async (bed) => {
      const key = bed.put('/images/a', bytesOf(10))
      const { request } = await bed.start('w0')
      const status = async (authorization: string) => (await request(key, { headers: { authorization } })).status
      assert.equal(await status(bearer('/images')), 200)
      assert.equal(await status(bearer('/images/a')), 200)
      assert.equal(await status(bearer('/image')), 403)
      assert.equal(await status(bearer('/', 1)), 401)
      for (const wrong of ['', 'Bearer', 'Bearer x.y', 'Basic eDp5', 'Sluice-Key 00', `${bearer()}x`])
        assert.equal(await status(wrong), 401, wrong)
      assert.equal((await request('/v1/blocks/x', { method: 'PUT' })).status, 404)
      assert.equal((await request('/v1/uses', { method: 'PUT' })).status, 405)
      assert.equal((await request({ ...key, index: 1 }, { method: 'PUT', body: bytesOf(3) })).status, 401)
    }))

  it('with bad names, ranges, bodies and headers change nothing', () =>
    withBed(async (bed) => {
      const content = bytesOf(1000)
      const key = bed.put('/a', content)
      const { request, worker } = await bed.start('w0')
      await request(key)
      for (const bad of [
        '/v1/blocks/../../etc',
        '/v1/blocks/a/b/c',
        `/v1/blocks/${key.fileId}/${key.version}/-1`,
        `/v1/blocks/${key.fileId}/${key.version}/00`,
        '//',
        '/v1/blocks/%2e%2e/x/0',
      ]) {
        assert.ok([400, 404].includes((await request(bad)).status), bad)
      }
      for (const [range, status] of [
        ['bytes=5-2', 416],
        ['bytes=1000-', 416],
        ['bytes=0-1,3-4', 400],
        ['bytes=-5', 400],
        ['lines=1-2', 400],
        [`bytes=0-${'9'.repeat(15)}`, 206],
      ] as const) {
        assert.equal((await request(key, { headers: { range } })).status, status, range)
      }
      await assert.rejects(request(key, { headers: { x: 'y'.repeat(20_000) } }).then(({ status }) => assert.notEqual(status, 431)))
      const target = `/v1/blocks/${key.fileId}/${key.version}/5`
      const put = (query: string, body: Uint8Array, headers = {}) =>
        request(target + query, { method: 'PUT', isSigned: true, body, headers })
      assert.equal((await put('', bytesOf(5))).status, 400)
      assert.equal((await put('?crc32=00000000&used=1', bytesOf(5))).status, 400, 'another checksum')
      assert.equal((await put(`?crc32=${formatCrc(crc32(bytesOf(5)))}&used=1`, bytesOf(5))).status, 201)
      assert.equal((await put(`?crc32=${formatCrc(crc32(bytesOf(5)))}&used=1`, bytesOf(5))).status, 200)
      assert.equal(
        (await request(`${target}?crc32=00000000&used=1`, { method: 'PUT', isSigned: true, headers: { 'transfer-encoding': 'chunked' } }))
          .status,
        411,
      )
      for (const body of ['', '{', '[]', '{"uses":1}', '{"uses":["../x"]}', `{"uses":[${'1,'.repeat(5000)}1]}`]) {
        assert.equal((await request('/v1/uses', { method: 'POST', body: Buffer.from(body) })).status, 400, body.slice(0, 20))
      }
      assert.equal((await request('/v1/state', { method: 'DELETE' })).status, 405)
      assert.equal(worker.state().tiers[0]?.usedBytes, 1032 + 37)
    }))

  it('a body that stays away is given up, and its room given back', () =>
    withBed(async (bed) => {
      const key = bed.put('/a', bytesOf(1000))
      const { request, worker } = await bed.start('w0', { limits: { idleMs: 50 } })
      const target = `/v1/blocks/${key.fileId}/${key.version}/0?crc32=00000000&used=1`
      await assert.rejects(request(target, { method: 'PUT', isSigned: true, headers: { 'content-length': 1000, expect: '100-continue' } }))
      await until(() => worker.state().tiers[0]?.usedBytes === 0)
      assert.equal((await request(key)).status, 200)
    }))
})
