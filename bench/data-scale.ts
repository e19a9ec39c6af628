/**
 * Many datasets in one member of `sluice up`, on simulated nodes: time, CPU and memory as they become more, beside the same pods
 * of plain StatefulSets; and what happens when nothing happens: CPU and writes at rest, and after a restart.
 */
import type { Client } from '../src/client/client.ts'
import { followDatasets } from './data-follow.ts'
import { makeClass, makeDatasets, makeNamespace, makePlain } from './data-objects.ts'
import { atRest, countsOf, MOST_SHOWN, more, type RestartFigures, type RestFigures, restarted, sumOf } from './data-rest.ts'
import type { EmbeddedFleet } from './embedded-fleet.ts'
import { cpuMs, residentBytes } from './processes.ts'
import { settled } from './settled.ts'

/** What one more step from `from` to `to` datasets costs, per dataset of the step. */
export interface GrowthFigures {
  from: number
  to: number
  wallMs: number
  cpuMs: number
  /** By controllers of the member. */
  writes: number
  passes: number
  residentBytes: number
}

export interface ScaleResult {
  plain: { count: number; wallMs: number; cpuMs: number; writes: number; passes: number }
  growth: readonly GrowthFigures[]
  /** Unknown until the last step. */
  rest?: RestFigures & {
    datasets: number
    /** The same of a member that has no dataset yet. */
    emptyCpuMs: number
  }
  restart?: RestartFigures & { datasets: number }
}

export interface ScaleShape {
  /** Ascending. */
  steps: readonly number[]
  plain: number
  restSeconds: number
}

const NAMESPACE = 'many'
const PODS_PER_DATASET = 2
/** Fewer than fit, so that every pod finds a node at once. */
const PODS_PER_NODE = 100
const STEP_WITHIN_MS = 60 * 60_000

export const nodesFor = ({ steps, plain }: ScaleShape): number =>
  Math.ceil((PODS_PER_DATASET * ((steps.at(-1) ?? 0) + plain)) / PODS_PER_NODE) + 1

/** `known` is told after each step. */
export async function measureScale(
  { setup }: EmbeddedFleet,
  shape: ScaleShape,
  known: (result: ScaleResult) => void,
): Promise<ScaleResult> {
  const [member] = setup.members
  if (member === undefined) throw new Error('there is no member')
  const pids = (): readonly number[] => Object.values(setup.pids).flat()
  await settled(pids)
  const empty = await atRest(member, pids(), shape.restSeconds)
  const plain = { count: shape.plain, ...(await plainSets(member, pids, shape.plain)) }
  console.log(JSON.stringify({ plain }))
  await makeClass(member)
  await makeNamespace(member, NAMESPACE)
  const growth: GrowthFigures[] = []
  const followed = followDatasets(member, NAMESPACE)
  for (const [i, to] of shape.steps.entries()) {
    const from = shape.steps[i - 1] ?? 0
    const before = { cpu: cpuMs(pids()), counts: await countsOf(member) }
    const began = performance.now()
    await makeDatasets(member, NAMESPACE, { first: from, count: to - from })
    await followed.until(`${to} datasets`, () => followed.bound() >= to, STEP_WITHIN_MS)
    const wallMs = performance.now() - began
    await settled(pids)
    const now = await countsOf(member)
    const [writes, passes] = [more(now.writes, before.counts.writes), more(now.passes, before.counts.passes)]
    growth.push({
      ...{ from, to, wallMs, cpuMs: cpuMs(pids()) - before.cpu, residentBytes: residentBytes(pids()) },
      ...{ writes: sumOf(writes), passes: sumOf(passes) },
    })
    console.log(JSON.stringify({ ...growth.at(-1), writesOf: writes.slice(0, MOST_SHOWN), passesOf: passes.slice(0, MOST_SHOWN) }))
    known({ plain, growth })
  }
  followed.stop()
  const datasets = shape.steps.at(-1) ?? 0
  const rest = { datasets, emptyCpuMs: empty.cpuMs, ...(await atRest(member, pids(), shape.restSeconds)) }
  console.log(JSON.stringify({ rest }))
  known({ plain, growth, rest })
  const result = { plain, growth, rest, restart: { datasets, ...(await restarted(member, setup, pids)) } }
  known(result)
  return result
}

async function plainSets(member: Client, pids: () => readonly number[], count: number) {
  const namespace = 'plain'
  await makeNamespace(member, namespace)
  const followed = followDatasets(member, namespace)
  const before = { cpu: cpuMs(pids()), counts: await countsOf(member) }
  const began = performance.now()
  await makePlain(member, namespace, count)
  await followed.until(`${count} pairs of StatefulSets`, () => followed.readyPods() >= count * PODS_PER_DATASET, STEP_WITHIN_MS)
  const wallMs = performance.now() - began
  await settled(pids)
  followed.stop()
  const { writes, passes } = await countsOf(member)
  return {
    ...{ wallMs, cpuMs: cpuMs(pids()) - before.cpu },
    ...{ writes: sumOf(more(writes, before.counts.writes)), passes: sumOf(more(passes, before.counts.passes)) },
  }
}
