import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { type WebSocket, WebSocketServer } from 'ws'
import { ApiError } from '../errors.ts'
import { type ExecOptions, type ExecSession, execOver, execPath } from '../exec.ts'
import { TransportError } from '../transport.ts'
import { connectChannels } from './exec.ts'
import type { TlsConnection } from './undici.ts'

const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' }
const failedWith = (code: string) => ({
  ...SUCCESS,
  status: 'Failure',
  reason: 'NonZeroExitCode',
  message: `command terminated with exit code ${code}`,
  details: { causes: [{ reason: 'ExitCode', message: code }] },
})

const execInPod = (connection: TlsConnection, pod: { namespace: string; name: string }, options: ExecOptions): Promise<ExecSession> =>
  execOver((request, handlers) => connectChannels(connection, request, handlers), {
    path: execPath(pod, options),
    headers: {},
    signal: options.signal,
  })

type Behaviour = (socket: WebSocket, url: URL) => void
const frame = (channel: number, body: string | Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([channel]), Buffer.from(body as Uint8Array)])

async function text(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

describe('exec over a WebSocket', () => {
  let http: Server
  let sockets: WebSocketServer
  let server = ''
  let behave: Behaviour = () => undefined
  let seen: { url: URL; authorization: string | undefined; protocol: string } | undefined

  before(async () => {
    http = createServer((_request, response) => {
      response.writeHead(404)
      response.end()
    })
    sockets = new WebSocketServer({
      noServer: true,
      handleProtocols: (offered) => (offered.has('v5.channel.k8s.io') ? 'v5.channel.k8s.io' : false),
    })
    http.on('upgrade', (request, socket, head) => {
      const url = new URL(request.url ?? '', 'http://here')
      if (url.pathname.includes('/pods/forbidden/')) {
        const body = JSON.stringify({
          ...SUCCESS,
          status: 'Failure',
          message: 'pods "forbidden" is forbidden',
          reason: 'Forbidden',
          code: 403,
        })
        socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
        return
      }
      sockets.handleUpgrade(request, socket, head, (ws) => {
        seen = { url, authorization: request.headers.authorization, protocol: ws.protocol }
        behave(ws, url)
      })
    })
    http.listen(0, '127.0.0.1')
    await once(http, 'listening')
    server = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  })
  after(() => {
    for (const client of sockets.clients) client.terminate()
    http.close()
  })

  const exec = (how: Behaviour, options: Partial<ExecOptions> = {}, name = 'p'): Promise<ExecSession> => {
    behave = how
    return execInPod({ server, token: () => 'secret' }, { namespace: 'n', name }, { command: ['ls', '-l', 'a b'], ...options })
  }
  const ends =
    (status: unknown, ...frames: Buffer[]): Behaviour =>
    (socket) => {
      for (const one of frames) socket.send(one)
      socket.send(frame(3, JSON.stringify(status)))
      socket.close(1000)
    }

  it('asks for the command and reads its output and errors apart', async () => {
    const session = await exec(ends(SUCCESS, frame(1, ''), frame(2, ''), frame(1, 'out '), frame(2, 'err'), frame(1, 'more')), {
      container: 'c',
    })
    assert.deepEqual(await Promise.all([text(session.stdout), text(session.stderr)]), ['out more', 'err'])
    assert.deepEqual(await session.result, { exitCode: 0, message: '' })
    assert.equal(seen?.url.pathname, '/api/v1/namespaces/n/pods/p/exec')
    assert.deepEqual(seen?.url.searchParams.getAll('command'), ['ls', '-l', 'a b'])
    assert.equal(seen?.url.search, '?command=ls&command=-l&command=a+b&container=c&stdout=true&stderr=true')
    assert.deepEqual([seen?.authorization, seen?.protocol], ['Bearer secret', 'v5.channel.k8s.io'])
  })

  it('gives the exit code of a command that failed', async () => {
    const session = await exec(ends(failedWith('42')))
    assert.deepEqual(await session.result, { exitCode: 42, message: 'command terminated with exit code 42' })
  })

  it('rejects when the command could not be run, when the server refuses, and when the connection breaks', async () => {
    const unknown = { ...SUCCESS, status: 'Failure', message: 'container not found', reason: 'InternalError', code: 500 }
    await assert.rejects(
      (await exec(ends(unknown))).result,
      (error) => error instanceof ApiError && error.message === 'container not found',
    )
    await assert.rejects(
      exec(() => undefined, {}, 'forbidden'),
      (error) => error instanceof ApiError && error.code === 403 && /is forbidden/.test(error.message),
    )
    const broken = await exec((socket) => socket.terminate())
    await assert.rejects(broken.result, TransportError)
    assert.equal(await text(broken.stdout), '')
    await assert.rejects(execInPod({ server: 'http://127.0.0.1:1' }, { namespace: 'n', name: 'p' }, { command: ['a'] }), TransportError)
  })

  it('writes input, ends it, and tells the size of the terminal', async () => {
    const got: string[] = []
    const session = await exec(
      (socket) =>
        socket.on('message', (data: Buffer) => {
          got.push(data[0] === 255 ? `close ${data[1]}` : `${data[0]} ${data.subarray(1).toString('utf8')}`)
          if (data[0] === 255) ends(SUCCESS, frame(1, 'read all'))(socket, new URL(server))
        }),
      { stdin: true, tty: true },
    )
    await session.resize(80, 24)
    await session.write('hello ')
    await session.write(Buffer.from('world'))
    await session.endInput()
    assert.equal(await text(session.stdout), 'read all')
    assert.deepEqual(got, ['4 {"Width":80,"Height":24}', '0 hello ', '0 world', 'close 0'])
    assert.equal(seen?.url.search, '?command=ls&command=-l&command=a+b&stdout=true&stdin=true&tty=true')
    await session.result
    await assert.rejects(session.write('too late'), TransportError)
  })

  it('does not read faster than its reader', async () => {
    const chunk = Buffer.alloc(256 * 1024, 97)
    const total = 64
    let sent = 0
    const session = await exec((socket) => {
      const next = (): void => {
        if (sent === total) ends(SUCCESS)(socket, new URL(server))
        else {
          sent++
          socket.send(frame(1, chunk), next)
        }
      }
      next()
    })
    // Long enough for everything to arrive if nothing held it back.
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.ok(sent < total, `${sent} of ${total} chunks left the server although nobody reads`)
    assert.equal((await text(session.stdout)).length, total * chunk.length)
    assert.equal((await session.result).exitCode, 0)
  })

  it('can be left early', async () => {
    const stop = new AbortController()
    const aborted = await exec(() => undefined, { signal: stop.signal })
    stop.abort()
    await assert.rejects(aborted.result, TransportError)
    const left = await exec(() => undefined)
    left.close()
    await assert.rejects(left.result, TransportError)
    const impatient = AbortSignal.abort()
    await assert.rejects(
      exec(() => undefined, { signal: impatient }),
      /closed before the connection was established/,
    )
  })
})
