/** One program from its start to its end: set up, its output logged, attached clients served. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { constants as system } from 'node:os'
import type { Readable } from 'node:stream'
import type { RunSpec } from '../../kubelet/container-machine.ts'
import type { LogStream } from '../log-line.ts'
import { childrenOf, markOf, processesOf, sendSignal } from '../process-table.ts'
import type { Ended, Launch, Running } from '../run-files.ts'
import { serveAttached } from './attached.ts'
import { openLog } from './log-file.ts'

/** How long to wait for output of a program that has ended: a process it left behind may hold its pipe open. */
const DRAIN_MS = 1000
const PLACE_MS = 60_000
/** Length limit of failure messages. */
const MAX_WORDS = 2000

export async function runProgram({ spec, launch }: Program, onRunning: (running: Running) => void): Promise<Ended> {
  const log = openLog(now)
  const output = { stdout: openPipe('stdout'), stderr: openPipe('stderr') }
  const child = start(launch, { input: spec.stdin || spec.tty, output })
  const failure = spawnFailure(child)
  const report = launch.reportsReady ? followReport(child.stdio[3] as Readable) : undefined
  const attached = serveAttached({ child, tty: spec.tty })
  let lastOutput = ''
  const drained = Promise.all(
    (['stdout', 'stderr'] as const).map((stream) =>
      drain(output[stream].source(child, stream), (chunk) => {
        log.write(stream, chunk)
        attached.write(stream, chunk)
        if (stream === 'stderr' || spec.tty) lastOutput = (lastOutput + chunk.toString('latin1')).slice(-MAX_WORDS)
      }),
    ),
  )
  const ended = new Promise<Exit>((resolve) => child.on('exit', (code, signal) => resolve({ code, signal })))
  const wrong = await Promise.race([failure, report?.ready ?? spawned(child)])
  if (wrong !== undefined) {
    child.kill('SIGKILL')
    return { phase: 'failed', ...wrong, atMs: Date.now() }
  }
  const startedAtMs = Date.now()
  const running = await runningOf(child, launch, startedAtMs)
  if (running !== undefined) onRunning(running)
  const exit = await ended
  if (!launch.ownsProcesses)
    for (const pid of processesOf(running?.program.pid ?? child.pid ?? -1, launch.mark)) if (pid !== process.pid) sendSignal(pid, 'SIGKILL')
  await Promise.race([Promise.all([drained, report?.closed]), new Promise((resolve) => setTimeout(resolve, DRAIN_MS))])
  log.close()
  attached.close()
  const refused = launch.reportsReady ? executionRefused(exit.code, lastOutput, spec.command[0] ?? '') : undefined
  if (refused !== undefined) return { phase: 'failed', reason: 'StartError', message: refused, atMs: Date.now() }
  return { phase: 'exited', startedAtMs, finishedAtMs: Date.now(), ...outcomeOf(exit, report?.isDisturbed() ?? false) }
}

export interface Program {
  spec: RunSpec
  launch: Launch
}

interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** `unshare` exits as its child did, except on SIGKILL: then some versions fail, after reporting it. */
function outcomeOf({ code, signal }: Exit, isDisturbed: boolean): { exitCode: number; signal?: number } {
  const number = signal !== null ? system.signals[signal] : isDisturbed && code === 1 ? system.signals.SIGKILL : undefined
  // With a terminal, `script` reports the exit code of a shell, which includes the signal.
  return number === undefined ? { exitCode: code ?? 255 } : { exitCode: 128 + number, signal: number }
}

function now(): { ms: number; nanos: number } {
  const at = performance.timeOrigin + performance.now()
  const ms = Math.floor(at)
  return { ms, nanos: Math.floor((at - ms) * 1e6) }
}

interface Pipe {
  /** What the program writes to; 'pipe' where the system has no named pipes. */
  stdio: number | 'pipe'
  source(child: ChildProcess, stream: LogStream): Readable
}

/** A named pipe, because a program may reopen /dev/stdout, which the sockets that Node would give it do not allow. */
function openPipe(name: string): Pipe {
  const file = `${name}.pipe`
  rmSync(file, { force: true })
  if (spawnSync('mkfifo', ['-m', '600', file]).status !== 0)
    return { stdio: 'pipe', source: (child, stream) => child[stream] ?? new Socket() }
  const readEnd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  const writeEnd = openSync(file, constants.O_WRONLY)
  rmSync(file)
  return {
    stdio: writeEnd,
    source() {
      closeSync(writeEnd)
      return new Socket({ fd: readEnd, readable: true, writable: false })
    },
  }
}

/** If there is a setup, a fourth descriptor carries its reports. */
function start(launch: Launch, how: { input: boolean; output: { stdout: Pipe; stderr: Pipe } }): ChildProcess {
  const [program = '', ...args] = launch.command
  const { stdout, stderr } = how.output
  return spawn(program, args, {
    cwd: launch.cwd,
    env: { ...launch.env },
    detached: true,
    stdio: [how.input ? 'pipe' : 'ignore', stdout.stdio, stderr.stdio, ...(launch.reportsReady ? ['pipe' as const] : [])],
  })
}

type Wrong = { reason: Extract<Ended, { phase: 'failed' }>['reason']; message: string }

const spawnFailure = (child: ChildProcess): Promise<Wrong> =>
  new Promise((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => resolve({ reason: 'StartError', message: startFailure(child.spawnfile, error) }))
  })

const spawned = (child: ChildProcess): Promise<undefined> => new Promise((resolve) => child.once('spawn', () => resolve(undefined)))

function startFailure(program: string, error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return `exec: "${program}": executable file not found in $PATH`
  if (error.code === 'EACCES') return `exec: "${program}": permission denied`
  return `exec: "${program}": ${error.message}`
}

interface Report {
  /** undefined once the setup is done; otherwise what is wrong with it. */
  ready: Promise<Wrong | undefined>
  /** Something was reported after that. */
  isDisturbed(): boolean
  closed: Promise<void>
}

function followReport(from: Readable): Report {
  let text = ''
  const isReady = (): boolean => /^ready$/m.test(text)
  const ready = new Promise<Wrong | undefined>((resolve) => {
    const settle = (): void => {
      clearTimeout(timer)
      const message = text.trim() || 'the place of the container could not be made'
      resolve(isReady() ? undefined : { reason: 'CreateContainerError', message })
    }
    const timer = setTimeout(settle, PLACE_MS)
    from.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString('utf8')).slice(-MAX_WORDS)
      if (isReady()) settle()
    })
    from.on('end', settle)
    from.on('error', settle)
  })
  const closed = new Promise<void>((resolve) => from.once('close', () => resolve()))
  return { ready, closed, isDisturbed: () => /^ready\n./m.test(text) }
}

/** The program as this machine sees it: what was started, or what that started in turn. */
async function runningOf(child: ChildProcess, launch: Launch, startedAtMs: number): Promise<Running | undefined> {
  for (let tries = 0; tries < 200 && child.exitCode === null && child.signalCode === null; tries++) {
    const chain = [child.pid ?? 0]
    while (chain.length <= launch.depth) chain.push(childrenOf(chain[chain.length - 1] ?? 0)[0] ?? 0)
    const [program, outer] = [markOf(chain[launch.depth] ?? 0), markOf(chain[Math.max(0, launch.depth - 1)] ?? 0)]
    if (program !== undefined && outer !== undefined) return { startedAtMs, program, outer, launch }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return undefined
}

/** The last step of the setup is taken by `unshare`, which reports when the program cannot be executed. */
function executionRefused(code: number | null, lastOutput: string, program: string): string | undefined {
  if (code !== 126 && code !== 127 && code !== 1) return undefined
  const said = /^unshare: (?<what>[^\n]*)\n?$/.exec(lastOutput)?.groups?.what
  if (said === undefined) return undefined
  // A directory of the search path that cannot be entered counts as one without the program.
  if (code === 127 || (code === 126 && !program.includes('/'))) return `exec: "${program}": executable file not found in $PATH`
  if (code === 126) return `exec: "${program}": ${said.split(': ').at(-1)?.toLowerCase()}`
  return said
}

function drain(source: Readable, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    source.on('data', take)
    source.on('end', resolve)
    source.on('error', () => resolve())
    source.on('close', () => resolve())
  })
}
