import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seededRandom } from '../base/random.ts'
import { createWorkers } from './workers.ts'

describe('workers', () => {
  it('wait for others to have a turn before a pass, where they have to', async () => {
    let turn: () => void = () => undefined
    const clock = {
      now: () => 0,
      after: () => () => undefined,
      yieldIfDue: () =>
        new Promise<void>((resolve) => {
          turn = resolve
        }),
    }
    const worked: string[] = []
    const work = async (key: string): Promise<number> => worked.push(key)
    const workers = createWorkers({ name: 'test', clock, random: seededRandom(1), concurrency: 1, work })
    workers.queue.add('a')
    workers.start()
    await Promise.resolve()
    assert.deepEqual([worked, workers.busy()], [[], ['test works on a']])
    turn()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual([worked, workers.busy()], [['a'], []])
    await workers.stop()
  })
})
