/**
 * A transport that misbehaves on purpose, by script or by seed: it fails before or after the effect, delays, refuses, breaks
 * bodies off, cuts watches, makes them expire and delivers events twice or late. For tests and simulations; it does what
 * networks and servers do.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import { ApiError, statusOf } from '../errors.ts'
import {
  type ChannelHandlers,
  type Channels,
  type ConnectRequest,
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from '../transport.ts'
import { faultyBody } from './fault-body.ts'

export type Fault =
  /** The connection fails; the server never receives the request. */
  | { do: 'fail-before' }
  /** The server executes the request, and its answer is lost. */
  | { do: 'fail-after' }
  | { do: 'delay'; ms: number }
  /** Refused up front, without effect. */
  | { do: 'answer'; code: number; retryAfterSeconds?: number }
  /** The body breaks off after so many bytes. */
  | { do: 'break-off'; afterBytes: number }
  /** A watch is cut after so many lines. */
  | { do: 'cut'; afterLines: number }
  /** A watch ends after so many lines, saying that its revision is too old. */
  | { do: 'expire'; afterLines: number }
  /** A watch delivers each line twice, the second time one line late. */
  | { do: 'repeat' }

/** What to do to a request; undefined lets it pass. */
export type FaultPlan = (request: TransportRequest) => Fault | undefined

export interface FaultyOptions {
  clock: Clock
  plan: FaultPlan
  /** Called for each request with its result. */
  onRequest?(request: TransportRequest, fault: Fault | undefined): void
}

export function faultyTransport(inner: Transport, options: FaultyOptions): Transport {
  return {
    async request(request) {
      const fault = options.plan(request)
      options.onRequest?.(request, fault)
      if (fault === undefined) return inner.request(request)
      switch (fault.do) {
        case 'fail-before':
          throw new TransportError('the connection was refused, as planned')
        case 'fail-after': {
          const response = await inner.request(request)
          response.cancel()
          throw new TransportError('the connection broke before the answer, as planned')
        }
        case 'answer':
          return refusal(fault.code, fault.retryAfterSeconds)
        case 'delay':
          await sleep(options.clock, fault.ms, request.signal)
          return inner.request(request)
        default: {
          const response = await inner.request(request)
          return { ...response, body: faultyBody(response, fault) }
        }
      }
    },
    connect: inner.connect === undefined ? undefined : (request, handlers) => faultyConnect(inner, { request, handlers }, options),
    close: () => inner.close(),
  }
}

/** A conversation fails before or after it has started, or is broken off after its first output. */
async function faultyConnect(
  inner: Transport,
  { request, handlers }: { request: ConnectRequest; handlers: ChannelHandlers },
  options: FaultyOptions,
): Promise<Channels> {
  const asked: TransportRequest = { ...request, method: 'GET', isStream: true }
  const fault = options.plan(asked)
  options.onRequest?.(asked, fault)
  if (inner.connect === undefined || fault?.do === 'fail-before') throw new TransportError('the connection was refused, as planned')
  if (fault?.do === 'answer') throw new ApiError(fault.code, statusOf(fault.code, ''), fault.retryAfterSeconds)
  if (fault?.do === 'delay') await sleep(options.clock, fault.ms, request.signal)
  if (fault?.do !== 'fail-after' && fault?.do !== 'break-off' && fault?.do !== 'cut') return inner.connect(request, handlers)
  const broken = new TransportError('the connection broke, as planned')
  if (fault.do === 'fail-after') {
    const channels = await inner.connect(request, { message: () => undefined, closed: () => undefined })
    channels.close()
    throw broken
  }
  let channels: Channels | undefined
  let isBroken = false
  channels = await inner.connect(request, {
    message() {
      isBroken = true
      channels?.close()
    },
    closed: () => handlers.closed(broken),
  })
  if (isBroken) channels.close()
  return channels
}

/** The first request gets the first fault, and so on; later ones pass. */
export function scripted(...faults: (Fault | undefined)[]): FaultPlan {
  const left = [...faults]
  return () => left.shift()
}

export interface FaultRates {
  /** Probability of each kind of fault, per request. */
  rate: number
  /** The same for faults specific to watches; watches are long-lived, so requests draw them less often. */
  watchRate: number
  /** Longest delay. */
  delayMs: number
}

/** Faults drawn from a seed; `isOn` is called each time, so that a simulation can turn them off. */
export function seeded(random: Random, rates: FaultRates, isOn: () => boolean): FaultPlan {
  const lines = (): number => Math.floor(random.next() * 6)
  const forAll: (() => Fault)[] = [
    () => ({ do: 'fail-before' }),
    () => ({ do: 'fail-after' }),
    () => ({ do: 'delay', ms: Math.ceil(random.next() * rates.delayMs) }),
    () => ({ do: 'answer', code: random.next() < 0.5 ? 429 : 503, retryAfterSeconds: 1 }),
    () => ({ do: 'break-off', afterBytes: Math.floor(random.next() * 200) }),
  ]
  const forWatches: (() => Fault)[] = [
    () => ({ do: 'cut', afterLines: lines() }),
    () => ({ do: 'expire', afterLines: lines() }),
    () => ({ do: 'repeat' }),
  ]
  const draw = (faults: readonly (() => Fault)[], rate: number): Fault | undefined => faults.find(() => random.next() < rate)?.()
  return (request) => {
    if (!isOn()) return undefined
    return draw(forAll, rates.rate) ?? (request.isStream ? draw(forWatches, rates.watchRate) : undefined)
  }
}

function refusal(code: number, retryAfterSeconds: number | undefined): TransportResponse {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: 'turned away, as planned', code }
  async function* body(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(JSON.stringify(code === 410 ? { ...status, reason: 'Expired' } : status))
  }
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  return { status: code, headers, body: body(), cancel: () => undefined }
}
