import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from './random.ts'
import { prefixEnd, SortedMap } from './sorted-map.ts'

const someKey = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', '/', '-', '\uffff'), maxLength: 4 }),
  fc.constantFrom('__proto__', 'constructor', ''),
)

const step = fc.oneof(
  fc.record({ op: fc.constant('set' as const), key: someKey, value: fc.nat() }),
  fc.record({ op: fc.constant('delete' as const), key: someKey }),
)

describe('SortedMap', () => {
  it('behaves as a sorted list of pairs', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), someKey, someKey, fc.nat(10), (steps, from, to, limit) => {
        const map = new SortedMap<number>()
        const model = new Map<string, number>()
        for (const s of steps) {
          if (s.op === 'set') {
            map.set(s.key, s.value)
            model.set(s.key, s.value)
          } else assert.equal(map.delete(s.key), model.delete(s.key))
        }
        agree(map, model, { from, to, limit })
      }),
    )
  })

  it('behaves so over many chunks, whatever the order of arrival', () => {
    for (let seed = 1; seed <= 3; seed++) {
      const random = seededRandom(seed)
      const map = new SortedMap<number>()
      const model = new Map<string, number>()
      for (let i = 0; i < 4000; i++) {
        const key = seed === 1 ? String(i).padStart(6, '0') : String(Math.floor(random.next() * 3000))
        map.set(key, i)
        model.set(key, i)
      }
      agree(map, model, { from: '1', to: '2', limit: 700 })
      for (const key of [...model.keys()]) {
        if (random.next() < 0.9) assert.equal(map.delete(key), model.delete(key))
      }
      agree(map, model, { from: '', to: '25', limit: 100 })
    }
  })

  it('ends a prefix where no key of the prefix is left out and no other is let in', () => {
    fc.assert(
      fc.property(someKey, someKey, (prefix, key) => {
        const end = prefixEnd(prefix)
        assert.equal(key >= prefix && (end === undefined || key < end), key.startsWith(prefix))
      }),
    )
  })
})

function agree(map: SortedMap<number>, model: Map<string, number>, q: { from: string; to: string; limit: number }): void {
  const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1))
  const within = sorted.filter(([key]) => key >= q.from && key < q.to)
  assert.equal(map.size, model.size)
  assert.deepEqual([...map.entries()], sorted)
  assert.deepEqual([...map.entries(q.from, q.to)], within)
  assert.equal(map.count(q.from, q.to), within.length)
  assert.deepEqual(
    map.values(q.from, q.to, q.limit),
    within.slice(0, q.limit).map(([, value]) => value),
  )
  for (const key of [q.from, q.to, ...[...model.keys()].slice(0, 50)]) {
    assert.equal(map.get(key), model.get(key))
    assert.equal(map.has(key), model.has(key))
  }
}
