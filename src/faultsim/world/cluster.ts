/** One cluster of a world: a real API server core over its part of the store, the real controllers, and verbs for tests. */

import { createHash } from 'node:crypto'
import { legacyClaims, readSigningKey } from '../../apiserver/auth/index.ts'
import type { Cluster } from '../../apiserver/cluster.ts'
import { sleep } from '../../base/clock.ts'
import type { LogFields } from '../../base/log.ts'
import type { Random } from '../../base/random.ts'
import { type Client, createClient, type DeleteOptions, type ListOptions } from '../../client/client.ts'
import { ifFound, isConflict } from '../../client/errors.ts'
import { inProcessTransport } from '../../client/in-process.ts'
import type { ConnectMember } from '../../client/members.ts'
import { NetworkLink } from '../../client/network-link.ts'
import type { Transport } from '../../client/transport.ts'
import {
  type ClusterRole,
  clusterOf,
  type RunControllersOptions,
  type RunningControllers,
  runControllers,
  SYSTEM,
} from '../../composition.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ObjectName } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import { MODULES } from '../../modules.ts'
import type { Module } from '../../runtime/module/module.ts'
import type { ClusterStore } from '../../store/index.ts'
import { ScriptedCommands } from './commands.ts'
import { ScriptedEffects } from './effects.ts'
import { AUTHORITY, SERVICE_ACCOUNT_KEY } from './fixed-keys.ts'
import { ControllerProcess, type ControllerWrite, type Interference } from './process.ts'
import type { Pump } from './pump.ts'
import { signJwtRepeatably } from './repeatable-signature.ts'
import { resourceOfObject } from './resources.ts'
import { type SkewedClock, skewed } from './skewed-clock.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** What runs in the clusters of a world: the real list, unless a world is about something else. */
export type RunControllers = (options: WorldRunOptions, cluster: WorldCluster) => RunningControllers

export type WorldRunOptions = RunControllersOptions & { modules: readonly Module[] }

export interface WorldClusterOptions {
  name: string
  role: ClusterRole
  store: ClusterStore
  clock: VirtualClock
  random: Random
  pump: Pump
  /** Default: all of them. */
  modules?: readonly Module[]
  controllers?: RunControllers
  writesPerInstant?: number
  /** The other clusters that its controllers may reach. */
  others?(): readonly WorldCluster[]
}

const PORT = 7443
const SIGNING_KEY = { pem: SERVICE_ACCOUNT_KEY, id: readSigningKey(SERVICE_ACCOUNT_KEY).id }
/** How long the controllers' process is down after a crash. */
const RESTART_MS = 100
const WRITES_PER_INSTANT = 500_000
const TESTER = { name: 'tester', groups: ['system:masters'] }

export class WorldCluster {
  readonly name: string
  /** For operations without a method here. Use it inside `inside`. */
  readonly client: Client
  readonly store: ClusterStore
  /** What controllers complained about, in order. */
  readonly complaints: string[] = []
  /** The faults injected into the requests and watches of the controllers. */
  interference: Interference | undefined
  /** What effects of controllers do in the world outside the API. */
  readonly effects: ScriptedEffects
  /** The scripted results of commands in pods. */
  readonly commands: ScriptedCommands
  /** The connection from other clusters to this one. */
  readonly link = new NetworkLink()
  readonly #options: WorldClusterOptions
  readonly #clock: SkewedClock
  readonly #trace = createHash('sha256')
  #server: Cluster | undefined
  #process: ControllerProcess | undefined
  #controllers: RunningControllers | undefined
  #authority = AUTHORITY
  #instant = { atMs: 0, writes: 0 }
  #isRunaway = false
  #writes: ControllerWrite[] = []

  constructor(options: WorldClusterOptions) {
    const { store } = options
    this.#options = options
    this.#clock = skewed(options.clock)
    this.effects = new ScriptedEffects(options.clock)
    this.commands = new ScriptedCommands(options.clock)
    this.name = options.name
    this.store = store
    store.watch('', {
      after: store.revision,
      onEvent: (event) => this.#trace.update(`${event.revision} ${event.type} ${event.key} `).update(event.version.text, 'latin1'),
    })
    this.client = this.clientAs(TESTER)
  }

  /** With the rights of this user, which `client` does not need. Use it inside `inside`. */
  clientAs(user: { name: string; groups: string[] }): Client {
    const { random } = this.#options
    return createClient({ transport: inProcessTransport(this.#current, user), clock: this.#clock, random, userAgent: 'world' })
  }

  /** The server starts with what is in the store by now. */
  async start(): Promise<void> {
    this.#server = this.#serve()
    await this.#server.ready
    this.startControllers()
  }

  /** The server stops and a new one starts over the same store; every watch is cut. */
  async restartServer(): Promise<void> {
    this.#server?.stop()
    this.#server = this.#serve()
    await this.#server.ready
  }

  /** With `cachesAt`, every cache starts with what was stored at that revision, until `releaseCaches`. */
  startControllers(cachesAt?: number): void {
    const { role, random, modules = MODULES, controllers: run = runControllers } = this.#options
    const connect = () => inProcessTransport(this.#current, SYSTEM)
    const process = new ControllerProcess({
      clock: this.#clock,
      connect,
      interference: () => this.interference,
      onWrite: (write) => this.#note(write),
      onCrash: (at) => this.#comeBack(at),
      cachesAt,
    })
    this.#process = process
    const options: WorldRunOptions = {
      role,
      modules,
      clock: process.clock,
      random,
      log: { write: (_level, message, fields = {}) => void this.complaints.push(complaintOf(message, fields)) },
      authority: () => this.#authority,
      signToken: (account, secret) => signJwtRepeatably(legacyClaims(account, secret), SIGNING_KEY),
      transportFor: (part) => process.transportFor(part),
      connectMember: this.#connectMember(process),
      adapt: (controller) => this.effects.adapt(controller),
    }
    this.#controllers = run(options, this)
  }

  /** The controllers' process ends at once, in the middle of whatever it does, and stays down until it is started. */
  killControllers(): void {
    this.#process?.kill()
    this.#process = undefined
    this.#controllers = undefined
  }

  /** As after a crash: gone at once, back a little later. */
  crashControllers(cachesAt?: number): void {
    this.killControllers()
    this.#comeBack(cachesAt)
  }

  /** Lets caches that were held back catch up; false when there were none. */
  releaseCaches(): boolean {
    return this.#process?.release() ?? false
  }

  /** The clock of this cluster alone is set forward or back; its timers do not notice. */
  jumpClock(ms: number): void {
    this.#clock.jump(ms)
  }

  async stopControllers(): Promise<void> {
    const controllers = this.#controllers
    await this.inside(() => controllers?.stop())
    this.killControllers()
  }

  resync(): void {
    this.#controllers?.resync()
  }

  /** The authority is renewed, as the process does when a certificate is due for renewal. */
  rotateAuthority(pem: string): void {
    this.#authority = pem
    this.resync()
  }

  busy(): string[] {
    if (this.#isRunaway) return [`${this.name}: the controllers wrote without end while no time passed, and were stopped`]
    return (this.#controllers?.busy() ?? []).map((line) => `${this.name}: ${line}`)
  }

  stop(): void {
    this.#server?.stop()
  }

  /** A hash of all writes, in order. */
  traceHash(): string {
    return this.#trace.copy().digest('hex')
  }

  /** Requests to change something that controllers have sent since the last call. */
  takeControllerWrites(): string[] {
    return this.takeWrites().map(({ method, path }) => `${method} ${path}`)
  }

  /** The same with the sender and the result. */
  takeWrites(): ControllerWrite[] {
    const writes = this.#writes
    this.#writes = []
    return writes
  }

  /** Lets this much time of the world pass, with everything that happens in it. */
  async advance(ms: number): Promise<void> {
    const { clock, pump } = this.#options
    await pump.run(() => sleep(clock, ms), ms)
  }

  inside<T>(work: () => Promise<T> | T): Promise<T> {
    return this.#options.pump.run(work)
  }

  /** Undefined when there is none. `where` is `namespace/name`, or the name of a cluster-scoped object. */
  async get(resource: Resource, where: string): Promise<KubeObject | undefined> {
    return ifFound(this.inside(() => this.client.get(resource, nameOf(where))))
  }

  async list(resource: Resource, options: ListOptions = {}): Promise<KubeObject[]> {
    return (await this.inside(() => this.client.list(resource, options))).items
  }

  create(object: KubeObject): Promise<KubeObject> {
    return this.inside(() => this.client.create(resourceOfObject(object), object))
  }

  /** Reads, changes and writes back; retries on a conflict, as a user would. */
  update(resource: Resource, where: string, change: (object: KubeObject) => void): Promise<KubeObject> {
    const attempt = async (left: number): Promise<KubeObject> => {
      const object = await this.client.get(resource, nameOf(where))
      change(object)
      try {
        return await this.client.update(resource, object)
      } catch (error) {
        if (left === 0 || !isConflict(error)) throw error
        return attempt(left - 1)
      }
    }
    return this.inside(() => attempt(5))
  }

  patch(resource: Resource, where: string, body: Record<string, unknown>, subresource?: string): Promise<KubeObject> {
    return this.inside(() => this.client.patch(resource, nameOf(where), { type: 'merge', body, subresource }))
  }

  delete(resource: Resource, where: string, options: DeleteOptions = {}): Promise<KubeObject> {
    return this.inside(() => this.client.delete(resource, nameOf(where), options))
  }

  /** How another cluster's controllers reach this one. */
  fromOutside(): Transport {
    return this.link.over(inProcessTransport(this.#current, SYSTEM))
  }

  /** The current server. */
  readonly #current: Pick<Cluster, 'handle'> = {
    handle: async (request) => {
      if (this.#server === undefined) throw new Error(`${this.name} has not been started`)
      return this.#server.handle(request)
    },
  }

  /** A hub reaches the other clusters; a member reaches none. */
  #connectMember(process: ControllerProcess): ConnectMember | undefined {
    const { others, role } = this.#options
    if (role !== 'hub') return undefined
    return ({ metadata: { name = '' } }, _credentials, part) => {
      const other = others?.().find((one) => one.name === name)
      return other === undefined ? undefined : process.transportFor(part, { cluster: name, connect: () => other.fromOutside() })
    }
  }

  #serve(): Cluster {
    const { store, random, role, modules } = this.#options
    const secrets = { adminToken: 'admin-of-the-world', serviceAccountKey: SERVICE_ACCOUNT_KEY, clientAuthority: AUTHORITY }
    const onInternalError = (error: unknown): void =>
      void this.complaints.push(`the server failed: ${error instanceof Error ? error.stack : String(error)}`)
    return clusterOf({
      role,
      bare: false,
      modules,
      store,
      clock: this.#clock.machinery,
      random,
      port: PORT,
      nodes: this.commands,
      ...secrets,
      onInternalError,
    })
  }

  /** A controller that writes without end while no time passes would hold up the machine for ever. */
  #note(write: ControllerWrite): void {
    this.#writes.push(write)
    const atMs = this.#options.clock.now()
    if (atMs !== this.#instant.atMs) this.#instant = { atMs, writes: 0 }
    if (++this.#instant.writes <= (this.#options.writesPerInstant ?? WRITES_PER_INSTANT)) return
    this.#isRunaway = true
    this.#process?.kill()
  }

  #comeBack(cachesAt?: number): void {
    this.#process = undefined
    this.#controllers = undefined
    this.#options.clock.after(RESTART_MS, () => {
      if (this.#process === undefined) this.startControllers(cachesAt)
    })
  }
}

function nameOf(where: string): ObjectName {
  const slash = where.indexOf('/')
  return slash < 0 ? { name: where } : { namespace: where.slice(0, slash), name: where.slice(slash + 1) }
}

/** Readable for people: who, what, why. */
function complaintOf(message: string, { controller, object, resource, cause, ...more }: LogFields): string {
  const others = Object.entries(more).map(([key, value]) => `${key}=${value}`)
  return [controller, object ?? resource, message, cause, ...others].filter((part) => part !== undefined && part !== '').join(': ')
}
