/** One cluster of a world: a real API server core over its part of the store, the real controllers, and verbs for tests. */
import { createHash } from 'node:crypto'
import type { Cluster } from '../../apiserver/cluster.ts'
import type { Random } from '../../base/random.ts'
import { type Client, createClient, type DeleteOptions, type ListOptions } from '../../client/client.ts'
import { isNotFound } from '../../client/errors.ts'
import { inProcessTransport } from '../../client/in-process.ts'
import type { Resource } from '../../client/resource.ts'
import { type ClusterRole, clusterOf, type RunningControllers, runControllers } from '../../controllers.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { MemberOptions } from '../../minicluster/controllers.ts'
import type { ClusterStore } from '../../store/index.ts'
import { AUTHORITY, SERVICE_ACCOUNT_KEY } from './fixed-keys.ts'
import type { Pump } from './pump.ts'
import { resourceOfObject } from './resources.ts'
import type { VirtualClock } from './virtual-clock.ts'

export interface WorldClusterOptions {
  name: string
  role: ClusterRole
  store: ClusterStore
  clock: VirtualClock
  random: Random
  pump: Pump
  member?: MemberOptions
}

/** No process of a machine is there to run anything. */
const PLAYED = { hasProcessNodes: false, isMapped: () => false, resolves: () => false }
const PORT = 7443
const TESTER = { name: 'tester', groups: ['system:masters'] }

export class WorldCluster {
  readonly name: string
  /** For what has no verb here. Use it inside `inside`. */
  readonly client: Client
  readonly store: ClusterStore
  /** What controllers complained about, in order. */
  readonly complaints: string[] = []
  readonly #options: WorldClusterOptions
  readonly #server: Cluster
  readonly #trace = createHash('sha256')
  #controllers: RunningControllers | undefined
  #authority = AUTHORITY
  #writes: string[] = []

  constructor(options: WorldClusterOptions) {
    const { store, clock, random, role } = options
    this.#options = options
    this.name = options.name
    this.store = store
    store.watch('', {
      after: store.revision,
      onEvent: (event) => this.#trace.update(`${event.revision} ${event.type} ${event.key} `).update(event.version.bytes),
    })
    const secrets = { adminToken: 'admin-of-the-world', serviceAccountKey: SERVICE_ACCOUNT_KEY, clientAuthority: AUTHORITY }
    const onInternalError = (error: unknown): void =>
      void this.complaints.push(`the server failed: ${error instanceof Error ? error.stack : String(error)}`)
    const run = options.member === undefined ? undefined : PLAYED
    this.#server = clusterOf({ role, bare: false, run, store, clock: clock.machinery, random, port: PORT, ...secrets, onInternalError })
    this.client = createClient({ transport: inProcessTransport(this.#server, TESTER), clock, random, userAgent: 'world' })
  }

  async start(): Promise<void> {
    await this.#server.ready
    this.startControllers()
  }

  startControllers(): void {
    const { role, clock, random, member } = this.#options
    const log = (text: string): void => void this.complaints.push(text)
    this.#controllers = runControllers({ role, cluster: this.#recorded(), clock, random, log, authority: () => this.#authority, member })
  }

  async stopControllers(): Promise<void> {
    const controllers = this.#controllers
    this.#controllers = undefined
    await this.inside(() => controllers?.stop())
  }

  lookAgain(): void {
    this.#controllers?.lookAgain()
  }

  /** The authority is renewed, as the process does when a certificate comes of age. */
  rotateAuthority(pem: string): void {
    this.#authority = pem
    this.lookAgain()
  }

  busy(): string[] {
    return (this.#controllers?.busy() ?? []).map((line) => `${this.name}: ${line}`)
  }

  stop(): void {
    this.#server.stop()
  }

  /** A hash of all that was ever written, in order. */
  traceHash(): string {
    return this.#trace.copy().digest('hex')
  }

  /** Requests to change something that controllers have sent since the last call. */
  takeControllerWrites(): string[] {
    const writes = this.#writes
    this.#writes = []
    return writes
  }

  inside<T>(work: () => Promise<T> | T): Promise<T> {
    return this.#options.pump.run(work)
  }

  /** Undefined when there is none. `where` is `namespace/name`, or the name of what has no namespace. */
  async get(resource: Resource, where: string): Promise<KubeObject | undefined> {
    try {
      return await this.inside(() => this.client.get(resource, nameOf(where)))
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async list(resource: Resource, options: ListOptions = {}): Promise<KubeObject[]> {
    return (await this.inside(() => this.client.list(resource, options))).items
  }

  create(object: KubeObject): Promise<KubeObject> {
    return this.inside(() => this.client.create(resourceOfObject(object), object))
  }

  /** Reads, changes and writes back. */
  update(resource: Resource, where: string, change: (object: KubeObject) => void): Promise<KubeObject> {
    return this.inside(async () => {
      const object = await this.client.get(resource, nameOf(where))
      change(object)
      return this.client.update(resource, object)
    })
  }

  patch(resource: Resource, where: string, body: Record<string, unknown>, subresource?: string): Promise<KubeObject> {
    return this.inside(() => this.client.patch(resource, nameOf(where), { type: 'merge', body, subresource }))
  }

  delete(resource: Resource, where: string, options: DeleteOptions = {}): Promise<KubeObject> {
    return this.inside(() => this.client.delete(resource, nameOf(where), options))
  }

  #recorded(): Pick<Cluster, 'handle'> {
    return {
      handle: (request) => {
        if (request.method !== 'GET') this.#writes.push(`${request.method} ${request.url}`)
        return this.#server.handle(request)
      },
    }
  }
}

function nameOf(where: string): { namespace?: string; name: string } {
  const slash = where.indexOf('/')
  return slash < 0 ? { name: where } : { namespace: where.slice(0, slash), name: where.slice(slash + 1) }
}
