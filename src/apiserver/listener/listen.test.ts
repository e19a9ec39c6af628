import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { Agent, type RequestOptions, request as requestHttps } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { seededRandom } from '../../base/random.ts'
import type { ApiRequest, ByteSink, Handle } from '../../kube/http.ts'
import { ensurePki, type KeyPair, type Pki } from '../pki/index.ts'
import { ListenError, type Listener, type ListenOptions, listen, openKeyDirectory } from './index.ts'
import { type Answer, deferred, json, mirror, ok, realClock } from './testing.ts'

let directory = ''
let pki: Pki
let foreign: KeyPair

before(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'sluice-listener-'))
  const random = seededRandom(3)
  pki = await ensurePki({ directory: await openKeyDirectory(path.join(directory, 'own')), clock: realClock, random })
  const other = await ensurePki({ directory: await openKeyDirectory(path.join(directory, 'other')), clock: realClock, random })
  foreign = await other.issueClient({ commonName: 'admin', organizations: ['system:masters'] })
})
after(() => rm(directory, { recursive: true, force: true }))

const tlsOf = (of: Pki) => ({ ...of.serving, clientAuthority: of.authority })

/** Runs `use` against a listener of its own, which is stopped afterwards whatever happened. */
async function withListener(
  options: Partial<ListenOptions> & { handle: Handle },
  use: (listener: Listener) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = []
  const listener = await listen({ tls: tlsOf(pki), clock: realClock, port: 0, onError: (error) => errors.push(error), ...options })
  try {
    await use(listener)
  } finally {
    await listener.stop(0)
  }
  assert.deepEqual(errors, [])
}

function viaHttp1(port: number, url: string, options: RequestOptions & { body?: Uint8Array } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { body, ...rest } = options
    const request = requestHttps({ host: '127.0.0.1', port, path: url, ca: pki.authority, agent: false, ...rest }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const { statusCode = 0, headers, rawHeaders } = response
        resolve({ status: statusCode, headers, lines: rawHeaders, body: Buffer.concat(chunks) })
      })
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}

const http2 = (port: number, pair?: KeyPair): ClientHttp2Session =>
  connectHttp2(`https://127.0.0.1:${port}`, { ca: pki.authority, cert: pair?.certificate, key: pair?.key })

function viaHttp2(session: ClientHttp2Session, headers: Record<string, string | string[]>, body?: Uint8Array): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { endStream: body === undefined })
    const chunks: Buffer[] = []
    let head: IncomingHttpHeaders = {}
    let lines: string[] = []
    stream.on('response', (received, _flags, raw?: string[]) => {
      head = received
      lines = raw ?? []
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => resolve({ status: Number(head[':status']), headers: head, lines, body: Buffer.concat(chunks) }))
    stream.on('error', reject)
    if (body !== undefined) stream.end(body)
  })
}

describe('a listener', () => {
  it('speaks HTTP/1.1 and HTTP/2 on one port', async () => {
    await withListener({ handle: mirror }, async ({ port }) => {
      const one = json(
        await viaHttp1(port, '/api/v1/pods?limit=5', { method: 'POST', body: Buffer.from('{"a":1}'), headers: { 'X-Ask': 'one' } }),
      )
      assert.equal(one.method, 'POST')
      assert.equal(one.url, '/api/v1/pods?limit=5')
      assert.equal(one.headers['x-ask'], 'one')
      assert.equal(one.body, '{"a":1}')
      const session = http2(port)
      const two = json(
        await viaHttp2(session, { ':method': 'PATCH', ':path': '/apis/x?y=z', accept: 'application/json' }, Buffer.from('[]')),
      )
      assert.equal(two.method, 'PATCH')
      assert.equal(two.url, '/apis/x?y=z')
      assert.equal(two.headers.accept, 'application/json')
      assert.equal(two.headers.host, `127.0.0.1:${port}`)
      assert.equal(two.body, '[]')
      session.close()
    })
  })

  it('sends several warnings as several headers, and texts beyond ASCII as UTF-8', async () => {
    const handle: Handle = async () => ok({}, { warning: ['299 - "first"', '299 - "grün\r\nX-Evil: 1"'] })
    await withListener({ handle }, async ({ port }) => {
      const one = await viaHttp1(port, '/')
      const sent = one.lines.filter((_, i) => one.lines[i - 1]?.toLowerCase() === 'warning')
      assert.deepEqual(
        sent.map((text) => Buffer.from(text, 'latin1').toString()),
        ['299 - "first"', '299 - "grün  X-Evil: 1"'],
      )
      assert.equal(one.headers['x-evil'], undefined)
      const session = http2(port)
      const two = await viaHttp2(session, { ':path': '/' })
      assert.match(String(two.headers.warning), /^299 - "first", 299 - "gr/)
      session.close()
    })
  })

  it('keeps repeated impersonation headers apart and survives hostile header names', async () => {
    await withListener({ handle: mirror }, async ({ port }) => {
      const headers = { 'Impersonate-Group': ['a, b', 'c'], 'Impersonate-Extra-x': 'y', __proto__x: '1', 'x-two': ['1', '2'] }
      const one = json(await viaHttp1(port, '/', { headers }))
      assert.deepEqual(one.headers['impersonate-group'], ['a, b', 'c'])
      assert.deepEqual(one.headers['impersonate-extra-x'], ['y'])
      assert.equal(one.headers['x-two'], '1, 2')
      const raw = await viaRaw(port, 'GET / HTTP/1.1\r\nHost: x\r\n__proto__: polluted\r\nConnection: close\r\n\r\n')
      assert.match(raw, /^HTTP\/1\.1 200 /)
      assert.match(raw, /"__proto__":"polluted"/)
      const session = http2(port)
      const two = json(await viaHttp2(session, { ':path': '/', 'impersonate-group': ['a, b', 'c'] }))
      assert.deepEqual(two.headers['impersonate-group'], ['a, b', 'c'])
      session.close()
    })
  })

  it('knows its peer by client certificate, and says why it does not believe one', async () => {
    await withListener({ handle: mirror }, async ({ port }) => {
      const ask = async (pair?: KeyPair) => json(await viaHttp1(port, '/', { cert: pair?.certificate, key: pair?.key }))
      const admin = await ask(pki.admin)
      assert.equal(admin.peer?.commonName, 'admin')
      assert.deepEqual(admin.peer?.organizations, ['system:masters'])
      assert.match(admin.peer?.sha256 ?? '', /^[0-9a-f]{64}$/)
      const many = await ask(await pki.issueClient({ commonName: 'u', organizations: ['g1', 'g2'] }))
      assert.deepEqual(many.peer?.organizations.toSorted(), ['g1', 'g2'])
      const nobody = await ask()
      assert.equal(nobody.peer, undefined)
      assert.equal(nobody.refusedPeer, undefined)
      const stranger = await ask(foreign)
      assert.equal(stranger.peer, undefined)
      assert.ok(stranger.refusedPeer)
      const server = await ask(pki.serving)
      assert.equal(server.peer, undefined)
      assert.ok(server.refusedPeer, 'a server certificate names no client')
      const session = http2(port, pki.admin)
      assert.equal(json(await viaHttp2(session, { ':path': '/' })).peer?.commonName, 'admin')
      session.close()
    })
  })

  it('knows its peer again when a TLS session is resumed, for better or worse', async () => {
    await withListener({ handle: mirror }, async ({ port }) => {
      for (const [pair, isBelieved] of [
        [pki.admin, true],
        [foreign, false],
      ] as const) {
        const options = { host: '127.0.0.1', port, ca: pki.authority, cert: pair.certificate, key: pair.key, ALPNProtocols: ['http/1.1'] }
        const text = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
        const first = connectTls(options)
        const [session] = (await Promise.all([once(first, 'session'), once(first, 'secureConnect').then(() => first.end(text))]))[0]
        await once(first.resume(), 'close')
        const second = connectTls({ ...options, session })
        await once(second, 'secureConnect')
        assert.ok(second.isSessionReused())
        second.write(text)
        const [answer] = await once(second, 'data')
        assert.match(String(answer), isBelieved ? /"commonName":"admin"/ : /"refusedPeer":/)
        second.destroy()
      }
    })
  })

  it('stops believing a certificate that runs out while the connection is open', async () => {
    let nowMs = Date.now()
    await withListener({ handle: mirror, clock: { now: () => nowMs, after: realClock.after } }, async ({ port }) => {
      const session = http2(port, pki.admin)
      assert.equal(json(await viaHttp2(session, { ':path': '/' })).peer?.commonName, 'admin')
      nowMs += 2 * 365 * 24 * 60 * 60 * 1000
      assert.equal(json(await viaHttp2(session, { ':path': '/' })).refusedPeer, 'CERT_HAS_EXPIRED')
      session.close()
    })
  })

  it('refuses a body that is too large, announced or not', async () => {
    await withListener({ handle: mirror, limits: { bodyBytes: 1000 } }, async ({ port }) => {
      const expectation = /"message":"Request entity is too large: limit is 1000","reason":"RequestEntityTooLarge","code":413/
      const large = Buffer.alloc(5000, 'x')
      const announced = await viaHttp1(port, '/', { method: 'POST', body: large, headers: { 'content-length': '5000' } })
      assert.equal(announced.status, 413)
      assert.equal(announced.headers.connection, 'close')
      assert.match(announced.body.toString(), expectation)
      const chunked = await viaHttp1(port, '/', { method: 'POST', body: large, headers: { 'transfer-encoding': 'chunked' } })
      assert.match(chunked.body.toString(), expectation)
      const session = http2(port)
      const two = await viaHttp2(session, { ':method': 'POST', ':path': '/' }, large)
      assert.equal(two.status, 413)
      session.close()
      assert.equal(json(await viaHttp1(port, '/', { method: 'POST', body: large.subarray(0, 1000) })).body?.length, 1000)
    })
  })

  it('answers 504 when a request takes too long, and tells the handler', async () => {
    const timers: (() => void)[] = []
    let signal: AbortSignal | undefined
    const handle: Handle = (request) => {
      signal = request.signal
      for (const fire of timers.splice(0)) queueMicrotask(fire)
      return new Promise(() => undefined)
    }
    const manual = {
      now: () => 0,
      after(_delayMs: number, callback: () => void) {
        timers.push(callback)
        return () => undefined
      },
    }
    const listener = await listen({ handle, tls: tlsOf(pki), clock: manual, port: 0 })
    const answer = await viaHttp1(listener.port, '/')
    assert.equal(answer.status, 504)
    assert.match(answer.body.toString(), /Timeout: request did not complete within the allotted timeout/)
    assert.ok(signal?.aborted)
    await listener.stop()
  })

  it('answers 500 when a handler throws, and reports it once', async () => {
    const errors: unknown[] = []
    const handle: Handle = () => Promise.reject(new Error('bug'))
    const listener = await listen({ handle, tls: tlsOf(pki), clock: realClock, port: 0, onError: (error) => errors.push(error) })
    const answer = await viaHttp1(listener.port, '/')
    assert.equal(answer.status, 500)
    assert.ok(!answer.body.toString().includes('bug'))
    assert.equal(errors.length, 1)
    await listener.stop()
  })

  it('compresses a large answer for those who take gzip', async () => {
    const text = 'x'.repeat(128 * 1024 - 1)
    const handle: Handle = async ({ url }) => ok(url === '/small' ? text.slice(10) : text, { vary: 'Accept' })
    await withListener({ handle }, async ({ port }) => {
      const packed = await viaHttp1(port, '/', { headers: { 'accept-encoding': 'deflate, gzip' } })
      assert.equal(packed.headers['content-encoding'], 'gzip')
      assert.equal(packed.headers.vary, 'Accept, Accept-Encoding')
      assert.equal(gunzipSync(packed.body).toString(), JSON.stringify(text))
      for (const [url, encoding] of [
        ['/small', 'gzip'],
        ['/', 'br'],
        ['/', 'gzip;q=0'],
      ] as const) {
        const plain = await viaHttp1(port, url, { headers: { 'accept-encoding': encoding } })
        assert.equal(plain.headers['content-encoding'], undefined)
      }
    })
  })

  it('streams with backpressure, and stops the producer when the client leaves', async () => {
    let asked: ApiRequest | undefined
    let refused = 0
    let stopped = deferred<void>()
    const stream = (sink: ByteSink) => {
      const chunk = Buffer.alloc(64 * 1024, 'y')
      const fill = () => {
        for (let i = 0; i < 1000; i++) {
          if (sink.write(chunk)) continue
          refused++
          return sink.onDrain(fill)
        }
      }
      fill()
      return () => stopped.resolve()
    }
    const handle: Handle = async (request) => {
      asked = request
      return { status: 200, headers: { 'content-type': 'application/json' }, body: stream }
    }
    await withListener({ handle }, async ({ port }) => {
      for (const leave of [leaveHttp1, leaveHttp2]) {
        refused = 0
        stopped = deferred<void>()
        await leave(port)
        await stopped.promise
        assert.ok(refused > 0)
        assert.ok(asked?.signal?.aborted)
      }
    })
  })

  it('sends the head of a stream before its first byte', async () => {
    let sink: ByteSink | undefined
    const handle: Handle = async () => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: (to) => {
        sink = to
        return () => undefined
      },
    })
    await withListener({ handle }, async ({ port }) => {
      const request = requestHttps({ host: '127.0.0.1', port, path: '/', ca: pki.authority, agent: false }).end()
      const [response] = await once(request, 'response')
      sink?.write(Buffer.from('one'))
      assert.equal(String((await once(response, 'data'))[0]), 'one')
      sink?.end()
      await once(response, 'end')
    })
  })

  it('closes idle HTTP/1.1 connections', async () => {
    await withListener({ handle: mirror, limits: { idleTimeoutMs: 30 } }, async ({ port }) => {
      const agent = new Agent({ keepAlive: true })
      const request = requestHttps({ host: '127.0.0.1', port, path: '/', ca: pki.authority, agent })
      const closed = new Promise<void>((resolve) => request.on('socket', (socket) => socket.on('close', () => resolve())))
      request.on('response', (response) => response.resume()).end()
      await closed
      agent.destroy()
    })
  })

  it('answers nonsense with 400 and oversized headers with 431', async () => {
    await withListener({ handle: mirror, limits: { headerBytes: 8192 } }, async ({ port }) => {
      assert.match(await viaRaw(port, 'NONSENSE\r\n\r\n'), /^HTTP\/1\.1 400 /)
      assert.match(await viaRaw(port, `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`), /^HTTP\/1\.1 431 /)
    })
  })

  it('says who is to blame when the port is taken', async () => {
    await withListener({ handle: mirror }, async ({ port }) => {
      await assert.rejects(listen({ handle: mirror, tls: tlsOf(pki), clock: realClock, port }), (error) => {
        assert.ok(error instanceof ListenError)
        assert.equal(error.code, 'E_LISTEN_IN_USE')
        assert.equal(error.port, port)
        assert.match(error.message, /another program listens there/)
        return true
      })
    })
  })

  it('answers an upgrade as any other request, unless it is agreed to', async () => {
    await withListener({ handle: mirror }, async ({ port }) => {
      const ask = (protocol: string): Promise<string> =>
        viaRaw(port, `GET /exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`, pki.admin)
      const text = await ask('websocket')
      assert.match(text, /^HTTP\/1\.1 200 OK\r\n/)
      assert.match(text, /"url":"\/exec"/)
      assert.match(text, /"commonName":"admin"/)
      assert.match(await ask('SPDY/3.1'), /^HTTP\/1\.1 200 OK\r\n/)
    })
  })

  it('shows a renewed certificate to new connections while old ones go on', async () => {
    const listener = await listen({ handle: mirror, tls: tlsOf(pki), clock: realClock, port: 0 })
    const session = http2(listener.port, pki.admin)
    await viaHttp2(session, { ':path': '/' })
    const renewed = await ensurePki({
      directory: await openKeyDirectory(path.join(directory, 'own')),
      clock: realClock,
      random: seededRandom(9),
      hosts: ['renewed.example.com'],
    })
    listener.renewTls(tlsOf(renewed))
    assert.equal(json(await viaHttp2(session, { ':path': '/' })).peer?.commonName, 'admin')
    const fresh = connectTls({ host: '127.0.0.1', port: listener.port, ca: pki.authority, servername: 'renewed.example.com' })
    await once(fresh, 'secureConnect')
    assert.match(fresh.getPeerCertificate().subjectaltname ?? '', /renewed\.example\.com/)
    fresh.destroy()
    assert.equal(
      json(await viaHttp1(listener.port, '/', { cert: renewed.admin.certificate, key: renewed.admin.key })).peer?.commonName,
      'admin',
    )
    session.close()
    await listener.stop()
  })
})

describe('a listener that stops', () => {
  it('lets requests finish, ends watches and takes no more', async () => {
    for (const protocol of ['http1', 'http2'] as const) {
      const release = deferred<void>()
      const entered = deferred<void>()
      let isStreamStopped = false
      const handle: Handle = async ({ url }) => {
        if (url === '/watch') {
          const body = (sink: ByteSink) => {
            sink.write(Buffer.from('event\n'))
            return () => {
              isStreamStopped = true
            }
          }
          return { status: 200, headers: {}, body }
        }
        entered.resolve()
        await release.promise
        return ok('finished')
      }
      const listener = await listen({ handle, tls: tlsOf(pki), clock: realClock, port: 0 })
      const session = protocol === 'http2' ? http2(listener.port) : undefined
      const ask = (url: string) => (session === undefined ? viaHttp1(listener.port, url) : viaHttp2(session, { ':path': url }))
      const watch = ask('/watch')
      const slow = ask('/slow')
      await entered.promise
      const stopped = listener.stop(60_000)
      assert.equal((await watch).body.toString(), 'event\n')
      assert.ok(isStreamStopped)
      await assert.rejects(viaHttp1(listener.port, '/'), /ECONNREFUSED/)
      release.resolve()
      assert.equal((await slow).body.toString(), '"finished"')
      await stopped
    }
  })

  it('cuts what does not finish before the deadline', async () => {
    const entered = deferred<void>()
    const handle: Handle = () => {
      entered.resolve()
      return new Promise(() => undefined)
    }
    const listener = await listen({ handle, tls: tlsOf(pki), clock: realClock, port: 0 })
    const lost = assert.rejects(viaHttp1(listener.port, '/'))
    await entered.promise
    await listener.stop(1)
    await lost
  })

  it('does not wait for idle connections', async () => {
    const listener = await listen({ handle: mirror, tls: tlsOf(pki), clock: realClock, port: 0 })
    const agent = new Agent({ keepAlive: true })
    await viaHttp1(listener.port, '/', { agent })
    const session = http2(listener.port)
    await viaHttp2(session, { ':path': '/' })
    await listener.stop(60_000)
    agent.destroy()
  })
})

/** Sends raw text over TLS and reads until the server closes. */
function viaRaw(port: number, text: string, pair?: KeyPair): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connectTls({ host: '127.0.0.1', port, ca: pki.authority, cert: pair?.certificate, key: pair?.key })
    const chunks: Buffer[] = []
    socket.on('secureConnect', () => void socket.write(text))
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
    socket.on('error', reject)
  })
}

async function leaveHttp1(port: number): Promise<void> {
  const request = requestHttps({ host: '127.0.0.1', port, path: '/', ca: pki.authority, agent: false }).end()
  const [response] = await once(request, 'response')
  await once(response, 'data')
  request.on('error', () => undefined)
  response.on('error', () => undefined)
  request.destroy()
}

async function leaveHttp2(port: number): Promise<void> {
  const session = http2(port)
  const stream = session.request({ ':path': '/' })
  stream.on('error', () => undefined)
  await once(stream, 'response')
  stream.close()
  session.close()
}
