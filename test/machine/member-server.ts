/**
 * `sluice up` with one member, for a test: a fresh data directory, free ports, the program as a user starts it. The kubeconfig
 * leads to the member alone.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parse, stringify } from 'yaml'
import { startChild } from './child.ts'

export interface MemberServer {
  kubeconfig: string
  /** Removed at the end; tests may keep their own files here. */
  folder: string
  stop(): Promise<void>
}

const MEMBER = 'member1'
const SIMULATED = ['--nodes', '2', '--process-nodes', '0']

/** `nodes` are options of `up`; two simulated nodes unless it says otherwise. */
export async function startMemberServer(nodes: readonly string[] = SIMULATED): Promise<MemberServer> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-test-'))
  const dataDir = path.join(folder, 'data')
  const child = startChild({
    name: 'sluice',
    command: process.execPath,
    args: ['sluice', 'up', '--members', '1', ...nodes, '--port', '0', '--data-dir', dataDir],
    log: path.join(folder, 'sluice.log'),
  })
  const stop = async (): Promise<void> => {
    await child.stop()
    if (process.env.SLUICE_TEST_KEEP === undefined) rmSync(folder, { recursive: true, force: true })
  }
  try {
    await child.waitUntil('run.json', () => existsSync(path.join(dataDir, 'run.json')))
    const kubeconfig = path.join(folder, 'kubeconfig')
    writeFileSync(kubeconfig, memberAlone(readFileSync(path.join(dataDir, 'kubeconfig'), 'utf8')), { mode: 0o600 })
    return { kubeconfig, folder, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Kubeconfig {
  clusters: { name: string }[]
  contexts: { name: string; context: { cluster: string } }[]
}

/** As `kubectl config view --raw --minify --context member1`. */
function memberAlone(text: string): string {
  const config = parse(text) as Kubeconfig
  const contexts = config.contexts.filter(({ name }) => name === MEMBER)
  const clusters = config.clusters.filter(({ name }) => contexts.some(({ context }) => context.cluster === name))
  if (clusters.length !== 1) throw new Error(`the kubeconfig has no context ${MEMBER}`)
  return stringify({ ...config, clusters, contexts, 'current-context': MEMBER })
}
