/** A user at a terminal: a folder, the program, and an identity (root, or a user without any rights). */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { request } from 'node:https'
import os from 'node:os'
import path from 'node:path'
import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import { type CommandResult, runCommand } from '../machine/run-command.ts'

const NOBODY = 65_534

export interface Question {
  method?: string
  path: string
  body?: string
  /** Called with the answer's text as it arrives. */
  onData?(text: string): void
}

/** A program that was started and keeps running. */
export interface Started {
  child: ChildProcess
  said(): string
  ended: Promise<number | null>
}

export interface Answer {
  status: number
  body: string
}

export class Person {
  readonly name: string
  readonly home: string
  readonly #program: string
  readonly #uid: number | undefined
  readonly #children: ChildProcess[] = []

  /** `uid` undefined: as the current user. */
  constructor(name: string, program: string, uid: number | undefined) {
    this.name = name
    this.#program = program
    this.#uid = uid
    this.home = mkdtempSync(path.join(os.tmpdir(), 'sluice-e2e-'))
    chmodSync(this.home, 0o700)
    for (const folder of ['bin', 'tmp']) mkdirSync(this.file(folder))
    if (uid !== undefined) for (const place of [this.home, this.file('bin'), this.file('tmp')]) chownSync(place, uid, uid)
  }

  get isRoot(): boolean {
    return this.#uid === undefined && process.getuid?.() === 0
  }

  file(...parts: string[]): string {
    return path.join(this.home, ...parts)
  }

  /** Runs `sluice …` to completion. */
  sluice(...args: string[]): Promise<CommandResult> {
    const [file, all] = this.#command(this.commandOf(...args))
    return runCommand(file, all, { cwd: this.home, env: this.#env(), timeoutMs: 120_000 })
  }

  /** The command line of `sluice …`, for callers that prefix it. */
  commandOf(...args: string[]): string[] {
    return [process.execPath, this.#program, ...args]
  }

  /** Runs any program as this person. */
  run(...command: string[]): Promise<CommandResult> {
    return this.runWith('', ...command)
  }

  runWith(input: string, ...command: string[]): Promise<CommandResult> {
    const [file, args] = this.#command(command)
    return runCommand(file, args, { cwd: this.home, env: this.#env(), input, timeoutMs: 120_000 })
  }

  /** Puts a program into this user's PATH. Other users may not enter root's directories. */
  bring(name: string, from: string): void {
    const to = this.file('bin', name)
    if (existsSync(to)) return
    if (this.#uid === undefined) symlinkSync(from, to)
    else {
      copyFileSync(from, to)
      chmodSync(to, 0o755)
    }
  }

  /** Starts `sluice …` in the foreground. */
  foreground(...args: string[]): Started {
    return this.start(...this.commandOf(...args))
  }

  /** Starts any program; what is typed goes to `child.stdin`. */
  start(...command: string[]): Started & { child: ChildProcess & { stdin: Writable } } {
    const [file, all] = this.#command(command)
    const child = spawn(file, all, { cwd: this.home, env: this.#env(), stdio: ['pipe', 'pipe', 'pipe'] })
    this.#children.push(child)
    // A program may end without reading its input, which closes the pipe.
    child.stdin.on('error', () => undefined)
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
    return { child, said: () => said, ended }
  }

  contexts(dataDir: string): string[] {
    return kubeconfigOf(dataDir).contexts.map(({ name }) => name)
  }

  /** An HTTPS request with the credentials of a context of the kubeconfig, as kubectl would send it. */
  ask(dataDir: string, context: string, how: Question): Promise<Answer> {
    const config = kubeconfigOf(dataDir)
    const of = config.contexts.find(({ name }) => name === context)?.context
    const cluster = config.clusters.find(({ name }) => name === of?.cluster)?.cluster
    const user = config.users.find(({ name }) => name === of?.user)?.user
    if (cluster === undefined || user === undefined) throw new Error(`no context ${context}`)
    const decode = (text: string | undefined): string => Buffer.from(text ?? '', 'base64').toString()
    return new Promise((resolve, reject) => {
      const sent = request(
        new URL(how.path, cluster.server),
        {
          method: how.method ?? 'GET',
          ca: decode(cluster['certificate-authority-data']),
          cert: decode(user['client-certificate-data']),
          key: decode(user['client-key-data']),
          headers: { 'content-type': 'application/json', connection: 'close' },
        },
        (response) => {
          let body = ''
          response.setEncoding('utf8').on('data', (text: string) => {
            body += text
            how.onData?.(text)
          })
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
        },
      )
      sent.on('error', reject)
      sent.end(how.body)
    })
  }

  /** Stops what still runs on this user's data directories and removes everything. */
  async leave(...dataDirs: string[]): Promise<void> {
    for (const dir of dataDirs) if (existsSync(dir)) await this.sluice('down', '--data-dir', dir)
    for (const child of this.#children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    rmSync(this.home, { recursive: true, force: true })
  }

  #command(command: string[]): [string, string[]] {
    return commandAs(this.#uid, command)
  }

  #env(): NodeJS.ProcessEnv {
    return { PATH: `${this.file('bin')}:${process.env.PATH ?? ''}`, HOME: this.home, TMPDIR: this.file('tmp'), LANG: 'C.UTF-8' }
  }
}

interface Kubeconfig {
  contexts: { name: string; context: { cluster: string; user: string } }[]
  clusters: { name: string; cluster: { server: string; 'certificate-authority-data': string } }[]
  users: { name: string; user: { 'client-certificate-data': string; 'client-key-data': string } }[]
}

function kubeconfigOf(dataDir: string): Kubeconfig {
  return parse(readFileSync(path.join(dataDir, 'kubeconfig'), 'utf8')) as Kubeconfig
}

function commandAs(uid: number | undefined, command: string[]): [string, string[]] {
  if (uid === undefined) return [command[0] ?? '', command.slice(1)]
  return ['setpriv', [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', ...command]]
}

/** Why volumes cannot be mounted by this user here, if so. */
export function namespacesRefusal(uid: number | undefined): string | undefined {
  const isRoot = uid === undefined && process.getuid?.() === 0
  const [file, args] = commandAs(uid, [
    'unshare',
    ...(isRoot ? [] : ['--user', '--map-root-user']),
    '--mount',
    'mount',
    '--rbind',
    '/',
    '/mnt',
  ])
  const tried = spawnSync(file, args, { encoding: 'utf8' })
  if (tried.error !== undefined) return tried.error.message
  return tried.status === 0 ? undefined : tried.stderr.trim()
}

/** The users that the tests can run as on this machine; what cannot be tried is reported. */
export function people(): { name: string; uid: number | undefined }[] {
  const isRoot = process.getuid?.() === 0
  if (!isRoot) return [{ name: 'a plain user', uid: undefined }]
  const both = [{ name: 'root', uid: undefined }]
  if (spawnSync('setpriv', ['--version']).status !== 0) return both
  return [...both, { name: 'a plain user', uid: NOBODY }]
}

export async function eventually(what: string, check: () => boolean, seconds = 60): Promise<void> {
  for (let waited = 0; !check(); waited += 0.05) {
    if (waited > seconds) throw new Error(`${what} not seen in ${seconds} s`)
    await sleep(50)
  }
}
