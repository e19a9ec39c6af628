/**
 * What a process node can do with the machine it runs on. The real one is `minicluster/process`; worlds and tests use
 * a scripted one. A container's run is named by pod, container and attempt, and starting the same run twice is harmless:
 * there are never two copies of it.
 */

import type { StreamSession } from '../../kube/node-connections.ts'
import type { VolumeFile } from '../../runtime/seams/volume-driver.ts'
import type { EntryPoint } from './entry-point.ts'

/** One run of one container. */
export interface RunId {
  podUid: string
  container: string
  /** restartCount at the time of the run: 0 for the first. */
  attempt: number
}

export interface Mount {
  /** Directory or file on this machine. */
  source: string
  /** Absolute path the container sees it at. */
  path: string
  readOnly: boolean
}

export interface RunSpec extends RunId {
  namespace: string
  pod: string
  /** Program and arguments; element 0 is looked up in the container's PATH where it has no slash. */
  command: readonly string[]
  env: Readonly<Record<string, string>>
  /** Absolute path inside the container's root; undefined is `/` with a mapped image, and the pod's own directory otherwise. */
  workingDir?: string
  /** Directory that becomes the root, if the image is mapped to one; otherwise the container sees this machine's root. */
  imageRoot?: string
  /** Of the image, if it has one here: `command` is already translated, commands that are run in the container later are not. */
  entryPoint?: EntryPoint
  mounts: readonly Mount[]
  hostname: string
  tty: boolean
  stdin: boolean
}

export type RunState =
  /** Requested, but the shim has not yet reported that the program runs. */
  | { phase: 'starting' }
  | { phase: 'running'; startedAtMs: number; pid: number }
  | {
      phase: 'exited'
      startedAtMs: number
      finishedAtMs: number
      exitCode: number
      /** Number of the signal that ended it, if one did (exitCode is then 128 + signal). */
      signal?: number
    }
  /** The program could not be started: the message is for people. `reason` is a container reason Kubernetes users know. */
  | {
      phase: 'failed'
      reason: 'CreateContainerError' | 'RunContainerError' | 'StartError' | 'ContainerCannotRun'
      message: string
      /** When, if it is known. */
      atMs?: number
    }

export interface ExecStart {
  command: readonly string[]
  tty: boolean
  /** Bytes of the program's output. `stderr` is never called with a tty. */
  stdout(chunk: Uint8Array): void
  stderr(chunk: Uint8Array): void
}

/** The same type that the API server gets: see kube/node-connections.ts. */
export type ExecSession = StreamSession

export interface LogReading {
  follow: boolean
  /** Last lines only; undefined is all. */
  tailLines?: number
  /** Lines written at or after this time. */
  sinceMs?: number
  limitBytes?: number
  timestamps: boolean
  /** Default All. */
  stream?: 'All' | 'Stdout' | 'Stderr'
}

/** See `CsiFiles`; all paths are relative to one directory. Rejects where a step on the way is a link or a file. */
export interface FilesBelow {
  kindOf(path: string): Promise<'directory' | 'file' | 'socket' | 'other' | undefined>
  read(path: string, limitBytes: number): Promise<Uint8Array | undefined>
  write(path: string, text: string): Promise<void>
  makeDirectory(path: string): Promise<void>
  remove(path: string): Promise<void>
  /**
   * Removes a directory in which there is no file, and those above it that are empty then, but for the topmost. Where there is a
   * file, nothing is removed.
   */
  removeEmpty(path: string): Promise<void>
  namesIn(path: string): Promise<readonly string[]>
}

export interface ContainerMachine {
  /** Why namespaces cannot be used here, and what to allow; undefined when mounts can be composed. */
  readonly namespacesRefusal: string | undefined
  /** All runs of a pod in the data directory, including those from before a restart of Sluice; newest attempt last. */
  runsOf(podUid: string): readonly (RunId & { state: RunState })[]
  /** Pods that have anything here, including those from before a restart. */
  pods(): readonly string[]
  /** Begins a run unless it exists already. Resolves when it is recorded; its state follows through `onChange`. */
  start(spec: RunSpec): Promise<void>
  /** Sends a signal to the run's first process, as container runtimes do; SIGKILL kills all of it. Ended runs are left alone. */
  signal(run: RunId, signal: 'SIGTERM' | 'SIGKILL' | (string & {})): Promise<void>
  /** The state of one of the pod's runs changed. */
  onChange(listener: (podUid: string) => void): () => void
  /** A directory of the pod in the data directory, made if absent: volumes live below it. */
  directory(podUid: string, ...parts: readonly string[]): Promise<string>
  /**
   * A volume of the pod in memory, of at most this size (undefined: the machine's default): the same for all its containers,
   * also after a restart of Sluice. `refusal`: why it is a plain directory here.
   */
  memory(podUid: string, name: string, sizeBytes: number | undefined): Promise<{ path: string; refusal?: string }>
  /** Takes that memory back, unless something of the pod runs; what was in it is lost. */
  releaseMemory(podUid: string): Promise<void>
  /** What a node keeps for itself, beyond the life of its pods: see `kube/node-path.ts`. Not made by asking for it. */
  nodeDirectory(node: string): string
  /** Replaces all files of a volume at once (an atomic switch). Writes nothing when nothing differs. */
  writeFiles(directory: string, files: readonly VolumeFile[]): Promise<void>
  /**
   * A file of the pod that its containers mount, next to its volumes: replaced in place, so that running programs see the new
   * text. With `replace`, only where the pod has it already. Returns its path; nothing is written when nothing differs.
   */
  writePodFile(podUid: string, file: { name: string; text: string; how: 'create' | 'replace' }): Promise<string>
  /** What kind of thing is at a path of this machine. */
  kindOf(path: string): Promise<'directory' | 'file' | 'socket' | 'other' | undefined>
  /** The beginning of a file, at most this many bytes; undefined when there is none. Sees what `writeFiles` wrote. */
  readFile(path: string, limitBytes: number): Promise<Uint8Array | undefined>
  /** Names in a directory, sorted; none where there is no directory. */
  namesIn(directory: string): Promise<readonly string[]>
  /** Replaces a small file, whole or not at all; makes the directories that lead to it. */
  writeFile(path: string, text: string): Promise<void>
  /** Removes a file or a directory with everything in it; nothing happens when it is not there. */
  removePath(path: string): Promise<void>
  makeDirectory(path: string): Promise<void>
  makeFile(path: string): Promise<void>
  /**
   * Where a clean relative path below a directory leads; created as a directory if nothing is there. Rejects when symbolic
   * links would lead out of it: what a program wrote into a volume must never make us mount something else.
   */
  inside(directory: string, path: string): Promise<string>
  /** Files of a directory in which programs write as well: relative paths, and no link is followed. */
  filesBelow(directory: string): FilesBelow
  /** Whether a command resolves to an executable here: decides whether a pod is simulated or run. */
  resolves(command: string): boolean
  exec(run: RunId, start: ExecStart): Promise<ExecSession>
  /** The input and output of the run's own program, from now on. Resolves its `exited` with the run's exit code. */
  attach(run: RunId, start: Omit<ExecStart, 'command'>): Promise<ExecSession>
  /** Streams a run's log; returns a function that stops it. `end` is called at the end (not while following a running one). */
  readLog(
    run: RunId,
    reading: LogReading,
    sink: { write(chunk: Uint8Array): boolean; onDrain(callback: () => void): void; end(): void },
  ): () => void
  /** Resolves when something accepts connections there. */
  dial(host: string, port: number, timeoutMs: number): Promise<void>
  httpGet(request: {
    host: string
    port: number
    path: string
    scheme: 'HTTP' | 'HTTPS'
    headers: readonly (readonly [string, string])[]
    timeoutMs: number
  }): Promise<number>
  /** Removes old runs and their logs; the newest `keep` attempts of each container stay. */
  prune(podUid: string, keep: number): Promise<void>
  /** Removes everything of the pod: its runs must have ended. */
  remove(podUid: string): Promise<void>
}
