import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Clock } from '../base/clock.ts'
import { ApiError } from './errors.ts'
import { type ExecSession, execOver, execPath } from './exec.ts'
import { type Fault, faultyTransport, scripted } from './fault/fault-transport.ts'
import { inProcessTransport } from './in-process.ts'
import { readAll, TransportError } from './transport.ts'

const WHO = { name: 'me', groups: [] }
const clock: Clock = {
  now: () => 0,
  after(_delayMs, callback) {
    queueMicrotask(callback)
    return () => undefined
  },
}

/** A server that says `hello` to every command, and counts how many were started and abandoned. */
function greeting(): { begun: number; left: number; exec(fault?: Fault): Promise<ExecSession> } {
  const counts = { begun: 0, left: 0 }
  const server: Parameters<typeof inProcessTransport>[0] = {
    async handle({ canConverse, url }) {
      if (canConverse !== true || url.includes('refused'))
        return { status: 403, headers: {}, body: Buffer.from('{"message":"no","code":403}') }
      return {
        status: 101,
        headers: {},
        converse(peer) {
          counts.begun++
          setImmediate(() => {
            peer.stdout(Buffer.from('hello'))
            peer.end({ kind: 'Status', status: 'Success' })
          })
          return { input: async () => undefined, endInput: () => undefined, resize: () => undefined, leave: () => void counts.left++ }
        },
      }
    },
  }
  return {
    get begun() {
      return counts.begun
    },
    get left() {
      return counts.left
    },
    exec(fault) {
      const { connect } = faultyTransport(inProcessTransport(server, WHO), { clock, plan: scripted(fault) })
      assert.ok(connect)
      const path = execPath({ namespace: 'n', name: 'p' }, { command: ['a b', 'c&d'], container: 'x' })
      return execOver(connect, { path, headers: {} })
    },
  }
}

describe('a command over any transport', () => {
  it('is named in the path', () => {
    assert.equal(
      execPath({ namespace: 'n', name: 'p' }, { command: ['a b', 'c&d'], container: 'x', stdin: true, tty: true }),
      '/api/v1/namespaces/n/pods/p/exec?command=a+b&command=c%26d&container=x&stdout=true&stdin=true&tty=true',
    )
  })

  it('is run, and fails as connections do', async () => {
    const server = greeting()
    const session = await server.exec()
    assert.equal((await readAll(session.stdout)).toString(), 'hello')
    assert.deepEqual(await session.result, { exitCode: 0, message: '' })
    assert.equal(server.begun, 1)
    await assert.rejects(server.exec({ do: 'fail-before' }), TransportError)
    assert.equal(server.begun, 1)
    await assert.rejects(server.exec({ do: 'fail-after' }), TransportError)
    assert.deepEqual([server.begun, server.left], [2, 1])
    await assert.rejects(server.exec({ do: 'answer', code: 503 }), (error) => error instanceof ApiError && error.code === 503)
    const broken = await server.exec({ do: 'break-off', afterBytes: 1 })
    await assert.rejects(broken.result, /broke, as planned/)
    assert.deepEqual([server.begun, server.left], [3, 2])
    assert.deepEqual(await (await server.exec({ do: 'delay', ms: 5 })).result, { exitCode: 0, message: '' })
  })
})
