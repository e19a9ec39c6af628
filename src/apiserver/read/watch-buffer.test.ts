import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { ByteSink } from '../../kube/http.ts'
import { createWatchBuffer } from './watch-buffer.ts'
import { createWatchRegistry } from './watch-registry.ts'

/** A receiver that takes `capacity` lines, then reports that it is full until it is drained. */
function receiver(capacity: number): ByteSink & { taken: string[]; drain(): void; isEnded: boolean } {
  let left = capacity
  let onDrain: (() => void) | undefined
  return {
    taken: [],
    isEnded: false,
    write(chunk) {
      this.taken.push(Buffer.from(chunk).toString())
      left--
      return left > 0
    },
    onDrain(callback) {
      assert.equal(onDrain, undefined, 'one wait at a time')
      onDrain = callback
    },
    end() {
      this.isEnded = true
    },
    drain() {
      left = capacity
      const call = onDrain
      onDrain = undefined
      call?.()
    },
  }
}

describe('the buffer of a watcher', () => {
  it('passes on at once while the receiver takes', () => {
    const sink = receiver(10)
    const buffer = createWatchBuffer(sink, { maxBytes: 100, maxEvents: 10, onOverflow: () => assert.fail('overflow') })
    buffer.send(Buffer.from('a'))
    buffer.send(Buffer.from('b'))
    assert.deepEqual(sink.taken, ['a', 'b'])
  })

  it('loses and repeats nothing below its bound, whatever the receiver does', () => {
    const step = fc.oneof({ weight: 3, arbitrary: fc.constant('send') }, { weight: 1, arbitrary: fc.constant('drain') })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (steps, capacity) => {
        const sink = receiver(capacity)
        const buffer = createWatchBuffer(sink, { maxBytes: 1e6, maxEvents: 1000, onOverflow: () => assert.fail('overflow') })
        const sent: string[] = []
        for (const one of steps)
          if (one === 'drain') sink.drain()
          else {
            sent.push(`line ${sent.length}`)
            buffer.send(Buffer.from(sent.at(-1) ?? ''))
          }
        for (let i = 0; i <= steps.length; i++) sink.drain()
        assert.deepEqual(sink.taken, sent)
      }),
    )
  })

  it('overflows once when too many lines wait, and then sends nothing more', () => {
    const sink = receiver(1)
    let overflows = 0
    const buffer = createWatchBuffer(sink, { maxBytes: 1e6, maxEvents: 3, onOverflow: () => overflows++ })
    for (let i = 0; i < 10; i++) buffer.send(Buffer.from(String(i)))
    assert.equal(overflows, 1)
    sink.drain()
    assert.deepEqual(sink.taken, ['0'])
  })

  it('overflows when too many bytes wait', () => {
    const sink = receiver(1)
    let overflows = 0
    const buffer = createWatchBuffer(sink, { maxBytes: 10, maxEvents: 100, onOverflow: () => overflows++ })
    buffer.send(Buffer.alloc(1000))
    buffer.send(Buffer.alloc(10))
    assert.equal(overflows, 0)
    buffer.send(Buffer.alloc(1))
    assert.equal(overflows, 1)
  })

  it('counts anew after it was drained', () => {
    const sink = receiver(1)
    const buffer = createWatchBuffer(sink, { maxBytes: 1e6, maxEvents: 2, onOverflow: () => assert.fail('overflow') })
    for (let round = 0; round < 50; round++) {
      buffer.send(Buffer.from('x'))
      sink.drain()
    }
    assert.equal(sink.taken.length, 50)
  })
})

describe('the registry of watches', () => {
  it('admits up to its limit, and again when one ends', () => {
    const registry = createWatchRegistry(2)
    const release = registry.opened(() => undefined)
    registry.opened(() => undefined)
    assert.equal(registry.admit(), false)
    assert.equal(registry.open, 2)
    release()
    release()
    assert.equal(registry.open, 1)
    assert.equal(registry.admit(), true)
  })

  it('ends all, also when each takes itself off meanwhile', () => {
    const registry = createWatchRegistry(10)
    const ended: number[] = []
    for (const i of [0, 1, 2]) {
      const release = registry.opened(() => {
        ended.push(i)
        release()
      })
    }
    registry.closeAll()
    assert.deepEqual(ended, [0, 1, 2])
    assert.equal(registry.open, 0)
  })
})
