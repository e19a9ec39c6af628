/** A real kube-apiserver with etcd in a folder of its own, by the recipe of scripts/kube-assets; with Kubernetes' own controllers where asked. */
import { mkdtempSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { assetPath } from './assets.ts'
import { type CommandResult, runCommand } from './run-command.ts'

export interface RealServer {
  folder: string
  kubeconfig: string
  /** Of every program that was started. */
  pids: readonly number[]
  kubectl(...args: string[]): Promise<CommandResult>
  stop(): Promise<void>
}

const UP = 'scripts/kube-assets/up'

/** `extra` are options of scripts/kube-assets/up. */
export async function startRealServer(...extra: string[]): Promise<RealServer> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-kube-'))
  const stop = async (): Promise<void> => {
    await runCommand(UP, ['--stop', '--rm', folder])
  }
  const started = await runCommand(UP, ['--no-fsync', ...extra, folder], { timeoutMs: 240_000 })
  const kubeconfig = /^kubeconfig=(.*)$/m.exec(started.stdout)?.[1]
  if (started.exitCode !== 0 || kubeconfig === undefined) {
    await stop()
    throw new Error(`a real kube-apiserver could not be started: ${started.stderr || started.stdout}`)
  }
  const pids = [...started.stdout.matchAll(/^pid\.[\w-]+=(\d+)$/gm)].map(([, pid]) => Number(pid))
  return { folder, kubeconfig, pids, stop, kubectl: (...args) => runCommand(assetPath('kubectl'), ['--kubeconfig', kubeconfig, ...args]) }
}
