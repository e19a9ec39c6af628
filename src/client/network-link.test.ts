import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NetworkLink } from './network-link.ts'
import { readAll, type Transport, TransportError } from './transport.ts'

const REQUEST = { method: 'GET', path: '/version', headers: {} }

/** Answers at once; a stream sends one line and then waits to be cancelled. */
function aServer(): Transport {
  return {
    async request({ isStream }) {
      let end = (): void => undefined
      const ended = new Promise<void>((resolve) => {
        end = resolve
      })
      async function* body(): AsyncGenerator<Uint8Array> {
        yield Buffer.from('one')
        if (isStream === true) await ended
      }
      return { status: 200, headers: {}, body: body(), cancel: end }
    },
    close: async () => undefined,
  }
}

describe('a link to a cluster', () => {
  it('lets everything pass while it holds, and nothing while it is cut', async () => {
    const link = new NetworkLink()
    const transport = link.over(aServer())
    assert.equal((await readAll((await transport.request(REQUEST)).body)).toString(), 'one')
    link.cut()
    await assert.rejects(transport.request(REQUEST), TransportError)
    link.mend()
    assert.equal((await transport.request(REQUEST)).status, 200)
  })

  it('ends the streams that are open when it is cut, as a broken connection would', async () => {
    const link = new NetworkLink()
    const { body } = await link.over(aServer()).request({ ...REQUEST, isStream: true })
    const lines = body[Symbol.asyncIterator]()
    assert.equal((await lines.next()).done, false)
    const next = lines.next()
    link.cut()
    await assert.rejects(next, TransportError)
  })
})
