/**
 * The open connections and the requests in progress on them: enough to identify a peer once per connection, to close idle
 * connections, to shut down gracefully, and to leave nothing behind when the deadline passes.
 */
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Exchange } from './exchange.ts'
import type { Incoming } from './incoming.ts'
import { identifyPeer, type PeerIdentity } from './peer.ts'

export interface Connections {
  identityOf(request: Incoming): PeerIdentity
  add(request: Incoming, exchange: Exchange): void
  /** Asks every connection to go away and settles when the last exchange is over. */
  drain(): Promise<void>
  /** Aborted once drained: there is nothing left to wait for. */
  readonly drained: AbortSignal
  cut(): void
}

interface Tracked {
  sessions: Set<ServerHttp2Session>
  /** HTTP/1.1 connections, and how many requests are in progress on each. */
  sockets: Map<TLSSocket, number>
  /** Everything that was accepted, before or after its handshake: what `cut` must not leave behind. */
  accepted: Set<Socket>
}

export function trackConnections(server: Http2SecureServer, idleTimeoutMs: number): Connections {
  const { sessions, sockets, accepted } = track(server, idleTimeoutMs)
  const exchanges = new Set<Exchange>()
  const identities = new WeakMap<object, PeerIdentity>()
  const drained = new AbortController()
  let isDraining = false

  function count(socket: TLSSocket, change: number): void {
    if (!sockets.has(socket)) return
    const left = (sockets.get(socket) ?? 0) + change
    sockets.set(socket, left)
    if (isDraining && left === 0) socket.destroySoon()
  }

  return {
    drained: drained.signal,
    identityOf(request) {
      const connection = 'stream' in request ? request.stream.session : request.socket
      if (connection === undefined) return {}
      const identity = identities.get(connection) ?? identifyPeer(request.socket as TLSSocket)
      identities.set(connection, identity)
      return identity
    },
    add(request, exchange) {
      exchanges.add(exchange)
      const socket = 'stream' in request ? undefined : (request.socket as TLSSocket)
      if (socket !== undefined) count(socket, 1)
      void exchange.done.then(() => {
        if (socket !== undefined) count(socket, -1)
        exchanges.delete(exchange)
      })
    },
    async drain() {
      isDraining = true
      for (const session of sessions) session.close()
      for (const [socket, active] of sockets) if (active === 0) socket.destroySoon()
      const pending = [...exchanges].map((exchange) => exchange.done)
      for (const exchange of exchanges) exchange.endStream()
      await Promise.all(pending)
      drained.abort()
    },
    cut() {
      for (const session of sessions) session.destroy()
      for (const socket of [...sockets.keys(), ...accepted]) socket.destroy()
    },
  }
}

function track(server: Http2SecureServer, idleTimeoutMs: number): Tracked {
  const tracked: Tracked = { sessions: new Set(), sockets: new Map(), accepted: new Set() }
  server.on('connection', (socket: Socket) => {
    tracked.accepted.add(socket)
    socket.on('close', () => tracked.accepted.delete(socket))
  })
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') return
    tracked.sockets.set(socket, 0)
    socket.on('close', () => tracked.sockets.delete(socket))
  })
  server.on('session', (session: ServerHttp2Session) => {
    let open = 0
    tracked.sessions.add(session)
    session.on('close', () => tracked.sessions.delete(session))
    session.on('error', () => undefined)
    session.on('stream', (stream) => {
      open++
      stream.on('close', () => open--)
    })
    session.setTimeout(idleTimeoutMs, () => {
      if (open === 0) session.close()
    })
  })
  return tracked
}
