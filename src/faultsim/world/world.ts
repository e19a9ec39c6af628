/**
 * A world for tests: real server cores, real controllers and a real client over a store in memory, under virtual time.
 * `aWorld().with(objects…).settle()` starts it and runs everything that can happen. The same seed gives the same run, write
 * by write.
 */
import { seededRandom } from '../../base/random.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { minicluster } from '../../minicluster/module.ts'
import type { Stage } from '../../minicluster/nodes/simulated/stages.ts'
import { SIMULATED_NODE_SIZE } from '../../minicluster/shape.ts'
import { MODULES } from '../../modules.ts'
import { configure } from '../../runtime/module/configure.ts'
import type { Module } from '../../runtime/module/module.ts'
import { createMemoryStore } from '../../store/index.ts'
import { type RunControllers, WorldCluster } from './cluster.ts'
import { createPump, type Pump } from './pump.ts'
import { replay, type WorldSnapshot, writesOf } from './snapshot.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

export interface WorldOptions {
  /** Of all randomness in the world (default 1). */
  seed?: number
  /** Member clusters in addition to the hub (default 0), with all controllers of a member. */
  members?: number
  /** Simulated nodes in each member (default 0: pods stay pending). */
  nodes?: number
  /** The stages of simulated pods (default: the built-in table). */
  stages?: readonly Stage[]
  /** Whether there is a hub (default true): a world about one member is cheaper without. */
  hub?: boolean
  /** When it begins (default: the start of 2026), in milliseconds since the epoch. */
  startMs?: number
  /** Start with what another world had stored. */
  from?: WorldSnapshot
  /** What runs in the clusters (default: the real list of controllers). */
  controllers?: RunControllers
  /** The modules of the clusters (default: all). */
  modules?: readonly Module[]
  /** Writes of a cluster's controllers without time passing after which they are stopped as endless (default 500,000). */
  writesPerInstant?: number
}

export interface SettleOptions {
  /** No work may be due within this time for the world to count as settled (default 5 s). */
  quietMs?: number
  /** Virtual time after which settling has failed (default 10 minutes). */
  withinMs?: number
  /** Called when nothing is due soon, before the world counts as settled: true when it made something happen. */
  onQuiet?(): boolean
}

export interface WorldPlan {
  /** Objects to create in the hub, in this order, once it is up. */
  with(...objects: (KubeObject | { build(): KubeObject })[]): WorldPlan
  settle(options?: SettleOptions): Promise<World>
}

export function aWorld(options: WorldOptions = {}): WorldPlan {
  const objects: KubeObject[] = []
  return {
    with(...more) {
      for (const one of more) objects.push('build' in one && typeof one.build === 'function' ? one.build() : (one as KubeObject))
      return this
    },
    async settle(how) {
      const world = new World(options)
      await world.start()
      for (const object of objects) await world.hub.create(object)
      await world.settle(how)
      return world
    },
  }
}

const REGIONS = ['east', 'west', 'north']
const START_MS = Date.UTC(2026, 0, 1)
const CONTINUED = 0x5eed0000

export class World {
  readonly clock: VirtualClock
  readonly members: readonly WorldCluster[]
  readonly #hub: WorldCluster | undefined
  readonly #from: WorldSnapshot | undefined
  readonly #pump: Pump

  constructor(options: WorldOptions) {
    const { controllers, writesPerInstant, from } = options
    const clock = createVirtualClock(from?.nowMs ?? options.startMs ?? START_MS)
    // Must not repeat what the other world drew, or two objects would have the same uid.
    const random = seededRandom((options.seed ?? 1) + (from === undefined ? 0 : CONTINUED))
    const store = createMemoryStore({ clock })
    const pump = createPump(clock)
    this.clock = clock
    this.#pump = pump
    this.#from = from
    this.#hub =
      options.hub === false
        ? undefined
        : new WorldCluster({
            name: 'hub',
            role: 'hub',
            store: store.cluster('hub'),
            clock,
            random,
            pump,
            modules: options.modules,
            controllers,
            writesPerInstant,
            others: () => this.members,
          })
    this.members = Array.from({ length: options.members ?? 0 }, (_, i) => {
      const name = `member${i + 1}`
      const region = REGIONS[i % REGIONS.length] as string
      const simulated = { count: options.nodes ?? 0, size: SIMULATED_NODE_SIZE }
      const none = { count: 0, size: SIMULATED_NODE_SIZE }
      const shape = { index: i + 1, name, region, zones: [`${region}-a`, `${region}-b`], simulated, process: none }
      return new WorldCluster({
        name,
        role: 'member',
        store: store.cluster(name),
        clock,
        random,
        pump,
        modules: configure(options.modules ?? MODULES, minicluster, { stages: options.stages, shape }),
        controllers,
        writesPerInstant,
      })
    })
  }

  get hub(): WorldCluster {
    if (this.#hub === undefined) throw new Error('this world has no hub')
    return this.#hub
  }

  get clusters(): readonly WorldCluster[] {
    return this.#hub === undefined ? this.members : [this.#hub, ...this.members]
  }

  async start(): Promise<void> {
    for (const cluster of this.clusters) await replay(cluster.store, this.#from?.clusters.get(cluster.name) ?? [])
    for (const cluster of this.clusters) await this.#pump.run(() => cluster.start())
  }

  /** Runs until nothing can run and no work is due soon; on failure, reports what is still busy. */
  async settle({ quietMs = 5000, withinMs = 600_000, onQuiet }: SettleOptions = {}): Promise<void> {
    const deadline = this.clock.now() + withinMs
    for (;;) {
      await this.#pump.drain()
      const work = this.clock.nextWorkAt()
      if (work === undefined || work - this.clock.now() > quietMs) {
        if (onQuiet?.() === true) continue
        if (this.busy().length === 0) return
      }
      const next = this.clock.nextAt()
      if (next === undefined || next > deadline) throw new Error(this.#complaint(withinMs, quietMs))
      await this.#pump.step()
    }
  }

  /** Lets this much time pass, with everything that happens in it. */
  async advance(ms: number): Promise<void> {
    const until = this.clock.now() + ms
    await this.#pump.drain()
    for (let next = this.clock.nextAt(); next !== undefined && next <= until; next = this.clock.nextAt()) await this.#pump.step()
    this.clock.moveTo(until)
  }

  /** Runs `work` as if it were part of the world: nothing ambient, and time passes while it waits. */
  inside<T>(work: () => Promise<T> | T): Promise<T> {
    return this.#pump.run(work)
  }

  busy(): string[] {
    return this.clusters.flatMap((cluster) => cluster.busy())
  }

  /** The first member: where most stories about workloads take place. */
  get member(): WorldCluster {
    const [first] = this.members
    if (first === undefined) throw new Error('this world has no member: aWorld({ members: 1 })')
    return first
  }

  /** All controllers end and new ones begin, as after a crash of their process. */
  async restartControllers(): Promise<void> {
    for (const cluster of this.clusters) await cluster.stopControllers()
    for (const cluster of this.clusters) await this.#pump.run(() => cluster.startControllers())
  }

  /** Number of turns so far: the steps of a simulation. */
  get turns(): number {
    return this.#pump.turns
  }

  /** Everything that is stored, for other worlds to start with. */
  snapshot(): WorldSnapshot {
    return { nowMs: this.clock.now(), clusters: new Map(this.clusters.map((cluster) => [cluster.name, writesOf(cluster.store)])) }
  }

  /** One hash over all writes of all clusters: equal for equal runs. */
  traceHash(): string {
    return this.clusters.map((cluster) => cluster.traceHash()).join(' ')
  }

  async stop(): Promise<void> {
    for (const cluster of this.clusters) {
      await cluster.stopControllers()
      cluster.stop()
    }
  }

  #complaint(withinMs: number, quietMs: number): string {
    const complaints = this.clusters.flatMap((cluster) => cluster.complaints.slice(-5).map((text) => `${cluster.name} said: ${text}`))
    const lines = [...this.busy(), ...this.clock.describe(this.clock.now() + quietMs), ...complaints]
    return `the world has not settled within ${withinMs} ms of its time; still busy:\n${lines.map((line) => `  - ${line}`).join('\n')}`
  }
}
