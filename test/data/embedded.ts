/** A member with four simulated nodes, in virtual time. Each story has a world of its own, which must be quiet at the end. */
import { data } from '../../src/data/module.ts'
import { DATA_DEFAULTS } from '../../src/data/options.ts'
import { expectQuiet } from '../../src/faultsim/expect/index.ts'
import { aWorld, World, type WorldOptions } from '../../src/faultsim/world/index.ts'
import type { WorldSnapshot } from '../../src/faultsim/world/snapshot.ts'
import { NODES } from '../../src/kinds/kubernetes/resources.ts'
import { MODULES } from '../../src/modules.ts'
import { configure } from '../../src/runtime/module/configure.ts'
import type { Module } from '../../src/runtime/module/module.ts'
import type { Beginning, DataStory, EmbeddedTestbed } from './story.ts'
import { STORY_LABEL, testbedOn } from './testbed.ts'

const SHAPE = { hub: false, members: 1, nodes: 4 }
const MARK = 'story'
const NAMESPACE = 'default'

/** Stories run one after the other; all begin with what is stored in a settled member. */
export class EmbeddedData {
  #resting: Promise<WorldSnapshot> | undefined
  readonly #begun = new Map<string, Promise<WorldSnapshot>>()

  async play(story: DataStory): Promise<void> {
    const modules = modulesFor(story)
    const world = await started({ from: await this.#beginningOf(story, modules), modules }, story.begin)
    try {
      await story.run(await testbedIn(world))
      await world.settle()
      await expectQuiet(world)
    } finally {
      await world.stop()
    }
  }

  #beginningOf(story: DataStory, modules: readonly Module[]): Promise<WorldSnapshot> {
    this.#resting ??= restingMember()
    const { begin } = story
    if (begin === undefined) return this.#resting
    const key = `${begin.name} ${JSON.stringify([story.shape, story.isSample === true ? {} : story.options])}`
    const known = this.#begun.get(key) ?? begun(begin, { from: this.#resting, modules })
    this.#begun.set(key, known)
    return known
  }
}

function modulesFor(story: DataStory): readonly Module[] {
  const shaped = story.shape === 'kubernetes' ? configure(MODULES, data, DATA_DEFAULTS.controllers) : MODULES
  if (story.isSample === true) return shaped
  const modules = story.options === undefined ? shaped : configure(shaped, data, story.options)
  return story.isUnjudged === true
    ? modules.map((module) => (module.name === data.name ? { ...module, admission: () => [] } : module))
    : modules
}

async function started({ from, modules }: Pick<WorldOptions, 'from' | 'modules'>, begin: Beginning | undefined): Promise<World> {
  // Those that continue another story's beginning must not draw what that one drew.
  const world = new World({ ...SHAPE, seed: begin === undefined ? 1 : 2, from, modules })
  begin?.answers?.(world.member)
  await world.start()
  await world.settle()
  return world
}

async function begun(
  begin: Beginning,
  { from, modules }: { from: Promise<WorldSnapshot>; modules: readonly Module[] },
): Promise<WorldSnapshot> {
  const world = await started({ from: await from, modules }, undefined)
  try {
    begin.answers?.(world.member)
    await begin.make(await testbedIn(world))
    await world.settle()
    return world.snapshot()
  } finally {
    await world.stop()
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
