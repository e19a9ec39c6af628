/** A request as raw bytes over TLS: whatever the fuzzer generated is sent unchanged. */
import { connect } from 'node:tls'
import { bodyOf, type FuzzRequest } from './request.ts'
import type { Answer } from './server.ts'

export interface TlsTarget {
  host: string
  port: number
  ca: string
  token: string | undefined
}

const PATIENCE_MS = 20_000
/** How long a stream is read before it is closed. */
const STREAM_MS = 150

/** Status 0: the server closed the connection without an answer, as it may when the input was not HTTP. */
export function overTls(target: TlsTarget, request: FuzzRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: target.host, port: target.port, ca: target.ca, ALPNProtocols: ['http/1.1'] })
    const chunks: Buffer[] = []
    let isDone = false
    const done = (error?: Error): void => {
      if (isDone) return
      isDone = true
      clearTimeout(timer)
      socket.destroy()
      if (error === undefined) resolve(parseAnswer(Buffer.concat(chunks)))
      else reject(error)
    }
    const timer = setTimeout(() => done(new Error('no answer over TLS')), PATIENCE_MS)
    socket.on('data', (chunk: Buffer) => {
      if (chunks.length === 0) setTimeout(() => isStream(chunks) && done(), STREAM_MS)
      chunks.push(chunk)
    })
    socket.on('close', () => done())
    // A reset while we still send is an answer too: a refusal is judged by what came before it.
    socket.on('error', () => done())
    socket.write(rawRequest(target, request))
  })
}

const isStream = (chunks: readonly Buffer[]): boolean =>
  Buffer.concat(chunks.slice(0, 1)).toString('latin1').toLowerCase().includes('transfer-encoding: chunked')

function rawRequest(target: TlsTarget, request: FuzzRequest): Buffer {
  const body = bodyOf(request)
  const lines = [`${request.method} ${request.url} HTTP/1.1`, `Host: ${target.host}`, 'Connection: close']
  if (target.token !== undefined && !Object.hasOwn(request.headers, 'authorization')) lines.push(`Authorization: Bearer ${target.token}`)
  for (const [name, value] of Object.entries(request.headers)) for (const one of [value].flat()) lines.push(`${name}: ${one}`)
  if (body !== undefined) lines.push(`Content-Length: ${body.length}`)
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  return body === undefined ? head : Buffer.concat([head, body])
}

function parseAnswer(bytes: Buffer): Answer {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return { status: 0, contentType: '', body: bytes }
  const head = bytes.toString('latin1', 0, end)
  const rest = bytes.subarray(end + 4)
  const isChunked = /\r\ntransfer-encoding: *chunked/i.test(head)
  return {
    status: Number(head.slice(9, 12)),
    contentType: /\r\ncontent-type: *([^\r]*)/i.exec(head)?.[1] ?? '',
    body: isChunked ? unchunked(rest) : rest,
  }
}

function unchunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n', at)
    if (end < 0) break
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16)
    if (!(size > 0)) break
    parts.push(bytes.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
  return Buffer.concat(parts)
}
