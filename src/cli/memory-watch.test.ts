import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MemoryUse } from './machine.ts'
import { memoryWarning, watchMemory } from './memory-watch.ts'

const GIB = 2 ** 30

/** A clock that the test advances. */
function aWatch(uses: readonly number[]) {
  const timers: (() => void)[] = []
  const said: string[] = []
  let looks = 0
  const memory = (): MemoryUse => ({ usedBytes: (uses[looks++] ?? 0) * GIB, limitBytes: 4 * GIB, mostBytes: 12 * GIB })
  const clock = {
    now: () => 0,
    after(_ms: number, callback: () => void) {
      timers.push(callback)
      return () => void timers.splice(timers.indexOf(callback), 1)
    },
  }
  const stop = watchMemory({ clock, memory }, (text) => void said.push(text))
  const pass = (): void => timers.shift()?.()
  return { said, stop, pass, looks: () => looks, pending: () => timers.length }
}

describe('memory', () => {
  it('that stays near its limit is told once, with what to do', () => {
    const watch = aWatch([3.9, 3.9, 3.9, 3.9])
    for (let i = 0; i < 5; i++) watch.pass()
    assert.equal(watch.said.length, 1)
    assert.match(watch.said[0] ?? '', /3994 of at most 4096 MiB .*NODE_OPTIONS=--max-old-space-size=12288 before the command/)
    assert.equal(watch.pending(), 0)
  })

  it('that is full only for a moment is not told of', () => {
    const watch = aWatch([3.9, 3.9, 2, 3.9, 3.9, 1])
    for (let i = 0; i < 6; i++) watch.pass()
    assert.deepEqual(watch.said, [])
  })

  it('is not looked at any more after the end', () => {
    const watch = aWatch([1, 1])
    watch.pass()
    watch.stop()
    watch.pass()
    assert.deepEqual([watch.looks(), watch.pending()], [1, 0])
  })

  it('of a machine that has no more is not promised', () => {
    assert.match(memoryWarning({ usedBytes: 4 * GIB, limitBytes: 4 * GIB, mostBytes: 4 * GIB }), /The machine has no more/)
  })
})
