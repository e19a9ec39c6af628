import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createNodeShutdown } from './shutdown.ts'

/** A machine whose pods run from the moment they are started. */
function aMachine() {
  const running = new Set<string>()
  return {
    running,
    pods: () => [...running],
    runsOf: () => [{ state: { phase: 'running' } }] as never,
  }
}

/** A start that takes until it is let through. */
function aSlowStart(pod: string, running: Set<string>) {
  let letThrough: () => void = () => undefined
  const ready = new Promise<void>((resolve) => {
    letThrough = resolve
  })
  return { letThrough, start: () => ready.then(() => void running.add(pod)) }
}

describe('the shutdown of a process node', () => {
  it('is over at once when nothing runs', async () => {
    await createNodeShutdown(aMachine()).begin()
  })

  it('waits for a start that is under way, and until what it started has ended', async () => {
    const machine = aMachine()
    const shutdown = createNodeShutdown(machine)
    const { start, letThrough } = aSlowStart('a', machine.running)
    const started = shutdown.whileUp(start)
    let isOver = false
    let asked = 0
    shutdown.onBegin(() => asked++)
    const over = shutdown.begin().then(() => {
      isOver = true
    })
    shutdown.report('a', true)
    letThrough()
    await started
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual([isOver, asked, machine.running.has('a')], [false, 1, true])
    machine.running.delete('a')
    shutdown.report('a', true)
    await over
  })

  it('starts nothing any more', async () => {
    const machine = aMachine()
    const shutdown = createNodeShutdown(machine)
    await shutdown.begin()
    await shutdown.whileUp(async () => assert.fail('the node is down'))
    assert.equal(machine.running.size, 0)
  })

  it('is not held up by a start that failed', async () => {
    const shutdown = createNodeShutdown(aMachine())
    const failed = shutdown.whileUp(() => Promise.reject(new Error('no such program')))
    const over = shutdown.begin()
    await assert.rejects(failed, /no such program/)
    await over
  })
})
