/** The embedded hub with three miniclusters, in virtual time, joined as a user would: a Secret and a Cluster each. */
import { runControllers } from '../../src/composition.ts'
import { expectQuiet } from '../../src/faultsim/expect/index.ts'
import type { RunControllers } from '../../src/faultsim/world/cluster.ts'
import { aWorld, type World } from '../../src/faultsim/world/index.ts'
import type { WorldSnapshot } from '../../src/faultsim/world/snapshot.ts'
import { CLUSTERS } from '../../src/kinds/karmada/resources.ts'
import { isConditionTrue } from '../../src/kube/conditions.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { joinedCluster } from './joining.ts'
import { PlayedServers } from './listening.ts'
import type { FleetStory } from './story.ts'
import { type TestbedDeps, testbedOn } from './testbed.ts'

const SHAPE = { members: 3, nodes: 2 }

/** A settled fleet, for many stories to start with. */
async function restingFleet(): Promise<WorldSnapshot> {
  const world = await aWorld(SHAPE).settle()
  try {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'karmada-cluster' } }
    await world.hub.create(namespace)
    for (const [i, { name }] of world.members.entries())
      for (const object of joinedCluster(i, { name, server: `https://${name}.world:6443`, token: 'token', authority: '' }))
        await world.hub.create(object)
    await world.settle()
    for (const cluster of await world.hub.list(CLUSTERS)) assertReady(cluster, world)
    return world.snapshot()
  } finally {
    await world.stop()
  }
}

function assertReady(cluster: KubeObject, { hub }: World): void {
  const { conditions } = (cluster.status ?? {}) as { conditions?: { type: string; status: string }[] }
  if (!isConditionTrue(conditions, 'Ready'))
    throw new Error(`${cluster.metadata.name} did not become ready: ${JSON.stringify(cluster.status)}; ${hub.complaints.join('; ')}`)
}

export interface EmbeddedOptions {
  /** What stories leave stays until their world ends, and then nothing may write any more, after a restart either. */
  endsQuiet?: boolean
}

/** A fleet in which stories run one after the other. */
export class EmbeddedFleet {
  #resting: Promise<WorldSnapshot> | undefined
  #world: World | undefined
  #played = 0
  readonly #servers = new PlayedServers()
  readonly #endsQuiet: boolean

  constructor({ endsQuiet = false }: EmbeddedOptions = {}) {
    this.#endsQuiet = endsQuiet
  }

  async play(story: FleetStory): Promise<void> {
    if (story.alone === true) await this.stop()
    this.#resting ??= restingFleet()
    this.#world ??= await this.#begin(await this.#resting)
    const { testbed, tidy } = testbedOn(depsOf(this.#world, this.#servers), `s${++this.#played}x`)
    let isDone = false
    try {
      await testbed.hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: testbed.namespace } })
      await testbed.settle()
      await story.run(testbed)
      await (this.#endsQuiet ? testbed.settle() : tidy())
      isDone = true
    } finally {
      // What a story left half done, or changed for all, must not affect the next one.
      if (!isDone) await this.#abandon()
      else if (story.alone === true) await this.stop()
    }
  }

  /** There is no network in a world: the servers that its controllers call are simulated. */
  #begin(from: WorldSnapshot): Promise<World> {
    const controllers: RunControllers = (options) => runControllers({ ...options, postJson: this.#servers.call })
    return aWorld({ ...SHAPE, from, controllers }).settle()
  }

  async stop(): Promise<void> {
    try {
      if (this.#endsQuiet && this.#world !== undefined) await isQuiet(this.#world)
    } finally {
      await this.#abandon()
    }
  }

  async #abandon(): Promise<void> {
    await this.#world?.stop()
    this.#world = undefined
  }
}

/** Clusters report what pods have left of their capacity only now and then. */
const REPORTED_WITHIN_MS = 30_000

async function isQuiet(world: World): Promise<void> {
  await world.advance(REPORTED_WITHIN_MS)
  await world.settle()
  await expectQuiet(world)
}

const depsOf = (world: World, servers: PlayedServers): TestbedDeps => ({
  hub: world.hub.client,
  members: world.members.map(({ name, client }) => ({ name, client })),
  inside: (work) => world.inside(work),
  nowMs: () => world.clock.now(),
  pass: (ms) => world.advance(ms),
  lookEveryMs: 100,
  patienceMs: 60_000,
  settle: () => world.settle(),
  listen: async (answer) => servers.listen(answer),
  async restart(meanwhile) {
    await world.hub.stopControllers()
    await meanwhile()
    await world.inside(() => world.hub.startControllers())
    await world.settle()
  },
})
