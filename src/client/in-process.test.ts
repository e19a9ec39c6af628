import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import { inProcessTransport } from './in-process.ts'
import { readAll, TransportError } from './transport.ts'

type Handle = Parameters<typeof inProcessTransport>[0]['handle']
type Sink = Parameters<Extract<NonNullable<Awaited<ReturnType<Handle>>['body']>, (sink: never) => unknown>>[0]
const WHO = { name: 'me', groups: ['g'] }
const request = { method: 'GET', path: '/x?y=1', headers: { accept: 'a' } }

describe('the transport in process', () => {
  it('hands over the request with who asks, and a whole answer', async () => {
    const seen: unknown[] = []
    const transport = inProcessTransport(
      {
        async handle(got) {
          seen.push(got)
          return { status: 201, headers: { h: 'v' }, body: Buffer.from('answer') }
        },
      },
      WHO,
    )
    const response = await transport.request({ ...request, body: 'text' })
    assert.deepEqual([response.status, response.headers, (await readAll(response.body)).toString()], [201, { h: 'v' }, 'answer'])
    assert.deepEqual(seen, [
      { method: 'GET', url: '/x?y=1', headers: { accept: 'a' }, body: Buffer.from('text'), signal: undefined, as: WHO },
    ])
    await transport.close()
    await assert.rejects(transport.request(request), TransportError)
  })

  function streaming(): {
    sink(): Sink
    stops(): number
    open(signal?: AbortSignal): ReturnType<ReturnType<typeof inProcessTransport>['request']>
  } {
    let sink: Sink | undefined
    let stops = 0
    const body = (given: Sink) => {
      sink = given
      return () => void stops++
    }
    const transport = inProcessTransport({ handle: async () => ({ status: 200, headers: {}, body }) }, WHO)
    return {
      sink() {
        assert.ok(sink !== undefined)
        return sink
      },
      stops: () => stops,
      open: (signal) => transport.request({ ...request, signal, isStream: true }),
    }
  }

  it('leaves nothing on the signal when it is over, read or not', async () => {
    const { signal } = new AbortController()
    const listeners = (): number => getEventListeners(signal, 'abort').length
    const stream = streaming()
    const unread = await stream.open(signal)
    assert.equal(listeners(), 1)
    unread.cancel()
    assert.equal(listeners(), 0)
    const ended = await stream.open(signal)
    stream.sink().end()
    assert.equal(listeners(), 0)
    assert.equal((await readAll(ended.body)).length, 0)
  })

  it('streams what is written, asks for a pause when nobody reads, and says when to go on', async () => {
    const stream = streaming()
    const response = await stream.open()
    let written = 0
    while (stream.sink().write(Buffer.from([written++ % 256])));
    assert.ok(written <= 1024, `${written} chunks before the pause`)
    let isDrained = false
    stream.sink().onDrain(() => {
      isDrained = true
      stream.sink().end()
    })
    assert.equal((await readAll(response.body)).length, written)
    assert.ok(isDrained)
  })

  it('stops the server when the reader leaves, is told to, or is done', async () => {
    for (const leave of ['break', 'abort', 'cancel'] as const) {
      const stream = streaming()
      const stop = new AbortController()
      const response = await stream.open(stop.signal)
      stream.sink().write(Buffer.from('a'))
      for await (const chunk of response.body) {
        assert.equal(chunk.length, 1)
        if (leave === 'break') break
        if (leave === 'abort') stop.abort()
        else response.cancel()
      }
      assert.equal(stream.stops(), 1, leave)
    }
  })
})
