/**
 * A hub in this process for measuring the gate: the API server of `sluice up` over a store in memory, the fleet and one joined
 * member, with or without the gate. Everything that writes goes through a transport that counts its requests, so that the gate
 * and whatever is compared with it are counted in the same way.
 */
import { generateKeyPairSync } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from '../src/apiserver/cluster.ts'
import type { Clock } from '../src/base/clock.ts'
import { seededRandom } from '../src/base/random.ts'
import { createYieldIfDue } from '../src/base/yield-if-due.ts'
import { type Client, createClient } from '../src/client/client.ts'
import type { Transport } from '../src/client/transport.ts'
import { type ClusterRole, clusterOf, inThisProcess, type RunningControllers, runControllers } from '../src/composition.ts'
import type { Cluster as ClusterObject } from '../src/kinds/karmada/index.ts'
import { CLUSTERS } from '../src/kinds/karmada/resources.ts'
import { NAMESPACES, SECRETS } from '../src/kinds/kubernetes/resources.ts'
import { isConditionTrue } from '../src/kube/conditions.ts'
import { createMemoryStore } from '../src/store/index.ts'
import { joinedCluster } from '../test/fleet/joining.ts'
import { CLOCK } from './clock.ts'

/** What was sent by controllers, and what passes they made. */
export interface Counts {
  /** Writes that the server carried out, by what they were about. */
  writes: { claims: number; sources: number; events: number; others: number }
  conflicts: number
  /** Reads of single objects and lists. */
  reads: number
  /** By controller. */
  passes: Record<string, number>
}

export interface GateHub {
  /** For the load: not counted. */
  client: Client
  /** For what is compared with the gate: counted. */
  countedClient(name: string): Client
  clock: Clock
  counts(): Counts
  /** Resolves when no controller has anything to do. */
  settled(): Promise<void>
  /** Stops the controllers and starts them again, with empty caches. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const HELD_AT_MOST_MS = 15
const LOOK_EVERY_MS = 20
/** So often in a row nothing was to be done. */
const QUIET_LOOKS = 5
const WITHIN_MS = 40 * 60_000

const clock: Clock = {
  ...CLOCK,
  preciseMs: () => performance.now(),
  yieldIfDue: createYieldIfDue({
    nowMs: () => performance.now(),
    turn: (callback) => void setImmediate(callback),
    maxHoldMs: HELD_AT_MOST_MS,
  }),
}

export const MEMBER = 'member1'

export async function startGateHub({ hasGate }: { hasGate: boolean }): Promise<GateHub> {
  const store = createMemoryStore({ clock })
  const serviceAccountKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
  const serve = (name: string, role: ClusterRole): Cluster =>
    clusterOf({
      role,
      bare: false,
      store: store.cluster(name),
      clock,
      random: seededRandom(1),
      port: 1,
      adminToken: 'bench',
      clientAuthority: '',
      serviceAccountKey,
    })
  const hub = serve('hub', 'hub')
  const member = serve(MEMBER, 'member')
  await Promise.all([hub.ready, member.ready])
  const clients: Client[] = []
  const clientOver = (transport: Transport, userAgent: string): Client => {
    const client = createClient({ transport, clock, random: seededRandom(2), userAgent })
    clients.push(client)
    return client
  }
  const client = clientOver(inThisProcess(hub), 'bench')
  const counts = noCounts()
  const counted = (): Transport => counting(inThisProcess(hub), counts)
  const start = (): RunningControllers =>
    runControllers({
      role: 'hub',
      standingBack: hasGate ? [] : ['gate'],
      transportFor: counted,
      connectMember: () => inThisProcess(member),
      clock,
      random: seededRandom(3),
      authority: () => '',
      log: { write: (level, message, fields) => void (level === 'error' && console.error(message, fields)) },
      onPass({ controller }) {
        counts.passes[controller] = (counts.passes[controller] ?? 0) + 1
      },
    })
  let controllers = start()
  const settled = async (): Promise<void> => {
    const deadline = performance.now() + WITHIN_MS
    for (let quiet = 0; quiet < QUIET_LOOKS; ) {
      await sleep(LOOK_EVERY_MS)
      const busy = controllers.busy()
      quiet = busy.length === 0 ? quiet + 1 : 0
      if (performance.now() > deadline) throw new Error(`not settled: ${busy.slice(0, 3).join('; ')}`)
    }
  }
  await join(client)
  await settled()
  return {
    client,
    countedClient: (name) => clientOver(counted(), name),
    clock,
    counts: () => structuredClone(counts),
    settled,
    async restart() {
      await controllers.stop()
      controllers = start()
      await settled()
    },
    async stop() {
      await controllers.stop()
      for (const one of clients) await one.close()
      hub.stop()
      member.stop()
    },
  }
}

const noCounts = (): Counts => ({ writes: { claims: 0, sources: 0, events: 0, others: 0 }, conflicts: 0, reads: 0, passes: {} })

const CLAIMS = /\/datasourceclaims(\/|$|\?)/
const SOURCES = /\/datasources(\/|$|\?)/
const EVENTS = /\/events(\/|$|\?)/

function counting(transport: Transport, counts: Counts): Transport {
  return {
    ...transport,
    async request(request) {
      const response = await transport.request(request)
      const { method, path } = request
      if (method === 'GET') {
        if (!path.includes('watch=')) counts.reads++
      } else if (response.status === 409) counts.conflicts++
      else if (response.status < 300) {
        const about = CLAIMS.test(path) ? 'claims' : SOURCES.test(path) ? 'sources' : EVENTS.test(path) ? 'events' : 'others'
        counts.writes[about]++
      }
      return response
    },
  }
}

/** What came to `before`. */
export function since(before: Counts, now: Counts): Counts {
  const less = <T extends Record<string, number>>(a: T, b: T): T =>
    Object.fromEntries(Object.entries(a).map(([name, count]) => [name, count - (b[name] ?? 0)])) as T
  return {
    writes: less(now.writes, before.writes),
    conflicts: now.conflicts - before.conflicts,
    reads: now.reads - before.reads,
    passes: less(now.passes, before.passes),
  }
}

async function join(client: Client): Promise<void> {
  const [secret, cluster] = joinedCluster(0, { name: MEMBER, server: 'https://member1.bench:6443', token: 'token', authority: '' })
  if (secret === undefined || cluster === undefined) throw new Error('nothing to join')
  await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'karmada-cluster' } })
  await client.create(SECRETS, secret)
  await client.create(CLUSTERS, cluster)
  const isReady = async (): Promise<boolean> =>
    isConditionTrue((await client.get<ClusterObject>(CLUSTERS, { name: MEMBER })).status?.conditions, 'Ready')
  while (!(await isReady())) await sleep(LOOK_EVERY_MS)
}
