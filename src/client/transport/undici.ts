/**
 * The transport over TLS: an undici pool per server and identity, with connections kept alive. HTTP/1.1, because it is
 * twice as fast as HTTP/2 for requests and a watch costs one connection either way.
 */

import { buildConnector, type Dispatcher, Pool } from 'undici'
import { messageOf } from '../../base/error-text.ts'
import { type Transport, TransportError, type TransportRequest, type TransportResponse } from '../transport.ts'
import { connectChannels } from './exec.ts'
import { checkProxy, type ForwardProxy, tunnelThrough } from './forward-proxy.ts'

export interface TlsConnection {
  /** https://host:port, with an optional path prefix. */
  server: string
  ca?: string
  /** Client certificate and key, PEM. */
  cert?: string
  key?: string
  /** The same for certificates that rotate: called for each new connection. */
  clientCertificate?: () => Promise<{ cert: string; key: string } | undefined>
  serverName?: string
  insecureSkipTlsVerify?: boolean
  /** The bearer token for each request; called every time, so that it may rotate. `isRefused`: the last one was rejected. */
  token?: (isRefused?: boolean) => string | undefined | Promise<string | undefined>
  /** The proxy through which the server is reached (default: none). */
  proxy?: ForwardProxy
}

const REQUEST_TIMEOUT_MS = 65_000
const CONNECTIONS = 16
const UNAUTHORIZED = 401

export function undiciTransport(connection: TlsConnection): Transport {
  const url = new URL(connection.server)
  if (connection.proxy !== undefined) checkProxy(connection.proxy)
  const prefix = url.pathname === '/' ? '' : url.pathname.replace(/\/$/, '')
  const shared = { connect: connectorOf(connection), headersTimeout: REQUEST_TIMEOUT_MS, allowH2: false }
  const requests = new Pool(url.origin, { ...shared, connections: CONNECTIONS, bodyTimeout: REQUEST_TIMEOUT_MS })
  // Streams hold their connection for as long as they live: they get a pool without a limit of its own.
  const streams = new Pool(url.origin, { ...shared, connections: null, bodyTimeout: 0 })

  async function send(request: TransportRequest, token: string | undefined): Promise<TransportResponse> {
    const headers = token === undefined ? request.headers : { ...request.headers, authorization: `Bearer ${token}` }
    try {
      const answer = await (request.isStream ? streams : requests).request({
        method: request.method as Dispatcher.HttpMethod,
        path: prefix + request.path,
        headers,
        body: request.body,
        signal: request.signal,
      })
      const cancel = (): void => {
        answer.body.on('error', () => undefined)
        answer.body.destroy()
      }
      return { status: answer.statusCode, headers: answer.headers, body: guarded(answer.body, request.signal), cancel }
    } catch (error) {
      throw asTransportError(error, connection.server)
    }
  }

  return {
    async request(request) {
      const token = await connection.token?.()
      const response = await send(request, token)
      if (response.status !== UNAUTHORIZED || token === undefined) return response
      // An unauthenticated request had no effect: a newer token may be tried, once.
      const newer = await connection.token?.(true)
      if (newer === undefined || newer === token) return response
      response.cancel()
      return send(request, newer)
    },
    connect: (request, handlers) => connectChannels(connection, request, handlers),
    async close() {
      await Promise.all([requests.destroy(), streams.destroy()])
    },
  }
}

function connectorOf(connection: TlsConnection): buildConnector.BuildOptions | buildConnector.connector {
  const fixed = {
    ca: connection.ca,
    cert: connection.cert,
    key: connection.key,
    servername: connection.serverName,
    rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
  }
  const { clientCertificate, proxy } = connection
  if (clientCertificate === undefined && proxy === undefined) return fixed
  return (options, callback) => {
    Promise.all([clientCertificate?.(), proxy === undefined ? undefined : tunnelThrough(proxy, endOf(options))]).then(
      ([pair, httpSocket]) => {
        // Unencrypted traffic goes through the tunnel unchanged.
        if (httpSocket !== undefined && options.protocol !== 'https:') callback(null, httpSocket)
        else buildConnector({ ...fixed, ...pair })({ ...options, httpSocket }, callback)
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    )
  }
}

const endOf = ({ hostname, port, protocol }: buildConnector.Options): { hostname: string; port: string } => ({
  hostname,
  port: port === '' ? (protocol === 'https:' ? '443' : '80') : port,
})

async function* guarded(body: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk
  } catch (error) {
    // An abort comes from the caller: the stream just ends.
    if (signal?.aborted) return
    throw asTransportError(error, 'the server')
  }
}

function asTransportError(error: unknown, server: string): TransportError {
  const cause = messageOf(error)
  return new TransportError(`the connection to ${server} failed: ${cause}`, error)
}
