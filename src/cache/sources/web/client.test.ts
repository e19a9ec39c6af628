import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import { handClock } from '../../inventory/testing.ts'
import { WEB_TIMES } from '../limits.ts'
import { SourceRefused } from '../source.ts'
import { never } from '../testing.ts'
import { isPublicAddress, type Resolve } from './addresses.ts'
import { createWebClient, type WebClient } from './client.ts'
import { withProgress } from './patience.ts'
import { clientFor, realClock, type TestServer, withServer } from './testing.ts'

async function textOf(client: WebClient, url: URL): Promise<string> {
  try {
    const answer = await client.request({ url, method: 'GET', signal: never() })
    let text = String(answer.status)
    for await (const part of answer.body) text += ` ${part}`
    return text
  } finally {
    client.close()
  }
}

const at = ({ url }: TestServer, path: string) => new URL(path, url)

describe('addresses', () => {
  const kept = [
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
  ]
  const kept6 = [
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '::ffff:10.0.0.1',
    '::ffff:127.0.0.1',
    '::127.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
  ]
  for (const address of [...kept, ...kept6, 'no address', ''])
    it(`keeps ${address} to itself`, () => assert.equal(isPublicAddress(address), false))
  for (const address of ['8.8.8.8', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8']) {
    it(`takes ${address} as public`, () => assert.equal(isPublicAddress(address), true))
  }

  it('are refused before anything is sent, as numbers and as names', () =>
    withServer(
      (_, response) => response.end(),
      async ({ url, requests }) => {
        const resolve: Resolve = (_, __, done) => done(null, [{ address: '127.0.0.1', family: 4 }])
        const numbers = [url.href, url.href.replace('127.0.0.1', '0x7f.1'), url.href.replace('127.0.0.1', '[::ffff:127.0.0.1]')]
        for (const place of [...numbers, url.href.replace('127.0.0.1', 'public.example')]) {
          const client = createWebClient({ clock: realClock, allowPrivateAddresses: false, resolve })
          await assert.rejects(
            textOf(client, new URL(place)),
            (error) => error instanceof SourceRefused && /allowPrivateAddresses/.test(error.message),
          )
        }
        assert.deepEqual(requests, [])
        const permitted = createWebClient({ clock: realClock, allowPrivateAddresses: true, resolve })
        assert.equal(await textOf(permitted, new URL(url.href.replace('127.0.0.1', 'public.example'))), '200')
      },
    ))
})

describe('requests to a server', () => {
  it('follow redirects on the same host, a few', () =>
    withServer(
      (request, response) => {
        const left = Number(request.url?.slice(1))
        if (left === 0) response.end('here')
        else response.writeHead(302, { location: `/${left - 1}` }).end()
      },
      async (server) => {
        assert.equal(await textOf(clientFor(), at(server, '/3')), '200 here')
        await assert.rejects(textOf(clientFor(), at(server, '/4')), /more than 3 times/)
      },
    ))

  for (const [location, message] of [
    ['http://other.example/', /redirects to other\.example: mount that host/],
    ['http://127.0.0.1:1/', /redirects to 127\.0\.0\.1:1/],
    ['file:///etc/passwd', /redirects to/],
    ['http://user:password@HOST/', /with credentials/],
    ['http://[', /no URL/],
  ] as const) {
    it(`do not follow a redirect to ${location}`, () =>
      withServer(
        (request, response) => response.writeHead(301, { location: location.replace('HOST', request.headers.host ?? '') }).end(),
        async ({ url }) =>
          assert.rejects(textOf(clientFor(), url), (error) => error instanceof SourceRefused && message.test(error.message)),
      ))
  }

  it('ask for no compression, and refuse it', () =>
    withServer(
      (request, response) => {
        assert.equal(request.headers['accept-encoding'], 'identity')
        response.writeHead(200, { 'content-encoding': 'gzip' }).end('x')
      },
      async ({ url }) => assert.rejects(textOf(clientFor(), url), /sent compressed/),
    ))

  it('bound headers, and the time until they come', () =>
    withServer(
      (request, response) => {
        if (request.url === '/large') response.writeHead(200, { 'x-large': 'x'.repeat(20_000) }).end()
      },
      async (server) => {
        await assert.rejects(textOf(clientFor(), at(server, '/large')), /cannot be reached: HPE_HEADER_OVERFLOW/)
        await assert.rejects(textOf(clientFor({ answerMs: 20 }), at(server, '/silent')), /did not answer for 0\.02 s/)
      },
    ))

  it('notice bodies that end early, and those that stand still', () =>
    withServer(
      (request, response) => {
        response.writeHead(200, { 'content-length': '10' })
        response.write('12345')
        if (request.url === '/short') response.socket?.end()
      },
      async (server) => {
        await assert.rejects(textOf(clientFor(), at(server, '/short')), /aborted/)
        await assert.rejects(textOf(clientFor({ idleMs: 20 }), at(server, '/still')), /sent nothing for 0\.02 s/)
      },
    ))

  it('end when their signal is aborted, before and during the body', () =>
    withServer(
      (_, response) => response.write('x'),
      async ({ url }) => {
        const client = clientFor()
        await assert.rejects(client.request({ url, method: 'GET', signal: AbortSignal.abort() }), { name: 'AbortError' })
        const abort = new AbortController()
        const answer = await client.request({ url, method: 'GET', signal: abort.signal })
        await assert.rejects(
          async () => {
            for await (const part of answer.body) abort.abort(new Error(`enough after ${part}`))
          },
          { message: 'enough after x' },
        )
        client.close()
      },
    ))

  it('survive what is no HTTP, and nobody at all', async () => {
    const server = createServer((socket) =>
      socket
        .on('error', () => {})
        .resume()
        .end('hello\r\n\r\n'),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const url = new URL(`http://127.0.0.1:${port}/secret?token=secret`)
    await assert.rejects(
      textOf(clientFor(), url),
      (error: Error) => /cannot be reached: HPE/.test(error.message) && !error.message.includes('token'),
    )
    await new Promise((resolve) => server.close(resolve))
    await assert.rejects(textOf(clientFor(), url), /cannot be reached: ECONNREFUSED/)
  })
})

describe('patience with a body', () => {
  const slow = (clock: { advance(ms: number): void }, stepMs: number) => ({
    isDestroyed: false,
    async *[Symbol.asyncIterator]() {
      for (;;) {
        clock.advance(stepMs)
        yield new Uint8Array(100)
      }
    },
    destroy() {
      this.isDestroyed = true
    },
  })

  it('ends when bytes trickle, and never counts the time of whoever reads', async () => {
    const clock = handClock()
    const trickle = slow(clock, 1000)
    let parts = 0
    await assert.rejects(async () => {
      for await (const _ of withProgress({ body: trickle, signal: never(), clock, times: WEB_TIMES, what: 'it' })) parts++
    }, /it is too slow: 2000 bytes in 20 s/)
    assert.deepEqual([parts, trickle.isDestroyed], [19, true])
    const quick = slow(clock, 0)
    for await (const _ of withProgress({ body: quick, signal: never(), clock, times: WEB_TIMES, what: 'it' })) {
      clock.advance(100_000)
      if (++parts > 60) break
    }
    assert.deepEqual([parts, quick.isDestroyed], [61, true])
  })

  it('ends after the time for all of it', async () => {
    const clock = handClock()
    const times = { ...WEB_TIMES, leastBytesPerSecond: 0, totalMs: 5000 }
    await assert.rejects(async () => {
      for await (const _ of withProgress({ body: slow(clock, 1000), signal: never(), clock, times, what: 'it' }));
    }, /it is too slow and sent nothing for 1 s/)
  })
})
