/**
 * The transport over TLS: an undici pool per server and identity, with connections kept alive. HTTP/1.1, because it is
 * twice as fast as HTTP/2 for requests and a watch costs one connection either way.
 */
import { type Dispatcher, Pool } from 'undici'
import { type Transport, TransportError } from '../transport.ts'

export interface TlsConnection {
  /** https://host:port, with an optional path prefix. */
  server: string
  ca?: string
  /** Client certificate and key, PEM. */
  cert?: string
  key?: string
  serverName?: string
  insecureSkipTlsVerify?: boolean
  /** The bearer token for each request; called every time, so that it may rotate. */
  token?: () => string | undefined | Promise<string | undefined>
}

const REQUEST_TIMEOUT_MS = 65_000
const CONNECTIONS = 16

export function undiciTransport(connection: TlsConnection): Transport {
  const url = new URL(connection.server)
  const prefix = url.pathname === '/' ? '' : url.pathname.replace(/\/$/, '')
  const connect = {
    ca: connection.ca,
    cert: connection.cert,
    key: connection.key,
    servername: connection.serverName,
    rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
  }
  // Streams hold their connection for as long as they live: they get a pool without a bound of its own.
  const requests = new Pool(url.origin, {
    connections: CONNECTIONS,
    connect,
    headersTimeout: REQUEST_TIMEOUT_MS,
    bodyTimeout: REQUEST_TIMEOUT_MS,
    allowH2: false,
  })
  const streams = new Pool(url.origin, { connections: null, connect, headersTimeout: REQUEST_TIMEOUT_MS, bodyTimeout: 0, allowH2: false })
  return {
    async request(request) {
      const token = await connection.token?.()
      const headers = token === undefined ? request.headers : { ...request.headers, authorization: `Bearer ${token}` }
      try {
        const response = await (request.isStream ? streams : requests).request({
          method: request.method as Dispatcher.HttpMethod,
          path: prefix + request.path,
          headers,
          body: request.body,
          signal: request.signal,
        })
        return {
          status: response.statusCode,
          headers: response.headers,
          body: guarded(response.body, request.signal),
          cancel: () => {
            response.body.on('error', () => undefined)
            response.body.destroy()
          },
        }
      } catch (error) {
        throw asTransportError(error, connection.server)
      }
    },
    async close() {
      await Promise.all([requests.destroy(), streams.destroy()])
    },
  }
}

async function* guarded(body: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk
  } catch (error) {
    // An abort is the caller's own wish: the stream just ends.
    if (signal?.aborted) return
    throw asTransportError(error, 'the server')
  }
}

function asTransportError(error: unknown, server: string): TransportError {
  const cause = error instanceof Error ? error.message : String(error)
  return new TransportError(`the connection to ${server} failed: ${cause}`, error)
}
