/** Sluice itself as a process: started, killed with -9, started again on the same directory, stopped as users stop it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CommandResult, runCommand } from '../../machine/run-command.ts'

export interface SluiceOptions {
  /** To be run with this Node. */
  program: string
  dataDir: string
  log: string
  /** Where it would write what belongs into nobody's data directory. */
  home: string
  /** It ended though nobody ended it. */
  onEnd(text: string): void
}

const PATIENCE_MS = 120_000
const NEW_PLACE = ['--members', '1', '--nodes', '0', '--port', '0']

export class SluiceProcess {
  readonly options: SluiceOptions
  #child: ChildProcess | undefined
  #ended: Promise<void> = Promise.resolve()
  #isMeant = false
  #isUp = false
  #starts = 0

  constructor(options: SluiceOptions) {
    this.options = options
    for (const directory of [options.home, path.join(options.home, 'tmp')]) mkdirSync(directory, { recursive: true })
  }

  get isUp(): boolean {
    return this.#isUp
  }

  get starts(): number {
    return this.#starts
  }

  /** Resolves when everything answers, or when it was killed meanwhile. */
  async start(): Promise<void> {
    const { dataDir, log, program } = this.options
    const out = openSync(log, 'a')
    const args = ['up', '--quiet', '--data-dir', dataDir, ...(this.#starts === 0 ? NEW_PLACE : [])]
    const child = spawn(process.execPath, ['--enable-source-maps', program, ...args], { stdio: ['ignore', out, out], env: this.#env() })
    closeSync(out)
    this.#starts++
    this.#child = child
    this.#isMeant = false
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#child = undefined
        this.#isUp = false
        if (!this.#isMeant) this.options.onEnd(`Sluice ended by itself (${signal ?? `exit code ${code}`}): ${lastLines(log)}`)
        resolve()
      })
    })
    for (const untilMs = performance.now() + PATIENCE_MS; this.#child === child; await sleep(10)) {
      if (runOf(dataDir)?.pid === child.pid) {
        this.#isUp = true
        return
      }
      if (performance.now() > untilMs) throw new Error(`Sluice is not up after ${PATIENCE_MS / 1000} s: ${lastLines(log)}`)
    }
  }

  async kill(): Promise<void> {
    this.#isMeant = true
    this.#isUp = false
    this.#child?.kill('SIGKILL')
    await this.#ended
  }

  /** `sluice down`, which also ends what an earlier, killed Sluice left. */
  async down(): Promise<CommandResult> {
    this.#isMeant = true
    this.#isUp = false
    const { program, dataDir } = this.options
    const result = await runCommand(process.execPath, [program, 'down', '--data-dir', dataDir], {
      env: this.#env(),
      timeoutMs: PATIENCE_MS,
    })
    await this.#ended
    return result
  }

  #env(): NodeJS.ProcessEnv {
    const { home } = this.options
    return { PATH: process.env.PATH, HOME: home, TMPDIR: path.join(home, 'tmp'), LANG: 'C.UTF-8' }
  }
}

function runOf(dataDir: string): { pid: number } | undefined {
  try {
    return JSON.parse(readFileSync(path.join(dataDir, 'run.json'), 'utf8')) as { pid: number }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const lastLines = (log: string): string => readFileSync(log, 'utf8').trimEnd().split('\n').slice(-8).join('\n')
