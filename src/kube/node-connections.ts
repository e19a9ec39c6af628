/**
 * How the API server reaches into pods: logs, commands, the terminal of a container. A cluster is given the connections of
 * its nodes; process nodes answer from real processes, simulated ones say that they are simulated, worlds script the answers.
 * Refusals are StatusErrors, and reach the client unchanged.
 */
import type { KubeObject } from './meta.ts'

export interface PodContainer {
  namespace: string
  pod: string
  podUid: string
  container: string
}

export interface LogRequest {
  follow: boolean
  /** Of the previous run of the container. */
  previous: boolean
  tailLines?: number
  /** Lines written at or after this time. */
  sinceMs?: number
  limitBytes?: number
  timestamps: boolean
  stream: 'All' | 'Stdout' | 'Stderr'
}

/** Where a log goes. `write` returns false when the receiver is behind; the log then waits for `onDrain`. */
export interface LogSink {
  write(chunk: Uint8Array): boolean
  onDrain(callback: () => void): void
  end(): void
}

export interface StreamRequest {
  stdin: boolean
  stdout: boolean
  stderr: boolean
  tty: boolean
}

/** Output to the client; `stderr` is never called with a terminal. */
export interface StreamOutput {
  stdout(chunk: Uint8Array): void
  stderr(chunk: Uint8Array): void
}

/** A command, or a container's terminal, that a client is connected to. */
export interface StreamSession {
  /** Resolves with the exit code (128 + the signal's number for a signal) when all output has been handed over. */
  readonly exited: Promise<number>
  /** Resolves when the bytes are consumed: wait for it before sending the next chunk. */
  write(chunk: Uint8Array): Promise<void>
  endInput(): void
  resize(columns: number, rows: number): void
  /** The receiver of the output is behind, or no longer behind. */
  pause(): void
  resume(): void
  /** The client disconnected. */
  kill(): void
}

export interface NodeConnection {
  /** Resolves with a function that begins; that one returns a function that stops. */
  logs(of: PodContainer, request: LogRequest): Promise<(sink: LogSink) => () => void>
  exec(of: PodContainer, request: StreamRequest & { command: readonly string[] }, output: StreamOutput): Promise<StreamSession>
  attach(of: PodContainer, request: StreamRequest, output: StreamOutput): Promise<StreamSession>
}

export interface NodeConnections {
  /** undefined when this node cannot be reached: it is only an object. */
  find(node: KubeObject): NodeConnection | undefined
}
