/** What the client suite needs from a server and a transport to it, and the helpers its cases are written with. */
import { type Clock, sleep } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import { nameSuffix } from '../base/random.ts'
import { CONFIG_MAPS, NAMESPACES } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import { type Client, createClient } from './client.ts'
import { type Fault, type FaultPlan, faultyTransport } from './fault/fault-transport.ts'
import type { Transport, TransportRequest } from './transport.ts'

export interface ServerUnderTest {
  /** Reaches the server as a user who may do anything. */
  transport: Transport
  clock: Clock
  random: Random
  /** Time passes only while `run` waits, so that waiting costs nothing. */
  isVirtual: boolean
  /** Runs to its end. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Makes the server drop its history, where that is possible. */
  forget?(): Promise<void>
  close(): Promise<void>
}

export interface ClientHarness {
  open(): Promise<ServerUnderTest>
}

/** A client in its own namespace, over a transport that may misbehave, with a record of what was sent. */
export interface ClientTestbed {
  server: ServerUnderTest
  client: Client
  namespace: string
  /** `GET /path` of each request, with the fault it met. */
  sent: { request: TransportRequest; fault: Fault | undefined; atMs: number }[]
  /** Applies from now on. */
  plan(plan: FaultPlan): void
}

export async function openTestbed(server: ServerUnderTest, tries?: number): Promise<ClientTestbed> {
  const { clock, random } = server
  let current: FaultPlan = () => undefined
  const sent: ClientTestbed['sent'] = []
  const onRequest = (request: TransportRequest, fault: Fault | undefined): void => void sent.push({ request, fault, atMs: clock.now() })
  const transport = faultyTransport(server.transport, { clock, plan: (request) => current(request), onRequest })
  const client = createClient({ transport, clock, random, userAgent: 'suite', tries })
  const namespace = `suite-${nameSuffix(random, 8)}`
  await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const plan = (next: FaultPlan): void => {
    current = next
    sent.length = 0
  }
  return { server, client, namespace, sent, plan }
}

export function configMap(namespace: string, name: string, data: Record<string, string> = { key: 'value' }): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: { suite: 'yes' } }, data }
}

export const create = (testbed: ClientTestbed, name: string, data?: Record<string, string>): Promise<KubeObject> =>
  testbed.client.create(CONFIG_MAPS, configMap(testbed.namespace, name, data))

export const names = (objects: readonly KubeObject[]): string[] => objects.map((object) => object.metadata.name ?? '').sort()

/** Waits until `condition` holds; throws after about ten seconds. */
export async function eventually(clock: Clock, what: string, condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 1000) throw new Error(`waited in vain: ${what}`)
    await sleep(clock, 10)
  }
}
