/**
 * A machine for worlds and tests: its programs are data, its time is the clock's, its disk a map. It outlives crashes of
 * the kubelet as the real one does; `connect` gives each process of the kubelet a way to it that can be cut.
 */
import type { Clock } from '../../base/clock.ts'
import type { ContainerMachine, ExecSession, RunId, RunSpec, RunState, VolumeFile } from './container-machine.ts'

/** What a program does; every field has a meaning when absent. */
export interface Program {
  /** Ends by itself after so long (default: never). */
  runMs?: number
  /** Exit code of that end, and of the end by a stop signal where it handles it (default 0, and 143). */
  exitCode?: number
  /** Accepts connections there, on the pod's address. */
  port?: number
  /** Answers to HTTP by path (default 200). */
  http?: Readonly<Record<string, number>>
  ignoresStop?: boolean
  /** From the stop signal to the end (default at once). */
  stopMs?: number
  failsToStart?: Extract<RunState, { phase: 'failed' }>
  /** From being asked for to running (default at once). */
  startMs?: number
  /** Commands inside: by the first word. */
  exec?: Readonly<Record<string, { exitCode?: number; output?: string; afterMs?: number }>>
  lastWords?: string
  log?: string
}

/** By first word of the command; an array is a program that behaves differently at each attempt, then as at the last. */
export type Programs = Readonly<Record<string, Program | readonly Program[]>>

interface FakeRun {
  spec: RunSpec
  state: RunState
  cancel(): void
}

export interface FakeMachine {
  readonly machine: ContainerMachine
  /** A way to the machine that answers nothing any more once `isCut` says so. */
  connect(isCut: () => boolean): ContainerMachine
  /** How often each run was begun: never more than once, or the kubelet has made a copy. */
  readonly begun: ReadonlyMap<string, number>
  /** Everything started so far, in order. */
  readonly specs: readonly RunSpec[]
  readonly signals: readonly string[]
  /** Content of the volumes and other files, by path. */
  readonly files: ReadonlyMap<string, string>
  /** The program changes its mind: for what answers well first and badly later. */
  change(container: string, program: Partial<Program>): void
  /** A program of somebody else holds this port. */
  occupy(host: string, port: number): void
  /** Everything is gone, as after a new disk. */
  wipe(): void
}

export interface FakeMachineOptions {
  clock: Clock
  programs: Programs
  namespacesRefusal?: string
}

const SIGNALS: Readonly<Record<string, number>> = { SIGTERM: 15, SIGKILL: 9, SIGINT: 2, SIGQUIT: 3, SIGHUP: 1, SIGUSR1: 10 }

export function createFakeMachine({ clock, programs, namespacesRefusal }: FakeMachineOptions): FakeMachine {
  const pods = new Map<string, Map<string, FakeRun>>()
  const files = new Map<string, string>()
  const changes = new Map<string, Partial<Program>>()
  const occupied = new Set<string>()
  const begun = new Map<string, number>()
  const specs: RunSpec[] = []
  const signals: string[] = []
  const listeners = new Set<(podUid: string) => void>()
  let pid = 1000

  const nameOf = ({ container, attempt }: Pick<RunId, 'container' | 'attempt'>): string => `${container}/${attempt}`
  const find = (run: RunId): FakeRun | undefined => pods.get(run.podUid)?.get(nameOf(run))
  const programOf = ({ command, attempt, container }: RunSpec): Program => {
    const scripted = Object.hasOwn(programs, command[0] ?? '') ? programs[command[0] ?? ''] : undefined
    const one = Array.isArray(scripted) ? (scripted[Math.min(attempt, scripted.length - 1)] as Program) : (scripted as Program | undefined)
    return { ...(one ?? { failsToStart: notFound(command[0] ?? '') }), ...changes.get(container) }
  }
  const tell = (podUid: string): void => {
    for (const listener of [...listeners]) listener(podUid)
  }
  const setState = (run: FakeRun, state: RunState): void => {
    run.cancel()
    run.cancel = () => undefined
    run.state = state
    tell(run.spec.podUid)
  }

  function go(run: FakeRun): void {
    const program = programOf(run.spec)
    const startedAtMs = clock.now()
    if (program.failsToStart !== undefined) {
      setState(run, { atMs: startedAtMs, ...program.failsToStart })
      return
    }
    const at = program.lastWords === undefined ? undefined : run.spec.mounts.find(({ path }) => path === '/dev/termination-log')
    if (at !== undefined) files.set(at.source, program.lastWords ?? '')
    setState(run, { phase: 'running', startedAtMs, pid: pid++ })
    if (program.runMs !== undefined) run.cancel = clock.after(program.runMs, () => end(run, program.exitCode ?? 0))
  }

  function end(run: FakeRun, exitCode: number, signal?: number): void {
    if (run.state.phase !== 'running') return
    const { startedAtMs } = run.state
    setState(run, { phase: 'exited', startedAtMs, finishedAtMs: clock.now(), exitCode, signal })
  }

  /** Ports of what runs, by the address of its pod. */
  const isServed = (host: string, port: number): FakeRun | undefined =>
    [...pods.values()]
      .flatMap((runs) => [...runs.values()])
      .find((run) => run.state.phase === 'running' && [undefined, host].includes(run.spec.env.POD_IP) && programOf(run.spec).port === port)

  const machine: ContainerMachine = {
    namespacesRefusal,
    runsOf: (podUid) =>
      [...(pods.get(podUid)?.values() ?? [])]
        .map(({ spec, state }) => ({ podUid, container: spec.container, attempt: spec.attempt, state }))
        .sort((a, b) => a.attempt - b.attempt),
    pods: () => [...pods.keys()],
    async start(spec) {
      const own = pods.get(spec.podUid) ?? new Map<string, FakeRun>()
      pods.set(spec.podUid, own)
      const key = `${spec.podUid}/${nameOf(spec)}`
      if (own.has(nameOf(spec))) return
      begun.set(key, (begun.get(key) ?? 0) + 1)
      specs.push(spec)
      const run: FakeRun = { spec, state: { phase: 'starting' }, cancel: () => undefined }
      own.set(nameOf(spec), run)
      run.cancel = clock.after(programOf(spec).startMs ?? 0, () => go(run))
    },
    async signal(id, signal) {
      const run = find(id)
      if (run === undefined || run.state.phase === 'exited' || run.state.phase === 'failed') return
      signals.push(`${signal} ${nameOf(id)}`)
      if (run.state.phase === 'starting') go(run)
      const program = programOf(run.spec)
      const number = SIGNALS[signal] ?? 15
      if (signal !== 'SIGKILL' && program.ignoresStop === true) return
      const code = signal === 'SIGKILL' || program.exitCode === undefined ? 128 + number : program.exitCode
      const delayMs = signal === 'SIGKILL' ? 0 : (program.stopMs ?? 0)
      run.cancel()
      if (delayMs === 0) end(run, code, code > 128 ? number : undefined)
      else run.cancel = clock.after(delayMs, () => end(run, code))
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async directory(podUid, ...parts) {
      if (!pods.has(podUid)) pods.set(podUid, new Map())
      return `/data/pods/${[podUid, ...parts].join('/')}`
    },
    async writeFiles(directory, next: readonly VolumeFile[]) {
      for (const path of [...files.keys()]) if (path.startsWith(`${directory}/`)) files.delete(path)
      for (const { path, content } of next) files.set(`${directory}/${path}`, Buffer.from(content).toString())
    },
    kindOf: async (path) => (files.has(path) ? (files.get(path) === DIRECTORY ? 'directory' : 'file') : undefined),
    readFile: async (path, limitBytes) => {
      const text = files.get(path)
      return text === undefined ? undefined : Buffer.from(text).subarray(0, limitBytes)
    },
    makeDirectory: async (path) => void files.set(path, DIRECTORY),
    makeFile: async (path) => void files.set(path, files.get(path) ?? ''),
    async inside(directory, path) {
      if (files.get(`${directory}/${path}`) === 'link') throw new Error(`${path} leads out of the volume`)
      return `${directory}/${path}`
    },
    resolves: (command) => Object.hasOwn(programs, command),
    exec: async (id, { command, stdout }) => session(execOf(find(id), command), clock, stdout),
    attach: () => Promise.reject(new Error('nothing to attach to')),
    readLog(id, _reading, sink) {
      const run = find(id)
      const log = run === undefined ? undefined : programOf(run.spec).log
      if (log !== undefined) sink.write(Buffer.from(log))
      sink.end()
      return () => undefined
    },
    async dial(host, port) {
      if (!occupied.has(`${host}:${port}`) && isServed(host, port) === undefined) throw new Error('connect: connection refused')
    },
    async httpGet({ host, port, path }) {
      const run = isServed(host, port)
      if (run === undefined) throw new Error(`dial tcp ${host}:${port}: connect: connection refused`)
      return programOf(run.spec).http?.[path] ?? 200
    },
    async prune(podUid, keep) {
      const own = pods.get(podUid)
      for (const run of [...(own?.values() ?? [])]) {
        const newer = [...(own?.values() ?? [])].filter(
          (one) => one.spec.container === run.spec.container && one.spec.attempt > run.spec.attempt,
        )
        if (newer.length >= keep && run.state.phase !== 'running') own?.delete(nameOf(run.spec))
      }
    },
    async remove(podUid) {
      const live = [...(pods.get(podUid)?.values() ?? [])].filter(({ state }) => state.phase === 'running' || state.phase === 'starting')
      if (live.length > 0) throw new Error(`pod ${podUid} still has ${live.length} runs`)
      pods.delete(podUid)
      for (const path of [...files.keys()]) if (path.startsWith(`/data/pods/${podUid}/`)) files.delete(path)
    },
  }

  function execOf(run: FakeRun | undefined, command: readonly string[]): { exitCode?: number; output?: string; afterMs?: number } {
    if (run?.state.phase !== 'running') throw new Error('container not running')
    return programOf(run.spec).exec?.[command[0] ?? ''] ?? { exitCode: 127, output: `exec: ${command[0]}: not found` }
  }

  return {
    machine,
    connect: (isCut) => cuttable(machine, isCut),
    begun,
    specs,
    signals,
    files,
    change: (container, program) => void changes.set(container, { ...changes.get(container), ...program }),
    occupy: (host, port) => void occupied.add(`${host}:${port}`),
    wipe() {
      for (const runs of pods.values()) for (const run of runs.values()) run.cancel()
      pods.clear()
      files.clear()
    },
  }
}

const DIRECTORY = '\0directory'

const notFound = (command: string): Extract<RunState, { phase: 'failed' }> => ({
  phase: 'failed',
  reason: 'StartError',
  message: `exec: "${command}": executable file not found in $PATH`,
})

function session(
  { exitCode = 0, output = '', afterMs = 0 }: { exitCode?: number; output?: string; afterMs?: number },
  clock: Clock,
  stdout: (chunk: Uint8Array) => void,
): ExecSession {
  const exited = new Promise<number>((resolve) => {
    clock.after(afterMs, () => {
      if (output !== '') stdout(Buffer.from(output))
      resolve(exitCode)
    })
  })
  const nothing = (): void => undefined
  return { exited, write: async () => undefined, endInput: nothing, resize: nothing, pause: nothing, resume: nothing, kill: nothing }
}

/** What a dead process asks for is never answered, and it hears nothing. */
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
