import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../client/client.ts'
import { PODS } from '../kinds/kubernetes/resources.ts'
import { type Effect, request } from './controller.ts'
import { createEffects, type Effects } from './effects.ts'
import { unconnected } from './module/unconnected.ts'
import { type ManualClock, manualClock } from './testing.ts'

interface Bench {
  clock: ManualClock
  effects: Effects
  /** Owners that were enqueued, with the delay. */
  enqueued: string[]
  errors: string[]
  ends: string[]
}

function aBench(): Bench {
  const clock = manualClock()
  const [enqueued, errors, ends]: [string[], string[], string[]] = [[], [], []]
  const effects = createEffects({
    clock,
    clientFor: ({ name }) => unconnected<Client>(`the client of ${name}`),
    enqueue: (owner, afterMs) => void enqueued.push(`${owner} ${afterMs}`),
    onEnd: (effect, result) => void ends.push(`${effect} ${result}`),
    onError: (error, owner) => void errors.push(`${owner}: ${(error as Error).message}`),
  })
  return { clock, effects, enqueued, errors, ends }
}

/** An effect whose runs the test ends. */
function byHand(name = 'copy') {
  const runs: { key: string; end(value: string): void; fail(message: string): void; signal: AbortSignal }[] = []
  const effect: Effect<string, string> = {
    name,
    about: 'copies',
    timeoutMs: 1000,
    run: (_input, { key, signal }) =>
      new Promise((end, reject) => runs.push({ key, end, fail: (message) => reject(new Error(message)), signal })),
  }
  return { effect, runs }
}

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('effects', () => {
  it('run once per key at a time, and not again when done', async () => {
    const { effects, enqueued, ends } = aBench()
    const { effect, runs } = byHand()
    assert.equal(effects.outcome('n/a', 'copy', 'k'), undefined)
    effects.begin('n/a', [request(effect, 'k', 'x')])
    effects.begin('n/a', [request(effect, 'k', 'x')])
    effects.begin('n/b', [request(effect, 'k', 'x')])
    assert.equal(runs.length, 2, 'the same key of another owner is another deed')
    assert.deepEqual(effects.outcome('n/a', 'copy', 'k'), { state: 'running' })
    assert.deepEqual(effects.running(), ['copy k of n/a', 'copy k of n/b'])
    runs[0]?.end('42 bytes')
    await soon()
    assert.deepEqual(effects.outcome('n/a', 'copy', 'k'), { state: 'done', value: '42 bytes' })
    effects.begin('n/a', [request(effect, 'k', 'x')])
    assert.deepEqual([runs.length, enqueued, ends], [2, ['n/a 0'], ['copy done']])
  })

  it('are tried again when the plan still asks, later each time up to a minute', async () => {
    const { clock, effects, enqueued, errors } = aBench()
    const { effect, runs } = byHand()
    const delays: number[] = []
    for (let tries = 0; tries < 12; tries++) {
      effects.begin('n/a', [request(effect, 'k', 'x')])
      assert.equal(runs.length, tries + 1)
      runs[tries]?.fail('no space')
      await soon()
      assert.deepEqual(effects.outcome('n/a', 'copy', 'k'), { state: 'failed', message: 'no space' })
      enqueued.length = 0
      effects.begin('n/a', [request(effect, 'k', 'x')])
      assert.equal(runs.length, tries + 1, 'not before its time')
      const delay = Number(enqueued[0]?.split(' ')[1])
      delays.push(delay)
      clock.move(delay)
    }
    assert.deepEqual(delays.slice(0, 4), [100, 200, 400, 800])
    assert.equal(delays.at(-1), 60_000)
    assert.equal(errors.length, 12)
  })

  it('are aborted after their time', async () => {
    const { clock, effects, errors } = aBench()
    const { effect, runs } = byHand()
    effects.begin('n/a', [request(effect, 'k', 'x')])
    clock.move(999)
    await soon()
    assert.deepEqual(effects.outcome('n/a', 'copy', 'k'), { state: 'running' })
    clock.move(1)
    await soon()
    assert.deepEqual(effects.outcome('n/a', 'copy', 'k'), { state: 'failed', message: 'copy took longer than 1000 ms' })
    assert.equal(runs[0]?.signal.aborted, true)
    assert.deepEqual(errors, ['n/a: copy took longer than 1000 ms'])
  })

  it('end with their owner: what runs is aborted, nothing is reported, outcomes are forgotten', async () => {
    const { effects, errors } = aBench()
    const { effect, runs } = byHand()
    effects.begin('n/a', [request(effect, 'k', 'x')])
    effects.forget('n/a')
    await soon()
    assert.deepEqual([runs[0]?.signal.aborted, effects.running(), errors, effects.outcome('n/a', 'copy', 'k')], [true, [], [], undefined])
    effects.begin('n/a', [request(effect, 'k', 'x')])
    assert.equal(runs.length, 2, 'another life of the same name begins anew')
  })

  it('stop with the process, which waits for them', async () => {
    const { effects, errors } = aBench()
    const { effect, runs } = byHand()
    effects.begin('n/a', [request(effect, 'k', 'x')])
    await effects.stop()
    effects.begin('n/a', [request(effect, 'later', 'x')])
    assert.deepEqual([runs.length, runs[0]?.signal.aborted, errors], [1, true, []])
  })

  it('end at their own time where their input says one', async () => {
    const { effects, clock } = aBench()
    const { effect } = byHand()
    effects.begin('n/a', [request({ ...effect, timeoutFor: (text) => text.length * 100 }, 'k', 'xyz')])
    clock.move(299)
    await soon()
    assert.deepEqual(effects.outcome('n/a', effect.name, 'k'), { state: 'running' })
    clock.move(1)
    await soon()
    assert.deepEqual(effects.outcome('n/a', effect.name, 'k'), { state: 'failed', message: `${effect.name} took longer than 300 ms` })
  })

  it('that throw at once are failures like others', async () => {
    const { effects } = aBench()
    const effect: Effect<string, string> = {
      name: 'odd',
      about: 'throws',
      timeoutMs: 1,
      run() {
        throw new TypeError('odd')
      },
    }
    effects.begin('n/a', [request(effect, 'k', 'x')])
    await soon()
    assert.deepEqual(effects.outcome('n/a', 'odd', 'k'), { state: 'failed', message: 'odd' })
  })

  it('are given the client that is theirs', async () => {
    const { effects } = aBench()
    const effect: Effect<string, string> = {
      name: 'peek',
      about: 'reads',
      timeoutMs: 1000,
      run: async (_input, { client }) => String((await client.list(PODS)).items.length),
    }
    effects.begin('n/a', [request(effect, 'k', 'x')])
    await soon()
    const outcome = effects.outcome('n/a', 'peek', 'k')
    assert.match(outcome?.state === 'failed' ? outcome.message : '', /^the client of peek\.list is called/)
  })

  it('of an owner that lives for ever are remembered up to a bound, but never forgotten while asked for', async () => {
    const { effects } = aBench()
    const effect: Effect<string, string> = { name: 'post', about: 'posts', timeoutMs: 1000, run: async (text) => text }
    for (let i = 0; i < 1500; i++) {
      effects.begin('n/a', [request(effect, `k${i}`, 'x'), request(effect, 'always', 'x')])
      await soon()
    }
    const known = Array.from({ length: 1500 }, (_, i) => effects.outcome('n/a', 'post', `k${i}`)).filter((one) => one !== undefined)
    assert.ok(known.length <= 1000, `${known.length} are remembered`)
    assert.notEqual(effects.outcome('n/a', 'post', 'k1499'), undefined)
    assert.notEqual(effects.outcome('n/a', 'post', 'always'), undefined)
  })
})
