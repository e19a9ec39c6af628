import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { seededRandom } from '../../base/random.ts'
import { type Client, createClient } from '../../client/client.ts'
import { ApiError } from '../../client/errors.ts'
import { inProcessTransport } from '../../client/in-process.ts'
import { readAll, TransportError } from '../../client/transport.ts'
import { badRequestError } from '../../kube/status.ts'
import { settle, startTestServer, type TestServer } from '../testing.ts'
import { SCRIPTED_OBJECTS, type ScriptedNode, type ScriptedSession, scriptedNode } from './scripted-node.ts'

const EXEC = '/api/v1/namespaces/default/pods/on-served/exec?command=ls&stdout=true'
const POD = { namespace: 'default', name: 'on-served' }

describe('reaching into pods', () => {
  let server: TestServer
  let node: ScriptedNode
  before(async () => {
    node = scriptedNode()
    server = await startTestServer({ nodes: { find: (found) => node.find(found) } })
    for (const [url, body] of SCRIPTED_OBJECTS) assert.equal((await server.send('POST', url, body)).status, 201)
  })
  after(() => {
    assert.deepEqual(server.internalErrors, [])
    server.stop()
  })
  beforeEach(() => {
    node = scriptedNode()
  })
  const clientOf = (name: string, groups: string[] = []): Client =>
    createClient({
      transport: inProcessTransport(server.cluster, { name, groups }),
      clock: server.clock,
      random: seededRandom(1),
      userAgent: 'test',
    })
  const admin = (): Client => clientOf('admin', ['system:masters'])
  const opened = async (): Promise<ScriptedSession> => {
    await settle()
    const session = node.sessions.at(-1)
    assert.ok(session)
    return session
  }

  it('passes the request for logs on, and streams them', async () => {
    const url = '/api/v1/namespaces/default/pods/on-served/log'
    const log = await admin().log(POD, { tailLines: 5, follow: true, sinceSeconds: 10 })
    assert.equal((await readAll(log)).toString(), 'a log\n')
    const asked = { follow: true, previous: false, timestamps: false, tailLines: 5, limitBytes: undefined, stream: 'All' as const }
    assert.deepEqual(node.logRequests, [{ ...asked, sinceMs: server.clock.now() - 10_000 }])
    const answer = await server.handle({
      method: 'GET',
      url: `${url}?sinceTime=2026-01-01T00:00:01Z&timestamps=true&previous=1&limitBytes=7`,
    })
    assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'text/plain'])
    assert.deepEqual(node.logRequests[1], {
      ...asked,
      follow: false,
      previous: true,
      timestamps: true,
      tailLines: undefined,
      limitBytes: 7,
      sinceMs: Date.UTC(2026, 0, 1, 0, 0, 1),
    })
    assert.equal((await server.send('GET', `${url}?sinceTime=yesterday`)).status, 400)
  })

  it('runs a command for a client in process', async () => {
    const session = await admin().exec(POD, { command: ['sh', '-c', 'x'], stdin: true })
    const command = await opened()
    assert.deepEqual(
      [command.of.pod, command.of.container, command.request],
      ['on-served', 'c', { stdin: true, stdout: true, stderr: true, tty: false, command: ['sh', '-c', 'x'] }],
    )
    await session.write('hello')
    await session.resize(80, 24)
    await session.endInput()
    assert.deepEqual(command.received, ['input hello', 'size 80 24', 'end of input'])
    command.output.stdout(Buffer.from('out'))
    command.output.stderr(Buffer.from('err'))
    command.exit(4)
    assert.deepEqual((await Promise.all([readAll(session.stdout), readAll(session.stderr)])).map(String), ['out', 'err'])
    assert.deepEqual(await session.result, {
      exitCode: 4,
      message: 'command terminated with non-zero exit code: error executing command [sh -c x], exit code 4',
    })
    await assert.rejects(session.write('late'), TransportError)
  })

  it('goes no faster than the client reads', async () => {
    const session = await admin().exec(POD, { command: ['yes'] })
    const command = await opened()
    const chunk = Buffer.alloc(700_000, 97)
    command.output.stdout(chunk)
    command.output.stdout(chunk)
    assert.deepEqual(command.received, ['pause'])
    const reader = session.stdout[Symbol.asyncIterator]()
    await reader.next()
    assert.deepEqual(command.received, ['pause', 'resume'])
    command.exit(0)
    await session.result
  })

  it('ends the command when the client leaves, before and after it began', async () => {
    const stop = new AbortController()
    const session = await admin().exec(POD, { command: ['sleep'], signal: stop.signal })
    const command = await opened()
    stop.abort()
    await assert.rejects(session.result, TransportError)
    assert.deepEqual(command.received, ['kill'])
    command.output.stdout(Buffer.from('to nobody'))
    const early = await admin().exec(POD, { command: ['sleep'] })
    early.close()
    await assert.rejects(early.result, TransportError)
    assert.ok((await opened()).received.includes('kill'))
  })

  it('tells what could not be run', async () => {
    node.refusal = badRequestError('not here')
    await assert.rejects(
      (await admin().exec(POD, { command: ['x'] })).result,
      (error) => error instanceof ApiError && error.code === 400 && error.message === 'not here',
    )
    node.refusal = new Error('no such thing')
    await assert.rejects((await admin().exec(POD, { command: ['x'] })).result, /error executing command in container: no such thing/)
    node.refusal = undefined
    const session = await admin().exec(POD, { command: ['x'] })
    ;(await opened()).fail(new Error('it broke'))
    await assert.rejects(session.result, /it broke/)
  })

  it('asks for an upgrade, and names the kubectl that can', async () => {
    const ask = async (url: string, headers: Record<string, string> = {}): Promise<string> =>
      (await server.send('POST', url, undefined, { headers })).body.message ?? ''
    assert.equal(await ask(EXEC), 'Upgrade request required')
    assert.match(await ask(EXEC, { upgrade: 'SPDY/3.1' }), /kubectl 1\.30 or newer/)
    assert.match(await ask(EXEC, { upgrade: 'websocket' }), /v5\.channel\.k8s\.io/)
    assert.match(await ask(EXEC.replace('command=ls&', '')), /at least one command/)
    assert.match(await ask(EXEC.replace('&stdout=true', '')), /at least 1 of stdin, stdout, stderr/)
    assert.match(await ask(EXEC.replace('on-served', 'unbound')), /does not have a host assigned/)
    assert.match(await ask(EXEC.replace('on-served', 'on-unserved')), /node unserved serves neither logs nor commands/)
  })

  it('needs the right to create, although a WebSocket begins with GET', async () => {
    const role = (name: string, verbs: string[]): object => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name },
      rules: [{ apiGroups: [''], resources: ['pods/exec'], verbs }],
    })
    const binding = (name: string): object => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
    })
    const at = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
    for (const [name, verbs] of [
      ['reader', ['get']],
      ['creator', ['create']],
      ['both', ['get', 'create']],
    ] as const) {
      assert.equal((await server.send('POST', `${at}/roles`, role(name, [...verbs]))).status, 201)
      assert.equal((await server.send('POST', `${at}/rolebindings`, binding(name))).status, 201)
    }
    for (const name of ['reader', 'creator', 'nobody'])
      await assert.rejects(clientOf(name).exec(POD, { command: ['x'] }), (error) => error instanceof ApiError && error.code === 403, name)
    const session = await clientOf('both').exec(POD, { command: ['x'] })
    ;(await opened()).exit(0)
    assert.equal((await session.result).exitCode, 0)
  })
})
