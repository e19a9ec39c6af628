import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createYieldIfDue } from './yield-if-due.ts'

describe('yielding to the event loop', () => {
  it('happens when the last turn is too long ago, once for all callers', async () => {
    let now = 0
    const turns: (() => void)[] = []
    const yieldIfDue = createYieldIfDue({ nowMs: () => now, turn: (callback) => void turns.push(callback), maxHoldMs: 15 })
    assert.equal(yieldIfDue(), undefined)
    now = 14
    assert.equal(yieldIfDue(), undefined)
    now = 15
    const [first, second] = [yieldIfDue(), yieldIfDue()]
    assert.ok(first !== undefined && first === second)
    assert.equal(turns.length, 1)
    now = 20
    turns[0]?.()
    await first
    assert.equal(yieldIfDue(), undefined, 'there was a turn just now')
    now = 35
    assert.notEqual(yieldIfDue(), undefined)
  })

  it('lets timers in between promises that never wait for anything else', async () => {
    const yieldIfDue = createYieldIfDue({
      nowMs: () => performance.now(),
      turn: (callback) => void setImmediate(callback),
      maxHoldMs: 1,
    })
    let hadTurn = false
    setImmediate(() => {
      hadTurn = true
    })
    const deadline = performance.now() + 60_000
    while (!hadTurn) {
      assert.ok(performance.now() < deadline, 'nobody else had a turn')
      await (yieldIfDue() ?? Promise.resolve())
    }
  })
})
