import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Transport, TransportRequest, TransportResponse } from '../../client/transport.ts'
import { createFence } from './fence.ts'

const EMPTY: TransportResponse = { status: 200, headers: {}, body: (async function* () {})(), cancel: () => undefined }
const asking = (method: string, signal?: AbortSignal): TransportRequest => ({ method, path: '/api', headers: {}, signal })

/** Requests that the test answers, or that fail when their signal aborts. */
function byHand() {
  const sent: string[] = []
  const answers: (() => void)[] = []
  let closed = 0
  const transport: Transport = {
    request: ({ method, signal }) =>
      new Promise((resolve, reject) => {
        sent.push(method)
        answers.push(() => resolve(EMPTY))
        signal?.addEventListener('abort', () => reject(signal.reason as Error))
      }),
    close: async () => void closed++,
  }
  return { transport, sent, answers, closed: () => closed }
}

describe('the fence around a leader', () => {
  it('lets everything through while it leads, and closes nothing that is shared', async () => {
    const hand = byHand()
    const { transport } = createFence(hand.transport)
    const both = Promise.all(['GET', 'PATCH'].map((method) => transport.request(asking(method))))
    for (const answer of hand.answers) answer()
    assert.deepEqual(
      (await both).map(({ status }) => status),
      [200, 200],
    )
    await transport.close()
    assert.deepEqual([hand.sent, hand.closed()], [['GET', 'PATCH'], 0])
  })

  it('gives up writes on their way and refuses all others, at once; reading goes on', async () => {
    const hand = byHand()
    const fence = createFence(hand.transport)
    const inFlight = assert.rejects(fence.transport.request(asking('PATCH')), /the lease was lost/)
    fence.shut('the lease was lost')
    await inFlight
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      await assert.rejects(fence.transport.request(asking(method)), /the lease was lost/)
    const read = fence.transport.request(asking('GET'))
    hand.answers.at(-1)?.()
    assert.equal((await read).status, 200)
    assert.deepEqual(hand.sent, ['PATCH', 'GET'])
  })

  it('keeps the signal of a request', async () => {
    const hand = byHand()
    const stop = new AbortController()
    const asked = assert.rejects(createFence(hand.transport).transport.request(asking('PUT', stop.signal)), /enough/)
    stop.abort(new Error('enough'))
    await asked
  })

  it('counts commands in pods as writes', async () => {
    let connected = 0
    const connect = async () => {
      connected++
      return { send: async () => undefined, pause: () => undefined, resume: () => undefined, close: () => undefined }
    }
    const fence = createFence({ ...byHand().transport, connect })
    const handlers = { message: () => undefined, closed: () => undefined }
    await fence.transport.connect?.({ path: '/exec', headers: {} }, handlers)
    fence.shut('the lease was lost')
    await assert.rejects(fence.transport.connect?.({ path: '/exec', headers: {} }, handlers) ?? Promise.resolve(), /lost/)
    assert.equal(connected, 1)
    assert.equal(createFence(byHand().transport).transport.connect, undefined)
  })

  it('ends commands that are under way, and forgets those that have ended', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const connect: NonNullable<Transport['connect']> = async ({ path, signal }, { closed }) => {
      signals.push(signal)
      if (path === '/refused') throw new Error('no')
      if (path === '/short') closed(undefined)
      else signal?.addEventListener('abort', () => closed(undefined))
      return { send: async () => undefined, pause: () => undefined, resume: () => undefined, close: () => undefined }
    }
    const fence = createFence({ ...byHand().transport, connect })
    const ends: string[] = []
    const begin = async (path: string): Promise<void> => {
      const closed = (error: Error | undefined): void => void ends.push(`${path} ${error?.message}`)
      await fence.transport.connect?.({ path, headers: {} }, { message: () => undefined, closed })
    }
    await begin('/long')
    await begin('/short')
    await assert.rejects(begin('/refused'), /^Error: no$/)
    fence.shut('the lease was lost')
    assert.deepEqual(ends, ['/short undefined', '/long the lease was lost'])
    assert.deepEqual(
      signals.map((signal) => signal?.aborted),
      [true, false, false],
    )
  })
})
