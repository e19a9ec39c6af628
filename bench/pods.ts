/** Pods from Deployments to Running: on a member of `sluice up` with simulated nodes, and on the real programs with kwok. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../src/base/random.ts'
import { type Client, createClient } from '../src/client/client.ts'
import { connectionOf, parseKubeconfig } from '../src/client/kubeconfig.ts'
import { hostOfThisMachine } from '../src/client/transport/host.ts'
import { undiciTransport } from '../src/client/transport/undici.ts'
import { DEPLOYMENTS } from '../src/kinds/kubernetes/resources.ts'
import type { Deployment } from '../src/kinds/kubernetes/types.ts'
import { startChild } from '../test/machine/child.ts'
import { startRealServer } from '../test/machine/real-server.ts'
import { CLOCK } from './clock.ts'
import { cpuMs, residentBytes } from './processes.ts'

export interface PodFigures {
  wallMs: number
  cpuMs: number
  /** Highest resident memory sampled, all processes together. */
  residentBytes: number
}

export interface PodLoad {
  deployments: number
  replicas: number
  nodes: number
}

const LOOK_EVERY_MS = 250
const WITHIN_MS = 30 * 60_000

function clientOf(kubeconfig: string, context: string | undefined): Client {
  const config = parseKubeconfig(readFileSync(kubeconfig, 'utf8'), kubeconfig)
  const transport = undiciTransport(connectionOf(config, context, hostOfThisMachine()))
  return createClient({ transport, clock: CLOCK, random: seededRandom(1), userAgent: 'bench' })
}

async function play(client: Client, load: PodLoad, pids: readonly number[]): Promise<PodFigures> {
  const [wallBegan, cpuBegan] = [performance.now(), cpuMs(pids)]
  let most = 0
  for (let i = 0; i < load.deployments; i++) await client.create(DEPLOYMENTS, deployment(i, load.replicas))
  const wanted = load.deployments * load.replicas
  for (;;) {
    most = Math.max(most, residentBytes(pids))
    const { items } = await client.list<Deployment>(DEPLOYMENTS, { namespace: 'default' })
    const available = items.reduce((sum, { status }) => sum + (status?.availableReplicas ?? 0), 0)
    if (available >= wanted) break
    if (performance.now() - wallBegan > WITHIN_MS)
      throw new Error(`only ${available} of ${wanted} pods run after ${WITHIN_MS / 60_000} minutes`)
    await sleep(LOOK_EVERY_MS)
  }
  return { wallMs: performance.now() - wallBegan, cpuMs: cpuMs(pids) - cpuBegan, residentBytes: Math.max(most, residentBytes(pids)) }
}

function deployment(index: number, replicas: number) {
  const labels = { app: `web-${index}` }
  const container = { name: 'main', image: 'nginx', resources: { requests: { cpu: '10m', memory: '16Mi' } } }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `web-${index}`, namespace: 'default' },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } },
  }
}

export async function measureOurPods(program: string, load: PodLoad, profile?: string): Promise<PodFigures> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-bench-'))
  const dataDir = path.join(folder, 'data')
  const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const shape = ['--members', '1', '--nodes', String(load.nodes), '--process-nodes', '0']
  const args = [...flags, program, 'up', ...shape, '--quiet', '--port', '0', '--data-dir', dataDir]
  const child = startChild({ name: 'sluice', command: process.execPath, args, log: path.join(folder, 'log') })
  try {
    await child.waitUntil('the start', () => existsSync(path.join(dataDir, 'run.json')), 120)
    const client = clientOf(path.join(dataDir, 'kubeconfig'), 'member1')
    await nodesReady(client, load.nodes)
    const figures = await play(client, load, [child.pid])
    await client.close()
    return figures
  } finally {
    await child.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function measureTheirPods(load: PodLoad): Promise<PodFigures> {
  const server = await startRealServer('--controllers', '--scheduler', '--kwok', String(load.nodes))
  try {
    const client = clientOf(server.kubeconfig, undefined)
    await nodesReady(client, load.nodes)
    const figures = await play(client, load, server.pids)
    await client.close()
    return figures
  } finally {
    await server.stop()
  }
}

async function nodesReady(client: Client, count: number): Promise<void> {
  const nodes = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false }
  for (;;) {
    const { items } = await client.list(nodes)
    const ready = items.filter(({ status }) =>
      ((status as { conditions?: { type: string; status: string }[] })?.conditions ?? []).some(
        ({ type, status: is }) => type === 'Ready' && is === 'True',
      ),
    )
    if (ready.length >= count) return
    await sleep(LOOK_EVERY_MS)
  }
}
