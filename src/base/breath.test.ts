import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBreath } from './breath.ts'

describe('a breath', () => {
  it('is taken when the last one is too long ago, by all together', async () => {
    let now = 0
    const turns: (() => void)[] = []
    const breathe = createBreath({ nowMs: () => now, turn: (callback) => void turns.push(callback), heldAtMostMs: 15 })
    assert.equal(breathe(), undefined)
    now = 14
    assert.equal(breathe(), undefined)
    now = 15
    const [first, second] = [breathe(), breathe()]
    assert.ok(first !== undefined && first === second)
    assert.equal(turns.length, 1)
    now = 20
    turns[0]?.()
    await first
    assert.equal(breathe(), undefined, 'there was a turn just now')
    now = 35
    assert.notEqual(breathe(), undefined)
  })

  it('lets timers in between promises that never wait for anything else', async () => {
    const breathe = createBreath({ nowMs: () => performance.now(), turn: (callback) => void setImmediate(callback), heldAtMostMs: 1 })
    let hadTurn = false
    setImmediate(() => {
      hadTurn = true
    })
    const deadline = performance.now() + 60_000
    while (!hadTurn) {
      assert.ok(performance.now() < deadline, 'nobody else had a turn')
      await (breathe() ?? Promise.resolve())
    }
  })
})
