/**
 * A process that a test started: output in a log file, ended by its own pid, never by name. A child that ends before it
 * was asked to is an error that shows the end of its log.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export interface ChildOptions {
  name: string
  command: string
  args: string[]
  log: string
  env?: NodeJS.ProcessEnv
}

export interface Child {
  readonly name: string
  readonly pid: number
  /** Throws when it has ended already. */
  assertAlive(): void
  /** Repeats the check until it returns true; fails when the child ends or the time is over. */
  waitUntil(what: string, check: () => boolean | Promise<boolean>, seconds?: number): Promise<void>
  stop(): Promise<void>
}

const GRACE_MS = 15_000
const POLL_MS = 50

export function startChild(options: ChildOptions): Child {
  const log = openSync(options.log, 'a')
  const child = spawn(options.command, options.args, { stdio: ['ignore', log, log], env: options.env ?? process.env })
  closeSync(log)
  let failure: string | undefined
  child.on('error', (error) => {
    failure = error.message
  })
  const ended = new Promise<void>((resolve) => {
    child.on('exit', () => resolve())
    child.on('error', () => resolve())
  })
  const assertAlive = (): void => {
    const how = failure ?? endOf(child)
    if (how !== undefined) throw new Error(`${options.name} ${how}; the end of ${options.log}:\n${tail(options.log)}`)
  }
  return {
    name: options.name,
    pid: child.pid ?? -1,
    assertAlive,
    async waitUntil(what, check, seconds = 60) {
      for (let waited = 0; !(await check()); waited += POLL_MS) {
        assertAlive()
        if (waited > seconds * 1000)
          throw new Error(`${options.name}: ${what} not seen in ${seconds} s; the end of its log:\n${tail(options.log)}`)
        await sleep(POLL_MS)
      }
    },
    async stop() {
      if (endOf(child) !== undefined || failure !== undefined) return
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
      await ended
      clearTimeout(timer)
    },
  }
}

function endOf(child: ChildProcess): string | undefined {
  if (child.exitCode !== null) return `ended with exit code ${child.exitCode}`
  return child.signalCode === null ? undefined : `was ended by ${child.signalCode}`
}

function tail(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n')
}
