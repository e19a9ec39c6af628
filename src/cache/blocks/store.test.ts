import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { appendFile, copyFile, mkdir, readFile, rename, symlink, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { blockFilePath } from './block-path.ts'
import { aStore, bytesBelow, bytesOf, DATASET, get, handClock, inTemporaryDirectory, keyOf, put, tierIn } from './testing.ts'
import { readTrailer, TRAILER_BYTES, writeTrailer } from './trailer.ts'

const KIB = 1024

describe('block store', () => {
  it('gives back what was put in, after a restart too', () =>
    inTemporaryDirectory(async (directory) => {
      const tiers = [tierIn(directory, 'SSD', 100 * KIB)]
      const store = await aStore({ tiers })
      assert.equal(await put(store, keyOf(1), bytesOf(5000)), true)
      assert.deepEqual(await get(store, keyOf(1)), bytesOf(5000))
      assert.equal(await get(store, keyOf(2)), undefined)
      const again = await aStore({ tiers })
      assert.deepEqual(again.usage(), [{ medium: 'SSD', quotaBytes: 100 * KIB, usedBytes: 5000 + TRAILER_BYTES, blocks: 1 }])
      const reader = await again.read(keyOf(1))
      assert.equal(reader?.crc, crc32(bytesOf(5000)))
      await reader?.close()
    }))

  it('drops what is torn, changed, renamed or no file when it is first read after a start, and counts it', () =>
    inTemporaryDirectory(async (directory) => {
      const tiers = [tierIn(directory, 'SSD', 100 * KIB)]
      const file = (n: number) => blockFilePath(path.join(directory, 'SSD'), DATASET, keyOf(n))
      const store = await aStore({ tiers })
      for (let n = 1; n <= 7; n++) await put(store, keyOf(n), bytesOf(3000, n))
      await truncate(file(1), 1500)
      const bytes = await readFile(file(2))
      bytes[100] = (bytes[100] ?? 0) ^ 1
      await writeFile(file(2), bytes)
      await rename(file(3), file(4))
      await appendFile(file(5), 'x')
      await truncate(file(6), 10)
      await mkdir(path.dirname(file(9)), { recursive: true })
      await symlink('/etc/hostname', file(9))
      await copyFile(file(7), path.join(path.dirname(file(7)), '.writing-1-1'))
      const again = await aStore({ tiers })
      assert.equal(again.counters.damaged, 2, 'too short for a trailer, and a link')
      for (const n of [1, 2, 3, 4, 5, 6, 9]) assert.equal(await get(again, keyOf(n)), undefined, `block ${n}`)
      assert.deepEqual(await get(again, keyOf(7)), bytesOf(3000, 7))
      assert.equal(again.counters.damaged, 6)
      assert.equal(await bytesBelow(directory), 3000 + TRAILER_BYTES)
      assert.equal(again.usage()[0]?.usedBytes, 3000 + TRAILER_BYTES)
      assert.equal(await put(again, keyOf(1), bytesOf(3000)), true)
    }))

  it('serves after a crash the bytes that were written or none, wherever a file was torn or a bit turned', () =>
    inTemporaryDirectory(async (directory) => {
      const tiers = [tierIn(directory, 'SSD', 100 * KIB)]
      const file = blockFilePath(path.join(directory, 'SSD'), DATASET, keyOf(1))
      await put(await aStore({ tiers }), keyOf(1), bytesOf(700))
      const whole = await readFile(file)
      const damage = fc.oneof(
        fc.record({ cutAt: fc.nat(whole.length) }),
        fc.record({ bit: fc.nat(whole.length * 8 - 1) }),
        // The length was written to the disk, the bytes were not.
        fc.record({ zeroFrom: fc.nat(whole.length) }),
      )
      await fc.assert(
        fc.asyncProperty(damage, async (how) => {
          const bytes = Buffer.from(whole)
          if ('bit' in how) bytes[how.bit >> 3] = (bytes[how.bit >> 3] ?? 0) ^ (1 << (how.bit & 7))
          if ('zeroFrom' in how) bytes.fill(0, how.zeroFrom)
          await writeFile(file, 'cutAt' in how ? bytes.subarray(0, how.cutAt) : bytes)
          const store = await aStore({ tiers })
          const isWhole = (await readFile(file).catch(() => Buffer.alloc(0))).equals(whole)
          const got = await get(store, keyOf(1))
          assert.deepEqual(got, isWhole ? bytesOf(700) : undefined)
          assert.equal(store.counters.damaged, isWhole ? 0 : 1)
        }),
        { numRuns: 60 },
      )
    }))

  it('leaves nothing of a block that is too long, too short, of another checksum or given up', () =>
    inTemporaryDirectory(async (directory) => {
      const store = await aStore({ tiers: [tierIn(directory, 'SSD', 100 * KIB)] })
      const long = await store.begin(keyOf(1), 10)
      await assert.rejects(async () => long?.write(bytesOf(11)), /more than its 10 bytes/)
      const short = await store.begin(keyOf(1), 10)
      await short?.write(bytesOf(9))
      await assert.rejects(async () => short?.commit(), /9 of 10 bytes/)
      const wrong = await store.begin(keyOf(1), 10)
      await wrong?.write(bytesOf(10))
      await assert.rejects(async () => wrong?.commit(1), /another CRC-32/)
      const second = await store.begin(keyOf(1), 10)
      assert.equal(await store.begin(keyOf(1), 10), undefined, 'one writer at a time')
      await second?.abort()
      await second?.abort()
      assert.equal(store.usage()[0]?.usedBytes, 0)
      assert.equal(await bytesBelow(directory), 0)
      assert.equal(store.has(keyOf(1)), false)
    }))

  it('moves cold blocks one level down, and from the last level away; what is used again stays longest', () =>
    inTemporaryDirectory(async (directory) => {
      const clock = handClock()
      const size = 1000 - TRAILER_BYTES
      const store = await aStore({ clock, tiers: [tierIn(directory, 'MEM', 10_000), tierIn(directory, 'HDD', 3000)] })
      for (let n = 0; n < 9; n++) await put(store, keyOf(n), bytesOf(size, n))
      clock.advance(5000)
      await get(store, keyOf(0))
      await put(store, keyOf(9), bytesOf(size, 9))
      await store.idle()
      const [memory, disk] = store.usage()
      assert.deepEqual([memory?.usedBytes, disk?.usedBytes, store.counters.demoted, store.counters.evicted], [7000, 2000, 3, 1])
      const reader = await store.read(keyOf(0))
      assert.equal(reader?.medium, 'MEM', 'it was used again')
      await reader?.close()
      const cold = await store.read(keyOf(3))
      assert.equal(cold?.medium, 'HDD')
      await cold?.close()
      assert.deepEqual(await get(store, keyOf(3)), bytesOf(size, 3))
      assert.equal(await bytesBelow(directory), 9000)
    }))

  it('keeps pinned and held blocks, until a lowered quota leaves no choice', () =>
    inTemporaryDirectory(async (directory) => {
      const size = 1000 - TRAILER_BYTES
      const tiers = (quota: number) => [tierIn(directory, 'SSD', quota)]
      const store = await aStore({ tiers: tiers(4000) })
      assert.equal(store.hold(keyOf(1).fileId), true)
      for (const n of [1, 2, 3, 4, 5, 6]) await put(store, keyOf(n), bytesOf(size, n))
      await store.idle()
      assert.equal(store.has(keyOf(1)), true)
      store.letGo(keyOf(1).fileId)
      for (const n of [7, 8, 9, 10]) await put(store, keyOf(n), bytesOf(size, n))
      await store.idle()
      assert.equal(store.has(keyOf(1)), false)

      const pinned = await aStore({ tiers: tiers(4000), isPinned: true })
      for (const n of [11, 12, 13, 14]) await put(pinned, keyOf(n), bytesOf(size, n))
      assert.equal(pinned.size, 4)
      assert.equal(await put(pinned, keyOf(15), bytesOf(size)), false)
      await pinned.setQuotas(tiers(2500))
      assert.equal(pinned.usage()[0]?.usedBytes, 2000)
      await pinned.setQuotas(tiers(9000))
      assert.equal(await put(pinned, keyOf(15), bytesOf(size)), true)
      await assert.rejects(pinned.setQuotas([tierIn(directory, 'HDD', 1)]), /restart the worker/)
    }))

  it('a block that is dropped while it is read can be read to its end, and counts until then', () =>
    inTemporaryDirectory(async (directory) => {
      const store = await aStore({ tiers: [tierIn(directory, 'SSD', 10_000)] })
      await put(store, keyOf(1, 0, '1'), bytesOf(1000))
      await put(store, keyOf(1, 0, '2'), bytesOf(1000, 2))
      const reader = await store.read(keyOf(1, 0, '1'))
      assert.equal(await store.dropOthers(keyOf(1).fileId, '2'.padStart(16, '0')), 1)
      const into = Buffer.alloc(1000)
      await reader?.read(into, 0, 1000)
      assert.deepEqual(into, bytesOf(1000))
      assert.equal(store.usage()[0]?.usedBytes, 2 * (1000 + TRAILER_BYTES))
      await reader?.close()
      assert.equal(store.usage()[0]?.usedBytes, 1000 + TRAILER_BYTES)
      assert.deepEqual(await get(store, keyOf(1, 0, '2')), bytesOf(1000, 2))
    }))

  it('takes from others only what drives out nothing hotter', () =>
    inTemporaryDirectory(async (directory) => {
      const clock = handClock()
      const size = 1000 - TRAILER_BYTES
      const store = await aStore({ clock, tiers: [tierIn(directory, 'SSD', 2200)] })
      await put(store, keyOf(1), bytesOf(size))
      await put(store, keyOf(2), bytesOf(size))
      await store.idle()
      const now = clock.now() / 1000
      assert.equal(await store.begin(keyOf(3), size, { segment: 'probation', usedAt: now - 10 }), undefined)
      const writer = await store.begin(keyOf(3), size, { segment: 'protected', usedAt: now - 10 })
      await writer?.write(bytesOf(size, 3))
      await writer?.commit()
      assert.deepEqual([store.has(keyOf(1)), store.has(keyOf(2)), store.has(keyOf(3))], [false, true, true])
      assert.deepEqual(
        store.byHeat().map(({ key }) => key),
        [keyOf(3), keyOf(2)],
      )
    }))

  it('never exceeds a quota by a byte, whoever writes, reads, drops and changes quotas at the same time', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            {
              weight: 6,
              arbitrary: fc.record({ do: fc.constant('put' as const), file: fc.nat(30), size: fc.integer({ min: 1, max: 3000 }) }),
            },
            { weight: 3, arbitrary: fc.record({ do: fc.constant('get' as const), file: fc.nat(30), size: fc.constant(0) }) },
            {
              weight: 1,
              arbitrary: fc.record({ do: fc.constant('quota' as const), file: fc.constant(0), size: fc.integer({ min: 2000, max: 8000 }) }),
            },
            { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), file: fc.nat(30), size: fc.constant(0) }) },
            {
              weight: 1,
              arbitrary: fc.record({ do: fc.constant('abort' as const), file: fc.nat(30), size: fc.integer({ min: 1, max: 3000 }) }),
            },
          ),
          { maxLength: 40 },
        ),
        (steps) =>
          inTemporaryDirectory(async (directory) => {
            const quota = 8000
            const tiersOf = (bytes: number) => [tierIn(directory, 'MEM', bytes), tierIn(directory, 'SSD', bytes)]
            const store = await aStore({ tiers: tiersOf(quota) })
            const watch = async () => {
              for (const { usedBytes } of store.usage()) assert.ok(usedBytes <= quota)
              for (const medium of ['MEM', 'SSD']) assert.ok((await bytesBelow(path.join(directory, medium))) <= quota)
            }
            const run = async (step: (typeof steps)[number]) => {
              const key = keyOf(step.file)
              if (step.do === 'quota') return await store.setQuotas(tiersOf(step.size))
              if (step.do === 'drop') return await store.remove(key)
              if (step.do === 'get') {
                const bytes = await get(store, key)
                if (bytes !== undefined) assert.deepEqual(bytes, bytesOf(bytes.length, step.file))
                return
              }
              const writer = await store.begin(key, step.size)
              await writer?.write(bytesOf(step.size, step.file))
              await watch()
              await (step.do === 'abort' ? writer?.abort() : writer?.commit())
            }
            await Promise.all(steps.map(run))
            await store.idle()
            await watch()
            await store.setQuotas(tiersOf(5000))
            await store.idle()
            for (const { usedBytes } of store.usage()) assert.ok(usedBytes <= 5000)
            assert.equal(
              await bytesBelow(directory),
              store.usage().reduce((sum, { usedBytes }) => sum + usedBytes, 0),
              'nothing is lost',
            )
            const again = await aStore({ tiers: [tierIn(directory, 'MEM', 3000), tierIn(directory, 'SSD', 3000)] })
            for (const { usedBytes } of again.usage()) assert.ok(usedBytes <= 3000)
            for (const { key } of again.byHeat()) assert.ok((await get(again, key)) !== undefined)
          }),
      ),
      { numRuns: 25 },
    ))
})

describe('trailer', () => {
  it('is read back, and nothing else is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(255), fc.nat(31), (random, flip, at) => {
        assert.equal(readTrailer('name', random), undefined)
        const trailer = writeTrailer('name', { length: 5, crc: 7 })
        assert.deepEqual(readTrailer('name', trailer), { length: 5, crc: 7 })
        assert.equal(readTrailer('other', trailer), undefined)
        trailer[at] = (trailer[at] ?? 0) ^ flip
        if (flip !== 0) assert.equal(readTrailer('name', trailer), undefined)
      }),
    )
  })

  it('names of datasets cannot lead anywhere else', () => {
    for (const name of ['..', 'a/b', '', '.', 'A', 'a\0']) {
      assert.throws(() => blockFilePath('/tier', { namespace: 'default', name }, keyOf(1)), /is not the name/)
    }
    assert.equal(existsSync(blockFilePath('/tier', DATASET, keyOf(1))), false)
  })
})
