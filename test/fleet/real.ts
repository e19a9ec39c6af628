/** Real kube-apiservers as hub and three members, and `sluice controllers --role hub` as users run it. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FleetSetup } from '../../bench/propagation.ts'
import { seededRandom } from '../../src/base/random.ts'
import { type Client, createClient } from '../../src/client/client.ts'
import { connectionOf, parseKubeconfig } from '../../src/client/kubeconfig.ts'
import { hostOfThisMachine } from '../../src/client/transport/host.ts'
import { undiciTransport } from '../../src/client/transport/undici.ts'
import { resourceOfObject } from '../../src/faultsim/world/resources.ts'
import type { Cluster } from '../../src/kinds/karmada/index.ts'
import { CLUSTERS } from '../../src/kinds/karmada/resources.ts'
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, NODES } from '../../src/kinds/kubernetes/resources.ts'
import { isConditionTrue } from '../../src/kube/conditions.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { SIMULATED_NODE_SIZE } from '../../src/minicluster/shape.ts'
import type { Cleanup } from '../machine/interrupt.ts'
import { privateProgram } from '../machine/program.ts'
import { type RealServer, startRealServer } from '../machine/real-server.ts'
import { joinedCluster } from './joining.ts'
import { listenOnLoopback } from './listening.ts'
import type { FleetStory } from './story.ts'
import { superviseControllers } from './supervised.ts'
import { type TestbedDeps, testbedOn } from './testbed.ts'

/** Nothing there removes the protection of claims again, and templates are not in use: as Karmada's own server is configured. */
const SERVER = ['--arg', 'kube-apiserver=--disable-admission-plugins=StorageObjectInUseProtection,ServiceAccount']
const NODES_PER_MEMBER = 2
const STEADY_MS = 1000
const READY_WITHIN_S = 120

export interface RealFleet {
  play(story: FleetStory, mark: string): Promise<void>
  /** The end of the controllers' log. */
  log(): string
  /** For benchmarks on it. */
  setup: FleetSetup
}

interface Server {
  name: string
  server: RealServer
  client: Client
}

export type RealMembers = readonly Server[]

export interface RealFleetOptions {
  /** Members that other fleets use as well, with other marks. Default: new ones. */
  members?: RealMembers
  /** Definitions that are there before the controllers come. */
  definitions?: readonly KubeObject[]
  /** Further flags of `sluice controllers`. */
  flags?: readonly string[]
  /** What stories leave stays. */
  isKept?: boolean
}

export async function startRealMembers(later: Cleanup): Promise<RealMembers> {
  const members: Server[] = []
  // One after the other: several at once on a small machine are not faster.
  for (const name of ['member1', 'member2', 'member3']) members.push(await serverNamed(name, later))
  for (const member of members) await bringNodes(member)
  return members
}

export async function startRealFleet(later: Cleanup, options: RealFleetOptions = {}): Promise<RealFleet> {
  const hub = await serverNamed('hub', later)
  const members = options.members ?? (await startRealMembers(later))
  for (const definition of options.definitions ?? []) await hub.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition)
  const program = await privateProgram()
  later(async () => program.remove())
  const log = path.join(hub.server.folder, 'controllers.log')
  const args = [
    program.file,
    'controllers',
    '--log-format',
    'json',
    '--role',
    'hub',
    '--eviction-rate',
    '100',
    '--kubeconfig',
    hub.server.kubeconfig,
    ...(options.flags ?? []),
  ]
  const controllers = superviseControllers(args, log, later)
  const runs = (): number => controllers.log().split('"controllers run"').length - 1
  await controllers.waitUntil('controllers run', () => runs() > 0, READY_WITHIN_S)
  await hub.client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'karmada-cluster' } })
  for (const [i, member] of members.entries())
    for (const object of joinedCluster(i, accessOf(member))) await hub.client.create(resourceOfObject(object), object)
  await controllers.waitUntil('every member is ready', () => allReady(hub.client, members.length), READY_WITHIN_S)
  const restart = async (meanwhile?: () => Promise<void>): Promise<void> => {
    const before = runs()
    try {
      await controllers.restart(meanwhile)
    } finally {
      await controllers.waitUntil('controllers run again', () => runs() > before, READY_WITHIN_S)
      pids['sluice controllers'][0] = controllers.pid
    }
  }
  const deps = depsOf(hub, members, restart)
  const pids = {
    'sluice controllers': [controllers.pid],
    'hub: kube-apiserver and etcd': hub.server.pids,
    'members: kube-apiserver and etcd': members.flatMap(({ server }) => server.pids),
  }
  return {
    log: controllers.log,
    setup: {
      hub: hub.client,
      members: members.map(({ client }) => client),
      pids,
      restart: () => restart(),
    },
    async play(story, mark) {
      controllers.assertAlive()
      const { testbed, tidy } = testbedOn(deps, mark)
      await hub.client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: testbed.namespace } })
      try {
        await story.run(testbed)
      } finally {
        if (options.isKept !== true) await tidy()
      }
    },
  }
}

const depsOf = (hub: Server, members: readonly Server[], restart: TestbedDeps['restart']): TestbedDeps => ({
  hub: hub.client,
  members,
  inside: (work) => work(),
  nowMs: () => Date.now(),
  pass: (ms) => sleep(ms),
  lookEveryMs: 250,
  patienceMs: 120_000,
  listen: listenOnLoopback,
  restart,
  async settle(versions) {
    for (let before = ''; ; ) {
      const now = await versions()
      if (now === before) return
      before = now
      await sleep(STEADY_MS)
    }
  },
})

async function serverNamed(name: string, later: Cleanup): Promise<Server> {
  const server = await startRealServer(...SERVER)
  later(() => server.stop())
  const client = clientOf(server.kubeconfig)
  later(() => client.close())
  return { name, server, client }
}

export function clientOf(kubeconfig: string): Client {
  const connection = connectionOf(parseKubeconfig(readFileSync(kubeconfig, 'utf8'), kubeconfig), undefined, hostOfThisMachine())
  const clock = {
    now: () => Date.now(),
    after(delayMs: number, callback: () => void) {
      const timer = setTimeout(callback, delayMs)
      return () => clearTimeout(timer)
    },
  }
  return createClient({ transport: undiciTransport(connection), clock, random: seededRandom(1), userAgent: 'stories' })
}

function accessOf({ name, server: { folder, kubeconfig } }: Server) {
  const { server } = connectionOf(parseKubeconfig(readFileSync(kubeconfig, 'utf8'), kubeconfig), undefined, hostOfThisMachine())
  const token = readFileSync(path.join(folder, 'token'), 'utf8').trim()
  return { name, server, token, authority: readFileSync(path.join(folder, 'pki', 'ca.crt'), 'utf8') }
}

/** Capacity like that of a minicluster's simulated nodes; no pods run on these. */
async function bringNodes({ name, client }: Server): Promise<void> {
  const { cpu, memory, pods } = SIMULATED_NODE_SIZE
  const capacity = { cpu, memory, pods: String(pods) }
  for (let i = 0; i < NODES_PER_MEMBER; i++) {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: `${name}-${i}` } } as KubeObject
    await client.create(NODES, node)
    // The server marks every new node as not ready, and nothing else here removes that.
    await client.patch(NODES, { name: `${name}-${i}` }, { type: 'merge', body: { spec: { taints: null } } })
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'it is there' }
    const status = { capacity: capacity, allocatable: capacity, conditions: [ready] }
    await client.patch(NODES, { name: `${name}-${i}` }, { type: 'merge', body: { status }, subresource: 'status' })
  }
}

async function allReady(hub: Client, count: number): Promise<boolean> {
  const { items } = await hub.list(CLUSTERS)
  return (items as Cluster[]).filter(({ status }) => isConditionTrue(status?.conditions, 'Ready')).length === count
}
