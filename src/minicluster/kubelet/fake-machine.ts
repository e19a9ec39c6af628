/**
 * A machine for worlds and tests: its programs are data, its time is the clock's, its disk is a map. It survives crashes
 * of the kubelet as the real one does; `connect` gives each process of the kubelet a connection to it that can be cut.
 */
import type { Clock } from '../../base/clock.ts'
import type { VolumeFile } from '../../runtime/seams/volume-driver.ts'
import type { ContainerMachine, ExecSession, ExecStart, FilesBelow, LogReading, RunId, RunSpec, RunState } from './container-machine.ts'

/** What a program does; every field has a default. */
export interface Program {
  /** Exits on its own after this long (default: never). */
  runMs?: number
  /** Exit code of that exit, and of the exit on a stop signal if it handles it (default 0, and 143). */
  exitCode?: number
  /** Accepts connections there, on the pod's address. */
  port?: number
  /** Answers to HTTP by path (default 200). */
  http?: Readonly<Record<string, number>>
  ignoresStop?: boolean
  /** From the stop signal to the exit (default: none). */
  stopMs?: number
  failsToStart?: Extract<RunState, { phase: 'failed' }>
  /** From the request to running (default: none). */
  startMs?: number
  /** Commands run inside it, by first word; a function decides from the whole command. */
  exec?: Readonly<Record<string, CommandResult | ((command: readonly string[]) => CommandResult)>>
  terminationMessage?: string
  log?: string
}

/** What a command inside a program does; `errors` go to its standard error. */
export interface CommandResult {
  exitCode?: number
  output?: string
  errors?: string
  afterMs?: number
}

/** By first word of the command; an array is a program that behaves differently at each attempt; the last entry repeats. */
export type Programs = Readonly<Record<string, Program | readonly Program[]>>

interface FakeRun {
  spec: RunSpec
  state: RunState
  cancel(): void
}

export interface FakeMachineOptions {
  clock: Clock
  programs: Programs
  namespacesRefusal?: string
  memoryRefusal?: string
}

const SIGNALS: Readonly<Record<string, number>> = { SIGTERM: 15, SIGKILL: 9, SIGINT: 2, SIGQUIT: 3, SIGHUP: 1, SIGUSR1: 10 }

const nameOf = ({ container, attempt }: Pick<RunId, 'container' | 'attempt'>): string => `${container}/${attempt}`
const isLive = ({ state }: { state: RunState }): boolean => state.phase === 'running' || state.phase === 'starting'

export class FakeMachine implements ContainerMachine {
  readonly namespacesRefusal: string | undefined
  /** How often each run was started: more than once means that the kubelet made a copy. */
  readonly begun = new Map<string, number>()
  /** Everything started so far, in order. */
  readonly specs: RunSpec[] = []
  readonly signals: string[] = []
  /** Sizes of the volumes in memory, by path. */
  readonly inMemory = new Map<string, number | undefined>()
  /** Content of the volumes and other files, by path. */
  readonly files = new Map<string, string>()
  /** Paths of the pods' own files, once for each time that one was written. */
  readonly rewrites: string[] = []
  readonly #clock: Clock
  readonly #programs: Programs
  readonly #pods = new Map<string, Map<string, FakeRun>>()
  readonly #changes = new Map<string, Partial<Program>>()
  readonly #occupied = new Set<string>()
  readonly #listeners = new Set<(podUid: string) => void>()
  readonly #memoryRefusal: string | undefined
  #pid = 1000

  constructor({ clock, programs, namespacesRefusal, memoryRefusal }: FakeMachineOptions) {
    this.#memoryRefusal = memoryRefusal
    this.#clock = clock
    this.#programs = programs
    this.namespacesRefusal = namespacesRefusal
  }

  /** A connection to the machine that no longer answers once `isCut` returns true. */
  connect(isCut: () => boolean): ContainerMachine {
    return cuttable(this, isCut)
  }

  /** Changes a running program: for one that answers well first and badly later. */
  change(container: string, program: Partial<Program>): void {
    this.#changes.set(container, { ...this.#changes.get(container), ...program })
  }

  /** Another program holds this port. */
  occupy(host: string, port: number): void {
    this.#occupied.add(`${host}:${port}`)
  }

  /** Deletes everything, as with a new disk. */
  wipe(): void {
    for (const run of this.#runs()) run.cancel()
    this.#pods.clear()
    this.files.clear()
  }

  runsOf(podUid: string): readonly (RunId & { state: RunState })[] {
    return [...(this.#pods.get(podUid)?.values() ?? [])]
      .map(({ spec, state }) => ({ podUid, container: spec.container, attempt: spec.attempt, state }))
      .sort((a, b) => a.attempt - b.attempt)
  }

  pods(): string[] {
    return [...this.#pods.keys()]
  }

  async start(spec: RunSpec): Promise<void> {
    const own = this.#podOf(spec.podUid)
    if (own.has(nameOf(spec))) return
    const key = `${spec.podUid}/${nameOf(spec)}`
    this.begun.set(key, (this.begun.get(key) ?? 0) + 1)
    this.specs.push(spec)
    const run: FakeRun = { spec, state: { phase: 'starting' }, cancel: () => undefined }
    own.set(nameOf(spec), run)
    run.cancel = this.#clock.after(this.#programOf(spec).startMs ?? 0, () => this.#go(run))
  }

  async signal(id: RunId, signal: string): Promise<void> {
    const run = this.#find(id)
    if (run === undefined || !isLive(run)) return
    this.signals.push(`${signal} ${nameOf(id)}`)
    if (run.state.phase === 'starting') this.#go(run)
    const program = this.#programOf(run.spec)
    const number = SIGNALS[signal] ?? 15
    if (signal !== 'SIGKILL' && program.ignoresStop === true) return
    const code = signal === 'SIGKILL' || program.exitCode === undefined ? 128 + number : program.exitCode
    const delayMs = signal === 'SIGKILL' ? 0 : (program.stopMs ?? 0)
    run.cancel()
    if (delayMs === 0) this.#end(run, code, code > 128 ? number : undefined)
    else run.cancel = this.#clock.after(delayMs, () => this.#end(run, code))
  }

  onChange(listener: (podUid: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async directory(podUid: string, ...parts: readonly string[]): Promise<string> {
    this.#podOf(podUid)
    return `/data/pods/${[podUid, ...parts].join('/')}`
  }

  async memory(podUid: string, name: string, sizeBytes: number | undefined): Promise<{ path: string; refusal?: string }> {
    const path = await this.directory(podUid, 'volumes', name)
    if (this.#memoryRefusal !== undefined) return { path, refusal: this.#memoryRefusal }
    this.inMemory.set(path, sizeBytes)
    return { path }
  }

  async releaseMemory(podUid: string): Promise<void> {
    for (const path of [...this.inMemory.keys()]) if (path.startsWith(`/data/pods/${podUid}/`)) this.inMemory.delete(path)
  }

  nodeDirectory(node: string): string {
    return `/data/nodes/${node}`
  }

  async writeFiles(directory: string, next: readonly VolumeFile[]): Promise<void> {
    this.#forget(directory)
    for (const { path, content } of next) this.files.set(`${directory}/${path}`, Buffer.from(content).toString())
  }

  async writePodFile(podUid: string, { name, text, how }: { name: string; text: string; how: 'create' | 'replace' }): Promise<string> {
    const path = `/data/pods/${podUid}/etc/${name}`
    if (how === 'create') this.#podOf(podUid)
    if (how === 'create' || this.files.has(path)) {
      if (this.files.get(path) !== text) this.rewrites.push(path)
      this.files.set(path, text)
    }
    return path
  }

  async kindOf(path: string): Promise<'directory' | 'file' | undefined> {
    const content = this.files.get(path)
    return content === undefined ? undefined : content === DIRECTORY ? 'directory' : 'file'
  }

  async readFile(path: string, limitBytes: number): Promise<Uint8Array | undefined> {
    const text = this.files.get(path)
    return text === undefined ? undefined : Buffer.from(text).subarray(0, limitBytes)
  }

  async namesIn(directory: string): Promise<readonly string[]> {
    const below = [...this.files.keys()].filter((path) => path.startsWith(`${directory}/`))
    return [...new Set(below.map((path) => path.slice(directory.length + 1).split('/')[0] ?? ''))].sort()
  }

  async writeFile(path: string, text: string): Promise<void> {
    this.files.set(path, text)
  }

  async removePath(path: string): Promise<void> {
    this.files.delete(path)
    this.#forget(path)
  }

  async makeDirectory(path: string): Promise<void> {
    this.files.set(path, DIRECTORY)
  }

  async makeFile(path: string): Promise<void> {
    this.files.set(path, this.files.get(path) ?? '')
  }

  async inside(directory: string, path: string): Promise<string> {
    if (this.files.get(`${directory}/${path}`) === LINK) throw new Error(`${path} leads out of the volume`)
    const at = `${directory}/${path}`.replace(/\/+/g, '/')
    if (!this.files.has(at)) this.files.set(at, DIRECTORY)
    return at
  }

  filesBelow(directory: string): FilesBelow {
    const at = (path: string): string => {
      const whole = `${directory}/${path}`.replace(/\/+/g, '/')
      for (const link of this.files.keys())
        if (this.files.get(link) === LINK && whole.startsWith(`${link}/`)) throw new Error(`${path} leads over a link`)
      return whole
    }
    return {
      kindOf: async (path) => (this.files.get(at(path)) === LINK ? 'other' : this.kindOf(at(path))),
      read: async (path, limitBytes) => this.readFile(at(path), limitBytes),
      write: async (path, text) => this.writeFile(at(path), text),
      makeDirectory: async (path) => this.makeDirectory(at(path)),
      remove: async (path) => this.removePath(at(path)),
      removeEmpty: async (path) => this.#removeEmpty(directory, at(path)),
      namesIn: async (path) => this.namesIn(at(path)),
    }
  }

  #removeEmpty(top: string, path: string): void {
    const below = (of: string): string[] => [...this.files.keys()].filter((name) => name === of || name.startsWith(`${of}/`))
    if (below(path).some((name) => this.files.get(name) !== DIRECTORY)) return
    for (const name of below(path)) this.files.delete(name)
    const parts = path.slice(top.length + 1).split('/')
    for (parts.pop(); parts.length > 1; parts.pop()) {
      const parent = `${top}/${parts.join('/')}`
      if (below(parent).every((name) => name === parent)) this.files.delete(parent)
    }
  }

  resolves(command: string): boolean {
    return Object.hasOwn(this.#programs, command)
  }

  async exec(id: RunId, start: ExecStart): Promise<ExecSession> {
    const run = this.#find(id)
    if (run?.state.phase !== 'running') throw new Error('container not running')
    const { command } = start
    const missing = { exitCode: 127, output: `exec: ${command[0]}: not found` }
    const scripted = this.#programOf(run.spec).exec?.[command[0] ?? ''] ?? missing
    return session(typeof scripted === 'function' ? scripted(command) : scripted, this.#clock, start)
  }

  attach(): Promise<ExecSession> {
    return Promise.reject(new Error('nothing to attach to'))
  }

  readLog(id: RunId, _reading: LogReading, sink: { write(chunk: Uint8Array): boolean; end(): void }): () => void {
    const run = this.#find(id)
    const log = run === undefined ? undefined : this.#programOf(run.spec).log
    if (log !== undefined) sink.write(Buffer.from(log))
    sink.end()
    return () => undefined
  }

  async dial(host: string, port: number): Promise<void> {
    if (!this.#occupied.has(`${host}:${port}`) && this.#serverOf(host, port) === undefined) throw new Error('connect: connection refused')
  }

  async httpGet({ host, port, path }: { host: string; port: number; path: string }): Promise<number> {
    const run = this.#serverOf(host, port)
    if (run === undefined) throw new Error(`dial tcp ${host}:${port}: connect: connection refused`)
    return this.#programOf(run.spec).http?.[path] ?? 200
  }

  async prune(podUid: string, keep: number): Promise<void> {
    const own = this.#podOf(podUid)
    for (const run of [...own.values()]) {
      const newer = [...own.values()].filter(({ spec }) => spec.container === run.spec.container && spec.attempt > run.spec.attempt)
      if (newer.length >= keep && !isLive(run)) own.delete(nameOf(run.spec))
    }
  }

  async remove(podUid: string): Promise<void> {
    const live = [...(this.#pods.get(podUid)?.values() ?? [])].filter(isLive)
    if (live.length > 0) throw new Error(`pod ${podUid} still has ${live.length} runs`)
    this.#pods.delete(podUid)
    await this.releaseMemory(podUid)
    this.#forget(`/data/pods/${podUid}`)
  }

  #podOf(podUid: string): Map<string, FakeRun> {
    const own = this.#pods.get(podUid) ?? new Map<string, FakeRun>()
    this.#pods.set(podUid, own)
    return own
  }

  #runs(): FakeRun[] {
    return [...this.#pods.values()].flatMap((runs) => [...runs.values()])
  }

  #find(run: RunId): FakeRun | undefined {
    return this.#pods.get(run.podUid)?.get(nameOf(run))
  }

  #forget(directory: string): void {
    for (const path of [...this.files.keys()]) if (path.startsWith(`${directory}/`)) this.files.delete(path)
  }

  #programOf({ command, attempt, container }: RunSpec): Program {
    const scripted = this.resolves(command[0] ?? '') ? this.#programs[command[0] ?? ''] : undefined
    const one = Array.isArray(scripted) ? (scripted[Math.min(attempt, scripted.length - 1)] as Program) : (scripted as Program | undefined)
    return { ...(one ?? { failsToStart: notFound(command[0] ?? '') }), ...this.#changes.get(container) }
  }

  /** Programs listen on their pod's address (`POD_IP`), or on every address if they have none. */
  #serverOf(host: string, port: number): FakeRun | undefined {
    return this.#runs().find(
      (run) => run.state.phase === 'running' && [undefined, host].includes(run.spec.env.POD_IP) && this.#programOf(run.spec).port === port,
    )
  }

  #setState(run: FakeRun, state: RunState): void {
    run.cancel()
    run.cancel = () => undefined
    run.state = state
    for (const listener of [...this.#listeners]) listener(run.spec.podUid)
  }

  #go(run: FakeRun): void {
    const program = this.#programOf(run.spec)
    const startedAtMs = this.#clock.now()
    if (program.failsToStart !== undefined) {
      this.#setState(run, { atMs: startedAtMs, ...program.failsToStart })
      return
    }
    const at = program.terminationMessage === undefined ? undefined : run.spec.mounts.find(({ path }) => path === '/dev/termination-log')
    if (at !== undefined) this.files.set(at.source, program.terminationMessage ?? '')
    this.#setState(run, { phase: 'running', startedAtMs, pid: this.#pid++ })
    if (program.runMs !== undefined) run.cancel = this.#clock.after(program.runMs, () => this.#end(run, program.exitCode ?? 0))
  }

  #end(run: FakeRun, exitCode: number, signal?: number): void {
    if (run.state.phase !== 'running') return
    const { startedAtMs } = run.state
    this.#setState(run, { phase: 'exited', startedAtMs, finishedAtMs: this.#clock.now(), exitCode, signal })
  }
}

/** A path that leads out of its volume. */
export const LINK = '\0link'
const DIRECTORY = '\0directory'
/** The exit code of what SIGKILL ended. */
const KILLED = 137

const notFound = (command: string): Extract<RunState, { phase: 'failed' }> => ({
  phase: 'failed',
  reason: 'StartError',
  message: `exec: "${command}": executable file not found in $PATH`,
})

function session({ exitCode = 0, output = '', errors = '', afterMs = 0 }: CommandResult, clock: Clock, start: ExecStart): ExecSession {
  let kill = (): void => undefined
  const exited = new Promise<number>((resolve) => {
    const cancel = clock.after(afterMs, () => {
      if (output !== '') start.stdout(Buffer.from(output))
      if (errors !== '') start.stderr(Buffer.from(errors))
      resolve(exitCode)
    })
    kill = () => {
      cancel()
      resolve(KILLED)
    }
  })
  const nothing = (): void => undefined
  return { exited, write: async () => undefined, endInput: nothing, resize: nothing, pause: nothing, resume: nothing, kill: () => kill() }
}

/** Requests of a dead process are never answered, and it gets no notifications. */
function cuttable(machine: ContainerMachine, isCut: () => boolean): ContainerMachine {
  return new Proxy(machine, {
    get(target, property, receiver) {
      const value = Reflect.get(target, property, receiver) as unknown
      if (typeof value !== 'function') return value
      if (property === 'onChange')
        return (listener: (podUid: string) => void) =>
          target.onChange((podUid) => {
            if (!isCut()) listener(podUid)
          })
      return (...args: unknown[]): unknown => {
        if (!isCut()) return Reflect.apply(value, target, args)
        return property === 'runsOf' || property === 'pods' ? [] : new Promise(() => undefined)
      }
    },
  })
}
