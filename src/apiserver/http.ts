/**
 * The server without a network: what `handle` takes and gives. The listener, the in-process transport and the worlds of
 * the tests all speak this.
 */
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
}

/** Where a streamed answer goes. `write` returns false when the receiver is behind; the stream then waits for `onDrain`. */
export interface ByteSink {
  write(chunk: Uint8Array): boolean
  onDrain(callback: () => void): void
  end(): void
}

export interface ApiResponse {
  status: number
  /** Lower-case names; a list is sent as several headers. */
  headers: Record<string, string | string[]>
  /** Whole, or a function that starts streaming into a sink and returns how to stop it. */
  body?: Uint8Array | ((sink: ByteSink) => () => void)
}

export type Handle = (request: ApiRequest) => Promise<ApiResponse>
