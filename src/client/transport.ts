/** How a client reaches an API server: in process, or over TLS. Everything above this interface is the same for both. */
import type { ErrorCode } from '../base/errors/catalogue.ts'

export interface TransportRequest {
  method: string
  /** Path with query, starting with `/`. */
  path: string
  /** A list is sent as several headers of the same name. */
  headers: Record<string, string | string[]>
  body?: Uint8Array | string
  signal?: AbortSignal
  /** A stream that may be silent for long (watch, log -f): no idle timeout. */
  isStream?: boolean
}

export interface TransportResponse {
  status: number
  /** Lower-case names; repeated headers as a list. */
  headers: Record<string, string | string[] | undefined>
  /** The body as it arrives. Must be read to its end or `cancel`led. */
  body: AsyncIterable<Uint8Array>
  cancel(): void
}

/** A request for a conversation: always a GET. */
export type ConnectRequest = Pick<TransportRequest, 'path' | 'headers' | 'signal'>

/** What the server sends, by channel, until it is closed: without an error when it ended cleanly. */
export interface ChannelHandlers {
  message(channel: number, body: Uint8Array): void
  closed(error: Error | undefined): void
}

export interface Channels {
  /** Resolves when the bytes have been sent. */
  send(channel: number, body: Uint8Array): Promise<void>
  /** Stops delivery until `resume`. */
  pause(): void
  resume(): void
  close(): void
}

export interface Transport {
  request(request: TransportRequest): Promise<TransportResponse>
  /** Two-way channels (commands in pods); rejects with an ApiError when the server refuses. Not every transport has it. */
  connect?(request: ConnectRequest, handlers: ChannelHandlers): Promise<Channels>
  close(): Promise<void>
}

/** The connection failed before an answer came: whether the server acted on the request is unknown. */
export class TransportError extends Error {
  readonly code = 'E_TRANSPORT_FAILED' satisfies ErrorCode
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'TransportError'
  }
}

export async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  const [first] = chunks
  return chunks.length === 1 && first !== undefined ? Buffer.from(first.buffer, first.byteOffset, first.byteLength) : Buffer.concat(chunks)
}
