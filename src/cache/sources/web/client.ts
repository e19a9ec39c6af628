/**
 * Requests to servers that nobody vouches for: bounded headers, times and speed; redirects within one host only; connections to
 * checked addresses only; bodies as they are (no content encoding). Times are taken from the clock while waiting for the other
 * side, never while whoever reads is busy. Messages name the host and path, never a query or a header.
 */
import { Agent, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps, Agent as SecureAgent } from 'node:https'
import type { Clock } from '../../../base/clock.ts'
import { LARGEST_HEADERS, MOST_REDIRECTS, WEB_TIMES, type WebTimes } from '../limits.ts'
import { SourceRefused } from '../source.ts'
import { assertHost, checkedLookup, type Resolve } from './addresses.ts'
import { within, withProgress } from './patience.ts'

export interface WebRequest {
  url: URL
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Sent whole; sent again when a kept connection turns out to be closed. */
  body?: Uint8Array
  headers?: Readonly<Record<string, string>>
  signal: AbortSignal
  /** Signed requests are valid for one URL only. */
  mayRedirect?: boolean
}

export interface WebAnswer {
  status: number
  headers: IncomingHttpHeaders
  /** After redirects. */
  url: URL
  /** To be read to its end, or given up with `discard`. */
  body: AsyncIterable<Uint8Array>
  discard(): void
}

export interface WebClient {
  request(request: WebRequest): Promise<WebAnswer>
  close(): void
}

export interface WebClientOptions {
  clock: Clock
  allowPrivateAddresses: boolean
  times?: WebTimes
  resolve?: Resolve
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])
const CONNECTIONS = 32

export function createWebClient({ clock, allowPrivateAddresses, times = WEB_TIMES, resolve }: WebClientOptions): WebClient {
  const agents = {
    'http:': new Agent({ keepAlive: true, maxSockets: CONNECTIONS }),
    'https:': new SecureAgent({ keepAlive: true, maxSockets: CONNECTIONS }),
  }
  const lookup = checkedLookup(allowPrivateAddresses, resolve)

  async function once({ url, method, headers, body, signal }: WebRequest): Promise<WebAnswer> {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new SourceRefused(`${url.protocol} cannot be read: use http or https`)
    assertHost(url, allowPrivateAddresses)
    const options: RequestOptions = {
      method,
      agent: agents[url.protocol],
      lookup: lookup as RequestOptions['lookup'],
      headers: {
        ...headers,
        'accept-encoding': 'identity',
        'user-agent': 'sluice',
        ...(body === undefined ? {} : { 'content-length': String(body.length) }),
      },
      maxHeaderSize: LARGEST_HEADERS,
    }
    // What is sent may go as slowly as what comes.
    const ms = times.answerMs + ((body?.length ?? 0) * 1000) / times.leastBytesPerSecond
    const message = await within({ clock, ms, signal, what: `${shown(url)} did not answer` }, (ended) =>
      send({ url, options, body, signal: ended }),
    )
    return answerOf({ message, method, url, signal, clock, times })
  }

  return {
    async request(request) {
      let { url } = request
      for (let redirects = 0; ; redirects++) {
        const answer = await once({ ...request, url })
        const { location } = answer.headers
        if (request.mayRedirect === false || !REDIRECTS.has(answer.status) || location === undefined) return answer
        answer.discard()
        if (redirects === MOST_REDIRECTS) throw new SourceRefused(`${shown(request.url)} redirects more than ${MOST_REDIRECTS} times`)
        url = redirected(url, location)
      }
    },
    close() {
      agents['http:'].destroy()
      agents['https:'].destroy()
    },
  }
}

/** For messages: without user, password, query. */
export const shown = (url: URL): string => `${url.protocol}//${url.host}${url.pathname.slice(0, 200)}`

interface Sending {
  url: URL
  options: RequestOptions
  body: Uint8Array | undefined
  signal: AbortSignal
}

/** A connection that was kept alive may have been closed by the other side just now: then once more, on a new one. */
async function send(sending: Sending, isSecond = false): Promise<IncomingMessage> {
  const { url, options, body, signal } = sending
  const outgoing = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, { ...options, signal })
  try {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve)
      // Stays for later errors, too: those of the answer are seen where its body is read.
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!isSecond && outgoing.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE')) return send(sending, true)
    if (error instanceof SourceRefused || signal.aborted) throw error
    throw new Error(`${shown(url)} cannot be reached: ${code ?? 'the answer is no HTTP'}`)
  }
}

interface Arrived {
  method: string
  message: IncomingMessage
  url: URL
  signal: AbortSignal
  clock: Clock
  times: WebTimes
}

function answerOf({ message, method, url, signal, clock, times }: Arrived): WebAnswer {
  // An error nobody waits for would end the program; whoever reads the body sees it as the body's.
  message.on('error', () => {})
  const encoding = message.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    message.destroy()
    throw new SourceRefused(`${shown(url)} is sent compressed although it was asked for as it is: switch that off on the server`)
  }
  return {
    status: message.statusCode ?? 0,
    headers: message.headers,
    url,
    body: withProgress({ body: message, signal, clock, times, what: shown(url) }),
    // An answer to HEAD has nothing to give up, and its connection can be used again.
    discard: () => (method === 'HEAD' ? message.resume() : message.destroy()),
  }
}

function redirected(from: URL, location: string): URL {
  const base = shown(from)
  if (!URL.canParse(location, from.href)) throw new SourceRefused(`${base} redirects to something that is no URL`)
  const to = new URL(location, from)
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === ''
  if (to.hostname !== from.hostname || (to.host !== from.host && !isUpgrade)) {
    throw new SourceRefused(`${base} redirects to ${to.host}: mount that host instead`)
  }
  if (from.protocol === 'https:' && to.protocol !== 'https:')
    throw new SourceRefused(`${base} redirects from https to http, which is refused`)
  if (to.username !== '' || to.password !== '') throw new SourceRefused(`${base} redirects to a URL with credentials, which is refused`)
  return to
}
