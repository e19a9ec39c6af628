import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiResponse } from '../kube/http.ts'
import { parseRequestInfo } from '../kube/request-info.ts'
import { createHealth } from './health.ts'
import { startTestServer } from './testing.ts'

const health = createHealth({ ping: () => undefined, store: () => 'the disk is full' })
const ask = (url: string, of = health): [number, string] | undefined => {
  const answer: ApiResponse | undefined = of.serve(parseRequestInfo('GET', url))
  return answer === undefined ? undefined : [answer.status, Buffer.from(answer.body as Uint8Array).toString()]
}

describe('health', () => {
  const answers: [string, [number, string] | undefined][] = [
    ['/healthz', [500, '[+]ping ok\n[-]store failed: the disk is full\nhealthz check failed\n']],
    ['/readyz?exclude=store', [200, 'ok']],
    ['/livez?verbose&exclude=store', [200, '[+]ping ok\n[+]store excluded: ok\nlivez check passed\n']],
    ['/healthz/ping', [200, 'ok']],
    ['/healthz/store', [500, 'internal server error: the disk is full\n']],
    ['/healthz/nothing', [404, '404 page not found\n']],
    ['/healthz/constructor', [404, '404 page not found\n']],
    ['/healthz/__proto__', [404, '404 page not found\n']],
    ['/healthz/ping/more', [404, '404 page not found\n']],
    ['/health', undefined],
    ['/', undefined],
  ]
  for (const [url, expected] of answers) it(`answers ${url}`, () => assert.deepEqual(ask(url), expected))

  it('of a server that stops is not ready, and its resources answer 503', async () => {
    const server = await startTestServer()
    assert.deepEqual([(await server.send('GET', '/readyz')).status, (await server.send('GET', '/version')).body.major], [200, '1'])
    server.stop()
    const ready = await server.send('GET', '/readyz')
    assert.equal(ready.status, 500)
    assert.match(ready.text, /\[-\]shutdown failed: process is shutting down/)
    const refused = await server.send('GET', '/api/v1/pods')
    assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1'])
  })
})
