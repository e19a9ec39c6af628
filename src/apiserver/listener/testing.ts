import type { IncomingHttpHeaders } from 'node:http2'
import type { Clock } from '../../base/clock.ts'
import type { ApiRequest, ApiResponse, Handle } from '../../kube/http.ts'

/** Real time: sockets do not wait for a virtual clock. */
export const realClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** Every header line, in order. */
  lines: string[]
  body: Buffer
}

export const ok = (body: unknown, headers: ApiResponse['headers'] = {}): ApiResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json', ...headers },
  body: Buffer.from(JSON.stringify(body)),
})

/** Echoes the request. */
export const mirror: Handle = async ({ method, url, headers, body, peer, refusedPeer }) =>
  ok({ method, url, headers, body: body === undefined ? undefined : Buffer.from(body).toString(), peer, refusedPeer })

export const json = (answer: Answer) => JSON.parse(answer.body.toString()) as Omit<ApiRequest, 'body'> & { body?: string }

export function deferred<T>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((r) => {
    resolve = r
  })
  return { promise, resolve: (value) => resolve(value) }
}
