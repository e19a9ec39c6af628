/**
 * One request and its answer, for HTTP/1.1 and HTTP/2 alike: read (bounded), handle (with a deadline, aborted when the client
 * leaves), answer whole or as a stream with backpressure. Whatever happens, the exchange ends exactly once.
 */
import type { ServerResponse } from 'node:http'
import { constants, type Http2ServerResponse } from 'node:http2'
import type { Clock } from '../../base/clock.ts'
import type { ApiRequest, ApiResponse, ByteSink, Handle } from '../../kube/http.ts'
import { failure, internalServerError, type StatusError, tooLargeBodyError } from '../../kube/status.ts'
import { compressed } from './compress.ts'
import { type Incoming, readBody, readHeaders, readTarget } from './incoming.ts'

export type Outgoing = ServerResponse | Http2ServerResponse

export interface ExchangeOptions {
  handle: Handle
  clock: Clock
  bodyBytes: number
  /** Until the answer's head is ready; a stream may then last as long as it needs. */
  requestTimeoutMs: number
  /** Unexpected errors of `handle`, which should not throw. */
  onError(error: unknown): void
  isStopping(): boolean
}

export interface Exchange {
  /** Settles when the answer is sent or the client is gone. */
  done: Promise<void>
  /** Ends a streaming answer; any other is left to finish. */
  endStream(): void
}

type Identity = Pick<ApiRequest, 'peer' | 'refusedPeer'>

interface Wire {
  request: Incoming
  response: Outgoing
  identity: Identity
}

export function startExchange({ request, response, identity }: Wire, options: ExchangeOptions): Exchange {
  const presence = new Presence()
  let stopStream: (() => void) | undefined
  let isClosed = false
  const closed = new Promise<void>((resolve) => {
    response.on('close', () => {
      isClosed = true
      presence.leave()
      stopStream?.()
      stopStream = undefined
      resolve()
    })
  })
  // A client that resets its stream is also reported by 'close'; without a listener, the error would end the process.
  request.on('error', ignore)
  response.on('error', ignore)
  // A stream that the client resets without an error code stays half open in Node while it has unsent data.
  if ('stream' in response) request.on('aborted', () => response.stream.destroy())

  const run = async () => {
    const answer = await withDeadline(() => answerTo(request, { identity, presence, options }), presence, options)
    if (isClosed || answer === undefined) return
    // Clients without credentials do not get to keep an HTTP/2 connection, as on a real server (CVE-2023-44487).
    const isLast = options.isStopping() || answer.closes === true || ('stream' in response && answer.response.status === 401)
    if (typeof answer.response.body !== 'function')
      return sendWhole(response, answer.response, { isHead: request.method === 'HEAD', isLast })
    sendHead(response, answer.response, isLast)
    stopStream = answer.response.body(sinkOf(response, () => isClosed))
    if (isClosed) stopStream()
  }
  const done = run().then(
    () => closed,
    (error: unknown) => {
      options.onError(error)
      response.destroy()
      return closed
    },
  )
  return {
    done,
    endStream() {
      if (stopStream === undefined) return
      stopStream()
      stopStream = undefined
      response.end()
    },
  }
}

function ignore(): void {}

/** Whether the client is still there. Most requests never need to know, so the signal is made on first use. */
class Presence {
  /** Called once, when the client leaves. */
  onLeave: (() => void) | undefined
  #hasLeft = false
  #abort: AbortController | undefined

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.#hasLeft) this.#abort.abort(GONE)
    return this.#abort.signal
  }

  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#abort?.abort(GONE)
    this.onLeave?.()
  }
}

/** Shared: a separate reason for every request would cost a stack trace each. */
const GONE = new Error('the client is gone')

interface Answer {
  response: ApiResponse
  /** The connection cannot be used again: part of the request is unread. */
  closes?: true
}

interface Asking {
  identity: Identity
  presence: Presence
  options: ExchangeOptions
}

/** undefined when the client left before it had sent the whole request. */
async function answerTo(request: Incoming, { identity, presence, options }: Asking): Promise<Answer | undefined> {
  const body = await readBody(request, options.bodyBytes)
  if (body.kind === 'gone') return undefined
  if (body.kind === 'too-large') return { response: statusResponse(tooLargeBodyError(`limit is ${options.bodyBytes}`)), closes: true }
  const headers = readHeaders(request.rawHeaders)
  const asked: ApiRequest = {
    method: request.method ?? 'GET',
    url: readTarget(request.url),
    headers,
    body: body.bytes,
    get signal() {
      return presence.signal
    },
    ...identity,
  }
  try {
    return { response: await compressed(await options.handle(asked), headers['accept-encoding']) }
  } catch (error) {
    options.onError(error)
    return { response: statusResponse(internalServerError('the request could not be served; the server has logged why')) }
  }
}

/** The answer; 504, and the work is aborted, when it takes too long; undefined once the client is gone. */
function withDeadline(work: () => Promise<Answer | undefined>, presence: Presence, options: ExchangeOptions): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = options.clock.after(options.requestTimeoutMs, () => {
      const message = 'Timeout: request did not complete within the allotted timeout'
      resolve({ response: statusResponse(failure(504, 'Timeout', message, {})), closes: true })
      presence.leave()
    })
    presence.onLeave = () => {
      cancel()
      resolve(undefined)
    }
    work()
      .then(resolve, reject)
      .finally(() => {
        cancel()
        presence.onLeave = undefined
      })
  })
}

function statusResponse(error: StatusError): ApiResponse {
  return {
    status: error.code,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
    body: Buffer.from(`${JSON.stringify(error.status)}\n`),
  }
}

function sendWhole(response: Outgoing, answer: ApiResponse, { isHead, isLast }: { isHead: boolean; isLast: boolean }): void {
  const body = answer.body instanceof Uint8Array ? answer.body : undefined
  const hasLength = answer.status !== 204 && answer.status !== 304
  const headers = hasLength ? { ...answer.headers, 'content-length': String(body?.length ?? 0) } : answer.headers
  sendHead(response, { ...answer, headers }, isLast)
  if (isHead || body === undefined) response.end()
  else response.end(body)
  // The rest of an unread request is not waited for.
  if (isLast && 'stream' in response) response.once('finish', () => response.stream.close(constants.NGHTTP2_NO_ERROR))
}

/** HTTP/2 has no such headers and refuses them. */
const HTTP1_ONLY = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])

function sendHead(response: Outgoing, answer: ApiResponse, isLast: boolean): void {
  const isHttp2 = 'stream' in response
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(answer.headers)) {
    if (isHttp2 && HTTP1_ONLY.has(name)) continue
    headers[name] = typeof value === 'string' ? wireText(value) : value.map(wireText)
  }
  if (isHttp2) {
    if (isLast || answer.headers.connection === 'close') response.once('finish', () => response.stream.session?.close())
    response.writeHead(answer.status, headers)
  } else {
    if (isLast) headers.connection = 'close'
    response.writeHead(answer.status, headers)
    if (typeof answer.body === 'function') response.flushHeaders()
  }
}

/** A header's text as UTF-8 bytes, one per character, without what would end the line. */
function wireText(text: string): string {
  let isPlain = true
  for (let i = 0; i < text.length && isPlain; i++) {
    const code = text.charCodeAt(i)
    isPlain = code >= 0x20 && code < 0x7f
  }
  return isPlain ? text : Buffer.from(text.replace(CONTROL, ' ')).toString('latin1')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not reach the wire
const CONTROL = /[\u0000-\u001f\u007f]/g

function sinkOf(response: Outgoing, isClosed: () => boolean): ByteSink {
  return {
    // After the client left nothing is accepted and nothing drains: the producer is stopped by then.
    write: (chunk) => !isClosed() && !response.writableEnded && writeTo(response, chunk),
    onDrain: (callback) => void response.once('drain', callback),
    end: () => {
      if (!isClosed() && !response.writableEnded) response.end()
    },
    breakOff: () => {
      if (isClosed()) return
      if ('stream' in response) response.stream.destroy(BROKEN_OFF)
      else response.destroy()
    },
  }
}

/** Makes HTTP/2 reset the stream, where it would otherwise end it. */
const BROKEN_OFF = new Error('the answer breaks off')

/** Both kinds of response take bytes; their overloads do not agree on how. */
function writeTo(response: { write(chunk: Uint8Array): boolean }, chunk: Uint8Array): boolean {
  return response.write(chunk)
}
