import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { type RawData, WebSocket } from 'ws'
import { seededRandom } from '../../base/random.ts'
import { createClient } from '../../client/client.ts'
import { ApiError } from '../../client/errors.ts'
import { execInPod } from '../../client/exec-in-pod.ts'
import { undiciTransport } from '../../client/transport/undici.ts'
import { readAll } from '../../client/transport.ts'
import { manualClock } from '../../runtime/testing.ts'
import { ensurePki, type Pki } from '../pki/index.ts'
import { SCRIPTED_OBJECTS, type ScriptedNode, type ScriptedSession, scriptedNode } from '../streams/scripted-node.ts'
import { startTestServer, type TestServer } from '../testing.ts'
import { type Listener, listen, openKeyDirectory } from './index.ts'
import { realClock } from './testing.ts'

const EXEC = '/api/v1/namespaces/default/pods/on-served/exec?command=x&stdin=true&stdout=true&stderr=true'

describe('commands over WebSockets', () => {
  let directory = ''
  let pki: Pki
  let server: TestServer
  let listener: Listener
  let node: ScriptedNode
  const errors: unknown[] = []
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'sluice-sockets-'))
    pki = await ensurePki({ directory: await openKeyDirectory(directory), clock: realClock, random: seededRandom(3) })
    server = await startTestServer({ nodes: { find: (found) => node.find(found) } })
    for (const [url, body] of SCRIPTED_OBJECTS) await server.send('POST', url, body)
    const tls = { ...pki.serving, clientAuthority: pki.authority }
    listener = await listen({ handle: server.cluster.handle, tls, clock: realClock, port: 0, onError: (error) => errors.push(error) })
  })
  after(async () => {
    await listener.stop(0)
    server.stop()
    await rm(directory, { recursive: true, force: true })
    assert.deepEqual([errors, server.internalErrors], [[], []])
  })
  beforeEach(() => {
    node = scriptedNode()
  })

  const connect = (protocols: string[], url = EXEC): WebSocket =>
    new WebSocket(`wss://127.0.0.1:${listener.port}${url}`, protocols, {
      ca: pki.authority,
      cert: pki.admin.certificate,
      key: pki.admin.key,
    })
  const until = async (isReached: () => boolean): Promise<void> => {
    for (let tries = 0; !isReached(); tries++) {
      assert.ok(tries < 500, 'it does not come')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  const open = async (
    protocol: string,
  ): Promise<{ socket: WebSocket; session: ScriptedSession; messages: string[]; closed: Promise<number> }> => {
    const socket = connect([protocol])
    const messages: string[] = []
    socket.on('message', (data: RawData) => {
      const bytes = Buffer.from(data as Buffer)
      messages.push(`${bytes[0]} ${bytes.subarray(1).toString('utf8')}`)
    })
    const closed = once(socket, 'close').then(([code]) => code as number)
    await once(socket, 'open')
    await until(() => node.sessions.length > 0)
    const session = node.sessions.at(-1)
    assert.ok(session)
    return { socket, session, messages, closed }
  }
  const refusalOf = async (socket: WebSocket): Promise<{ code: number; message: string }> => {
    const [, response] = await once(socket, 'unexpected-response')
    const { message, code } = JSON.parse((await readAll(response)).toString('utf8')) as { message: string; code: number }
    assert.equal(response.statusCode, code)
    return { code, message }
  }

  for (const protocol of ['v5.channel.k8s.io', 'v4.channel.k8s.io'])
    it(`${protocol}: input, output, size, how it ended`, async () => {
      const { socket, session, messages, closed } = await open(protocol)
      assert.equal(socket.protocol, protocol)
      socket.send(Buffer.from('\0hello'))
      socket.send(Buffer.from('\x04{"Width":80,"Height":24}'))
      socket.send(Buffer.from('\x04nonsense'))
      socket.send(Buffer.from([255, 0]))
      await until(() => session.received.length >= (protocol.startsWith('v5') ? 3 : 2))
      assert.deepEqual(session.received, ['input hello', 'size 80 24', ...(protocol.startsWith('v5') ? ['end of input'] : [])])
      session.output.stdout(Buffer.from('out'))
      session.output.stderr(Buffer.from('err'))
      session.exit(2)
      assert.equal(await closed, 1000)
      assert.deepEqual(messages.slice(0, 3), ['1 ', '1 out', '2 err'])
      assert.match(messages[3] ?? '', /^3 \{.*"reason":"NonZeroExitCode".*"causes":\[\{"reason":"ExitCode","message":"2"\}\]/)
    })

  it('chooses the best protocol, and refuses what it does not know', async () => {
    const socket = connect(['v4.channel.k8s.io', 'v5.channel.k8s.io'])
    await once(socket, 'open')
    assert.equal(socket.protocol, 'v5.channel.k8s.io')
    socket.terminate()
    assert.match((await refusalOf(connect(['channel.k8s.io']))).message, /v5\.channel\.k8s\.io and v4\.channel\.k8s\.io/)
    assert.deepEqual(await refusalOf(connect(['v5.channel.k8s.io'], EXEC.replace('on-served', 'missing'))), {
      code: 404,
      message: 'pods "missing" not found',
    })
    const stranger = new WebSocket(`wss://127.0.0.1:${listener.port}${EXEC}`, ['v5.channel.k8s.io'], { ca: pki.authority })
    assert.equal((await refusalOf(stranger)).code, 403)
  })

  it('carries a whole command for a controller, bounded in output and in time', async () => {
    const transport = undiciTransport({
      server: `https://127.0.0.1:${listener.port}`,
      ca: pki.authority,
      cert: pki.admin.certificate,
      key: pki.admin.key,
    })
    const client = createClient({ transport, clock: realClock, random: seededRandom(1), userAgent: 'test' })
    const clock = manualClock()
    const run = (maxBytes: number): ReturnType<typeof execInPod> =>
      execInPod(client, { namespace: 'default', pod: 'on-served', command: ['report'] }, { clock, timeoutMs: 1000, maxBytes })
    const answered = run(5)
    await until(() => node.sessions.length === 1)
    node.sessions[0]?.output.stdout(Buffer.from('0123456789'))
    node.sessions[0]?.output.stderr(Buffer.from('hm'))
    node.sessions[0]?.exit(3)
    assert.deepEqual(await answered, { stdout: '01234', stderr: 'hm', exitCode: 3, isTruncated: true })
    const late = assert.rejects(run(5), /the command "report" in pod default\/on-served took longer than 1000 ms/)
    await until(() => node.sessions.length === 2)
    clock.move(1000)
    await late
    await until(() => node.sessions[1]?.received.includes('kill') === true)
    await transport.close()
  })

  it('ends the command when the client goes away, however it does', async () => {
    for (const leave of [
      (socket: WebSocket) => socket.terminate(),
      (socket: WebSocket) => socket.close(),
      (socket: WebSocket) => socket.send(Buffer.from('\x09unknown channel')),
      (socket: WebSocket) => socket.send(Buffer.alloc(5 * 1024 * 1024)),
    ]) {
      node = scriptedNode()
      const { socket, session, closed } = await open('v5.channel.k8s.io')
      socket.on('error', () => undefined)
      leave(socket)
      await closed
      await until(() => session.received.at(-1) === 'kill')
    }
  })

  it('reads no faster than the command takes, and the command writes no faster than is read', async () => {
    node = scriptedNode({ holdsInput: true })
    const { socket, session, closed } = await open('v5.channel.k8s.io')
    const part = Buffer.alloc(256 * 1024)
    for (let i = 0; i < 64; i++) socket.send(part)
    await until(() => session.received.length >= 4)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const taken = session.received.length
    assert.ok(taken < 40, `${taken} parts were taken although nobody reads them`)
    while (session.received.length < 64) {
      session.take()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    socket.pause()
    const large = Buffer.alloc(512 * 1024)
    for (let i = 0; i < 64 && !session.received.includes('pause'); i++) {
      session.output.stdout(large)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    assert.equal(session.received.at(-1), 'pause')
    socket.resume()
    await until(() => session.received.at(-1) === 'resume')
    session.exit(0)
    assert.equal(await closed, 1000)
  })

  it('serves our own client', async () => {
    const connection = { server: `https://127.0.0.1:${listener.port}`, ca: pki.authority, cert: pki.admin.certificate, key: pki.admin.key }
    const client = createClient({ transport: undiciTransport(connection), clock: realClock, random: seededRandom(1), userAgent: 'test' })
    const pod = { namespace: 'default', name: 'on-served' }
    const session = await client.exec(pod, { command: ['cat'], stdin: true })
    await until(() => node.sessions.length > 0)
    const command = node.sessions[0]
    assert.ok(command)
    await session.write(Buffer.alloc(600 * 1024, 97))
    await session.endInput()
    await until(() => command.received.at(-1) === 'end of input')
    assert.deepEqual(command.received, ['input 262144', 'input 262144', 'input 90112', 'end of input'])
    command.output.stdout(Buffer.from('all of it'))
    command.exit(0)
    assert.equal((await readAll(session.stdout)).toString(), 'all of it')
    assert.deepEqual(await session.result, { exitCode: 0, message: '' })
    await assert.rejects(
      client.exec({ ...pod, name: 'missing' }, { command: ['x'] }),
      (error) => error instanceof ApiError && error.code === 404,
    )
    await client.close()
  })
})
