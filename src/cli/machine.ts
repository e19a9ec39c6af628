/**
 * What a command may touch of the machine it runs on. `main.ts` brings the real one; commands never reach past it, so that
 * they can be tested with a fake.
 */
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'

export interface Machine {
  clock: Clock
  random: Random
  env(name: string): string | undefined
  cwd: string
  /** What the machine has, to be divided among the members of `up`. */
  hardware: { cpus: number; memoryBytes: number }
  /** Of this process: what is in use, and what it may use. */
  memory(): MemoryUse
  /** What its nodes say about it. */
  systemInfo: { architecture: string; operatingSystem: string; kernelVersion: string; osImage: string }
  /** Whether people are looking: colours and progress. */
  isTerminal: boolean
  out(text: string): void
  err(text: string): void
  /** What the running program has to say, a line per record; silent until a command says how. */
  log: Log
  files: Files
  processes: Processes
  /** Resolves with the signal's name on the first SIGINT or SIGTERM. */
  untilStopped(): Promise<string>
  /** Node's version and the program's own file, to start it again in the background. */
  program: { file: string; node: string; version: string }
}

export interface MemoryUse {
  usedBytes: number
  /** What Node allows this process. */
  limitBytes: number
  /** What the machine could give. */
  mostBytes: number
}

export interface Files {
  resolve(...parts: string[]): string
  /** Undefined when there is no such file. */
  read(path: string): Promise<string | undefined>
  /** Replaces the file whole; `mode` as in chmod. */
  write(path: string, text: string, mode: number): Promise<void>
  exists(path: string): Promise<boolean>
  makeDirectory(path: string): Promise<void>
  remove(path: string): Promise<void>
  /** A file to be written piece by piece, new and readable by its owner alone; fails when it exists. */
  createStream(path: string): Promise<FileSink>
}

export interface FileSink {
  write(chunk: Uint8Array): Promise<void>
  /** Durable when it resolves. */
  close(): Promise<void>
  /** Throws the file away. */
  discard(): Promise<void>
}

export interface Processes {
  pid: number
  isAlive(pid: number): boolean
  /** Tells a process from a later one with the same number; '' where the system does not say, undefined when none runs. */
  mark(pid: number): string | undefined
  signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void
  /** Starts this program again in the background with its output in a file; returns its pid. */
  startDetached(args: readonly string[], logFile: string): Promise<number>
}

/** A failure that is the user's to mend: printed as it is, without a stack, exit code 1. */
export class CommandError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'CommandError'
  }
}
