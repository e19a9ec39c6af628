/** One program of the cache as a process: started, killed with -9, started again, held still for a look at its files. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { holdStill } from '../hold-still.ts'

export interface ProgramOptions {
  name: string
  /** Of dist/cache.mjs as it is now. */
  file: string
  command: 'master' | 'worker' | 'client'
  env: Readonly<Record<string, string>>
  log: string
  /** It ended though nobody ended it. */
  onEnd(text: string): void
}

const STOP_MS = 20_000

export class Program {
  readonly options: ProgramOptions
  #child: ChildProcess | undefined
  #ended: Promise<void> = Promise.resolve()
  #isMeant = false
  /** Who holds it still, or kills it, goes alone. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: ProgramOptions) {
    this.options = options
  }

  get name(): string {
    return this.options.name
  }

  get isUp(): boolean {
    return this.#child !== undefined
  }

  start(): void {
    if (this.#child !== undefined) return
    const { file, command, env, log, name } = this.options
    const out = openSync(log, 'a')
    const child = spawn(process.execPath, [file, command], { stdio: ['ignore', out, out], env: { ...env } })
    closeSync(out)
    this.#child = child
    this.#isMeant = false
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#child = undefined
        if (!this.#isMeant) this.options.onEnd(`${name} ended by itself (${signal ?? `exit code ${code}`}): ${lastLine(log)}`)
        resolve()
      })
    })
  }

  /** Resolves when it is gone. */
  kill(): Promise<void> {
    return this.#inTurn(async () => {
      this.#isMeant = true
      this.#child?.kill('SIGKILL')
      await this.#ended
    })
  }

  /** Its exit code; undefined when it had to be killed. */
  stop(): Promise<number | undefined> {
    return this.#inTurn(async () => {
      const child = this.#child
      if (child === undefined) return undefined
      this.#isMeant = true
      child.kill('SIGTERM')
      const late = new AbortController()
      const isInTime = await Promise.race([this.#ended.then(() => true), sleep(STOP_MS, false, { signal: late.signal }).catch(() => false)])
      late.abort()
      if (!isInTime) child.kill('SIGKILL')
      await this.#ended
      return child.exitCode ?? undefined
    })
  }

  /** Calls `work` while no thread of the program moves, or while there is none; undefined when it cannot be held still. */
  still<T>(work: () => T): Promise<T | undefined> {
    return this.#inTurn(async () => {
      const child = this.#child
      if (child?.pid === undefined) return work()
      return holdStill([child.pid], work)
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => undefined)
    return done
  }
}

function lastLine(log: string): string {
  return readFileSync(log, 'utf8').trimEnd().split('\n').at(-1)?.slice(0, 400) ?? ''
}
