import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { seededRandom } from '../base/random.ts'
import { createWorkQueue, type WorkQueue } from './work-queue.ts'

/** A clock whose timers fire when it is moved. */
function manualClock() {
  let nowMs = 0
  let timers: { atMs: number; callback: () => void }[] = []
  return {
    now: () => nowMs,
    after(delayMs: number, callback: () => void) {
      const timer = { atMs: nowMs + delayMs, callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    move(ms: number) {
      nowMs += ms
      const due = timers.filter((timer) => timer.atMs <= nowMs).sort((a, b) => a.atMs - b.atMs)
      timers = timers.filter((timer) => timer.atMs > nowMs)
      for (const { callback } of due) callback()
    },
  }
}

describe('the work queue', () => {
  let clock: ReturnType<typeof manualClock>
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

  it('waits as long as asked; the earliest wish wins, and news wins over all', () => {
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

  it('keeps a wish to look again that is made while working', () => {
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
})
