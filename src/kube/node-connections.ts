/**
 * How the API server reaches into pods: logs, commands, the terminal of a container. A cluster is given the connections of
 * its nodes; process nodes answer from real processes, simulated ones say what they are, worlds script what they like.
 * Refusals are StatusErrors, and reach the client as they are.
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
  /** Of the run before the present one. */
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

/** Output on its way to the client; `stderr` is never called with a terminal. */
export interface StreamOutput {
  stdout(chunk: Uint8Array): void
  stderr(chunk: Uint8Array): void
}

/** A command, or a container's terminal, that somebody is connected to. */
export interface StreamSession {
  /** Resolves with the exit code, 128 + the signal's number for a signal, when all output was handed over. */
  readonly exited: Promise<number>
  /** Resolves when the bytes are taken: the next chunk then waits for that. */
  write(chunk: Uint8Array): Promise<void>
  endInput(): void
  resize(columns: number, rows: number): void
  /** The receiver of the output is behind, and no longer behind. */
  pause(): void
  resume(): void
  /** The client went away. */
  kill(): void
}

export interface NodeConnection {
  /** Resolves with how to begin; beginning returns how to stop. */
  logs(of: PodContainer, request: LogRequest): Promise<(sink: LogSink) => () => void>
  exec(of: PodContainer, request: StreamRequest & { command: readonly string[] }, output: StreamOutput): Promise<StreamSession>
  attach(of: PodContainer, request: StreamRequest, output: StreamOutput): Promise<StreamSession>
}

export interface NodeConnections {
  /** undefined when nobody serves this node: it is an object and nothing else. */
  find(node: KubeObject): NodeConnection | undefined
}
