import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { getText } from './get-text.ts'

describe('a short text', () => {
  const server = createServer((request, response) => {
    if (request.url === '/short') response.end('a text')
    else if (request.url === '/moved') response.writeHead(302, { location: '/short' }).end()
    else if (request.url === '/long') response.end('x'.repeat(2000))
    // Anything else is never answered.
  })
  const bounds = { timeoutMs: 10_000, maxBytes: 1000 }
  let url = ''
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  it('is what was answered', async () => assert.equal(await getText(`${url}/short`, bounds), 'a text'))
  it('is none that is too long, elsewhere, or late', async () => {
    await assert.rejects(getText(`${url}/long`, bounds), /longer than 1000 bytes/)
    await assert.rejects(getText(`${url}/moved`, bounds), /answered 302/)
    await assert.rejects(getText(`${url}/never`, { ...bounds, timeoutMs: 50 }), /did not answer/)
    const signal = AbortSignal.abort(new Error('enough'))
    await assert.rejects(getText(`${url}/short`, { ...bounds, signal }), /enough/)
  })
})
