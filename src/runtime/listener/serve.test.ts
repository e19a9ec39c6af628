import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { after, before, describe, it } from 'node:test'
import { makeAuthority, makeLeaf, makePrivateKey } from '../../apiserver/pki/certificates.ts'
import { seededRandom } from '../../base/random.ts'
import { type Serving, serveHealth, serveWebhooks } from './serve.ts'

const ANYWHERE = { host: '127.0.0.1', port: 0 }

interface Answer {
  status: number
  body: string
}

function send(options: https.RequestOptions & { isPlain?: boolean }, body?: Iterable<Buffer> | Buffer): Promise<Answer> {
  const { isPlain, ...rest } = options
  return new Promise((resolve, reject) => {
    const request = (isPlain ? http : https).request({ host: '127.0.0.1', agent: false, ...rest }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }))
    })
    // An answer sent before the whole body has arrived ends the connection, but by then the answer is here.
    request.on('error', reject)
    if (body instanceof Buffer) request.end(body)
    else {
      for (const chunk of body ?? []) request.write(chunk)
      request.end()
    }
  })
}

describe('the webhook server on a loopback port', () => {
  const asked: string[] = []
  let serving: Serving
  let ca = ''
  before(async () => {
    const nowMs = Date.UTC(2026, 0, 1)
    const validity = { notBeforeMs: 0, notAfterMs: nowMs + 100 * 365 * 86_400_000, random: seededRandom(1) }
    const key = await makePrivateKey()
    ca = await makeAuthority(key, 'test', validity)
    const subject = { commonName: 'test', organizations: [] }
    const leaf = await makeLeaf({ ...validity, authority: { certificate: ca, key }, subject, purpose: { server: ['127.0.0.1'] } })
    serving = await serveWebhooks(
      async (path, body) => {
        asked.push(`${path} ${body.length}`)
        if (path === '/broken') throw new Error('a bug')
        return { status: path === '/mutate/x' ? 200 : 404, body: { said: Buffer.from(body).toString('utf8').slice(0, 20) } }
      },
      leaf,
      ANYWHERE,
    )
  })
  after(() => serving.stop())
  const post = (path: string, body: Buffer | Iterable<Buffer>): Promise<Answer> =>
    send({ port: serving.port, ca, method: 'POST', path }, body)

  it('answers over TLS, and only to those who trust its authority', async () => {
    assert.deepEqual(await post('/mutate/x?timeout=10s', Buffer.from('hello')), { status: 200, body: '{"said":"hello"}' })
    assert.equal(asked.at(-1), '/mutate/x 5')
    assert.equal((await post('/nowhere', Buffer.from('{}'))).status, 404)
    await assert.rejects(send({ port: serving.port, method: 'POST', path: '/mutate/x' }, Buffer.from('x')), /certificate/)
  })

  it('keeps an idle connection for longer than an API server does', async () => {
    const agent = new https.Agent({ keepAlive: true })
    const request = https.request({ host: '127.0.0.1', port: serving.port, ca, agent, method: 'POST', path: '/mutate/x' }).end('{}')
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    const idleSeconds = Number(/timeout=(\d+)/.exec(String(response.headers['keep-alive']))?.[1])
    response.resume()
    agent.destroy()
    assert.ok(idleSeconds > 90, `${idleSeconds} s`)
  })

  it('takes only POST', async () => {
    const count = asked.length
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS'])
      assert.equal((await send({ port: serving.port, ca, method, path: '/mutate/x' })).status, 405, method)
    assert.equal(asked.length, count)
  })

  it('refuses bodies above eight mebibytes, told beforehand or found out, and is there for the next one', async () => {
    const piece = Buffer.alloc(64 * 1024, 120)
    const most = Buffer.alloc(8 * 1024 * 1024, 120)
    assert.equal((await post('/mutate/x', most)).status, 200)
    const count = asked.length
    const reported = await send({
      port: serving.port,
      ca,
      method: 'POST',
      path: '/mutate/x',
      headers: { 'content-length': most.length + 1 },
    })
    assert.equal(reported.status, 413)
    const found = await post('/mutate/x', Array<Buffer>(129).fill(piece))
    assert.equal(found.status, 413)
    assert.equal(asked.length, count, 'nobody had to look at them')
    assert.equal((await post('/mutate/x', Buffer.from('next'))).status, 200)
  })

  it('cuts the connection when it fails itself, and goes on', async () => {
    await assert.rejects(post('/broken', Buffer.from('{}')))
    assert.equal((await post('/mutate/x', Buffer.from('next'))).status, 200)
  })
})

describe('the health server', () => {
  it('says that it lives, whether it is ready and why not, and what it did', async () => {
    let why: string | undefined = 'starting'
    let isBroken = false
    const metrics = async (): Promise<string> => {
      if (isBroken) throw new Error('no figures')
      return 'figures 1\n'
    }
    const serving = await serveHealth({ notReady: () => why, metrics }, ANYWHERE)
    const get = (path: string): Promise<Answer> => send({ isPlain: true, port: serving.port, path })
    assert.deepEqual(await get('/healthz'), { status: 200, body: 'ok' })
    assert.deepEqual(await get('/livez?verbose'), { status: 200, body: 'ok' })
    assert.deepEqual(await get('/readyz'), { status: 503, body: 'starting\n' })
    why = undefined
    assert.deepEqual(await get('/readyz'), { status: 200, body: 'ok' })
    assert.deepEqual(await get('/metrics'), { status: 200, body: 'figures 1\n' })
    isBroken = true
    assert.deepEqual(await get('/metrics'), { status: 500, body: 'no figures\n' })
    assert.equal((await get('/')).status, 404)
    await serving.stop()
    await assert.rejects(get('/healthz'), /ECONNREFUSED/)
  })

  it('says when its port is taken', async () => {
    const options = { notReady: () => undefined, metrics: async () => '' }
    const first = await serveHealth(options, ANYWHERE)
    await assert.rejects(serveHealth(options, { host: '127.0.0.1', port: first.port }), /EADDRINUSE/)
    await first.stop()
  })
})
