import assert from 'node:assert/strict'
import http from 'node:http'
import net from 'node:net'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { realClock } from '../testing.ts'
import { createBlockClient, hostAndPort } from './block-client.ts'
import { BadResponse, parseResponseHead } from './response-head.ts'

const BLOCK = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i * 7))

describe('the client of blocks, with node:http', () => {
  let connections = 0
  const server = http.createServer((request, response) => {
    const [, what, size = '0'] = request.url?.split('/') ?? []
    if (what === 'refused') {
      const body = JSON.stringify({ error: { code: 'Changed', message: 'another version' } })
      return void response.writeHead(409, { 'content-length': body.length }).end(body)
    }
    response.writeHead(200, { 'content-length': size, 'x-sluice-crc32': request.headers.authorization ?? '', 'x-twice': ['1', '2'] })
    response.end(request.method === 'HEAD' ? undefined : BLOCK.subarray(0, Number(size)))
  })
  server.on('connection', () => connections++)
  const client = createBlockClient({ clock: realClock, connectionsPerWorker: 2 })
  let address = ''
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    address = `127.0.0.1:${(server.address() as net.AddressInfo).port}`
  })
  after(() => {
    client.close()
    server.close()
  })
  const get = async (target: string, more: { method?: 'HEAD'; most?: number } = {}) => {
    const into = Buffer.alloc(more.most ?? BLOCK.length)
    const answer = await client.get({ address, target, into, method: more.method, headers: new Map([['authorization', 'Bearer x']]) })
    return { answer, into }
  }

  it('reads bodies of any length over few connections', async () => {
    const sizes = [0, 1, 100, 65_535, 65_536, 65_537, 300_000]
    const all = await Promise.all(sizes.map((size) => get(`/b/${size}`)))
    for (const [i, { answer, into }] of all.entries()) {
      assert.equal(answer.status, 200)
      assert.equal(answer.bodyBytes, sizes[i])
      assert.ok(into.subarray(0, sizes[i]).equals(BLOCK.subarray(0, sizes[i])))
      assert.equal(answer.headers.get('x-sluice-crc32'), 'Bearer x')
    }
    assert.equal(connections, 2)
  })

  it('asks with HEAD, and gives refusals with what they say', async () => {
    assert.equal((await get('/b/100', { method: 'HEAD' })).answer.status, 200)
    const { answer } = await get('/refused')
    assert.equal(answer.status, 409)
    assert.match(answer.refusal.toString(), /another version/)
    await assert.rejects(get('/b/100', { most: 99 }), /more than were asked for/)
    assert.equal((await get('/b/5')).answer.bodyBytes, 5)
  })

  it('opens a new connection when kept ones are gone', async () => {
    await get('/b/1')
    server.closeAllConnections()
    assert.equal((await get('/b/9')).answer.bodyBytes, 9)
  })
})

describe('the client of blocks, with servers that misbehave', () => {
  const long = `x: ${'y'.repeat(1000)}\r\n`
  const answers: Record<string, (socket: net.Socket) => unknown> = {
    early: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc'),
    nothing: (socket) => socket.end(),
    silent: () => undefined,
    endless: (socket) => socket.write(`HTTP/1.1 200 OK\r\n${long.repeat(40)}`),
    'two-lengths': (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd'),
    chunked: (socket) => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'),
    unlimited: (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nabc'),
    negative: (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'),
    huge: (socket) => socket.write('HTTP/1.1 500 No\r\ncontent-length: 99999999\r\n\r\n'),
    interim: (socket) => socket.write('HTTP/1.1 103 Early\r\n\r\n'.repeat(20)),
    garbage: (socket) => socket.write('\0\x01\x02\r\n\r\n'),
    fold: (socket) => socket.write('HTTP/1.1 200 OK\r\na: b\r\n c\r\ncontent-length: 0\r\n\r\n'),
  }
  const good: Record<string, (socket: net.Socket) => unknown> = {
    split: async (socket) => {
      for (const byte of 'HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc') {
        socket.write(byte)
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    more: (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nevil'),
    closing: (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 3\r\n\r\nabc'),
  }
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (data) => void { ...answers, ...good }[data.toString().split(' ')[1]?.slice(1) ?? '']?.(socket))
  })
  const client = createBlockClient({ clock: realClock, idleMs: 60, totalMs: 2000, connectionsPerWorker: 1 })
  let address = ''
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    address = `127.0.0.1:${(server.address() as net.AddressInfo).port}`
  })
  after(() => {
    client.close()
    server.close()
  })
  const get = (name: string, signal?: AbortSignal) => {
    const into = Buffer.alloc(1000)
    return client
      .get({ address, target: `/${name}`, headers: new Map(), into, signal })
      .then(({ bodyBytes }) => into.toString('latin1', 0, bodyBytes))
  }

  for (const name of Object.keys(answers)) it(`refuses: ${name}`, () => assert.rejects(get(name), BadResponse))
  for (const name of Object.keys(good))
    it(`reads: ${name}, and nothing of it reaches the next request`, async () => {
      assert.equal(await get(name), 'abc')
      assert.equal(await get('closing'), 'abc')
    })

  it('ends a request that nobody wants any more, and lets those who wait go on', async () => {
    const controller = new AbortController()
    const unwanted = get('silent', controller.signal)
    const next = get('closing')
    controller.abort()
    await assert.rejects(unwanted, BadResponse)
    assert.equal(await next, 'abc')
  })

  it('bounds the whole of an answer that comes byte by byte', async () => {
    const slow = net.createServer((socket) => {
      socket.on('error', () => undefined)
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
      const timer = setInterval(() => socket.write('x'), 5)
      socket.on('close', () => clearInterval(timer))
    })
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
    const hasty = createBlockClient({ clock: realClock, totalMs: 50 })
    const where = `127.0.0.1:${(slow.address() as net.AddressInfo).port}`
    await assert.rejects(hasty.get({ address: where, target: '/', headers: new Map(), into: Buffer.alloc(1000) }), /took too long/)
    slow.close()
  })

  it('sends no header that would be two, and asks no address that is none', async () => {
    const injected = client.get({ address, target: '/x', headers: new Map([['a', 'b\r\nc: d']]), into: Buffer.alloc(1) })
    await assert.rejects(injected, /cannot be sent/)
    for (const bad of ['', 'a', 'a:0', 'a:99999', 'a b:1', 'http://a:1', '[zz]:1']) assert.throws(() => hostAndPort(bad), BadResponse)
    assert.deepEqual(hostAndPort('[::1]:80'), { host: '::1', port: 80 })
  })
})

describe('the head of an answer', () => {
  it('is understood or refused, whatever it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          parseResponseHead(`HTTP/1.1 200 OK\r\n${text}`, 'GET')
        } catch (error) {
          assert.ok(error instanceof BadResponse)
        }
      }),
    )
  })
})
