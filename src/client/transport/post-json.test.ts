import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { postJson } from './post-json.ts'

describe('a question to a webhook', () => {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      if (request.url === '/echo') response.end(JSON.stringify({ got: JSON.parse(body) }))
      else if (request.url === '/host') response.end(JSON.stringify({ host: request.headers.host }))
      else if (request.url === '/no') response.writeHead(500).end('not today')
      else if (request.url === '/prose') response.end('<html>')
      else if (request.url === '/long') response.end('x'.repeat(4 * 1024 * 1024))
      // Anything else is never answered.
    })
  })
  let url = ''
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  it('brings the answer', async () => {
    assert.deepEqual(await postJson({ url: `${url}/echo` }, '{"a":1}', 10_000), { got: { a: 1 } })
  })
  it('connects where it is told to, and asks for the host of the address', async () => {
    const { port } = server.address() as AddressInfo
    const target = { url: 'http://rules.ops.svc:1/host', connectTo: { host: '127.0.0.1', port } }
    assert.deepEqual(await postJson(target, '{}', 10_000), { host: 'rules.ops.svc:1' })
  })
  it('fails with the words of a refusal, for an answer without end or without sense, and when none comes', async () => {
    await assert.rejects(postJson({ url: `${url}/no` }, '{}', 10_000), /answered 500: not today/)
    await assert.rejects(postJson({ url: `${url}/long` }, '{}', 10_000), /longer than 3145728 bytes/)
    await assert.rejects(postJson({ url: `${url}/prose` }, '{}', 10_000), /answered no JSON: .*<html>/)
    await assert.rejects(postJson({ url: `${url}/never` }, '{}', 50), /did not answer/)
  })
})
