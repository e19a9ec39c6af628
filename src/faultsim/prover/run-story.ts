/**
 * One run of a story: a fresh world, the steps one after another under some faults, the world settled after each, and at the
 * end the checks that need no comparison: do the invariants hold, and is everything quiet, also after a restart?
 */

import { messageOf } from '../../base/error-text.ts'
import type { Invariant } from '../../runtime/seams/seeded.ts'
import { AmbientUseError, World, type WorldCluster, type WorldOptions } from '../world/index.ts'
import type { ControllerWrite, Delivery, Interference } from '../world/process.ts'
import type { WorldSnapshot } from '../world/snapshot.ts'
import { type EndState, endStateOf } from './end-state.ts'
import { OracleFailure } from './failure.ts'
import { type InvariantMonitor, monitorInvariants, orphansIn } from './invariant-monitor.ts'

export interface Story {
  world: WorldOptions
  /** The cluster in which the story takes place. */
  cluster(world: World): WorldCluster
  /** Done once, before the story begins. */
  before?: readonly ((cluster: WorldCluster) => Promise<unknown>)[]
  steps: readonly ((cluster: WorldCluster) => Promise<unknown>)[]
  invariants?: readonly Invariant[]
  atRest?(cluster: WorldCluster): Promise<void>
  /** What the world outside the API looks like at the end, where the controllers act on it. */
  outside?(cluster: WorldCluster): unknown
}

/** The faults injected into a run. */
export interface Trouble {
  interfere?(cluster: WorldCluster): Interference
  /** When the last step is done and everything has settled. */
  afterwards?(cluster: WorldCluster, settle: () => Promise<void>): Promise<void>
}

export interface StoryRun {
  end: EndState
  comings: InvariantMonitor['comings']
  writes: readonly ControllerWrite[]
  /** Every line of every watch, in the order of delivery. Only in a run without interference. */
  deliveries: readonly Delivery[]
  traceHash: string
  /** First and last revision of the steps. */
  revisions: { from: number; to: number }
  /** Number of clusters in the world: each costs its start. */
  clusters: number
}

/** No story is large enough to need more at one instant. */
export const WRITES_PER_INSTANT = 3000

/** The starting point of every run of a story: bootstrapped and settled. */
export async function beginningOf(story: Story): Promise<WorldSnapshot> {
  const world = new World(story.world)
  await world.start()
  for (const step of story.before ?? []) await step(story.cluster(world))
  await world.settle()
  const snapshot = world.snapshot()
  await world.stop()
  return snapshot
}

export async function runStory(story: Story, from: WorldSnapshot, trouble: Trouble = {}): Promise<StoryRun> {
  const world = new World({ writesPerInstant: WRITES_PER_INSTANT, ...story.world, from })
  try {
    await world.start()
    await settled(world)
    return await play(story, world, trouble)
  } catch (error) {
    if (error instanceof AmbientUseError) throw new OracleFailure('no ambient use', error.message)
    throw error
  } finally {
    for (const cluster of world.clusters) {
      cluster.killControllers()
      cluster.stop()
    }
  }
}

async function play(story: Story, world: World, trouble: Trouble): Promise<StoryRun> {
  const cluster = story.cluster(world)
  const { store } = cluster
  const monitor = monitorInvariants(store, story.invariants ?? [])
  const deliveries: Delivery[] = []
  const record: Interference = { onDelivery: (delivery) => void deliveries.push(delivery) }
  cluster.interference = trouble.interfere?.(cluster) ?? record
  cluster.takeWrites()
  const others = world.clusters.filter((one) => one !== cluster)
  const from = store.revision
  const began = new Map(others.map((one) => [one, one.store.revision]))
  const settle = (): Promise<void> => settled(world)
  for (const [i, step] of story.steps.entries()) {
    await takeStep(() => step(cluster), i + 1)
    await settle()
  }
  const to = store.revision
  await trouble.afterwards?.(cluster, settle)
  cluster.interference = undefined
  const writes = cluster.takeWrites()
  if (monitor.broken !== undefined) throw new OracleFailure('invariant', monitor.broken)
  const orphans = world.clusters.flatMap((one) => orphansIn(one.store))
  if (orphans.length > 0) throw new OracleFailure('no leaked children', `their owners are gone: ${orphans.join(', ')}`)
  const end = new Map(endStateOf(store, from))
  for (const one of others) for (const [key, value] of endStateOf(one.store, began.get(one) ?? 0)) end.set(`${one.name}: ${key}`, value)
  if (story.outside !== undefined) end.set('outside', story.outside(cluster))
  const traceHash = world.traceHash()
  const comings = structuredClone(monitor.comings)
  monitor.stop()
  await atRest(story, world, cluster)
  await mustBeQuiet(world, cluster)
  return { end, comings, writes, deliveries, traceHash, revisions: { from, to }, clusters: world.clusters.length }
}

async function takeStep(step: () => Promise<unknown>, number: number): Promise<void> {
  try {
    await step()
  } catch (error) {
    if (error instanceof AmbientUseError) throw error
    throw new OracleFailure('same end state', `step ${number} is refused: ${messageOf(error)}`)
  }
}

async function settled(world: World): Promise<void> {
  try {
    await world.settle({ onQuiet: () => world.clusters.map((cluster) => cluster.releaseCaches()).some((wasHeld) => wasHeld) })
  } catch (error) {
    if (error instanceof AmbientUseError) throw error
    throw new OracleFailure('settles', messageOf(error))
  }
}

async function atRest(story: Story, world: World, cluster: WorldCluster): Promise<void> {
  try {
    await story.atRest?.(cluster)
  } catch (error) {
    throw new OracleFailure('at rest', messageOf(error))
  }
  await settled(world)
}

async function mustBeQuiet(world: World, cluster: WorldCluster): Promise<void> {
  const isLease = (path: string): boolean => path.includes('/leases')
  const said = (): string[] =>
    cluster
      .takeWrites()
      .filter(({ path }) => !isLease(path))
      .map(({ part, method, path }) => `${part}: ${method} ${path}`)
  said()
  await cluster.inside(() => cluster.resync())
  await settled(world)
  const again = said()
  if (again.length > 0) throw new OracleFailure('quiet when settled', `looking at everything again leads to ${again.join(', ')}`)
  await cluster.stopControllers()
  await cluster.inside(() => cluster.startControllers())
  await settled(world)
  const anew = said()
  if (anew.length > 0) throw new OracleFailure('quiet after restart', `a restart leads to ${anew.join(', ')}`)
}
