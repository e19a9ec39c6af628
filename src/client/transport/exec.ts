/**
 * `pods/exec` over a WebSocket (subprotocol v5.channel.k8s.io): each message begins with the number of its channel. Output
 * is read at the reader's pace: when it does not keep up, the socket is paused, so nothing is buffered without bound.
 */
import { type RawData, WebSocket } from 'ws'
import { ApiError, statusOf } from '../errors.ts'
import { TransportError } from '../transport.ts'
import { createByteQueue } from './byte-queue.ts'
import type { TlsConnection } from './undici.ts'

export interface ExecOptions {
  command: readonly string[]
  container?: string
  /** Whether the command gets input (default false). */
  stdin?: boolean
  /** A terminal: standard error comes with the output (default false). */
  tty?: boolean
  signal?: AbortSignal
}

export interface ExecResult {
  /** 0, or what the command ended with. */
  exitCode: number
  /** The server's words when the command did not end well. */
  message: string
}

export interface ExecSession {
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  /** Resolves when the bytes have left. */
  write(chunk: Uint8Array | string): Promise<void>
  /** The command sees the end of its input. */
  endInput(): Promise<void>
  resize(width: number, height: number): Promise<void>
  /** How the command ended; rejects when the connection broke or the command could not be run. */
  readonly result: Promise<ExecResult>
  /** Leaves without waiting for the end. */
  close(): void
}

const PROTOCOL = 'v5.channel.k8s.io'
const STDIN = 0
const STDOUT = 1
const STDERR = 2
const ERROR = 3
const RESIZE = 4
const CLOSE = 255
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
const HIGH_WATER_BYTES = 1024 * 1024
const NORMAL_CLOSURE = 1000

/** Runs a command in a pod. Rejects with an ApiError when the server refuses. */
export async function execInPod(
  connection: TlsConnection,
  pod: { namespace: string; name: string },
  options: ExecOptions,
): Promise<ExecSession> {
  const socket = await connectTo(connection, pod, options)
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void =>
      reject(new TransportError(`the connection to ${connection.server} failed: ${error.message}`, error))
    socket.once('error', failed)
    // The first output may come with the answer to the handshake: who listens must listen from here on.
    socket.once('open', () => {
      socket.off('error', failed)
      resolve(sessionOver(socket, options.signal))
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

function sessionOver(socket: WebSocket, signal: AbortSignal | undefined): ExecSession {
  const resumeWhenRead = (): void => {
    if (outputs.every((queue) => queue.bytes < HIGH_WATER_BYTES)) socket.resume()
  }
  const outputs = [createByteQueue(resumeWhenRead), createByteQueue(resumeWhenRead)] as const
  const [stdout, stderr] = outputs
  let status: string | undefined
  socket.on('message', (data: RawData) => {
    const message = bytesOf(data)
    const body = message.subarray(1)
    if (message[0] === STDOUT) stdout.push(body)
    else if (message[0] === STDERR) stderr.push(body)
    else if (message[0] === ERROR) status = (status ?? '') + body.toString('utf8')
    if (outputs.some((queue) => queue.bytes >= HIGH_WATER_BYTES)) socket.pause()
  })
  const result = new Promise<ExecResult>((resolve, reject) => {
    socket.on('error', (error) => reject(new TransportError(`the connection to the command failed: ${error.message}`, error)))
    socket.on('close', (code) => {
      for (const queue of outputs) queue.end()
      try {
        resolve(resultOf(status, code))
      } catch (error) {
        reject(error)
      }
    })
  })
  // Whoever leaves early does not ask how it ended.
  result.catch(() => undefined)
  signal?.addEventListener('abort', () => socket.terminate(), { once: true })
  const send = (channel: number, body: Uint8Array | string): Promise<void> =>
    new Promise((resolve, reject) => {
      const message = Buffer.concat([Buffer.from([channel]), typeof body === 'string' ? Buffer.from(body) : body])
      socket.send(message, (error) => {
        if (error) reject(new TransportError(`the command cannot be written to: ${error.message}`, error))
        else resolve()
      })
    })
  return {
    stdout,
    stderr,
    result,
    write: (chunk) => send(STDIN, chunk),
    endInput: () => send(CLOSE, Buffer.from([STDIN])),
    resize: (width, height) => send(RESIZE, JSON.stringify({ Width: width, Height: height })),
    close: () => socket.close(NORMAL_CLOSURE),
  }
}

async function connectTo(connection: TlsConnection, pod: { namespace: string; name: string }, options: ExecOptions): Promise<WebSocket> {
  const token = await connection.token?.()
  const pair = await connection.clientCertificate?.()
  const tls = {
    ca: connection.ca,
    cert: pair?.cert ?? connection.cert,
    key: pair?.key ?? connection.key,
    servername: connection.serverName,
    rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
  }
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const how = { ...tls, headers, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false }
  return new WebSocket(urlOf(connection.server, pod, options), [PROTOCOL], how)
}

function urlOf(server: string, pod: { namespace: string; name: string }, options: ExecOptions): URL {
  const path = `/api/v1/namespaces/${encodeURIComponent(pod.namespace)}/pods/${encodeURIComponent(pod.name)}/exec`
  const url = new URL(server.replace(/\/$/, '') + path)
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:'
  for (const argument of options.command) url.searchParams.append('command', argument)
  if (options.container !== undefined) url.searchParams.set('container', options.container)
  url.searchParams.set('stdout', 'true')
  if (options.stdin) url.searchParams.set('stdin', 'true')
  if (options.tty) url.searchParams.set('tty', 'true')
  else url.searchParams.set('stderr', 'true')
  return url
}

/** Throws when the command could not be run, or nobody said how it ended. */
function resultOf(text: string | undefined, closeCode: number): ExecResult {
  if (text === undefined) {
    const isLeft = closeCode === NORMAL_CLOSURE
    throw new TransportError(isLeft ? 'the command was left before it ended' : `the connection to the command broke (${closeCode})`)
  }
  const status = statusOf(500, text)
  if (status.status === 'Success') return { exitCode: 0, message: '' }
  const exit = (status.details?.causes ?? []).find((cause) => cause.reason === 'ExitCode')
  const exitCode = Number(exit?.message)
  if (exit === undefined || !Number.isInteger(exitCode)) throw new ApiError(status.code ?? 500, status)
  return { exitCode, message: status.message ?? '' }
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data)
  return data instanceof ArrayBuffer ? Buffer.from(data) : data
}
