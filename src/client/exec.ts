/**
 * A command in a pod, over whatever carries its channels: a WebSocket, or a call in process. Output is read at the reader's
 * pace: when it does not keep up, the other side is paused, so nothing is buffered without bound.
 */
import type { ObjectRef } from '../kube/object-reference.ts'
import { createByteQueue } from './byte-queue.ts'
import { ApiError, statusOf } from './errors.ts'
import { type ChannelHandlers, type Channels, type Transport, TransportError } from './transport.ts'

export interface ExecOptions {
  command: readonly string[]
  container?: string
  /** Whether the command gets input (default false). */
  stdin?: boolean
  /** A terminal: standard error is merged into the output (default false). */
  tty?: boolean
  signal?: AbortSignal
}

export interface ExecResult {
  /** The exit code of the command. */
  exitCode: number
  /** The server's message when the command failed. */
  message: string
}

export interface ExecSession {
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  /** Resolves when the bytes have been sent. */
  write(chunk: Uint8Array | string): Promise<void>
  /** Closes the command's input. */
  endInput(): Promise<void>
  resize(width: number, height: number): Promise<void>
  /** How the command ended; rejects when the connection broke or the command could not be run. */
  readonly result: Promise<ExecResult>
  /** Disconnects without waiting for the end. */
  close(): void
}

/** Channel numbers, as in kubectl. */
export const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const

const HIGH_WATER_BYTES = 1024 * 1024
/** Longer input is sent in parts. */
const MAX_PART_BYTES = 256 * 1024

export function execPath(pod: ObjectRef, options: ExecOptions): string {
  const path = `/api/v1/namespaces/${encodeURIComponent(pod.namespace)}/pods/${encodeURIComponent(pod.name)}/exec`
  const query = new URLSearchParams()
  for (const argument of options.command) query.append('command', argument)
  if (options.container !== undefined) query.set('container', options.container)
  query.set('stdout', 'true')
  if (options.stdin) query.set('stdin', 'true')
  if (options.tty) query.set('tty', 'true')
  else query.set('stderr', 'true')
  return `${path}?${query}`
}

/** Rejects with an ApiError when the server refuses. */
export async function execOver(
  connect: NonNullable<Transport['connect']>,
  request: { path: string; headers: Record<string, string>; signal?: AbortSignal },
): Promise<ExecSession> {
  let channels: Channels | undefined
  const resumeWhenRead = (): void => {
    if (outputs.every((queue) => queue.bytes < HIGH_WATER_BYTES)) channels?.resume()
  }
  const outputs = [createByteQueue(resumeWhenRead), createByteQueue(resumeWhenRead)] as const
  const [stdout, stderr] = outputs
  let status: string | undefined
  let settle: (error: Error | undefined) => void = () => undefined
  const result = new Promise<ExecResult>((resolve, reject) => {
    settle = (error) => {
      for (const queue of outputs) queue.end()
      try {
        resolve(resultOf(status, error))
      } catch (wrong) {
        reject(wrong)
      }
    }
  })
  // A caller that disconnects early does not wait for the result.
  result.catch(() => undefined)
  const handlers: ChannelHandlers = {
    message(channel, body) {
      if (channel === CHANNEL.stdout) stdout.push(body)
      else if (channel === CHANNEL.stderr) stderr.push(body)
      else if (channel === CHANNEL.error) status = (status ?? '') + Buffer.from(body).toString('utf8')
      if (outputs.some((queue) => queue.bytes >= HIGH_WATER_BYTES)) channels?.pause()
    },
    closed: (error) => settle(error),
  }
  const opened = await connect(request, handlers)
  channels = opened
  return {
    stdout,
    stderr,
    result,
    write: (chunk) => writeParts(opened, typeof chunk === 'string' ? Buffer.from(chunk) : chunk),
    endInput: () => opened.send(CHANNEL.close, Buffer.from([CHANNEL.stdin])),
    resize: (width, height) => opened.send(CHANNEL.resize, Buffer.from(JSON.stringify({ Width: width, Height: height }))),
    close: () => opened.close(),
  }
}

async function writeParts(channels: Channels, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += MAX_PART_BYTES) await channels.send(CHANNEL.stdin, bytes.subarray(at, at + MAX_PART_BYTES))
}

/** Throws when the command could not be run, or the server did not report how it ended. */
function resultOf(text: string | undefined, error: Error | undefined): ExecResult {
  if (text === undefined) throw error ?? new TransportError('the command was left before it ended')
  const status = statusOf(500, text)
  if (status.status === 'Success') return { exitCode: 0, message: '' }
  const exit = (status.details?.causes ?? []).find((cause) => cause.reason === 'ExitCode')
  const exitCode = Number(exit?.message)
  if (exit === undefined || !Number.isInteger(exitCode)) throw new ApiError(status.code ?? 500, status)
  return { exitCode, message: status.message ?? '' }
}
