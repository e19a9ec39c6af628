import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Controller, EffectRequest } from '../../runtime/controller.ts'
import { ScriptedEffects } from './effects.ts'
import { createVirtualClock } from './virtual-clock.ts'

describe('an effect that is given up and done late', () => {
  it('may fail then, and nobody hears of it', async () => {
    const clock = createVirtualClock(0)
    const effects = new ScriptedEffects(clock)
    let isDone = false
    effects.script('copy', () => {
      isDone = true
      throw new Error('the disk is full')
    })
    effects.interfere = () => 'late'
    const effect = { name: 'copy', about: '', timeoutMs: 1, run: async () => undefined }
    const wanted: EffectRequest = { effect, key: '1', input: undefined }
    const controller = { effects: [effect], plan: () => ({ actions: [], effects: [wanted] }) } as unknown as Controller
    const [request] = effects.adapt(controller).plan(undefined).effects ?? []
    const unheard: unknown[] = []
    const listen = (error: unknown): void => void unheard.push(error)
    process.on('unhandledRejection', listen)
    try {
      const running = request?.effect.run(undefined, { key: '1', signal: new AbortController().signal, client: undefined as never })
      const refused = assert.rejects(async () => running, /given up/)
      clock.fireNext()
      await refused
      clock.fireNext()
      // Unhandled rejections are reported after the microtasks.
      await new Promise((resolve) => setImmediate(resolve))
      assert.equal(isDone, true)
      assert.deepEqual(unheard, [])
    } finally {
      process.off('unhandledRejection', listen)
    }
  })
})
