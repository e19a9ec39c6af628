/** For tests of what runs against a server: an in-process server with real time, and a machine to go with it. */

import type { Clock } from '../base/clock.ts'
import { seededRandom } from '../base/random.ts'
import { type Client, createClient } from '../client/client.ts'
import type { Transport } from '../client/transport.ts'
import { clusterOf, inThisProcess } from '../composition.ts'
import { AUTHORITY, SERVICE_ACCOUNT_KEY } from '../faultsim/world/fixed-keys.ts'
import { createMemoryStore } from '../store/index.ts'
import { type FakeMachine, fakeMachine } from './fake-machine.ts'

export const realClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}

export interface TestServer {
  transport: Transport
  client: Client
  machine: FakeMachine
  close(): void
}

/** As bare as a kube-apiserver without controllers. */
export async function aServer(): Promise<TestServer> {
  const random = seededRandom(1)
  const store = createMemoryStore({ clock: realClock }).cluster('hub')
  const secrets = { adminToken: 'admin', serviceAccountKey: SERVICE_ACCOUNT_KEY, clientAuthority: AUTHORITY }
  const cluster = clusterOf({ role: 'hub', bare: true, store, clock: realClock, random, port: 0, ...secrets })
  await cluster.ready
  const transport = inThisProcess(cluster)
  const machine = Object.assign(fakeMachine(), { clock: realClock })
  const client = createClient({ transport, clock: realClock, random, userAgent: 'test' })
  return { transport, client, machine, close: () => cluster.stop() }
}

/** Polls until it holds; the test's own time limit applies. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20))
}
