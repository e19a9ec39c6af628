/** Channels over a WebSocket (subprotocol v5.channel.k8s.io): each message begins with the number of its channel. */

import { isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type RawData, WebSocket } from 'ws'
import { messageOf } from '../../base/error-text.ts'
import { ApiError, statusOf } from '../errors.ts'
import { type ChannelHandlers, type Channels, type ConnectRequest, TransportError } from '../transport.ts'
import { tunnelThrough } from './forward-proxy.ts'
import type { TlsConnection } from './undici.ts'

const PROTOCOL = 'v5.channel.k8s.io'
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
const NORMAL_CLOSURE = 1000

/** Rejects with an ApiError when the server refuses. */
export async function connectChannels(connection: TlsConnection, request: ConnectRequest, handlers: ChannelHandlers): Promise<Channels> {
  const socket = await connectTo(connection, request)
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void =>
      reject(new TransportError(`the connection to ${connection.server} failed: ${error.message}`, error))
    socket.once('error', failed)
    // A server that never answers must not be waited for.
    const onAbort = (): void => socket.terminate()
    if (request.signal?.aborted) onAbort()
    request.signal?.addEventListener('abort', onAbort, { once: true })
    socket.once('close', () => request.signal?.removeEventListener('abort', onAbort))
    // The first output may come with the answer to the handshake: listeners must be attached from here on.
    socket.once('open', () => {
      socket.off('error', failed)
      resolve(channelsOver(socket, handlers))
    })
    socket.once('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = []
      const code = response.statusCode ?? 500
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', failed)
      response.on('end', () => reject(new ApiError(code, statusOf(code, Buffer.concat(chunks).toString('utf8')))))
    })
  })
}

function channelsOver(socket: WebSocket, handlers: ChannelHandlers): Channels {
  let broken: TransportError | undefined
  socket.on('message', (data: RawData) => {
    const message = bytesOf(data)
    if (message.length > 0) handlers.message(message[0] ?? 0, message.subarray(1))
  })
  socket.on('error', (error) => {
    broken = new TransportError(`the connection to the command failed: ${error.message}`, error)
  })
  socket.on('close', (code) => {
    if (code !== NORMAL_CLOSURE) broken ??= new TransportError(`the connection to the command broke (${code})`)
    handlers.closed(broken)
  })
  return {
    send: (channel, body) =>
      new Promise((resolve, reject) => {
        socket.send(Buffer.concat([Buffer.from([channel]), body]), (error) => {
          if (error) reject(new TransportError(`the command cannot be written to: ${error.message}`, error))
          else resolve()
        })
      }),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.close(NORMAL_CLOSURE),
  }
}

async function connectTo(connection: TlsConnection, request: ConnectRequest): Promise<WebSocket> {
  const token = await connection.token?.()
  const pair = await connection.clientCertificate?.()
  const tls = {
    ca: connection.ca,
    cert: pair?.cert ?? connection.cert,
    key: pair?.key ?? connection.key,
    servername: connection.serverName,
    rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
  }
  const headers = token === undefined ? request.headers : { ...request.headers, authorization: `Bearer ${token}` }
  const url = new URL(connection.server.replace(/\/$/, '') + request.path)
  const isPlain = url.protocol === 'http:'
  const through = await tunnelTo(connection, url)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // Only a host name may be sent as SNI; an IP address is verified without it.
  const servername = connection.serverName ?? (isIP(host) === 0 ? host : undefined)
  // Unencrypted traffic goes through the tunnel unchanged.
  const tunnelled = (socket: Socket): Socket => (isPlain ? socket : connectTls({ ...tls, socket, host, servername }))
  url.protocol = isPlain ? 'ws:' : 'wss:'
  const options = { ...tls, headers, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false }
  return new WebSocket(url, [PROTOCOL], through === undefined ? options : { ...options, createConnection: () => tunnelled(through) })
}

async function tunnelTo({ proxy, server }: TlsConnection, { hostname, port, protocol }: URL): Promise<Socket | undefined> {
  if (proxy === undefined) return undefined
  try {
    return await tunnelThrough(proxy, { hostname, port: port === '' ? (protocol === 'http:' ? 80 : 443) : port })
  } catch (error) {
    throw new TransportError(`the connection to ${server} failed: ${messageOf(error)}`, error)
  }
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data)
  return data instanceof ArrayBuffer ? Buffer.from(data) : data
}
