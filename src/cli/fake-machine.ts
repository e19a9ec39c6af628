/** A machine for tests: files in memory, processes that are only numbers, a clock that advances when the code under test waits. */
import path from 'node:path'
import { seededRandom } from '../base/random.ts'
import type { Machine } from './machine.ts'

export interface FakeMachine extends Machine {
  /** Text by path; folders are those of the files, and `folders`. */
  texts: Map<string, string>
  folders: Set<string>
  modes: Map<string, number>
  /** Running processes, with their marks. */
  running: Map<number, string>
  /** What was signalled or started, in order. */
  calls: string[]
  said: { out: string; err: string }
  /** Paths under these cannot be used. */
  denied: string[]
  onSignal?(pid: number): void
  onStart?(args: readonly string[]): void
}

export function fakeMachine(): FakeMachine {
  let nowMs = Date.UTC(2026, 0, 1)
  let timers: { at: number; callback: () => void }[] = []
  const check = (file: string, syscall: string): void => {
    if (!machine.denied.some((prefix) => file.startsWith(prefix))) return
    throw Object.assign(new Error(`EACCES: permission denied, ${syscall} '${file}'`), { code: 'EACCES', path: file })
  }
  /** Time advances when everything is waiting. */
  const tick = (): void => {
    const [next] = timers.sort((a, b) => a.at - b.at)
    if (next === undefined) return
    timers = timers.filter((timer) => timer !== next)
    nowMs = next.at
    next.callback()
  }
  const machine: FakeMachine = {
    texts: new Map(),
    folders: new Set(),
    modes: new Map(),
    running: new Map([[1, 'self']]),
    calls: [],
    said: { out: '', err: '' },
    denied: [],
    clock: {
      now: () => nowMs,
      after(delayMs, callback) {
        const timer = { at: nowMs + delayMs, callback }
        timers.push(timer)
        setImmediate(tick)
        return () => {
          timers = timers.filter((one) => one !== timer)
        }
      },
    },
    random: seededRandom(1),
    env: () => undefined,
    cwd: '/home/me',
    systemInfo: { architecture: 'amd64', operatingSystem: 'linux', kernelVersion: '6', osImage: 'test' },
    hardware: { cpus: 4, memoryBytes: 8 * 1024 ** 3 },
    memory: () => ({ usedBytes: 1024 ** 3, limitBytes: 4 * 1024 ** 3, mostBytes: 6 * 1024 ** 3 }),
    isTerminal: false,
    out(text) {
      machine.said.out += text
    },
    log: { write: (level, message, fields) => void machine.calls.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`) },
    err(text) {
      machine.said.err += text
    },
    files: {
      resolve: (...parts) => path.posix.resolve('/', ...parts),
      async read(file) {
        check(file, 'open')
        return machine.texts.get(file)
      },
      async write(file, text, mode) {
        check(file, 'open')
        machine.texts.set(file, text)
        machine.modes.set(file, mode)
      },
      async exists(file) {
        check(file, 'access')
        return machine.texts.has(file) || machine.folders.has(file) || [...machine.texts.keys()].some((one) => one.startsWith(`${file}/`))
      },
      async makeDirectory(directory) {
        check(directory, 'mkdir')
        machine.folders.add(directory)
      },
      async remove(file) {
        machine.texts.delete(file)
      },
      async createStream(file) {
        check(file, 'open')
        machine.calls.push(`stream ${file}`)
        return {
          write: async () => undefined,
          close: async () => undefined,
          discard: async () => void machine.calls.push(`discard ${file}`),
        }
      },
    },
    processes: {
      pid: 1,
      isAlive: (pid) => machine.running.has(pid),
      mark: (pid) => machine.running.get(pid),
      signal(pid, name) {
        machine.calls.push(`${name} ${pid}`)
        machine.onSignal?.(pid)
      },
      async startDetached(args) {
        machine.calls.push(`start ${args.join(' ')}`)
        machine.running.set(77, 'child')
        machine.onStart?.(args)
        return 77
      },
      async load(file, args) {
        machine.calls.push(`load ${[file, ...args].join(' ')}`)
        return args.includes('fails') ? 3 : 0
      },
    },
    untilStopped: () => new Promise(() => undefined),
    program: { file: '/sluice.mjs', node: 'v22.0.0', version: '1.2.3' },
  }
  return machine
}
