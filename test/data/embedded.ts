/** A member with four simulated nodes, in virtual time. Each story has a world of its own, which must be quiet at the end. */
import { data } from '../../src/data/module.ts'
import { DATA_DEFAULTS } from '../../src/data/options.ts'
import { expectQuiet } from '../../src/faultsim/expect/index.ts'
import { aWorld, type World } from '../../src/faultsim/world/index.ts'
import type { WorldSnapshot } from '../../src/faultsim/world/snapshot.ts'
import { NODES } from '../../src/kinds/kubernetes/resources.ts'
import { MODULES } from '../../src/modules.ts'
import { configure } from '../../src/runtime/module/configure.ts'
import type { DataStory, EmbeddedTestbed } from './story.ts'
import { STORY_LABEL, testbedOn } from './testbed.ts'

const SHAPE = { hub: false, members: 1, nodes: 4 }
const MARK = 'story'
const NAMESPACE = 'default'

/** Stories run one after the other; all begin with what is stored in a settled member. */
export class EmbeddedData {
  #resting: Promise<WorldSnapshot> | undefined

  async play(story: DataStory): Promise<void> {
    this.#resting ??= restingMember()
    const modules = story.shape === 'kubernetes' ? configure(MODULES, data, DATA_DEFAULTS.controllers) : MODULES
    const world = await aWorld({ ...SHAPE, from: await this.#resting, modules }).settle()
    try {
      await story.run(await testbedIn(world))
      await world.settle()
      await expectQuiet(world)
    } finally {
      await world.stop()
    }
  }
}

async function restingMember(): Promise<WorldSnapshot> {
  const world = await aWorld(SHAPE).settle()
  try {
    const { own } = await nodesOf(world)
    for (const node of own) await world.member.patch(NODES, node, { metadata: { labels: { [STORY_LABEL]: MARK } } })
    await world.settle()
    return world.snapshot()
  } finally {
    await world.stop()
  }
}

async function nodesOf({ member }: World): Promise<{ own: readonly [string, string, string]; spare: string }> {
  const [a, b, c, spare] = (await member.list(NODES)).map(({ metadata }) => metadata.name ?? '').sort()
  if (a === undefined || b === undefined || c === undefined || spare === undefined) throw new Error('the member has no four nodes')
  return { own: [a, b, c], spare }
}

async function testbedIn(world: World): Promise<EmbeddedTestbed> {
  const { member } = world
  const { own: nodes, spare: spareNode } = await nodesOf(world)
  const { testbed } = testbedOn({
    client: member.client,
    inside: (work) => world.inside(work),
    nowMs: () => world.clock.now(),
    pass: (ms) => world.advance(ms),
    settle: () => world.settle(),
    lookEveryMs: 500,
    patienceMs: 60_000,
    nodes,
    namespace: NAMESPACE,
    mark: MARK,
  })
  return {
    ...testbed,
    member,
    spareNode,
    pass: (seconds) => world.advance(seconds * 1000),
    async restart(meanwhile = async () => undefined) {
      await member.stopControllers()
      await meanwhile()
      await world.inside(() => member.startControllers())
      await world.settle()
    },
  }
}
