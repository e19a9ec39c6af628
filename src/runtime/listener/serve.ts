/**
 * Two small servers of the controllers' process: webhooks over TLS, and health with metrics in plain HTTP, on loopback or
 * the configured address. Bodies are bounded, slow senders are cut off.
 */

import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { messageOf } from '../../base/error-text.ts'
import type { WebhookHandle } from '../webhook/handle.ts'

export interface Serving {
  port: number
  stop(): Promise<void>
}

export interface Address {
  host: string
  /** 0 picks a free one. */
  port: number
}

/** An object in and out of admission may be 3 MiB; a review carries two of them and an envelope. */
const MAX_BODY_BYTES = 8 * 1024 * 1024
const REQUEST_TIMEOUT_MS = 10_000
/**
 * Clients written in Go, including an API server that calls webhooks, keep an idle connection for 90 s. They must be the
 * ones to close it: a request that arrives while we close is lost, and a POST is not retried.
 */
const IDLE_TIMEOUT_MS = 120_000

export async function serveWebhooks(handle: WebhookHandle, tls: { certificate: string; key: string }, address: Address): Promise<Serving> {
  const server = createTlsServer({ cert: tls.certificate, key: tls.key, minVersion: 'TLSv1.2' }, (request, response) => {
    void (async () => {
      const body = request.method === 'POST' ? await readBody(request) : undefined
      if (body === undefined) {
        // The rest of the body is not read: the connection ends with the answer.
        response.writeHead(request.method === 'POST' ? 413 : 405, { connection: 'close' }).end()
        return
      }
      const answer = await handle((request.url ?? '/').split('?')[0] ?? '/', body)
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
    })().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  })
  return listening(server, address)
}

export interface HealthOptions {
  /** Undefined when ready, otherwise the reason. */
  notReady(): string | undefined
  metrics(): Promise<string>
}

export function serveHealth(options: HealthOptions, address: Address): Promise<Serving> {
  const listener: RequestListener = (request, response) => {
    const say = (status: number, text: string): void =>
      void response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
    const path = (request.url ?? '/').split('?')[0]
    if (path === '/healthz' || path === '/livez') return say(200, 'ok')
    if (path === '/readyz') {
      const why = options.notReady()
      return why === undefined ? say(200, 'ok') : say(503, `${why}\n`)
    }
    if (path !== '/metrics') return say(404, 'there are /healthz, /livez, /readyz and /metrics\n')
    options.metrics().then(
      (text) => say(200, text),
      (error: unknown) => say(500, `${messageOf(error)}\n`),
    )
  }
  return listening(createServer(listener), address)
}

function listening(server: Server, { host, port }: Address): Promise<Serving> {
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.headersTimeout = REQUEST_TIMEOUT_MS
  server.keepAliveTimeout = IDLE_TIMEOUT_MS
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve({
        port: (server.address() as AddressInfo).port,
        stop: () =>
          new Promise((done) => {
            server.close(() => done())
            server.closeAllConnections()
          }),
      })
    })
  })
}

/** Undefined when the body is too large. */
async function readBody(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return undefined
  // Leaving the loop must not destroy the connection: the answer is still to be sent.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}
