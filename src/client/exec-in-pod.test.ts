import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seededRandom } from '../base/random.ts'
import { manualClock } from '../runtime/testing.ts'
import { createClient } from './client.ts'
import { ApiError } from './errors.ts'
import { type ExecOutput, execInPod } from './exec-in-pod.ts'
import { type InProcessServer, inProcessTransport } from './in-process.ts'

const EURO = Buffer.from('€')
const failed = (code: string) => ({ kind: 'Status', status: 'Failure', details: { causes: [{ reason: 'ExitCode', message: code }] } })

/** A server whose commands are `say`, `fail`, `flood`, which writes 3 MB as fast as it may, and `hang`. */
function aServer() {
  const seen = { begun: [] as string[], left: 0 }
  const server: InProcessServer = {
    async handle({ url }) {
      const query = new URLSearchParams(url.split('?')[1])
      const command = query.get('command') ?? ''
      if (command === 'refused') return { status: 403, headers: {}, body: Buffer.from('{"message":"no","code":403}') }
      return {
        status: 101,
        headers: {},
        converse(peer) {
          seen.begun.push(`${command} in ${query.get('container')}`)
          let chunks = command === 'flood' ? 30 : 0
          const go = (): void => {
            while (chunks > 0) {
              chunks--
              if (peer.stdout(Buffer.alloc(100_000, EURO))) continue
              peer.onDrain(go)
              return
            }
            if (command === 'say') peer.stdout(Buffer.from('hello'))
            if (command === 'fail') peer.stderr(Buffer.from('sorry'))
            if (command !== 'hang') peer.end(command === 'fail' ? failed('7') : { kind: 'Status', status: 'Success' })
          }
          setImmediate(go)
          return { input: async () => undefined, endInput: () => undefined, resize: () => undefined, leave: () => void seen.left++ }
        },
      }
    },
  }
  const clock = manualClock()
  const client = createClient({
    transport: inProcessTransport(server, { name: 'me', groups: [] }),
    clock,
    random: seededRandom(1),
    userAgent: 'test',
  })
  const run = (command: string, signal?: AbortSignal): Promise<ExecOutput> =>
    execInPod(
      client,
      { namespace: 'n', pod: 'p', container: 'c', command: [command, '-v'] },
      { clock, timeoutMs: 5000, maxBytes: 1000, signal },
    )
  return { seen, clock, run }
}

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

describe('a command in a pod, from beginning to end', () => {
  it('gives what it wrote and how it ended', async () => {
    const { seen, run } = aServer()
    assert.deepEqual(await run('say'), { stdout: 'hello', stderr: '', exitCode: 0, isTruncated: false })
    assert.deepEqual(await run('fail'), { stdout: '', stderr: 'sorry', exitCode: 7, isTruncated: false })
    assert.deepEqual(seen, { begun: ['say in c', 'fail in c'], left: 0 })
  })

  it('keeps the beginning of a long output, in whole characters, and waits for the end', async () => {
    const { stdout, exitCode, isTruncated } = await aServer().run('flood')
    assert.deepEqual([stdout, exitCode, isTruncated], ['€'.repeat(333), 0, true])
  })

  it('is left when its time is up, or when it is no longer wanted', async () => {
    const { seen, clock, run } = aServer()
    const late = assert.rejects(run('hang'), /^Error: the command "hang" in pod n\/p took longer than 5000 ms$/)
    await soon()
    clock.move(4999)
    assert.equal(seen.left, 0)
    clock.move(1)
    await late
    const stop = new AbortController()
    const unwanted = assert.rejects(run('hang', stop.signal), /^Error: enough$/)
    await soon()
    stop.abort(new Error('enough'))
    await unwanted
    assert.equal(seen.left, 2)
    await assert.rejects(run('say', stop.signal), /^Error: enough$/)
    assert.equal(seen.begun.length, 2, 'nothing is begun for a caller that has given up')
  })

  it('rejects when it could not be run', async () => {
    await assert.rejects(aServer().run('refused'), (error) => error instanceof ApiError && error.code === 403)
  })
})
