/**
 * Puts `handle` on HTTPS: HTTP/2 and HTTP/1.1 on one port, client certificates requested but never required, everything that
 * a client can make grow bounded. One of the adapters that may touch the network.
 */
import type { IncomingMessage } from 'node:http'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Clock, sleep } from '../../base/clock.ts'
import type { Handle } from '../../kube/http.ts'
import { trackConnections } from './connections.ts'
import { type ExchangeOptions, type Outgoing, startExchange } from './exchange.ts'
import { type Incoming, readHeaders, readTarget } from './incoming.ts'
import { ListenError } from './listen-error.ts'
import { peerAt } from './peer.ts'
import { createUpgrader } from './web-socket.ts'

export interface TlsMaterial {
  /** PEM of the serving certificate and its key. */
  certificate: string
  key: string
  /** PEM of the authorities that client certificates are checked against. */
  clientAuthority: string
}

export interface ListenerLimits {
  /** Bytes of a request body; more is answered 413 unread. Default 3 MiB. */
  bodyBytes: number
  /** Bytes of all headers of a request. Default 64 KiB. */
  headerBytes: number
  /** Until an answer begins. Default 60 s; a watch answers at once and then lasts. */
  requestTimeoutMs: number
  /** Until a connection without requests is closed. Default 90 s. */
  idleTimeoutMs: number
  /** Connections at once; further ones are dropped. Default 4096. */
  connections: number
  /** Requests at once on one HTTP/2 connection. Default 250. */
  streams: number
}

export const DEFAULT_LISTENER_LIMITS: ListenerLimits = {
  bodyBytes: 3 * 1024 * 1024,
  headerBytes: 64 * 1024,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 90_000,
  connections: 4096,
  streams: 250,
}

export interface ListenOptions {
  handle: Handle
  tls: TlsMaterial
  clock: Clock
  /** 0 picks a free port. */
  port: number
  /** Default 127.0.0.1. */
  host?: string
  limits?: Partial<ListenerLimits>
  /** Errors that no caller sees: handlers that threw, the listening socket. */
  onError?(error: unknown): void
}

export interface Listener {
  readonly host: string
  readonly port: number
  /** New connections use the new certificate and authorities; open ones continue. */
  renewTls(tls: TlsMaterial): void
  /** Takes no more requests, ends watches, lets the rest finish; after the deadline everything is closed. Default 10 s. */
  stop(deadlineMs?: number): Promise<void>
}

export async function listen(options: ListenOptions): Promise<Listener> {
  const limits: ListenerLimits = { ...DEFAULT_LISTENER_LIMITS, ...options.limits }
  const onError = options.onError ?? (() => undefined)
  const server = makeServer(options.tls, limits)
  const connections = trackConnections(server, limits.idleTimeoutMs)
  let isStopping = false
  const exchangeOptions: ExchangeOptions = {
    handle: options.handle,
    clock: options.clock,
    bodyBytes: limits.bodyBytes,
    requestTimeoutMs: limits.requestTimeoutMs,
    onError,
    isStopping: () => isStopping,
  }

  server.on('request', (request: Incoming, response: Outgoing) => {
    if (isStopping) return refuseWhileStopping(response)
    const identity = peerAt(connections.identityOf(request), options.clock.now())
    connections.add(request, startExchange({ request, response, identity }, exchangeOptions))
  })
  const upgrade = createUpgrader({ handle: options.handle, clock: options.clock, onError })
  server.on('upgrade', (message: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (isStopping) return void socket.destroy()
    const identity = peerAt(connections.identityOf(message), options.clock.now())
    const headers = readHeaders(message.rawHeaders)
    upgrade({ message, request: { method: message.method ?? 'GET', url: readTarget(message.url), headers, ...identity }, socket, head })
  })

  const host = options.host ?? '127.0.0.1'
  const port = await bind(server, host, options.port)
  server.on('error', onError)
  return {
    host,
    port,
    renewTls: (tls) => server.setSecureContext(secureContext(tls)),
    async stop(deadlineMs = 10_000) {
      isStopping = true
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
      await Promise.race([connections.drain(), sleep(options.clock, deadlineMs, connections.drained)])
      connections.cut()
      await closed
    },
  }
}

const secureContext = (tls: TlsMaterial) => ({
  cert: tls.certificate,
  key: tls.key,
  ca: tls.clientAuthority,
  minVersion: 'TLSv1.2' as const,
})

function makeServer(tls: TlsMaterial, limits: ListenerLimits): Http2SecureServer {
  const server = createSecureServer({
    ...secureContext(tls),
    allowHTTP1: true,
    ALPNProtocols: ['h2', 'http/1.1'],
    requestCert: true,
    rejectUnauthorized: false,
    noDelay: true,
    handshakeTimeout: 10_000,
    // A megabyte each: enough for hundreds of slow watches, small enough to bound one bad client.
    maxSessionMemory: 64,
    settings: { maxConcurrentStreams: limits.streams, initialWindowSize: 256 * 1024, maxHeaderListSize: limits.headerBytes },
  })
  server.maxConnections = limits.connections
  // The HTTP/1.1 half takes its settings from properties that the HTTP/2 server does not set: without keepAliveTimeout an
  // idle connection would never be closed (node issue 59783).
  Object.assign(server, {
    keepAliveTimeout: limits.idleTimeoutMs,
    headersTimeout: Math.min(limits.requestTimeoutMs, 30_000),
    requestTimeout: limits.requestTimeoutMs,
    maxHeaderSize: limits.headerBytes,
  })
  // A peer that cannot finish its handshake or speaks another protocol is not our problem; the connection is closed.
  server.on('tlsClientError', (_error, socket) => void socket.destroy())
  server.on('sessionError', () => undefined)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
    socket.end(`HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`)
  })
  return server
}

/** The answer of a real server that is shutting down, on connections that are still open. */
function refuseWhileStopping(response: Outgoing): void {
  const isHttp2 = 'stream' in response
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'retry-after': '5', ...(isHttp2 ? {} : { connection: 'close' }) }
  if (isHttp2) response.writeHead(429, headers)
  else response.writeHead(429, headers)
  response.end('The apiserver is shutting down, please try again later.\n')
}

function bind(server: Http2SecureServer, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => reject(new ListenError(error, host, port))
    server.once('error', onError)
    server.listen({ host, port }, () => {
      server.off('error', onError)
      resolve((server.address() as AddressInfo).port)
    })
  })
}
