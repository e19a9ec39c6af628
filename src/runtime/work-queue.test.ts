import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../base/random.ts'
import type { Priority } from './controller.ts'
import { type ManualClock, manualClock } from './testing.ts'
import { createWorkQueue, type WorkQueue } from './work-queue.ts'

describe('the work queue', () => {
  let clock: ManualClock
  let queue: WorkQueue
  let ready = 0
  beforeEach(() => {
    clock = manualClock()
    ready = 0
    queue = createWorkQueue({ clock, random: seededRandom(1), minDelayMs: 100, maxDelayMs: 1000, onReady: () => ready++ })
  })
  const takeAll = (): string[] => {
    const taken: string[] = []
    for (let key = queue.take(); key !== undefined; key = queue.take()) taken.push(key)
    return taken
  }

  it('gives each key once, in order of arrival', () => {
    for (const key of ['b', 'a', 'b']) queue.add(key)
    assert.deepEqual([ready, queue.depth, takeAll()], [2, 2, ['b', 'a']])
  })

  it('gives a key again that was added while it was worked on, and not before that is done', () => {
    queue.add('a')
    assert.equal(queue.take(), 'a')
    queue.add('a')
    assert.equal(queue.take(), undefined)
    queue.done('a')
    assert.equal(queue.take(), 'a')
    queue.done('a')
    assert.equal(queue.take(), undefined)
  })

  it('waits as long as asked; the earliest time wins, and a new event wins over all', () => {
    queue.addAfter('a', 500)
    queue.addAfter('a', 200)
    queue.addAfter('a', 900)
    clock.move(199)
    assert.equal(queue.take(), undefined)
    clock.move(1)
    assert.deepEqual(takeAll(), ['a'])
    queue.done('a')
    clock.move(1000)
    assert.deepEqual([takeAll(), queue.waiting], [[], 0])
    queue.addAfter('b', 500)
    queue.add('b')
    assert.deepEqual([takeAll(), queue.waiting], [['b'], 0])
  })

  it('keeps a requeue that is asked for while working', () => {
    queue.add('a')
    queue.take()
    queue.addAfter('a', 100)
    queue.done('a')
    clock.move(100)
    assert.deepEqual(takeAll(), ['a'])
  })

  it('brings failures back later each time up to a cap, and from the start after a success', () => {
    const delayOf = (): number => {
      queue.addFailed('a')
      for (let ms = 0; ; ms++) {
        if (queue.take() === 'a') {
          queue.done('a')
          return ms
        }
        clock.move(1)
      }
    }
    const delays = Array.from({ length: 8 }, delayOf)
    for (const [i, delay] of delays.entries()) {
      const full = Math.min(1000, 100 * 2 ** i)
      assert.ok(delay >= full * 0.75 && delay <= full * 1.25 + 1, `failure ${i} came back after ${delay}`)
    }
    queue.forget('a')
    assert.ok(delayOf() <= 126)
  })

  it('takes the highest rank of a priority first, and of equals the first to come', () => {
    const ranks = new Map([
      ['a', 1],
      ['b', 5],
      ['c', 5],
    ])
    queue = createWorkQueue({ clock, random: seededRandom(1), onReady: () => ready++, rankOf: (key) => ranks.get(key) ?? 0 })
    for (const key of ['x', 'a', 'b', 'y', 'c']) queue.add(key)
    queue.add('z', 'high')
    queue.add('low', 'low')
    queue.add('low', 'normal')
    assert.deepEqual(takeAll(), ['z', 'b', 'c', 'a', 'x', 'y', 'low'])
  })

  it('is silent when closed', () => {
    queue.add('a')
    queue.addAfter('b', 10)
    queue.close()
    queue.add('c')
    queue.addFailed('d')
    clock.move(10_000)
    assert.deepEqual([takeAll(), queue.waiting], [[], 0])
  })

  it('raises a key that waits at a lower priority, never lowers it, and keeps how long it has waited', () => {
    const waits: number[] = []
    queue = createWorkQueue({ clock, random: seededRandom(1), onReady: () => ready++, onTaken: (ms) => waits.push(ms) })
    queue.add('a', 'low')
    clock.move(30)
    queue.add('b', 'normal')
    queue.add('a', 'high')
    queue.add('a', 'low')
    clock.move(10)
    assert.deepEqual(
      [takeAll(), waits],
      [
        ['a', 'b'],
        [40, 10],
      ],
    )
  })

  it('gives a key that was added while it was worked on the highest priority it was added with', () => {
    queue.add('a')
    queue.take()
    queue.add('a', 'low')
    queue.add('a', 'high')
    queue.add('a', 'normal')
    queue.add('b', 'normal')
    queue.done('a')
    assert.deepEqual(takeAll(), ['a', 'b'])
  })

  it('gives every tenth turn to the others, the middle and the lowest by turns', () => {
    for (const priority of ['high', 'normal', 'low'] as const) for (let i = 0; i < 50; i++) queue.add(`${priority}-${i}`, priority)
    const turns = takeAll().slice(0, 40)
    const others = turns.flatMap((key, i) => (key.startsWith('high') ? [] : [`${i + 1} ${key}`]))
    assert.deepEqual(others, ['10 low-0', '20 normal-0', '30 low-1', '40 normal-1'])
  })

  it('lets nobody wait for ever, however much of higher priority arrives', () => {
    queue.add('patient', 'low')
    queue.add('middle', 'normal')
    const taken: string[] = []
    for (let i = 0; i < 20; i++) {
      queue.add(`urgent-${i}`, 'high')
      taken.push(queue.take() ?? '')
    }
    assert.ok(taken.includes('patient') && taken.includes('middle'), taken.join())
  })

  it('loses no key, gives none to two workers, and ends empty, whatever is done to it', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd')
    const priority = fc.constantFrom<Priority>('high', 'normal', 'low')
    const operation = fc.oneof(
      fc.record({ do: fc.constant('add' as const), key, priority }),
      fc.record({ do: fc.constant('after' as const), key, ms: fc.integer({ min: -5, max: 500 }) }),
      fc.record({ do: fc.constant('failed' as const), key }),
      fc.record({ do: fc.constant('take' as const) }),
      fc.record({ do: fc.constant('done' as const) }),
      fc.record({ do: fc.constant('move' as const), ms: fc.integer({ min: 0, max: 400 }) }),
    )
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
        const time = manualClock()
        const one = createWorkQueue({
          clock: time,
          random: seededRandom(3),
          onReady: () => undefined,
          rankOf: (name) => name.charCodeAt(0),
        })
        const working: string[] = []
        /** Keys added after they were last taken. */
        const owed = new Set<string>()
        const take = (): string | undefined => {
          const taken = one.take()
          if (taken === undefined) return undefined
          assert.ok(!working.includes(taken), `${taken} is worked on already`)
          working.push(taken)
          owed.delete(taken)
          return taken
        }
        for (const step of operations) {
          if (step.do === 'add') one.add(step.key, step.priority)
          if (step.do === 'after') one.addAfter(step.key, step.ms)
          if (step.do === 'failed') one.addFailed(step.key)
          if ('key' in step) owed.add(step.key)
          if (step.do === 'take') take()
          if (step.do === 'done') {
            const [first] = working.splice(0, 1)
            if (first !== undefined) one.done(first)
          }
          if (step.do === 'move') time.move(step.ms)
        }
        for (const left of working.splice(0)) one.done(left)
        time.move(1_000_000)
        for (let taken = take(); taken !== undefined; taken = take()) {
          working.splice(working.indexOf(taken), 1)
          one.done(taken)
        }
        assert.deepEqual([[...owed], one.depth, one.waiting], [[], 0, 0])
      }),
      { numRuns: 300 },
    )
  })
})
