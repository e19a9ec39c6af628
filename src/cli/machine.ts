/**
 * What a command may use of the machine it runs on. `main.ts` supplies the real one; commands never bypass it, so that they
 * can be tested with a fake.
 */
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'

export interface Machine {
  clock: Clock
  random: Random
  env(name: string): string | undefined
  cwd: string
  /** The resources of the machine, to be divided among the members of `up`. */
  hardware: { cpus: number; memoryBytes: number }
  /** Memory of this process: what it uses, and what it may use. */
  memory(): MemoryUse
  /** What its nodes report about it. */
  systemInfo: { architecture: string; operatingSystem: string; kernelVersion: string; osImage: string }
  /** Whether the output is a terminal: colours and progress. */
  isTerminal: boolean
  out(text: string): void
  err(text: string): void
  /** The log of the running program, a line per record; silent until a command configures it. */
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
  /** The heap limit that Node sets for this process. */
  limitBytes: number
  /** What the machine could provide. */
  mostBytes: number
}

export interface Files {
  resolve(...parts: string[]): string
  /** Undefined when there is no such file. */
  read(path: string): Promise<string | undefined>
  /** Replaces the whole file atomically; `mode` as in chmod. */
  write(path: string, text: string, mode: number): Promise<void>
  exists(path: string): Promise<boolean>
  makeDirectory(path: string): Promise<void>
  remove(path: string): Promise<void>
  /** A new file to be written piece by piece, readable by its owner alone; fails when it exists. */
  createStream(path: string): Promise<FileSink>
}

export interface FileSink {
  write(chunk: Uint8Array): Promise<void>
  /** Durable when it resolves. */
  close(): Promise<void>
  /** Deletes the file. */
  discard(): Promise<void>
}

export interface Processes {
  pid: number
  isAlive(pid: number): boolean
  /** Distinguishes a process from a later one with the same pid; '' where the system does not provide it, undefined when none runs. */
  mark(pid: number): string | undefined
  signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void
  /** Starts this program again in the background with its output in a file; returns its pid. */
  startDetached(args: readonly string[], logFile: string): Promise<number>
  /** Runs another program of ours in this process, with these arguments; resolves to its exit code. */
  load(file: string, args: readonly string[]): Promise<number>
}

/** A failure that the user can fix: printed without a stack, exit code 1. */
export class CommandError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'CommandError'
  }
}
