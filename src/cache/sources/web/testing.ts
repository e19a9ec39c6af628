/** A server on the loopback that a test scripts, and a client that may reach it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../../base/clock.ts'
import { WEB_TIMES, type WebTimes } from '../limits.ts'
import { createWebClient, type WebClient } from './client.ts'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

export interface TestServer {
  url: URL
  /** `GET /path` of every request. */
  requests: string[]
}

export const realClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}

export async function withServer(handler: Handler, use: (server: TestServer) => Promise<void>): Promise<void> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    handler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await use({ url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), requests })
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

export const clientFor = (times: Partial<WebTimes> = {}, clock: Clock = realClock): WebClient =>
  createWebClient({ clock, allowPrivateAddresses: true, times: { ...WEB_TIMES, ...times } })
