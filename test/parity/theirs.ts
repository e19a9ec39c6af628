/** Their side: real kube-apiserver, kube-controller-manager, kube-scheduler and kwok, in real time. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseAllDocuments, stringify } from 'yaml'
import { seededRandom } from '../../src/base/random.ts'
import { type Client, createClient } from '../../src/client/client.ts'
import { connectionOf, parseKubeconfig } from '../../src/client/kubeconfig.ts'
import { hostOfThisMachine } from '../../src/client/transport/host.ts'
import { undiciTransport } from '../../src/client/transport/undici.ts'
import { NAMESPACES } from '../../src/kinds/kubernetes/resources.ts'
import { assetsFolder } from '../machine/assets.ts'
import { type RealServer, startRealServer } from '../machine/real-server.ts'
import { NODES } from './ours.ts'
import { HOLD, type Note, type Scenario } from './scenario.ts'
import { testbedOn } from './testbed.ts'

export interface Theirs {
  play(scenario: Scenario, namespace: string): Promise<Note[]>
  stop(): Promise<void>
}

/** A given kubeconfig refers to programs that already run, and keep running. */
export async function startTheirs(running?: string): Promise<Theirs> {
  const server = running === undefined ? await startPrograms() : { kubeconfig: running, stop: async () => undefined }
  const client = clientOf(server.kubeconfig)
  return {
    play: (scenario, namespace) => playTheirs(client, scenario, namespace),
    async stop() {
      await client.close()
      await server.stop()
    },
  }
}

async function startPrograms(): Promise<RealServer> {
  const stages = path.join(os.tmpdir(), `sluice-parity-stages-${process.pid}.yaml`)
  writeFileSync(stages, stagesOf(readFileSync(path.join(assetsFolder(), 'kwok-stages.yaml'), 'utf8')))
  try {
    return await startRealServer('--controllers', '--scheduler', '--kwok', String(NODES), '--stages', stages)
  } finally {
    // They have their own copy.
    rmSync(stages)
  }
}

function clientOf(kubeconfig: string): Client {
  const connection = connectionOf(parseKubeconfig(readFileSync(kubeconfig, 'utf8'), kubeconfig), undefined, hostOfThisMachine())
  const clock = {
    now: () => Date.now(),
    after(delayMs: number, callback: () => void) {
      const timer = setTimeout(callback, delayMs)
      return () => clearTimeout(timer)
    },
  }
  return createClient({ transport: undiciTransport(connection), clock, random: seededRandom(1), userAgent: 'parity' })
}

async function playTheirs(client: Client, scenario: Scenario, namespace: string): Promise<Note[]> {
  await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const notes: Note[] = []
  const deps = {
    client,
    inside: <T>(work: () => Promise<T>) => work(),
    nowMs: () => Date.now(),
    pass: (ms: number) => sleep(ms),
    lookEveryMs: 100,
    steadyMs: 1500,
  }
  const { testbed, tidy } = testbedOn(deps, namespace, notes)
  try {
    await testbed.until('the default service account', () => hasAccount(client, namespace))
    await scenario.run(testbed)
    return notes
  } finally {
    await client.delete(NAMESPACES, { name: namespace })
    await tidy()
    // Its pods use capacity on the nodes until they are gone.
    if (scenario.alone) await testbed.until('the namespace is gone', async () => !(await hasNamespace(client, namespace)))
  }
}

async function hasNamespace(client: Client, name: string): Promise<boolean> {
  const { items } = await client.list(NAMESPACES)
  return items.some(({ metadata }) => metadata.name === name)
}

async function hasAccount(client: Client, namespace: string): Promise<boolean> {
  const { items } = await client.list(
    { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true },
    { namespace },
  )
  return items.some((account) => account.metadata.name === 'default')
}

interface KwokStage {
  metadata?: { name?: string }
  spec?: { selector?: { matchExpressions?: unknown[] } }
}

/** Pods of Jobs end when the scenario says so; deleted pods that are held remain. */
function stagesOf(text: string): string {
  const stages = parseAllDocuments(text).map((document) => document.toJS() as KwokStage | null)
  for (const stage of stages)
    if (stage?.metadata?.name === 'pod-delete')
      stage.spec?.selector?.matchExpressions?.push({ key: '.metadata.finalizers.[]', operator: 'NotIn', values: [HOLD] })
  return stages
    .filter((stage) => stage !== null && stage.metadata?.name !== 'pod-complete')
    .map((stage) => stringify(stage, { lineWidth: 0 }))
    .join('---\n')
}
