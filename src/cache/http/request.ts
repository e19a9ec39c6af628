/**
 * Requests for JSON and for lines of JSON, over one pool of kept connections. The other side is not trusted: answers are bounded
 * in size, lines in length, everything in time. A status above 399 rejects with the HttpError that the server sent; what never
 * became an answer rejects with Unreachable.
 */
import http from 'node:http'
import https from 'node:https'
import { messageOf } from '../../base/error-text.ts'
import { type HttpError, readErrorBody } from './errors.ts'

export interface RequestOptions {
  /** `http://host:port` or `https://…`, without a path. */
  origin: string
  method?: string
  /** Path and query. */
  target: string
  headers?: Readonly<Record<string, string>>
  body?: Uint8Array
  /** Certificates of the authority, in PEM, for https. */
  ca?: string
  mostBytes?: number
  /** From the first byte sent to the last received. */
  timeoutMs?: number
  signal?: AbortSignal
}

/** Nobody answered, or not as HTTP, or not in time. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

export interface Requester {
  json(options: RequestOptions): Promise<unknown>
  /** Parsed lines, one after the other. `mostBytes` bounds all of them together. */
  lines(options: RequestOptions): AsyncGenerator<unknown, void, undefined>
  close(): void
}

const MOST_BYTES = 4 * 1024 * 1024
const MOST_ERROR_BYTES = 64 * 1024
const LONGEST_LINE = 64 * 1024
const TIMEOUT_MS = 10_000
const MOST_SOCKETS = 64
const HEADER_BYTES = 16 * 1024

export function createRequester(): Requester {
  const agent = new http.Agent({ keepAlive: true, maxSockets: MOST_SOCKETS, timeout: 60_000 })
  const secure = new https.Agent({ keepAlive: true, maxSockets: MOST_SOCKETS, timeout: 60_000 })
  const ask = (options: RequestOptions) => send(options, options.origin.startsWith('https:') ? secure : agent)
  return {
    async json(options) {
      const { response, finish } = await ask(options)
      try {
        const body = await collect(response, options.mostBytes ?? MOST_BYTES)
        return parseJson(body.toString('utf8'), options)
      } finally {
        finish()
      }
    },
    async *lines(options) {
      const { response, finish } = await ask(options)
      try {
        yield* linesOf(response, options)
      } finally {
        finish()
      }
    },
    close() {
      agent.destroy()
      secure.destroy()
    },
  }
}

interface Sent {
  response: http.IncomingMessage
  /** Must be called: ends the timer, and the connection if the answer was not read to its end. */
  finish(): void
}

async function send(options: RequestOptions, agent: http.Agent | https.Agent): Promise<Sent> {
  const { origin, target, method = 'GET', headers, body, ca, timeoutMs = TIMEOUT_MS } = options
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Unreachable(`${origin} did not answer within ${timeoutMs / 1000} s`)), timeoutMs)
  const cancel = () => late.abort(options.signal?.reason)
  options.signal?.addEventListener('abort', cancel, { once: true })
  if (options.signal?.aborted) cancel()
  const stop = () => {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', cancel)
  }
  try {
    const { hostname, port, protocol } = new URL(origin)
    const module = protocol === 'https:' ? https : http
    const sent = await new Promise<Sent>((resolve, reject) => {
      const request = module.request({
        agent,
        ca,
        host: hostname.replace(/^\[(.*)\]$/, '$1'),
        port: port || undefined,
        method,
        path: target,
        headers: body === undefined ? { ...headers } : { 'content-type': 'application/json', 'content-length': body.length, ...headers },
        maxHeaderSize: HEADER_BYTES,
      })
      const abort = () => request.destroy(late.signal.reason instanceof Error ? late.signal.reason : new Unreachable('cancelled'))
      late.signal.addEventListener('abort', abort, { once: true })
      if (late.signal.aborted) abort()
      request.on('error', (error) => reject(error instanceof Unreachable ? error : new Unreachable(`${origin}: ${messageOf(error)}`)))
      request.on('response', (response) => {
        // Later errors belong to whoever reads the answer.
        response.on('error', () => undefined)
        const finish = () => {
          stop()
          late.signal.removeEventListener('abort', abort)
          if (!response.complete) request.destroy()
        }
        resolve({ response, finish })
      })
      request.end(body)
    })
    const status = sent.response.statusCode ?? 0
    if (status < 400) return sent
    try {
      throw await refusalOf(sent.response, status)
    } finally {
      sent.finish()
    }
  } catch (error) {
    stop()
    throw error
  }
}

const refusalOf = async (response: http.IncomingMessage, status: number): Promise<HttpError> =>
  readErrorBody(status, await collect(response, MOST_ERROR_BYTES).catch(() => Buffer.alloc(0)))

async function collect(response: http.IncomingMessage, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of chunksOf(response, mostBytes)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Rejects when more comes than allowed, or less than was announced. */
async function* chunksOf(response: http.IncomingMessage, mostBytes: number): AsyncGenerator<Buffer> {
  let length = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > mostBytes) throw new Unreachable(`the answer is longer than ${mostBytes} bytes`)
      yield chunk
    }
  } catch (error) {
    throw error instanceof Unreachable ? error : new Unreachable(`the answer broke off: ${messageOf(error)}`)
  }
}

async function* linesOf(response: http.IncomingMessage, options: RequestOptions): AsyncGenerator<unknown, void, undefined> {
  let rest: Buffer[] = []
  let restBytes = 0
  for await (const chunk of chunksOf(response, options.mostBytes ?? MOST_BYTES)) {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const piece = chunk.subarray(from, at)
      const line = restBytes === 0 ? piece : Buffer.concat([...rest, piece])
      rest = []
      restBytes = 0
      from = at + 1
      if (line.length > LONGEST_LINE) throw new Unreachable(`a line is longer than ${LONGEST_LINE} bytes`)
      if (line.length > 0) yield parseJson(line.toString('utf8'), options)
    }
    rest.push(chunk.subarray(from))
    restBytes += chunk.length - from
    if (restBytes > LONGEST_LINE) throw new Unreachable(`a line is longer than ${LONGEST_LINE} bytes`)
  }
  // A last line without its end was cut.
  if (restBytes > 0) throw new Unreachable('the answer ended within a line')
}

function parseJson(text: string, { origin, target }: RequestOptions): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new Unreachable(`${origin}${target.split('?')[0]} answered something that is not JSON`)
    throw error
  }
}
