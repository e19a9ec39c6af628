/** The servers that are measured: `sluice up --bare`, and kube-apiserver with etcd where the binaries are there. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readTargets } from '../test/crash/server.ts'
import { type Child, startChild } from '../test/machine/child.ts'
import { Wire, WireError, type WireTarget } from '../test/machine/wire.ts'

export interface Server {
  readonly name: string
  readonly target: WireTarget
  readonly pids: readonly number[]
  /** Starts it and returns the milliseconds until its first answer. */
  start(): Promise<number>
  /** Stops it cleanly; its data stays. */
  stop(): Promise<void>
}

const PATIENCE_MS = 180_000
const LOOK_EVERY_MS = 3

/** A real answer to a real request: the default namespace, read with credentials. */
async function firstAnswer(target: () => WireTarget | undefined, isAlive: () => void): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (performance.now() < deadline) {
    const at = target()
    if (at !== undefined && (await answers(at))) return
    isAlive()
    await sleep(LOOK_EVERY_MS)
  }
  throw new Error(`no answer in ${PATIENCE_MS / 1000} s`)
}

async function answers(target: WireTarget): Promise<boolean> {
  const wire = new Wire(target)
  try {
    return (await wire.request({ method: 'GET', path: '/api/v1/namespaces/default' })).status === 200
  } catch (error) {
    if (error instanceof WireError) return false
    throw error
  } finally {
    wire.close()
  }
}

export interface SluiceOptions {
  program: string
  folder: string
  /** Writes a CPU profile of each run there. */
  profile?: string
}

export function sluiceServer({ program, folder, profile }: SluiceOptions): Server {
  const dataDir = path.join(folder, 'data')
  let child: Child | undefined
  let target: WireTarget | undefined
  const running = (): number | undefined => {
    const file = path.join(dataDir, 'run.json')
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid : undefined
  }
  return {
    name: 'sluice',
    get target() {
      if (target === undefined) throw new Error('sluice is not running')
      return target
    },
    get pids() {
      return child === undefined ? [] : [child.pid]
    },
    async start() {
      const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
      const port = existsSync(path.join(dataDir, 'sluice.json')) ? [] : ['--port', '0']
      const began = performance.now()
      const started = startChild({
        name: 'sluice',
        command: process.execPath,
        args: [...flags, program, 'up', '--bare', '--members', '0', '--data-dir', dataDir, ...port],
        log: path.join(folder, 'sluice.log'),
      })
      child = started
      await firstAnswer(
        () => {
          if (running() !== started.pid) return undefined
          target = readTargets(dataDir).hub
          return target
        },
        () => started.assertAlive(),
      )
      return performance.now() - began
    },
    async stop() {
      await child?.stop()
      child = undefined
    },
  }
}

const KUBE_BIN = path.join(os.homedir(), '.cache', 'kube-assets', 'v1.36.3')

/** Why there is nothing to compare with, or undefined when there is. */
export function missingKube(script: string): string | undefined {
  if (!existsSync(script)) return `${script} is not there`
  const missing = ['etcd', 'kube-apiserver', 'kubectl'].filter((name) => !existsSync(path.join(KUBE_BIN, name)))
  return missing.length === 0 ? undefined : `${KUBE_BIN} lacks ${missing.join(', ')}`
}

export function kubeServer(folder: string, script: string): Server {
  const dir = path.join(folder, 'kube')
  let target: WireTarget | undefined
  let pids: number[] = []
  return {
    name: 'kube-apiserver + etcd',
    get target() {
      if (target === undefined) throw new Error('kube-apiserver is not running')
      return target
    },
    get pids() {
      return pids
    },
    async start() {
      const began = performance.now()
      const child = spawn('bash', [script, '--bin', KUBE_BIN, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
      let said = ''
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString()
      })
      const ended = new Promise<void>((resolve, reject) =>
        child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${script} failed with ${code}`)))),
      )
      const known = (): WireTarget | undefined => {
        const files = ['kube-apiserver.port', 'pki/ca.crt', 'token'].map((name) => path.join(dir, name))
        if (!files.every((file) => existsSync(file))) return undefined
        const [port = '', ca = '', token = ''] = files.map((file) => readFileSync(file, 'utf8'))
        target = { host: '127.0.0.1', port: Number(port), ca, token: token.trim() }
        return target
      }
      await firstAnswer(known, () => undefined)
      const ms = performance.now() - began
      // The script continues until readiness is certain; only then are its processes known for sure.
      await ended
      pids = [...said.matchAll(/^pid\.\S+=(\d+)$/gm)].map((match) => Number(match[1]))
      return ms
    },
    async stop() {
      const stopped = spawnSync('bash', [script, '--stop', dir], { encoding: 'utf8' })
      if (stopped.status !== 0) throw new Error(`${script} --stop failed: ${stopped.stderr}`)
      pids = []
    },
  }
}
