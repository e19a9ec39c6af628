/** A transport without a network: calls the server's `handle` and streams its answer through a bounded queue. */
import { ApiError, statusOf } from './errors.ts'
import { converse } from './in-process-channels.ts'
import { readAll, type Transport, TransportError, type TransportResponse } from './transport.ts'

/** The interface of the server this transport talks to; structural, so that the client does not import the server. */
export interface InProcessServer {
  handle(request: {
    method: string
    url: string
    headers: Record<string, string | string[]>
    body?: Uint8Array
    signal?: AbortSignal
    as?: { name: string; groups: string[] }
    canConverse?: boolean
  }): Promise<{
    status: number
    headers: Record<string, string | string[]>
    body?: Uint8Array | ((sink: InProcessSink) => () => void)
    converse?(peer: InProcessPeer): InProcessConversation
  }>
}

export interface InProcessPeer {
  stdout(chunk: Uint8Array): boolean
  stderr(chunk: Uint8Array): boolean
  onDrain(callback: () => void): void
  end(status: object): void
}

export interface InProcessConversation {
  input(chunk: Uint8Array): Promise<void>
  endInput(): void
  resize(columns: number, rows: number): void
  leave(): void
}

interface InProcessSink {
  write(chunk: Uint8Array): boolean
  onDrain(callback: () => void): void
  end(): void
}

const HIGH_WATER_CHUNKS = 1024

/** `as` is the caller's identity: in process it needs no proof. */
export function inProcessTransport(server: InProcessServer, as: { name: string; groups: string[] }): Transport {
  let isClosed = false
  return {
    async request(request) {
      if (isClosed) throw new TransportError('the transport is closed')
      const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body
      const answer = await server.handle({
        method: request.method,
        url: request.path,
        headers: request.headers,
        body,
        signal: request.signal,
        as,
      })
      return { status: answer.status, headers: answer.headers, ...bodyOf(answer.body, request.signal) }
    },
    async connect(request, handlers) {
      if (isClosed) throw new TransportError('the transport is closed')
      const { path, headers, signal } = request
      const answer = await server.handle({ method: 'GET', url: path, headers, signal, as, canConverse: true })
      if (answer.converse === undefined) {
        const text = (await readAll(bodyOf(answer.body, signal).body)).toString('utf8')
        throw new ApiError(answer.status, statusOf(answer.status, text))
      }
      return converse(answer.converse, signal, handlers)
    },
    async close() {
      isClosed = true
    },
  }
}

function bodyOf(
  body: Uint8Array | ((sink: InProcessSink) => () => void) | undefined,
  signal: AbortSignal | undefined,
): Pick<TransportResponse, 'body' | 'cancel'> {
  if (typeof body !== 'function') return { body: once(body), cancel: () => undefined }
  const queue: Uint8Array[] = []
  let isEnded = false
  let onDrain: (() => void) | undefined
  let wake: (() => void) | undefined
  const stop = body({
    write(chunk) {
      queue.push(chunk)
      wake?.()
      return queue.length < HIGH_WATER_CHUNKS
    },
    onDrain(callback) {
      onDrain = callback
    },
    end() {
      isEnded = true
      signal?.removeEventListener('abort', cancel)
      wake?.()
    },
  })
  function cancel(): void {
    // Also when the body was never read: otherwise a signal that lives as long as its process would retain every answer.
    signal?.removeEventListener('abort', cancel)
    if (isEnded) return
    isEnded = true
    queue.length = 0
    stop()
    wake?.()
  }
  if (!isEnded) signal?.addEventListener('abort', cancel, { once: true })
  async function* stream(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = queue.shift()
        if (chunk !== undefined) {
          yield chunk
          continue
        }
        if (onDrain !== undefined) {
          const drained = onDrain
          onDrain = undefined
          drained()
          continue
        }
        if (isEnded) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        wake = undefined
      }
    } finally {
      cancel()
    }
  }
  return { body: stream(), cancel }
}

async function* once(body: Uint8Array | undefined): AsyncGenerator<Uint8Array> {
  if (body !== undefined && body.length > 0) yield body
}
