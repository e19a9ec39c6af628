/** For tests of real processes: a machine in its own directory, with the shim built from source, in real time. */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Clock } from '../../base/clock.ts'
import { seededRandom } from '../../base/random.ts'
import type { ContainerMachine, LogReading, RunId, RunSpec, RunState } from '../kubelet/container-machine.ts'
import { createProcessMachine, type ProcessMachine } from './machine.ts'

export const realClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

export interface Testbed {
  /** Removed at the end. */
  directory: string
  /** The built shim. */
  shim: string
  open(): ProcessMachine
  /** A process that owns the machine, as root or as an unprivileged user. */
  owner(uid?: number): Owner
  clear(): void
}

const HERE = 'src/minicluster/process'

export function aTestbed(): Testbed {
  const directory = mkdtempSync(path.join(tmpdir(), 'sluice-machine-'))
  chmodSync(directory, 0o755)
  const build = (source: string): string => {
    const built = path.join(directory, `${path.basename(path.dirname(source))}-${path.basename(source, '.ts')}.mjs`)
    execFileSync(process.execPath, ['scripts/build.mjs', '--entry', source, built])
    return built
  }
  const shim = build(`${HERE}/shim/main.ts`)
  let program: string | undefined
  const data = path.join(directory, 'data with a blank')
  return {
    directory,
    shim,
    open: () => openMachine(data, shim),
    owner(uid) {
      program ??= build(`${HERE}/testing-owner.ts`)
      const own = uid === undefined ? data : path.join(directory, `data of ${uid}`)
      if (uid !== undefined) {
        mkdirSync(own, { recursive: true })
        chownSync(own, uid, uid)
      }
      return startOwner([program, own, shim], uid)
    },
    clear: () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }),
  }
}

export const openMachine = (directory: string, shim: string): ProcessMachine =>
  createProcessMachine({ directory, clock: realClock, random: seededRandom(1), shim })

/** Calls of `OwnerCalls` (testing-owner.ts), answered by another process. */
export interface Owner {
  pid: number
  call<T>(name: string, ...args: readonly unknown[]): Promise<T>
  /** As `kill -9` does. */
  kill(): Promise<void>
}

function startOwner(args: readonly string[], uid: number | undefined): Owner {
  const identity = uid === undefined ? {} : { uid, gid: uid }
  const child = spawn(process.execPath, [...args], { ...identity, cwd: '/', stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map<number, (answer: { value?: unknown; error?: string }) => void>()
  let next = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as { id: number; value?: unknown; error?: string }
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  child.on('exit', () => {
    for (const settle of waiting.values()) settle({ error: 'the owner ended' })
  })
  return {
    pid: child.pid ?? 0,
    call<T>(name: string, ...given: readonly unknown[]): Promise<T> {
      const id = next++
      child.stdin.write(`${JSON.stringify({ id, name, args: given })}\n`)
      return new Promise<T>((resolve, reject) => {
        waiting.set(id, ({ value, error }) => (error === undefined ? resolve(value as T) : reject(new Error(error))))
      })
    },
    async kill() {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
    },
  }
}

export const aRun = (command: readonly string[], more: Partial<RunSpec> = {}): RunSpec => ({
  podUid: 'pod-1',
  container: 'main',
  attempt: 0,
  namespace: 'default',
  pod: 'p',
  command,
  env: {},
  mounts: [],
  hostname: 'my-pod',
  tty: false,
  stdin: false,
  ...more,
})

export const stateOfRun = (machine: ContainerMachine, run: RunId): RunState | undefined =>
  machine.runsOf(run.podUid).find((one) => one.container === run.container && one.attempt === run.attempt)?.state

/** Waits for notifications rather than polling; the limit is for a test that would otherwise never end. */
export function until(machine: ContainerMachine, run: RunId, isReached: (state: RunState) => boolean, limitMs = 20_000): Promise<RunState> {
  return new Promise((resolve, reject) => {
    const check = (): void => {
      const state = stateOfRun(machine, run)
      if (state === undefined || !isReached(state)) return
      clearTimeout(timer)
      stop()
      resolve(state)
    }
    const stop = machine.onChange(check)
    const timer = setTimeout(() => {
      stop()
      reject(new Error(`the run is ${JSON.stringify(stateOfRun(machine, run))} after ${limitMs} ms`))
    }, limitMs)
    check()
  })
}

export const isOver = (state: RunState): boolean => state.phase === 'exited' || state.phase === 'failed'
export const isRunning = (state: RunState): boolean => state.phase === 'running'

export function logOf(machine: ContainerMachine, run: RunId, reading: Partial<LogReading> = {}): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    machine.readLog(
      run,
      { follow: false, timestamps: false, ...reading },
      { write: (chunk) => chunks.push(chunk) > 0, onDrain: () => undefined, end: () => resolve(Buffer.concat(chunks).toString('utf8')) },
    )
  })
}

export interface CommandOutcome {
  code: number
  stdout: string
  stderr: string
}

export async function execIn(machine: ContainerMachine, run: RunId, command: readonly string[], input?: string): Promise<CommandOutcome> {
  const output = { stdout: '', stderr: '' }
  const session = await machine.exec(run, {
    command,
    tty: false,
    stdout: (chunk) => (output.stdout += Buffer.from(chunk).toString('utf8')),
    stderr: (chunk) => (output.stderr += Buffer.from(chunk).toString('utf8')),
  })
  if (input !== undefined) await session.write(Buffer.from(input))
  session.endInput()
  return { code: await session.exited, ...output }
}

/** Of every process there is. */
export function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')
      } catch {
        return ''
      }
    })
}

/** A command in a terminal: types input, and returns all that was shown. */
export async function execInTerminal(
  machine: ContainerMachine,
  run: RunId,
  command: readonly string[],
  typed: string,
): Promise<CommandOutcome> {
  const shown = { stdout: '' }
  const session = await machine.exec(run, {
    command,
    tty: true,
    stdout: (chunk) => (shown.stdout += Buffer.from(chunk).toString('utf8')),
    stderr: () => undefined,
  })
  session.resize(71, 31)
  await session.write(Buffer.from(typed))
  return { code: await session.exited, ...shown, stderr: '' }
}
