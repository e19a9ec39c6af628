/** Somebody with kubectl and sluice, a data directory of their own, and patience. */
import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeObject } from '../../../src/kube/meta.ts'
import type { CommandResult } from '../../machine/run-command.ts'
import { Person } from '../person.ts'

const PATIENCE_S = 100

export interface Place {
  member: string
  namespace: string
}

/** A member is its namespace default. */
export type Where = string | Place

export interface DeskOptions {
  name: string
  uid: number | undefined
  program: string
  kubectl: string
  /** How much longer than usual everything may take. */
  slowness?: number
}

export class Desk {
  readonly person: Person
  readonly dir: string
  readonly #uid: number | undefined
  readonly #patienceS: number

  constructor({ name, uid, program, kubectl, slowness = 1 }: DeskOptions) {
    this.person = new Person(name, program, uid)
    this.person.bring('kubectl', kubectl)
    this.dir = this.person.file('data')
    this.#uid = uid
    this.#patienceS = PATIENCE_S * slowness
  }

  /** A directory that is this person's own. */
  directory(...parts: string[]): string {
    const made = this.person.file(...parts)
    mkdirSync(made, { recursive: true })
    this.own(made)
    return made
  }

  own(file: string): void {
    if (this.#uid !== undefined) chownSync(file, this.#uid, this.#uid)
    chmodSync(file, 0o755)
  }

  write(file: string, bytes: string | Uint8Array): void {
    writeFileSync(file, bytes)
    this.own(file)
  }

  async up(...more: string[]): Promise<void> {
    await this.sluice('up', '--quiet', '--detach', '--port', '0', '--data-dir', this.dir, ...more)
  }

  /** The process that serves the clusters. */
  pid(): number {
    return (JSON.parse(readFileSync(path.join(this.dir, 'run.json'), 'utf8')) as { pid: number }).pid
  }

  async sluice(...args: string[]): Promise<string> {
    return this.#fine(`sluice ${args.join(' ')}`, await this.person.run(...this.#withConfig(this.person.commandOf(...args))))
  }

  why = (where: Where, what: string): Promise<string> => this.sluice('why', what, ...at(where))

  async kubectl(where: Where, ...args: string[]): Promise<string> {
    return this.#fine(`kubectl ${[...at(where), ...args].join(' ')}`, await this.tries(where, ...args))
  }

  /** It may fail. */
  tries(where: Where, ...args: string[]): Promise<CommandResult> {
    return this.person.run(...this.#withConfig(['kubectl', ...at(where), ...args]))
  }

  async apply(where: Where, ...objects: KubeObject[]): Promise<void> {
    const list = { apiVersion: 'v1', kind: 'List', items: objects }
    const command = this.#withConfig(['kubectl', ...at(where), 'apply', '-f', '-'])
    this.#fine('kubectl apply', await this.person.runWith(JSON.stringify(list), ...command))
  }

  /** Waits until the field has the value. */
  async until(where: Where, object: string, field: string, value: string): Promise<void> {
    const wait = ['wait', `--for=jsonpath={${field}}=${value}`, `--timeout=${PATIENCE_S}s`, object]
    let said = ''
    // A command may not run for longer than a person lets it.
    for (const deadline = performance.now() + this.#patienceS * 1000; performance.now() < deadline; ) {
      const { exitCode, stdout, stderr } = await this.tries(where, ...wait)
      if (exitCode === 0) return
      said = stdout + stderr
    }
    const { stdout: why } = await this.person.run(...this.#withConfig(this.person.commandOf('why', object, ...at(where))))
    assert.fail(`${object} in ${at(where).join(' ')}: ${field} is not ${value}\n${said}\n${why}`)
  }

  bound = (where: Where, name: string): Promise<void> => this.until(where, `dataset/${name}`, '.status.phase', 'Bound')

  /** What the pod printed, when it has succeeded. */
  async printed(where: Where, pod: string): Promise<string> {
    await this.until(where, `pod/${pod}`, '.status.phase', 'Succeeded')
    return this.kubectl(where, 'logs', pod)
  }

  field = (where: Where, object: string, field: string): Promise<string> => this.kubectl(where, 'get', object, '-o', `jsonpath={${field}}`)

  /** Looks until it is right; otherwise reports what was seen last. */
  async sees(what: string, look: () => Promise<string> | string, expected: RegExp): Promise<string> {
    const deadline = performance.now() + this.#patienceS * 1000
    for (;;) {
      const seen = await look()
      if (expected.test(seen)) return seen
      if (performance.now() > deadline) assert.match(seen, expected, what)
      await sleep(250)
    }
  }

  #withConfig = (command: string[]): string[] => ['env', `KUBECONFIG=${this.dir}/kubeconfig`, ...command]

  #fine(what: string, { exitCode, stdout, stderr }: CommandResult): string {
    assert.equal(exitCode, 0, `${what}\n${stdout}\n${stderr}`)
    assert.doesNotMatch(stdout + stderr, /\n {4}at /, what)
    return stdout.trim()
  }
}

const at = (where: Where): string[] =>
  typeof where === 'string' ? ['--context', where] : ['--context', where.member, '-n', where.namespace]
