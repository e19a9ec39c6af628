import assert from 'node:assert/strict'
import http from 'node:http'
import net from 'node:net'
import { after, before, describe, it } from 'node:test'
import { keptLog, until } from '../testing.ts'
import { HttpError } from './errors.ts'
import { createRequester, type RequestOptions, Unreachable } from './request.ts'
import { createHttpServer, type HttpServer } from './server.ts'

const log = keptLog()
const seen: string[] = []
let isWaiting = false
const server: HttpServer = createHttpServer({
  log,
  limits: { headersMs: 200, requestMs: 400, idleMs: 2000, closeMs: 1000 },
  routes: [
    { method: 'GET', path: '/v1/echo/:name', handle: ({ params, query }) => ({ json: { name: params.get('name'), q: query.get('q') } }) },
    {
      method: 'POST',
      path: '/v1/echo/:name',
      mostBodyBytes: 1000,
      handle: async ({ body }) => ({ status: 201, json: { length: (await body()).length } }),
    },
    { method: 'GET', path: '/text', handle: () => ({ text: 'plain' }) },
    { method: 'GET', path: '/refused', handle: () => Promise.reject(new HttpError(409, 'Changed', 'another version')) },
    { method: 'GET', path: '/bug', handle: () => Promise.reject(new Error('secret detail')) },
    { method: 'GET', path: '/lines', handle: () => ({ lines: Array.from({ length: 5000 }, (_, i) => ({ i, pad: 'x'.repeat(50) })) }) },
    {
      method: 'GET',
      path: '/broken-lines',
      async handle() {
        return {
          lines: (async function* () {
            yield { pad: 'x'.repeat(100_000) }
            throw new Error('in the middle')
          })(),
        }
      },
    },
    {
      method: 'GET',
      path: '/wait',
      async handle({ signal }) {
        isWaiting = true
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
        seen.push('released')
        return { json: 'late' }
      },
    },
  ],
})
const requester = createRequester()
let origin = ''
let port = 0
before(async () => {
  port = await server.listen('127.0.0.1', 0)
  origin = `http://127.0.0.1:${port}`
})
after(async () => {
  requester.close()
  await server.close()
})
const ask = (target: string, more: Partial<RequestOptions> = {}): Promise<unknown> => requester.json({ origin, target, ...more })
const refusal = (status: number, code: string) => (error: unknown) =>
  error instanceof HttpError && error.status === status && error.code === code

/** What a server says to bytes that no client would send. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = net.connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

describe('the small server', () => {
  it('routes, decodes parameters, answers JSON', async () => {
    assert.deepEqual(await ask('/v1/echo/a%2Fb?q=1'), { name: 'a/b', q: '1' })
    assert.deepEqual(await ask('/v1/echo/x', { method: 'POST', body: Buffer.from('{}') }), { length: 2 })
  })

  it('says what is wrong', async () => {
    await assert.rejects(ask('/nowhere'), refusal(404, 'NotFound'))
    await assert.rejects(ask('/v1/echo/'), refusal(404, 'NotFound'))
    await assert.rejects(ask('/v1/echo/%ff'), refusal(404, 'NotFound'))
    await assert.rejects(ask('/text', { method: 'DELETE' }), refusal(405, 'MethodNotAllowed'))
    await assert.rejects(ask('/refused'), refusal(409, 'Changed'))
    await assert.rejects(ask(`/text?${'x'.repeat(9000)}`), refusal(414, 'TooLong'))
    await assert.rejects(ask(`/text?${Array.from({ length: 40 }, (_, i) => `k${i}=1`).join('&')}`), refusal(400, 'BadQuery'))
  })

  it('keeps the details of a bug in its log', async () => {
    await assert.rejects(ask('/bug'), (error) => refusal(500, 'Internal')(error) && !String(error).includes('secret'))
    assert.ok(log.lines.some((line) => line.includes('secret detail')))
  })

  it('refuses long bodies, announced or found out, and goes on', async () => {
    const long = Buffer.alloc(5000, 120)
    await assert.rejects(ask('/v1/echo/x', { method: 'POST', body: long }), refusal(413, 'TooLarge'))
    const chunked = await new Promise<number>((resolve, reject) => {
      const request = http.request({ port, method: 'POST', path: '/v1/echo/x', agent: false }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      request.on('error', reject)
      request.write(long)
    })
    assert.equal(chunked, 413)
    assert.deepEqual(await ask('/v1/echo/y'), { name: 'y', q: null })
  })

  it('answers nonsense with 400 or 431, and ends what is never sent to its end', async () => {
    assert.match(await raw('\0\0\0\r\n\r\n'), /^HTTP\/1\.1 400/)
    assert.match(await raw(`GET / HTTP/1.1\r\nhost: x\r\na: ${'y'.repeat(20_000)}\r\n\r\n`), /^HTTP\/1\.1 431/)
    assert.match(await raw('GET /text HTTP/1.1\r\nhost:'), /^HTTP\/1\.1 4/)
    assert.match(await raw('POST /v1/echo/x HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc'), /^(HTTP\/1\.1 408|$)/)
  })

  it('streams lines, and cuts the connection when it cannot go on', async () => {
    const lines: unknown[] = []
    for await (const line of requester.lines({ origin, target: '/lines' })) lines.push(line)
    assert.equal(lines.length, 5000)
    await assert.rejects(async () => {
      for await (const line of requester.lines({ origin, target: '/broken-lines' })) assert.fail(JSON.stringify(line).slice(0, 20))
    }, Unreachable)
  })

  it('lets a request under way finish when it ends', async () => {
    const answer = ask('/wait')
    await until('the request is under way', () => isWaiting)
    await server.close()
    assert.equal(await answer, 'late')
    assert.deepEqual(seen, ['released'])
    await assert.rejects(ask('/text'), Unreachable)
  })
})

describe('requests', () => {
  const answers = new Map<string, (socket: net.Socket) => void>([
    ['/long', (socket) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(5000)}`)],
    ['/short', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}')],
    ['/text', (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nhello')],
    ['/silent', () => undefined],
    ['/refused', (socket) => socket.end('HTTP/1.1 503 No\r\n\r\n<html>')],
    ['/line', (socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n{"a":1}\n{"a":2`)],
    ['/longline', (socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n"${'x'.repeat(70_000)}"\n`)],
    ['/nonsense', (socket) => socket.end('hello\r\n\r\n')],
  ])
  const hostile = net.createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (data) => answers.get(data.toString().split(' ')[1] ?? '')?.(socket))
  })
  const own = createRequester()
  let where = ''
  before(async () => {
    await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve))
    where = `http://127.0.0.1:${(hostile.address() as net.AddressInfo).port}`
  })
  after(() => {
    own.close()
    hostile.close()
  })

  it('are bounded, whatever answers', async () => {
    const get = (target: string) => own.json({ origin: where, target, mostBytes: 1000, timeoutMs: 100 })
    for (const target of ['/long', '/short', '/text', '/silent', '/nonsense']) await assert.rejects(get(target), Unreachable, target)
    await assert.rejects(get('/refused'), (error) => error instanceof HttpError && error.status === 503 && error.code === 'Unknown')
    const lines = async (target: string) => {
      for await (const line of own.lines({ origin: where, target, timeoutMs: 1000 })) assert.deepEqual(line, { a: 1 })
    }
    for (const target of ['/line', '/longline']) await assert.rejects(lines(target), Unreachable, target)
  })

  it('end when they are not wanted any more', async () => {
    const controller = new AbortController()
    const asked = own.json({ origin: where, target: '/silent', signal: controller.signal })
    controller.abort()
    await assert.rejects(asked, Unreachable)
  })
})
