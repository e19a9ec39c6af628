import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { httpMasterLink } from './http-master-link.ts'
import { newCounters } from './limits.ts'

const NEVER = new AbortController().signal
const ID = 'ab'.repeat(16)
const BEAT = { name: 'w0', node: 'n', address: 'a:1', state: 'serving' as const, tiers: [], counters: newCounters() }
const WORKER = { name: 'w0', node: 'n', address: 'a:1', state: 'serving', weight: 1 }
const FILE = { mount: 0, source: { path: 'a', size: 1 }, entry: { path: '/a', fileId: ID, size: 1, version: 'v', mtimeMs: 0 } }

async function against(
  answer: http.RequestListener,
  work: (link: ReturnType<typeof httpMasterLink>) => Promise<void>,
  timeoutMs = 5000,
): Promise<void> {
  const server = http.createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const signing = { sign: ({ method, target }: { method: string; target: string }) => `${method} ${target}`, isSigned: () => true }
  const link = httpMasterLink({ address: `127.0.0.1:${port}`, signing, timeoutMs })
  try {
    await work(link)
  } finally {
    link.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

const says =
  (status: number, body: unknown): http.RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))

describe('the master over HTTP', () => {
  it('is sent signed heartbeats and asked for files', () => {
    const seen: string[] = []
    const answer: http.RequestListener = (request, response) => {
      seen.push(request.headers.authorization ?? '')
      const body = request.url === '/v1/workers' ? { epoch: 3, workers: [WORKER], previous: [] } : FILE
      says(request.url?.endsWith('0') ? 404 : 200, body)(
        request,
        response as http.ServerResponse<http.IncomingMessage> & { req: http.IncomingMessage },
      )
    }
    return against(answer, async (link) => {
      assert.deepEqual(await link.heartbeat(BEAT, NEVER), { epoch: 3, workers: [WORKER], previous: [] })
      assert.deepEqual(await link.file(ID, NEVER), FILE)
      assert.equal(await link.file('0'.repeat(32), NEVER), undefined)
      assert.deepEqual(seen.slice(0, 2), ['POST /v1/workers', `GET /v1/files/${ID}`])
    })
  })

  it('is asked for many files at a time over connections that are kept', async () => {
    const AT_A_TIME = 8
    const connections = new Set<unknown>()
    let waiting: (() => void)[] = []
    const answer: http.RequestListener = (request, response) => {
      connections.add(request.socket)
      waiting.push(() => void response.writeHead(200).end(JSON.stringify(FILE)))
      if (waiting.length < AT_A_TIME) return
      for (const go of waiting) go()
      waiting = []
    }
    await against(answer, async (link) => {
      for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: AT_A_TIME }, () => link.file(ID, NEVER)))
    })
    assert.equal(connections.size, AT_A_TIME)
  })

  it('is not believed when it answers something else', async () => {
    const bad: [number, unknown][] = [
      [500, {}],
      [200, '{'],
      [200, []],
      [200, { epoch: 1, workers: [{ ...WORKER, state: 'x' }], previous: [] }],
      [200, { epoch: 1, workers: [null], previous: [] }],
      [200, { ...FILE, entry: { ...FILE.entry, fileId: 'other' } }],
      [200, { ...FILE, source: { path: 'a', size: -1 } }],
      [200, 'x'.repeat(5 * 1024 * 1024)],
    ]
    for (const [status, body] of bad) {
      await against(says(status, body), async (link) => {
        await assert.rejects(link.heartbeat(BEAT, NEVER), /the master/)
        await assert.rejects(link.file(ID, NEVER), /the master/)
      })
    }
  })

  it('is not waited for without end', () =>
    against(
      (_request, response) => void response.writeHead(200).write('{'),
      async (link) => {
        await assert.rejects(link.file(ID, NEVER), /does not answer in time/)
      },
      30,
    ))
})
