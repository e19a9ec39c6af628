/**
 * Commands and terminals over WebSockets, as kubectl speaks them: each message begins with the number of its channel. A
 * request for one is answered by `handle` like any other; only if `handle` accepts a conversation is the connection
 * upgraded. Neither side is read faster than the other consumes.
 */
import type { IncomingMessage } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import type { Clock } from '../../base/clock.ts'
import type { ApiRequest, ApiResponse, Conversation, ConversationPeer, Handle } from '../../kube/http.ts'
import { internalServerError } from '../../kube/status.ts'

const STDIN = 0
const STDOUT = 1
const STDERR = 2
const ERROR = 3
const RESIZE = 4
/** Only in the fifth version: the channel in the next byte is closed. */
const CLOSE = 255

/** In order of preference. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024
const HIGH_WATER_BYTES = 1024 * 1024
/** A client that does not answer for two of these intervals is gone. */
const PING_MS = 30_000
const NORMAL_CLOSURE = 1000
const PROTOCOL_ERROR = 1002

export interface UpgradeOptions {
  handle: Handle
  clock: Clock
  onError(error: unknown): void
}

export interface Upgrade {
  /** As the HTTP server got it, and as `handle` takes it. */
  message: IncomingMessage
  request: ApiRequest
  socket: Duplex
  head: Buffer
}

export type Upgrader = (upgrade: Upgrade) => void

export function createUpgrader(options: UpgradeOptions): Upgrader {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => PROTOCOLS.find((protocol) => offered.has(protocol)) ?? false,
  })
  return (upgrade) => {
    const { socket } = upgrade
    const gone = new AbortController()
    const onClose = (): void => gone.abort()
    socket.on('error', onClose)
    socket.on('close', onClose)
    answer(upgrade, gone.signal, options)
      .then((response) => {
        if (socket.destroyed) return
        if (response.converse === undefined) return refuse(socket, response)
        const { converse } = response
        server.handleUpgrade(upgrade.message, socket, upgrade.head, (opened) => converseOver(opened, { converse, clock: options.clock }))
      })
      .catch((error: unknown) => {
        options.onError(error)
        socket.destroy()
      })
  }
}

async function answer({ request, message }: Upgrade, signal: AbortSignal, options: UpgradeOptions): Promise<ApiResponse> {
  try {
    return await options.handle({ ...request, signal, canConverse: isKnown(message) })
  } catch (error) {
    options.onError(error)
    const { code, status } = internalServerError('the request could not be served; the server has logged why')
    return { status: code, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(status)) }
  }
}

function isKnown(message: IncomingMessage): boolean {
  const offered = (message.headers['sec-websocket-protocol'] ?? '').split(',').map((word) => word.trim())
  return message.headers.upgrade?.toLowerCase() === 'websocket' && PROTOCOLS.some((protocol) => offered.includes(protocol))
}

/** The connection stays HTTP for one answer, and then ends. A stream (logs requested with an upgrade) is not started. */
function refuse(socket: Duplex, response: ApiResponse): void {
  const body = response.body instanceof Uint8Array ? response.body : new Uint8Array()
  const isAnswer = response.status >= 200 && typeof response.body !== 'function'
  const status = isAnswer ? response.status : 400
  const lines = Object.entries(response.headers).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one.replace(/[^\t\x20-\x7e]/g, ' ')}`),
  )
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, `content-length: ${body.length}`, 'connection: close', '', '']
  socket.write(head.join('\r\n'))
  socket.end(body)
}

interface Conversing {
  converse: NonNullable<ApiResponse['converse']>
  clock: Clock
}

function converseOver(socket: WebSocket, { converse, clock }: Conversing): void {
  const isFifth = socket.protocol === PROTOCOLS[0]
  let onDrain: (() => void) | undefined
  const send = (channel: number, body: Uint8Array): boolean => {
    if (socket.readyState !== socket.OPEN) return true
    socket.send(Buffer.concat([Buffer.from([channel]), body]), () => {
      if (onDrain === undefined || socket.bufferedAmount >= HIGH_WATER_BYTES) return
      const drained = onDrain
      onDrain = undefined
      drained()
    })
    return socket.bufferedAmount < HIGH_WATER_BYTES
  }
  const peer: ConversationPeer = {
    stdout: (chunk) => send(STDOUT, chunk),
    stderr: (chunk) => send(STDERR, chunk),
    onDrain: (callback) => {
      onDrain = callback
    },
    end(status) {
      send(ERROR, Buffer.from(JSON.stringify(status)))
      socket.close(NORMAL_CLOSURE)
    },
  }
  // A message on the lowest channel signals that the conversation has begun.
  send(STDOUT, Buffer.alloc(0))
  const conversation = converse(peer)
  const stopPinging = keepAlive(socket, clock)
  socket.on('error', () => undefined)
  socket.on('close', () => {
    stopPinging()
    conversation.leave()
  })
  const input = inputOf(socket, conversation)
  socket.on('message', (data: RawData) => {
    const message = bytesOf(data)
    const body = message.subarray(1)
    if (message[0] === STDIN) input(body)
    else if (message[0] === RESIZE) resize(conversation, body)
    else if (message[0] === CLOSE && isFifth && body[0] === STDIN) conversation.endInput()
    else if (message.length > 0 && message[0] !== CLOSE) socket.close(PROTOCOL_ERROR)
  })
}

/** Stops reading while too much is waiting to be consumed. */
function inputOf(socket: WebSocket, conversation: Conversation): (chunk: Uint8Array) => void {
  let waiting = 0
  return (chunk) => {
    waiting += chunk.length
    if (waiting >= HIGH_WATER_BYTES) socket.pause()
    void conversation.input(chunk).then(() => {
      waiting -= chunk.length
      if (waiting < HIGH_WATER_BYTES && socket.isPaused) socket.resume()
    })
  }
}

function resize(conversation: Conversation, body: Buffer): void {
  try {
    const { Width, Height } = JSON.parse(body.toString('utf8')) as { Width?: unknown; Height?: unknown }
    if (isSize(Width) && isSize(Height)) conversation.resize(Width, Height)
  } catch {
    // Not a size: the terminal keeps its size.
  }
}

const isSize = (value: unknown): value is number => Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536

function keepAlive(socket: WebSocket, clock: Clock): () => void {
  let missed = 0
  let cancel: () => void = () => undefined
  socket.on('pong', () => {
    missed = 0
  })
  const next = (): void => {
    cancel = clock.after(PING_MS, () => {
      // Paused by us: then no answer can be read either.
      if (!socket.isPaused && missed++ >= 2) return socket.terminate()
      if (socket.readyState === socket.OPEN) socket.ping()
      next()
    })
  }
  next()
  return () => cancel()
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
}
