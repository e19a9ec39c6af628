/**
 * The worker's HTTP server: routes, and bounds on whatever a peer decides (headers, bodies, time, connections). Every refusal is
 * `{error: {code, message}}`; a bug in an answer is logged and answered 500, and ends nothing else.
 */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import { blockKeyOf } from '../protocol/block.ts'
import type { Access } from './access.ts'
import type { Asked, BlockAnswers } from './block-answers.ts'
import type { Loaded } from './loads.ts'
import { metricsText } from './metrics.ts'
import type { HandoverReport, WorkerLimits, WorkerReport } from './options.ts'
import { holdsOf, loadOf, type PostedLoad, usesOf, versionsOf } from './posted.ts'
import { Refusal } from './refusal.ts'

export interface ServerOptions {
  blocks: BlockAnswers
  access: Access
  report: () => WorkerReport
  isReady: () => boolean
  /** Begins or goes on to hand over. */
  leave: () => HandoverReport
  load: (posted: PostedLoad) => Promise<Loaded>
  /** Names of blocks that a client read directly. */
  onUses: (names: readonly string[]) => void
  onHolds: (files: { hold: readonly string[]; release: readonly string[] }) => void
  onVersions: (versions: readonly (readonly [string, string | undefined])[]) => void
  limits: Pick<WorkerLimits, 'idleMs' | 'closeMs'>
  log: Log
}

const MOST_CONNECTIONS = 512
const MOST_BODY_BYTES = 256 * 1024
const POSTS: readonly string[] = ['/v1/leave', '/v1/uses', '/v1/holds', '/v1/versions', '/v1/loads']

export class WorkerServer {
  readonly #options: ServerOptions
  readonly #server: http.Server

  constructor(options: ServerOptions) {
    this.#options = options
    const { idleMs } = options.limits
    this.#server = http.createServer({
      maxHeaderSize: 16 * 1024,
      headersTimeout: Math.min(10_000, idleMs),
      requestTimeout: 2 * idleMs,
      keepAliveTimeout: 2 * idleMs,
      connectionsCheckingInterval: Math.min(5000, idleMs),
    })
    this.#server.maxConnections = MOST_CONNECTIONS
    this.#server.setTimeout(idleMs)
    const onRequest = (request: http.IncomingMessage, response: http.ServerResponse) => void this.#answer(request, response)
    this.#server.on('request', onRequest)
    // The answer to PUT says when the body may come; others have none worth waiting for.
    this.#server.on('checkContinue', onRequest)
  }

  listen(where: { host: string; port: number }): Promise<{ host: string; port: number }> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(where, () => {
        this.#server.off('error', reject)
        const { address, port } = this.#server.address() as AddressInfo
        resolve({ host: address, port })
      })
    })
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      const cut = setTimeout(() => this.#server.closeAllConnections(), this.#options.limits.closeMs)
      this.#server.close(() => {
        clearTimeout(cut)
        resolve()
      })
      this.#server.closeIdleConnections()
    })
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    // What ends a connection is seen by whoever writes to it.
    response.on('error', () => gone.abort())
    if (!this.#server.listening) response.setHeader('connection', 'close')
    try {
      await this.#route({ request, response, signal: gone.signal })
    } catch (error) {
      this.#refuse(request, response, error)
    }
    // What a refused request still sends is not read to its end.
    if (response.writableEnded && !request.complete) response.once('finish', () => request.socket.destroySoon())
  }

  async #route(asked: Pick<Asked, 'request' | 'response' | 'signal'>): Promise<void> {
    const { request, response } = asked
    const { method = '', url = '' } = request
    const [path = '', query = ''] = url.split('?', 2)
    const [, api, kind, ...rest] = path.split('/')
    if (api === 'v1' && kind === 'blocks' && rest.length === 3) {
      const key = blockKeyOf(rest[0] ?? '', rest[1] ?? '', rest[2] ?? '')
      if (key === undefined) throw new Refusal(400, 'BadName', 'this names no block')
      const block = { ...asked, key, query: new URLSearchParams(query) }
      if (method === 'GET') return await this.#options.blocks.get(block)
      if (method === 'HEAD') return await this.#options.blocks.head(block)
      if (method === 'PUT') return await this.#options.blocks.put(block)
      throw new Refusal(405, 'MethodNotAllowed', 'blocks take GET, HEAD and PUT')
    }
    if (method === 'POST') return await this.#post(path, request, response)
    if (method !== 'GET' && method !== 'HEAD') throw new Refusal(405, 'MethodNotAllowed', 'this takes GET')
    if (path === '/v1/state') return json(response, 200, this.#options.report())
    if (path === '/metrics') return text(response, 200, metricsText(this.#options.report()))
    if (path === '/healthz') return text(response, 200, 'ok\n')
    if (path !== '/readyz') throw new Refusal(404, 'NotFound', 'there is no such path')
    if (!this.#options.isReady()) throw new Refusal(503, 'NotReady', 'the worker is not registered with the master yet')
    text(response, 200, 'ok\n')
  }

  async #post(path: string, request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    if (!POSTS.includes(path)) throw new Refusal(404, 'NotFound', 'there is no such path')
    const { access, leave, load, onUses, onHolds, onVersions } = this.#options
    const body = await bodyOf(request, response)
    if (path === '/v1/uses') access.reader(request, body)
    else access.signed(request, body)
    if (path === '/v1/leave') return json(response, 202, leave())
    if (path === '/v1/loads') return json(response, 200, await load(loadOf(body)))
    if (path === '/v1/uses') onUses(usesOf(body))
    else if (path === '/v1/holds') onHolds(holdsOf(body))
    else onVersions(versionsOf(body))
    response.writeHead(204).end()
  }

  #refuse(request: http.IncomingMessage, response: http.ServerResponse, error: unknown): void {
    if (response.destroyed) return
    const refusal = error instanceof Refusal ? error : new Refusal(500, 'Internal', 'the worker failed; its log says why')
    if (refusal !== error) this.#options.log.write('error', 'a request failed', { error: messageOf(error) })
    // In the middle of an answer only a cut connection says that it is not whole.
    if (response.headersSent) return void response.destroy()
    if (!request.complete) response.setHeader('connection', 'close')
    if (refusal.status === 503) response.setHeader('retry-after', '1')
    json(response, refusal.status, { error: { code: refusal.code, message: refusal.message } })
  }
}

function bodyOf(request: http.IncomingMessage, response: http.ServerResponse): Promise<Buffer> {
  const tooLarge = () => new Refusal(413, 'TooLarge', `the body is longer than ${MOST_BODY_BYTES} bytes`)
  if (request.headers.expect !== undefined) response.writeContinue()
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= MOST_BODY_BYTES) return void chunks.push(chunk)
      request.pause()
      reject(tooLarge())
    })
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', reject)
    request.on('close', () => reject(new Refusal(400, 'Incomplete', 'the body ended early')))
  })
}

const json = (response: http.ServerResponse, status: number, value: unknown): void =>
  send(response, status, { type: 'application/json', body: JSON.stringify(value) })

const text = (response: http.ServerResponse, status: number, body: string): void =>
  send(response, status, { type: 'text/plain; charset=utf-8', body })

function send(response: http.ServerResponse, status: number, { type, body }: { type: string; body: string }): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
  response.end(response.req.method === 'HEAD' ? undefined : body)
}
