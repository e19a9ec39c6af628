/**
 * Sends a request until it is answered or must not be sent again. A request that may safely be repeated is tried a few times
 * with growing, jittered delays; any other is sent again only when the server said that it did nothing.
 */
import { type Clock, sleep } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import { ApiError, statusOf } from './errors.ts'
import { readAll, type Transport, TransportError, type TransportRequest, type TransportResponse } from './transport.ts'

export interface SendOptions {
  transport: Transport
  clock: Clock
  random: Random
  userAgent: string
  /** Attempts for a repeatable request, including the first (default 5). */
  tries?: number
}

export interface Outgoing extends Omit<TransportRequest, 'headers'> {
  headers?: TransportRequest['headers']
  /** Sending it twice has the same effect as once: it changes nothing, or carries a precondition that no longer holds after the first. */
  isRepeatable: boolean
}

export interface Sender {
  /** The answer once its headers are in; the body is still to be read. */
  open(request: Outgoing): Promise<TransportResponse>
  /** The whole answer, parsed. A body that breaks off is a failure like any other. */
  json<T>(request: Outgoing): Promise<T>
}

export function createSender(options: SendOptions): Sender {
  const tries = options.tries ?? 5

  async function attempt<T>(outgoing: Outgoing, read: (response: TransportResponse) => T | Promise<T>): Promise<T> {
    const { isRepeatable, ...request } = outgoing
    const headers = { accept: 'application/json', 'user-agent': options.userAgent, ...request.headers }
    for (let count = 1; ; count++) {
      let failure: unknown
      try {
        const yielded = options.clock.yieldIfDue?.()
        if (yielded !== undefined) await yielded
        const response = await options.transport.request({ ...request, headers })
        if (response.status < 400) return await read(response)
        failure = await errorOf(response)
      } catch (error) {
        failure = error
      }
      const delayMs = count >= tries ? undefined : retryDelay(failure, { isRepeatable, count, random: options.random })
      if (delayMs === undefined || request.signal?.aborted) throw failure
      await sleep(options.clock, delayMs, request.signal)
      if (request.signal?.aborted) throw failure
    }
  }

  return {
    open: (request) => attempt(request, (response) => response),
    json: <T>(request: Outgoing) => attempt(request, async (response) => parse<T>((await readAll(response.body)).toString('utf8'))),
  }
}

const BASE_DELAY_MS = 100
const MAX_DELAY_MS = 5000

/** How long to wait before repeating the request; undefined when it must not be repeated. */
function retryDelay(failure: unknown, how: { isRepeatable: boolean; count: number; random: Random }): number | undefined {
  const backoff = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (how.count - 1)) * (0.5 + how.random.next() / 2)
  if (failure instanceof TransportError) return how.isRepeatable ? backoff : undefined
  if (!(failure instanceof ApiError)) return undefined
  const asked = failure.retryAfterSeconds
  // A 429 did nothing, whatever the verb. A 503 says so only with a Retry-After.
  const didNothing = failure.code === 429 || (failure.code === 503 && asked !== undefined)
  const isPassing = failure.code >= 500 && failure.code !== 501 && (failure.code === 503 || asked !== undefined)
  if (!didNothing && !(how.isRepeatable && isPassing)) return undefined
  return Math.max(backoff, (asked ?? 0) * 1000)
}

async function errorOf(response: TransportResponse): Promise<ApiError> {
  const text = (await readAll(response.body)).toString('utf8')
  const header = response.headers['retry-after']
  const retryAfter = typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) : undefined
  return new ApiError(response.status, statusOf(response.status, text), retryAfter)
}

function parse<T>(text: string): T {
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw new TransportError('the answer is not JSON: it may have been cut short, or come from something in between', cause)
  }
}
