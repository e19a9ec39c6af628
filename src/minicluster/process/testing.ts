/** For tests of real processes: a machine in a directory of its own, with the shim built from source, and time as it is. */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
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

export interface Ground {
  /** Removed at the end. */
  directory: string
  shim: string
  open(): ProcessMachine
  clear(): void
}

export function aGround(owner?: number): Ground {
  const directory = mkdtempSync(path.join(tmpdir(), 'sluice-machine-'))
  chmodSync(directory, 0o755)
  const shim = path.join(directory, 'shim.mjs')
  execFileSync(process.execPath, ['scripts/build.mjs', '--shim', shim])
  if (owner !== undefined) chownSync(directory, owner, owner)
  const data = path.join(directory, 'data with a blank')
  return {
    directory,
    shim,
    open: () => createProcessMachine({ directory: data, clock: realClock, random: seededRandom(1), shim }),
    clear: () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }),
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

/** Waits for notices, not for time; the limit is for the test that would otherwise never end. */
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
