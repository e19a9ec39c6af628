/**
 * The process in which a cluster's controllers run, as something that can end at any moment: when it dies, its requests are
 * never answered, its watches deliver nothing more and its timers never fire, as if the machine had lost power. While it
 * lives, an `Interference` decides what happens to its requests and watches.
 */
import type { Clock } from '../../base/clock.ts'
import { parsedOf } from '../../base/parsed-bytes.ts'
import { type Fault, faultyTransport } from '../../client/fault/fault-transport.ts'
import type { ChannelHandlers, Channels, Transport, TransportRequest, TransportResponse } from '../../client/transport.ts'
import { CatchUp } from './catch-up.ts'

/** A request of the process, and which part of it sent it: a controller by its name, `caches`, or `everything`, which is the cluster cache. */
export interface Sent {
  part: string
  /** The other cluster it goes to; undefined: the process's own. */
  cluster?: string
  request: TransportRequest
}

/** Crashes end the process; it restarts a little later, with caches that start in the past if so specified. */
export type ProcessFault = Fault | { do: 'crash-before'; cachesAt?: number } | { do: 'crash-after'; cachesAt?: number }

/** A line of a watch on its way to a cache. */
export interface Delivery {
  part: string
  /** The other cluster that is followed; undefined: the process's own. */
  cluster?: string
  /** Path of the watch without its query. */
  path: string
  type: string
  namespace: string
  name: string
  revision: number
}

export interface Interference {
  /** The fault injected into a request; undefined lets it pass. */
  onRequest?(sent: Sent): ProcessFault | undefined
  /**
   * `hide`: this state of the object is never seen. The watch stays silent until the object changes again, or until nothing
   * else happens; then it gets a 410, and the list that follows shows the current state.
   */
  onDelivery?(delivery: Delivery): 'hide' | undefined
}

/** A request for a change, and its result. */
export interface ControllerWrite {
  part: string
  /** The other cluster it went to; undefined: the process's own. */
  cluster?: string
  method: string
  path: string
  /** Undefined while it has no answer, or if it never got one. */
  status?: number
}

export interface ProcessOptions {
  clock: Clock
  /** The connection to the server for one part. */
  connect(): Transport
  interference(): Interference | undefined
  onWrite(write: ControllerWrite): void
  /** A fault has killed the process. */
  onCrash(cachesAt: number | undefined): void
  /** Its caches start with what was stored at this revision, and catch up when they are released. */
  cachesAt?: number
}

/** A dry run changes nothing: it counts as a read, whatever its verb. */
export const asksForChange = ({ method, path }: Pick<TransportRequest, 'method' | 'path'>): boolean =>
  method !== 'GET' && !path.includes('dryRun=All')

const never = <T>(): Promise<T> => new Promise(() => undefined)
const EXPIRED = Buffer.from(
  `${JSON.stringify({
    type: 'ERROR',
    object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: 'too old', reason: 'Expired', code: 410 },
  })}\n`,
)

export class ControllerProcess {
  readonly clock: Clock
  readonly #options: ProcessOptions
  readonly #timers = new Set<() => void>()
  readonly #streams = new Set<TransportResponse>()
  readonly #holds = new Set<() => void>()
  /** For caches that started in the past. */
  readonly #catchUp: CatchUp | undefined
  #isDead = false

  constructor(options: ProcessOptions) {
    this.#options = options
    this.clock = { ...this.#mortal(options.clock), background: this.#mortal(options.clock.background ?? options.clock) }
    this.#catchUp = options.cachesAt === undefined ? undefined : new CatchUp(this.clock, options.cachesAt)
  }

  /** Timers that end with the process. */
  #mortal(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      after: (delayMs, callback) => {
        if (this.#isDead) return () => undefined
        const cancel = clock.after(delayMs, () => {
          this.#timers.delete(stop)
          callback()
        })
        const stop = (): void => {
          this.#timers.delete(stop)
          cancel()
        }
        this.#timers.add(stop)
        return stop
      },
    }
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** At once, in the middle of whatever it does. */
  kill(): void {
    this.#isDead = true
    for (const stop of [...this.#timers]) stop()
    for (const stream of this.#streams) stream.cancel()
    this.#streams.clear()
    this.#holds.clear()
  }

  /** Lets caches that were held back catch up; false when there were none. */
  release(): boolean {
    const wasHeld = this.#holds.size > 0
    const wasBehind = this.#catchUp?.begin() === true
    for (const release of [...this.#holds]) release()
    this.#holds.clear()
    return wasHeld || wasBehind
  }

  /** To its own cluster, or to another that it can connect to. */
  transportFor(part: string, other?: { cluster: string; connect(): Transport }): Transport {
    const inner = (other ?? this.#options).connect()
    const cluster = other?.cluster
    return {
      request: (request) => this.#send(inner, { part, cluster, request }),
      connect: (request, handlers) =>
        this.#converse(inner, { part, cluster, request: { ...request, method: 'GET', isStream: true } }, handlers),
      close: () => inner.close(),
    }
  }

  /** A command in a pod may change the world: the process may crash before and after it, as with a write. */
  async #converse(inner: Transport, sent: Sent, handlers: ChannelHandlers): Promise<Channels> {
    if (this.#isDead || inner.connect === undefined) return never()
    const fault = this.#options.interference()?.onRequest?.(sent)
    if (fault?.do === 'crash-before') return this.#crash(fault.cachesAt)
    if (fault?.do === 'crash-after') {
      await inner.connect(sent.request, { message: () => undefined, closed: () => undefined })
      return this.#crash(fault.cachesAt)
    }
    const heard: ChannelHandlers = {
      message: (channel, body) => {
        if (!this.#isDead) handlers.message(channel, body)
      },
      closed: (error) => {
        if (!this.#isDead) handlers.closed(error)
      },
    }
    const faulty = faultyTransport(inner, { clock: this.clock, plan: () => fault })
    const channels = await faulty.connect?.(sent.request, heard)
    return this.#isDead || channels === undefined ? never() : channels
  }

  async #send(inner: Transport, sent: Sent): Promise<TransportResponse> {
    if (this.#isDead) return never()
    const { part, cluster, request } = sent
    const write = !asksForChange(request) ? undefined : { part, cluster, method: request.method, path: request.path }
    if (write !== undefined) this.#options.onWrite(write)
    // Caches that started in the past follow one server that lags behind; if their watches were cut one by one, they would show a
    // state that never existed, which no server that lists what is stored now can produce.
    const fault = this.#isBehind(sent) ? undefined : this.#options.interference()?.onRequest?.(sent)
    if (fault?.do === 'crash-before') return this.#crash(fault.cachesAt)
    const observed = write === undefined ? inner : noting(inner, write)
    if (fault?.do === 'crash-after') {
      const response = await observed.request(request)
      response.cancel()
      return this.#crash(fault.cachesAt)
    }
    const plan = (): Fault | undefined => fault
    try {
      const response = await faultyTransport(observed, { clock: this.clock, plan }).request(this.#asOf(sent))
      if (!this.#isDead) return request.isStream === true && response.status === 200 ? this.#stream(sent, response) : response
      response.cancel()
      return await never()
    } catch (error) {
      if (this.#isDead) return never()
      throw error
    }
  }

  /** Revisions belong to one cluster: caches of other clusters start with what is stored there now. */
  #isBehind({ part, cluster }: { part: string; cluster?: string }): boolean {
    return this.#catchUp?.revision !== undefined && cluster === undefined && isCache(part)
  }

  #crash(cachesAt: number | undefined): Promise<never> {
    if (!this.#isDead) {
      this.kill()
      this.#options.onCrash(cachesAt)
    }
    return never()
  }

  /** A list for a cache that starts in the past, while that revision is available. */
  #asOf(sent: Sent): TransportRequest {
    const { request } = sent
    const revision = this.#catchUp?.revision
    if (revision === undefined || !this.#isBehind(sent)) return request
    if (!request.path.includes('limit=') || request.path.includes('continue=')) return request
    return { ...request, path: `${request.path}&resourceVersion=${revision}&resourceVersionMatch=Exact` }
  }

  #stream(sent: Sent, response: TransportResponse): TransportResponse {
    const { part, cluster, request } = sent
    this.#streams.add(response)
    const path = request.path.split('?')[0] ?? ''
    const isBehind = this.#isBehind(sent)
    return { ...response, body: this.#lines({ part, cluster, path, isBehind }, response) }
  }

  async *#lines(of: Followed, response: TransportResponse): AsyncGenerator<Uint8Array> {
    const body = response.body[Symbol.asyncIterator]()
    const inner = of.isBehind && this.#catchUp !== undefined ? this.#catchUp.lines(body) : body
    try {
      for (;;) {
        const line = await inner.next()
        if (this.#isDead) await never()
        if (line.done === true) return
        const onDelivery = this.#isBehind(of) ? undefined : this.#options.interference()?.onDelivery
        const delivery = onDelivery === undefined ? undefined : deliveryOf(of, line.value)
        if (delivery === undefined || onDelivery?.(delivery) !== 'hide') {
          yield line.value
          continue
        }
        await this.#untilChanged(of, delivery, inner)
        yield EXPIRED
        return
      }
    } finally {
      this.#streams.delete(response)
      response.cancel()
    }
  }

  async #untilChanged(of: Followed, hidden: Delivery, inner: AsyncIterator<Uint8Array>): Promise<void> {
    const released = this.#held().then(() => undefined)
    for (;;) {
      const line = await Promise.race([inner.next(), released])
      if (line === undefined || line.done === true) return
      const next = deliveryOf(of, line.value)
      if (next?.name === hidden.name && next.namespace === hidden.namespace) return
    }
  }

  #held(): Promise<void> {
    return new Promise((resolve) => this.#holds.add(resolve))
  }
}

/** A watch of one part of the process. */
interface Followed {
  part: string
  cluster?: string
  path: string
  /** Its cache started in the past. */
  isBehind: boolean
}

const isCache = (part: string): boolean => part === 'caches' || part === 'everything'

function noting(inner: Transport, write: ControllerWrite): Transport {
  return {
    async request(request) {
      const response = await inner.request(request)
      write.status = response.status
      return response
    },
    close: () => inner.close(),
  }
}

/** Undefined for lines that are not about an object. */
function deliveryOf({ part, cluster, path }: Followed, line: Uint8Array): Delivery | undefined {
  const { type, object } = (parsedOf(line) ?? JSON.parse(Buffer.from(line).toString('utf8'))) as {
    type: string
    object: { metadata?: { namespace?: string; name?: string; resourceVersion?: string } }
  }
  if (type === 'BOOKMARK' || type === 'ERROR') return undefined
  const { namespace = '', name = '', resourceVersion } = object.metadata ?? {}
  return { part, cluster, path, type, namespace, name, revision: Number(resourceVersion) }
}
