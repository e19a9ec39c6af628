/**
 * The server without a network: what `handle` takes and returns. The listener, the in-process transport and the worlds of
 * the tests all use this.
 */
import type { Status } from './status.ts'

export interface ApiRequest {
  method: string
  /** Path with query string, as sent. */
  url: string
  /** Lower-case names; several values joined with ', ' except where a list is given. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>
  body?: Uint8Array
  /** Aborted when the client goes away. */
  signal?: AbortSignal
  /** The identity proved by client certificate (subject CN and O), if any. */
  peer?: { commonName: string; organizations: string[] /** SHA-256 of the certificate, in hex. */; sha256?: string }
  /** Why the connection's client certificate is not trusted; then there is no `peer`. */
  refusedPeer?: string
  /** Trusted in-process callers (our own controllers) name themselves here and skip authentication. */
  as?: { name: string; groups: string[] }
  /** The other side can hold a conversation (a WebSocket of a protocol we know, or a caller in process). */
  canConverse?: boolean
}

/** The client's side of a conversation, which receives the output. `false` when it is behind; `onDrain` then reports when it is not. */
export interface ConversationPeer {
  stdout(chunk: Uint8Array): boolean
  stderr(chunk: Uint8Array): boolean
  onDrain(callback: () => void): void
  /** The final status: nothing follows. */
  end(status: Status): void
}

/** The client's input. */
export interface Conversation {
  /** Resolves when the bytes are consumed: wait for it before sending more. */
  input(chunk: Uint8Array): Promise<void>
  endInput(): void
  resize(columns: number, rows: number): void
  /** The client disconnected. */
  leave(): void
}

/** Where a streamed answer goes. `write` returns false when the receiver is behind; the stream then waits for `onDrain`. */
export interface ByteSink {
  write(chunk: Uint8Array): boolean
  onDrain(callback: () => void): void
  end(): void
  /** Instead of `end`, for an incomplete answer: the receiver must not mistake it for a complete one. Absent: this cannot be signalled. */
  breakOff?(): void
}

export interface ApiResponse {
  status: number
  /** Lower-case names; a list is sent as several headers. */
  headers: Record<string, string | string[]>
  /** Whole, or a function that starts streaming into a sink and returns a function that stops it. */
  body?: Uint8Array | ((sink: ByteSink) => () => void)
  /** Only with status 101, which is only sent to a request that can hold a conversation. */
  converse?(peer: ConversationPeer): Conversation
}

export type Handle = (request: ApiRequest) => Promise<ApiResponse>

/** By lower-case name; several values joined into one text. */
export function header(request: ApiRequest, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' || value === undefined ? value : value.join(', ')
}
