/**
 * A small HTTP server for the cache's programs: a table of routes, bounds on everything a peer decides (size of headers and
 * bodies, time to send and to take them, number of connections), errors as `{error: {code, message}}`, and an end that lets
 * requests under way finish. A handler's bug is answered with 500 and logged; it never ends the program.
 */
import { setMaxListeners } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import { errorBody, HttpError } from './errors.ts'
import { matchRoute, type PathPattern, patternOf } from './routes.ts'

export interface Exchange {
  method: string
  /** Path and query as sent: what a signature covers. */
  target: string
  params: ReadonlyMap<string, string>
  query: URLSearchParams
  headers: http.IncomingHttpHeaders
  /** The whole body; refused with 413 when it is longer than the route allows. */
  body(): Promise<Buffer>
  /** Aborts when the peer is gone or the server ends. */
  signal: AbortSignal
  /** Aborts only when the peer is gone: for what is worth finishing when the server ends. */
  gone: AbortSignal
  request: http.IncomingMessage
  response: http.ServerResponse
}

export type Answer =
  | { status?: number; json: unknown }
  | { status?: number; text: string; type?: string }
  /** A line of JSON each; written as fast as the peer takes them. */
  | { lines: AsyncIterable<unknown> | Iterable<unknown> }
  /** The handler has answered by itself. */
  | 'answered'

export interface Route {
  method: string
  /** Segments that begin with a colon are parameters: `/v1/files/:fileId`. */
  path: string
  mostBodyBytes?: number
  handle(exchange: Exchange): Promise<Answer> | Answer
}

export interface ServerLimits {
  headerBytes: number
  headersMs: number
  requestMs: number
  /** A connection on which nothing moves is cut, also in the middle of an answer. Longer than a long poll. */
  idleMs: number
  connections: number
  /** Requests under way are given this long when the server ends. */
  closeMs: number
}

const SERVER_LIMITS: ServerLimits = {
  headerBytes: 16 * 1024,
  headersMs: 10_000,
  requestMs: 60_000,
  idleMs: 60_000,
  connections: 4096,
  closeMs: 10_000,
}

const CLIENT_ERRORS: ReadonlyMap<string, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
])

const MOST_BODY_BYTES = 1024 * 1024

export interface HttpServer {
  /** Resolves to the port. */
  listen(host: string, port: number): Promise<number>
  /** Stops listening, lets requests under way finish for a while, then cuts them. */
  close(): Promise<void>
}

export interface HttpServerOptions {
  routes: readonly Route[]
  log: Log
  limits?: Partial<ServerLimits>
}

export function createHttpServer({ routes, log, limits: given }: HttpServerOptions): HttpServer {
  const limits = { ...SERVER_LIMITS, ...given }
  const table = routes.map((route) => ({ ...route, pattern: patternOf(route.path) }))
  const ending = new AbortController()
  // Every request under way listens to it; connections are bounded.
  setMaxListeners(0, ending.signal)
  const onRequest = (request: http.IncomingMessage, response: http.ServerResponse): void =>
    void answerRequest({ request, response, table, log, ending: ending.signal })
  const server = http.createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: Math.max(50, Math.min(5000, limits.headersMs / 2)),
    },
    onRequest,
  )
  // A body that is announced is asked for when a route reads it, so that what is refused is never sent.
  server.on('checkContinue', onRequest)
  server.maxConnections = limits.connections
  server.setTimeout(limits.idleMs)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    socket.end(`HTTP/1.1 ${CLIENT_ERRORS.get(error.code ?? '') ?? '400 Bad Request'}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  })
  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen({ host, port }, () => {
          server.off('error', reject)
          resolve((server.address() as AddressInfo).port)
        })
      }),
    close: () =>
      new Promise((resolve) => {
        ending.abort()
        const cut = setTimeout(() => server.closeAllConnections(), limits.closeMs)
        server.close(() => {
          clearTimeout(cut)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

interface Asked {
  request: http.IncomingMessage
  response: http.ServerResponse
  table: readonly (Route & { pattern: PathPattern })[]
  log: Log
  ending: AbortSignal
}

async function answerRequest({ request, response, table, log, ending }: Asked): Promise<void> {
  const gone = new AbortController()
  const stopped = new AbortController()
  const leave = () => {
    gone.abort()
    stopped.abort()
  }
  // The connection ends with this answer: an idle one would hold the server open.
  const beLast = () => {
    if (!response.headersSent) response.setHeader('connection', 'close')
    stopped.abort()
  }
  response.once('close', leave)
  // What ends a connection is seen by whoever writes to it.
  response.on('error', leave)
  ending.addEventListener('abort', beLast, { once: true })
  if (ending.aborted) beLast()
  try {
    const { route, params, query } = matchRoute(table, request.method ?? '', request.url ?? '')
    const exchange: Exchange = {
      method: request.method ?? '',
      target: request.url ?? '',
      params,
      query,
      headers: request.headers,
      body() {
        if (request.headers.expect !== undefined) response.writeContinue()
        return readBody(request, route.mostBodyBytes ?? MOST_BODY_BYTES)
      },
      signal: stopped.signal,
      gone: gone.signal,
      request,
      response,
    }
    await send(response, await route.handle(exchange))
  } catch (error) {
    refuse(response, error, log)
  } finally {
    ending.removeEventListener('abort', beLast)
    // What a refused request still sends is not read to its end.
    if (!request.complete && response.writableEnded) request.socket.destroySoon()
  }
}

function refuse(response: http.ServerResponse, error: unknown, log: Log): void {
  if (response.destroyed) return
  const known = error instanceof HttpError ? error : new HttpError(500, 'Internal', 'the server failed; its log says why')
  if (known !== error) log.write('error', 'a request failed', { error: messageOf(error) })
  // In the middle of an answer only a cut connection tells the peer that it is not whole.
  if (response.headersSent) return void response.destroy()
  if (!response.req.complete) response.setHeader('connection', 'close')
  if (known.status === 503) response.setHeader('retry-after', '1')
  end(response, { status: known.status, type: 'application/json', text: errorBody(known) })
}

async function send(response: http.ServerResponse, answer: Answer): Promise<void> {
  if (answer === 'answered' || response.destroyed) return
  if ('json' in answer) end(response, { status: answer.status ?? 200, type: 'application/json', text: JSON.stringify(answer.json) })
  else if ('text' in answer)
    end(response, { status: answer.status ?? 200, type: answer.type ?? 'text/plain; charset=utf-8', text: answer.text })
  else await sendLines(response, answer.lines)
}

function end(response: http.ServerResponse, { status, type, text }: { status: number; type: string; text: string }): void {
  const body = Buffer.from(text)
  response.writeHead(status, { 'content-type': type, 'content-length': body.length })
  response.end(response.req.method === 'HEAD' ? undefined : body)
}

const LINES_AT_ONCE = 64 * 1024

async function sendLines(response: http.ServerResponse, lines: AsyncIterable<unknown> | Iterable<unknown>): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  let text = ''
  for await (const line of lines) {
    text += `${JSON.stringify(line)}\n`
    if (text.length < LINES_AT_ONCE) continue
    if (!response.write(text)) await drained(response)
    text = ''
    if (response.destroyed) return
  }
  response.end(text)
}

/** Resolves when the peer has taken enough, or is gone. */
function drained(response: http.ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
    if (response.destroyed) done()
  })
}

async function readBody(request: http.IncomingMessage, mostBytes: number): Promise<Buffer> {
  const tooLong = () => new HttpError(413, 'TooLarge', `the body is longer than ${mostBytes} bytes`)
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) throw tooLong()
  const chunks: Buffer[] = []
  let length = 0
  // Not `for await`: leaving such a loop would destroy the socket before the refusal is sent.
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= mostBytes) return void chunks.push(chunk)
      request.pause()
      reject(tooLong())
    })
    request.on('end', resolve)
    request.on('error', reject)
    request.on('close', () => reject(new HttpError(400, 'Incomplete', 'the body ended early')))
  })
  return Buffer.concat(chunks)
}
