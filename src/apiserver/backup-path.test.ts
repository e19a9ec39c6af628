import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BACKUP_PATH, backupHandler, type WriteBackup } from './backup-path.ts'
import { settle, startTestServer } from './testing.ts'

/** Three chunks, and how many were requested. */
function source(): { write: WriteBackup; made: number; failed: unknown } {
  const state = {
    made: 0,
    failed: undefined as unknown,
    async write(sink: (chunk: Uint8Array) => Promise<void>): Promise<void> {
      try {
        for (const text of ['one ', 'two ', 'end']) {
          state.made++
          await sink(Buffer.from(text))
        }
      } catch (error) {
        state.failed = error
        throw error
      }
    },
  }
  return state
}

async function start(
  from: { write: WriteBackup },
  sink: { write(text: string): boolean; onDrain(callback: () => void): void; end(): void },
): Promise<() => void> {
  const server = await startTestServer({ httpPaths: [backupHandler(from.write)] })
  const response = await server.handle({ method: 'GET', url: BACKUP_PATH })
  assert.equal(response.status, 200)
  if (typeof response.body !== 'function') return assert.fail('no stream')
  return response.body({ ...sink, write: (chunk) => sink.write(Buffer.from(chunk).toString()) })
}

describe('the backup path', () => {
  it('streams everything and ends', async () => {
    const taken: string[] = []
    let ends = 0
    await start(source(), { write: (text) => taken.push(text) > 0, onDrain: () => assert.fail('never full'), end: () => ends++ })
    await settle(3)
    assert.deepEqual([taken.join(''), ends], ['one two end', 1])
  })

  it('makes the next piece when the last one was taken', async () => {
    const from = source()
    const drains: (() => void)[] = []
    let ends = 0
    await start(from, { write: () => false, onDrain: (callback) => drains.push(callback), end: () => ends++ })
    for (const made of [1, 2, 3]) {
      await settle(3)
      assert.equal(from.made, made)
      drains.pop()?.()
    }
    await settle(3)
    assert.equal(ends, 1)
  })

  it('stops working when the reader leaves, also in the middle of a wait', async () => {
    const from = source()
    const stop = await start(from, { write: () => false, onDrain: () => undefined, end: () => undefined })
    await settle(3)
    stop()
    await settle(3)
    assert.equal(from.made, 1)
    assert.match(String(from.failed), /the reader of the backup went away/)
  })

  it('breaks off, without a trailer, when the backup fails', async () => {
    let ends = 0
    const write = (): Promise<unknown> => Promise.reject(new Error('the disk is gone'))
    await start({ write }, { write: () => true, onDrain: () => undefined, end: () => ends++ })
    await settle(3)
    assert.equal(ends, 1)
  })

  it('is for administrators, and for GET', async () => {
    const server = await startTestServer({ httpPaths: [backupHandler(source().write)] })
    const as = { name: 'somebody', groups: ['system:authenticated'] }
    assert.equal((await server.send('GET', BACKUP_PATH, undefined, { as })).status, 403)
    assert.equal((await server.send('POST', BACKUP_PATH)).status, 405)
    server.stop()
  })
})
