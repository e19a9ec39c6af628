/**
 * One request, one whole answer. Headers are those of the convention (Accept JSON, user agent `golden/1`) unless the step
 * says otherwise; `null` removes one.
 */
import https from 'node:https'
import type { Target } from './target.ts'
import type { StepRequest } from './transcript.ts'

export interface RawAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** Name, value, name, value … as received: the only form that keeps repeated headers separate. */
  rawHeaders: string[]
  bytes: Buffer
}

const TIMEOUT_MS = 60_000

/** Resolves at the end of the answer; `onHead` is called when its headers have arrived. */
export function send(target: Target, request: StepRequest, onHead?: () => void): Promise<RawAnswer> {
  const body = bodyOf(request)
  return new Promise((resolve, reject) => {
    const outgoing = https.request(
      {
        hostname: target.url.hostname,
        port: target.url.port,
        path: request.path,
        method: request.method,
        headers: headersOf(target, request, body),
        agent: request.auth === 'none' ? target.asNobody : target.asUser,
        timeout: TIMEOUT_MS,
      },
      (incoming) => {
        onHead?.()
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            rawHeaders: incoming.rawHeaders,
            bytes: Buffer.concat(chunks),
          }),
        )
        incoming.on('error', reject)
      },
    )
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)))
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function bodyOf(request: StepRequest): Buffer | undefined {
  if (request.rawBody !== undefined) return Buffer.from(request.rawBody)
  if (request.bodyBase64 !== undefined) return Buffer.from(request.bodyBase64, 'base64')
  if (request.body !== undefined) return Buffer.from(JSON.stringify(request.body))
  return undefined
}

function headersOf(target: Target, request: StepRequest, body: Buffer | undefined): Record<string, string | string[]> {
  const headers = new Map<string, string | string[]>([
    ['accept', 'application/json'],
    ['user-agent', 'golden/1'],
  ])
  if (request.auth !== 'none' && target.token !== undefined) headers.set('authorization', `Bearer ${target.token}`)
  if (body !== undefined) {
    headers.set('content-type', 'application/json')
    headers.set('content-length', String(body.length))
  }
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    if (value === null) headers.delete(name.toLowerCase())
    else headers.set(name.toLowerCase(), value)
  }
  return Object.fromEntries(headers)
}
