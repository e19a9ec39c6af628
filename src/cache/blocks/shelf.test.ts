import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { BlockIndex, packKey, unpackKey } from './block-index.ts'
import type { Block, Segment } from './block-list.ts'
import { compareHeat, Shelf } from './shelf.ts'
import { keyOf } from './testing.ts'

const QUOTA = 1000
const aShelf = () => new Shelf({ medium: 'SSD', paths: [] }, { directory: '/ssd', quotaBytes: QUOTA }, 0)
const aBlock = (id: string, bytes: number, usedAt = 0): Block => ({
  id,
  bytes,
  crc: undefined,
  usedAt,
  leases: 0,
  list: undefined,
  older: undefined,
  newer: undefined,
})

interface Modelled {
  id: string
  bytes: number
  usedAt: number
  isProtected: boolean
}

/** The same in arrays, the oldest first. */
class Model {
  blocks: Modelled[] = []

  put(block: Modelled): void {
    this.blocks = [...this.blocks.filter(({ id }) => id !== block.id), block]
    const again = this.blocks.filter(({ isProtected }) => isProtected)
    for (const old of again) {
      if (again.filter((b) => b.isProtected).reduce((sum, { bytes }) => sum + bytes, 0) <= QUOTA * 0.8) break
      old.isProtected = false
      this.blocks = [...this.blocks.filter((b) => b !== old), old]
    }
  }

  use(id: string, now: number): void {
    const block = this.blocks.find((b) => b.id === id)
    if (block === undefined) return
    this.put({ ...block, isProtected: block.isProtected || now - block.usedAt >= 2, usedAt: now })
  }

  victims(): string[] {
    return [...this.blocks.filter((b) => !b.isProtected), ...this.blocks.filter((b) => b.isProtected)].map(({ id }) => id)
  }
}

describe('shelf', () => {
  it('evicts in the order of a simple model of the segmented LRU', () => {
    const step = fc.record({ id: fc.constantFrom(...'abcdefghij'), bytes: fc.integer({ min: 1, max: 300 }), pauseSeconds: fc.nat(3) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const shelf = aShelf()
        const model = new Model()
        const known = new Map<string, Block>()
        let now = 0
        for (const { id, bytes, pauseSeconds } of steps) {
          now += pauseSeconds
          const block = known.get(id)
          if (block !== undefined) {
            shelf.use(block, now)
            model.use(id, now)
            continue
          }
          const added = aBlock(id, bytes, now)
          known.set(id, added)
          shelf.add(added, 'probation')
          model.put({ id, bytes, usedAt: now, isProtected: false })
        }
        const order: string[] = []
        for (let block = shelf.coldest(); block !== undefined; block = shelf.coldest()) {
          block.list?.remove(block)
          order.push(block.id)
        }
        assert.deepEqual(order, model.victims())
        assert.equal(shelf.blocks, 0)
      }),
    )
  })

  it('passes over what is read, and over what is kept unless it must', () => {
    const shelf = aShelf()
    const [read, kept, cold] = [aBlock('a', 1), aBlock('b', 1), aBlock('c', 1)]
    read.leases = 1
    shelf.add(read, 'probation')
    shelf.add(kept, 'kept')
    assert.equal(shelf.coldest(), undefined)
    assert.equal(shelf.coldest(true), kept)
    shelf.add(cold, 'probation')
    assert.equal(shelf.coldest(true), cold)
  })

  it('refuses quotas and marks that make no sense', () => {
    const shelf = aShelf()
    const set = (quotaBytes: number, high: number, low: number) => () =>
      shelf.setQuota({ medium: 'SSD', paths: [], high, low }, { directory: '/ssd', quotaBytes })
    for (const [quota, high, low] of [
      [-1, 0.9, 0.5],
      [0.5, 0.9, 0.5],
      [10, 0.5, 0.9],
      [10, 1.1, 0.5],
      [10, 0.9, 0],
      [10, Number.NaN, 0.5],
    ] as const) {
      assert.throws(set(quota, high, low), TypeError)
    }
    assert.doesNotThrow(set(0, 1, 1))
  })

  it('compares heat by segment, then by the last use', () => {
    const heat = (segment: Segment, usedAt: number) => ({ segment, usedAt })
    assert.ok(compareHeat(heat('probation', 9), heat('protected', 1)) < 0)
    assert.ok(compareHeat(heat('protected', 9), heat('protected', 1)) > 0)
    assert.equal(compareHeat(heat('kept', 1), heat('kept', 1)), 0)
  })
})

describe('block index', () => {
  it('packs keys and gives them back', () => {
    const hex = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((b) => Buffer.from(b).toString('hex'))
    fc.assert(
      fc.property(hex(16), hex(8), fc.nat(2 ** 31 - 1), (fileId, version, index) => {
        const key = { fileId, version, index }
        assert.deepEqual(unpackKey(packKey(key)), key)
        const found = new BlockIndex()
        found.add(aBlock(packKey(key), 1))
        assert.equal(found.ofFile(fileId).length, 1)
      }),
    )
  })

  it('finds all blocks of a file', () => {
    const index = new BlockIndex()
    for (const key of [keyOf(1, 0), keyOf(1, 1), keyOf(1, 0, '2'), keyOf(2)]) index.add(aBlock(packKey(key), 1))
    assert.equal(index.ofFile(keyOf(1).fileId).length, 3)
    assert.equal(index.size, 4)
  })
})
