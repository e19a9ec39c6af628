/** The bytes of watch events: shared by watchers that are notified at the same time, and not retained. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { CONFIG_MAPS, configMap, startTestServer, type TestServer } from '../testing.ts'

async function chunksOf(server: TestServer): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  const { body } = await server.handle({ method: 'GET', url: `${CONFIG_MAPS}?watch=1&resourceVersion=${server.store.revision}` })
  if (typeof body !== 'function') return assert.fail('no stream')
  body({ write: (chunk) => chunks.push(chunk) > 0, onDrain: () => undefined, end: () => undefined })
  return chunks
}

async function collectGarbage(): Promise<void> {
  await nextTurn()
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}

describe('the bytes of an event', () => {
  it('are made once for all who watch', async () => {
    const server = await startTestServer()
    const [one, other] = [await chunksOf(server), await chunksOf(server)]
    await server.send('POST', CONFIG_MAPS, configMap('a'))
    await server.send('POST', CONFIG_MAPS, configMap('b'))
    assert.equal(one.length, 2)
    for (const [i, chunk] of one.entries()) assert.equal(chunk, other[i])
    server.stop()
  })

  it('are forgotten when the next event was sent, though the object lives on', async () => {
    const server = await startTestServer()
    const chunks = await chunksOf(server)
    for (let i = 0; i < 3; i++) await server.send('POST', CONFIG_MAPS, configMap(`c${i}`))
    const sent = chunks.splice(0).map((chunk) => new WeakRef(chunk))
    await collectGarbage()
    assert.deepEqual(
      sent.map((chunk) => chunk.deref() !== undefined),
      [false, false, true],
    )
    server.stop()
  })
})
