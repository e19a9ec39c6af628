/** The real process under proof: started, killed with -9, started again on the same directory and ports. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import type { WireTarget } from '../machine/wire.ts'

export interface CrashServer {
  /** By cluster: hub, member1. */
  targets: Record<string, WireTarget>
  /** Milliseconds from the start of the process until all of it answers. */
  startedInMs: number
  pid: number
  kill(): Promise<void>
  stop(): Promise<void>
}

export interface StartOptions {
  program: string
  dataDir: string
  members: number
  log: string
  /** Kill it this long after it was started, whether it is up or not. */
  killAfterMs?: number
}

const PATIENCE_MS = 60_000

/** Undefined when it was killed before it was up. */
export async function startServer(options: StartOptions): Promise<CrashServer | undefined> {
  const { dataDir } = options
  const log = openSync(options.log, 'a')
  const isFirst = readRun(dataDir) === undefined
  const args = ['up', '--bare', '--members', String(options.members), '--data-dir', dataDir, ...(isFirst ? ['--port', '0'] : [])]
  const began = performance.now()
  const child = spawn(process.execPath, ['--enable-source-maps', options.program, ...args], { stdio: ['ignore', log, log] })
  closeSync(log)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await ended
  }
  for (;;) {
    const elapsed = performance.now() - began
    if (options.killAfterMs !== undefined && elapsed >= options.killAfterMs) {
      await end('SIGKILL')
      return undefined
    }
    if (readRun(dataDir)?.pid === child.pid) break
    if (hasEnded(child))
      throw new Error(`the server did not start again (exit code ${child.exitCode}); the end of its log:\n${tail(options.log)}`)
    if (elapsed > PATIENCE_MS) {
      await end('SIGKILL')
      throw new Error(`the server is not up after ${PATIENCE_MS / 1000} s; the end of its log:\n${tail(options.log)}`)
    }
    await sleep(5)
  }
  return {
    targets: readTargets(dataDir),
    startedInMs: performance.now() - began,
    pid: child.pid ?? -1,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

function readRun(dataDir: string): { pid: number } | undefined {
  try {
    return JSON.parse(readFileSync(path.join(dataDir, 'run.json'), 'utf8')) as { pid: number }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

interface Kubeconfig {
  clusters: { name: string; cluster: { server: string; 'certificate-authority-data': string } }[]
  contexts: { name: string; context: { cluster: string } }[]
}

export function readTargets(dataDir: string): Record<string, WireTarget> {
  const config = parse(readFileSync(path.join(dataDir, 'kubeconfig'), 'utf8')) as Kubeconfig
  const targets = config.contexts.map(({ name, context }) => {
    const found = config.clusters.find((cluster) => cluster.name === context.cluster)
    if (found === undefined) throw new Error(`the kubeconfig has no cluster ${context.cluster}`)
    const { hostname, port } = new URL(found.cluster.server)
    const token = readFileSync(path.join(dataDir, 'pki', name, 'admin.token'), 'utf8').trim()
    return [
      name,
      { host: hostname, port: Number(port), ca: Buffer.from(found.cluster['certificate-authority-data'], 'base64').toString(), token },
    ] as const
  })
  return Object.fromEntries(targets)
}

function tail(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-20).join('\n')
}
