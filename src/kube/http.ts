/**
 * The server without a network: what `handle` takes and gives. The listener, the in-process transport and the worlds of
 * the tests all speak this.
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
  /** Who the connection proved to be, by client certificate (subject CN and O), if any. */
  peer?: { commonName: string; organizations: string[] /** SHA-256 of the certificate, in hex. */; sha256?: string }
  /** Why the client certificate that came with the connection is not believed; then there is no `peer`. */
  refusedPeer?: string
  /** Trusted in-process callers (our own controllers) name themselves here and skip authentication. */
  as?: { name: string; groups: string[] }
  /** The other side can hold a conversation (a WebSocket of a protocol we know, or a caller in process). */
  canConverse?: boolean
}

/** The client's side of a conversation: output goes there. `false` when it is behind, and then it says when it is not. */
export interface ConversationPeer {
  stdout(chunk: Uint8Array): boolean
  stderr(chunk: Uint8Array): boolean
  onDrain(callback: () => void): void
  /** How it ended: nothing follows. */
  end(status: Status): void
}

/** What the client says. */
export interface Conversation {
  /** Resolves when the bytes are taken: more should wait for it. */
  input(chunk: Uint8Array): Promise<void>
  endInput(): void
  resize(columns: number, rows: number): void
  /** The client went away. */
  leave(): void
}

/** Where a streamed answer goes. `write` returns false when the receiver is behind; the stream then waits for `onDrain`. */
export interface ByteSink {
  write(chunk: Uint8Array): boolean
  onDrain(callback: () => void): void
  end(): void
  /** Instead of `end`, where the answer is not whole: the receiver must not take it for that. Absent: it cannot be told. */
  breakOff?(): void
}

export interface ApiResponse {
  status: number
  /** Lower-case names; a list is sent as several headers. */
  headers: Record<string, string | string[]>
  /** Whole, or a function that starts streaming into a sink and returns how to stop it. */
  body?: Uint8Array | ((sink: ByteSink) => () => void)
  /** Only with status 101, which only a request that can converse gets. */
  converse?(peer: ConversationPeer): Conversation
}

export type Handle = (request: ApiRequest) => Promise<ApiResponse>

/** By lower-case name; several values as one text. */
export function header(request: ApiRequest, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' || value === undefined ? value : value.join(', ')
}
