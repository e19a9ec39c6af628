import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttpServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { WebSocketServer } from 'ws'
import { openKeyDirectory } from '../apiserver/listener/index.ts'
import { ensurePki, type Pki } from '../apiserver/pki/index.ts'
import { seededRandom } from '../base/random.ts'
import { readAll, type Transport } from '../client/transport.ts'
import type { KubeObject } from '../kube/meta.ts'
import { memberAccess } from './member-access.ts'
import { realClock } from './testing.ts'

/** A proxy on loopback that lets every client through that sends the right header. */
function aProxy(asked: { url: string | undefined; headers: IncomingHttpHeaders }[]): Server {
  const proxy = createHttpServer((_request, response) => void response.writeHead(405).end())
  proxy.on('connect', (request, client: Socket, head) => {
    asked.push({ url: request.url, headers: request.headers })
    if (request.headers['x-word'] !== 'sesame') return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const [host, port] = (request.url ?? '').split(':')
    const server = connectTcp(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      server.write(head)
      server.pipe(client).pipe(server)
    })
    server.on('error', () => client.destroy())
    client.on('error', () => server.destroy())
  })
  return proxy
}

describe('the way to a member behind a proxy', () => {
  const asked: { url: string | undefined; headers: IncomingHttpHeaders }[] = []
  const proxy = aProxy(asked)
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'v5.channel.k8s.io' })
  const transports: Transport[] = []
  let directory = ''
  let pki: Pki
  let member: ReturnType<typeof createHttpsServer>
  const open = new Set<Socket>()
  const portOf = (server: Server | ReturnType<typeof createHttpsServer>): number => (server.address() as AddressInfo).port

  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'sluice-behind-'))
    pki = await ensurePki({ directory: await openKeyDirectory(directory), clock: realClock, random: seededRandom(3) })
    member = createHttpsServer({ cert: pki.serving.certificate, key: pki.serving.key }, (request, response) => {
      response.end(`${request.method} ${request.url} ${request.headers.authorization} ${request.headers['x-word'] ?? 'no word'}`)
    })
    member.on('upgrade', (request, socket, head) =>
      sockets.handleUpgrade(request, socket, head, (one) => one.send(Buffer.from([1, ...Buffer.from('hello')]))),
    )
    for (const server of [proxy, member]) {
      server.on('connection', (socket: Socket) => open.add(socket))
      await once(server.listen(0, '127.0.0.1'), 'listening')
    }
  })
  beforeEach(() => void asked.splice(0))
  after(async () => {
    await Promise.all(transports.map((one) => one.close()))
    for (const socket of open) socket.destroy()
    for (const server of [proxy, member]) await new Promise((resolve) => server.close(resolve))
    await rm(directory, { recursive: true, force: true })
  })

  function transportWith(more: Record<string, unknown>): Transport {
    const spec = { syncMode: 'Push', apiEndpoint: `https://127.0.0.1:${portOf(member)}`, ...more }
    const cluster = { apiVersion: 'cluster.karmada.io/v1alpha1', kind: 'Cluster', metadata: { name: 'far' }, spec } as KubeObject
    const transport = memberAccess(() => [], 'http').connect(cluster, { token: 'secret', caBundle: pki.authority }, 'test')
    assert.ok(transport !== undefined)
    transports.push(transport)
    return transport
  }
  const proxyURL = (user = ''): string => `http://${user}127.0.0.1:${portOf(proxy)}`
  const get = async (transport: Transport): Promise<string> =>
    (await readAll((await transport.request({ method: 'GET', path: '/readyz', headers: {} })).body)).toString('utf8')

  it('goes through it, with headers that only the proxy sees', async () => {
    const transport = transportWith({ proxyURL: proxyURL(), proxyHeader: { 'X-Word': 'sesame', 'X-Both': 'one,two' } })
    assert.equal(await get(transport), 'GET /readyz Bearer secret no word')
    assert.deepEqual(
      asked.map(({ url, headers }) => [url, headers['x-both']]),
      [[`127.0.0.1:${portOf(member)}`, 'one, two']],
    )
  })

  it('goes through it for commands as well', async () => {
    const transport = transportWith({ proxyURL: proxyURL(), proxyHeader: { 'X-Word': 'sesame' } })
    let hear: (text: string) => void = () => undefined
    const received = new Promise<string>((resolve) => {
      hear = resolve
    })
    const handlers = { message: (_channel: number, body: Uint8Array) => hear(Buffer.from(body).toString('utf8')), closed: () => undefined }
    const channels = await transport.connect?.({ path: '/exec', headers: {} }, handlers)
    assert.equal(await received, 'hello')
    channels?.close()
    assert.equal(asked.length, 1)
  })

  it('says who is in the way, without the password', async () => {
    await assert.rejects(get(transportWith({ proxyURL: proxyURL('me:hidden@') })), (error: Error) => {
      assert.match(error.message, /the proxy http:\/\/127\.0\.0\.1:\d+ refuses: 407 Proxy Authentication Required/)
      return true
    })
    assert.equal(asked[0]?.headers['proxy-authorization'], `Basic ${Buffer.from('me:hidden').toString('base64')}`)
    await assert.rejects(get(transportWith({ proxyURL: 'http://127.0.0.1:1' })), /the proxy http:\/\/127\.0\.0\.1:1 does not answer/)
    assert.throws(
      () => transportWith({ proxyURL: 'socks5://me:hidden@127.0.0.1:1' }),
      /^Error: the proxy socks5:\/\/127\.0\.0\.1:1 is neither http nor https$/,
    )
    assert.throws(() => transportWith({ proxyURL: 'nonsense' }), /nonsense is no address of a proxy/)
  })

  it('is direct where there is none', async () => {
    assert.equal(await get(transportWith({})), 'GET /readyz Bearer secret no word')
    assert.deepEqual(asked, [])
  })
})
