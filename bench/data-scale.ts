/**
 * Many datasets in one member of `sluice up`, on simulated nodes: time, CPU and memory as they become more, beside the same pods
 * of plain StatefulSets; and what happens when nothing happens: CPU and writes at rest, and after a restart.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../src/client/client.ts'
import { readAll } from '../src/client/transport.ts'
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIMES, DATASETS } from '../src/kinds/fluid/resources.ts'
import {
  CONFIG_MAPS,
  DAEMON_SETS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  SERVICES,
} from '../src/kinds/kubernetes/resources.ts'
import type { Resource } from '../src/kube/resource.ts'
import { followDatasets } from './data-follow.ts'
import { makeClass, makeDatasets, makeNamespace, makePlain } from './data-objects.ts'
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

export interface RestFigures {
  datasets: number
  seconds: number
  cpuMs: number
  /** The same of a member that has no dataset yet. */
  emptyCpuMs: number
  writes: number
  passes: number
  writesOf: readonly [string, number][]
}

export interface RestartFigures {
  datasets: number
  objects: number
  /** Until it is idle again. */
  cpuMs: number
  wallMs: number
  residentBytes: number
  changed: number
}

export interface ScaleResult {
  plain: { count: number; wallMs: number; cpuMs: number; writes: number; passes: number }
  growth: readonly GrowthFigures[]
  /** Unknown until the last step. */
  rest?: RestFigures
  restart?: RestartFigures
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
const MOST_SHOWN = 25
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

async function atRest(member: Client, pids: readonly number[], seconds: number) {
  const before = { cpu: cpuMs(pids), counts: await countsOf(member) }
  await sleep(seconds * 1000)
  const cpu = cpuMs(pids) - before.cpu
  const now = await countsOf(member)
  const [writes, passes] = [more(now.writes, before.counts.writes), more(now.passes, before.counts.passes)]
  return { seconds, cpuMs: cpu, writes: sumOf(writes), passes: sumOf(passes), writesOf: writes, passesOf: passes.slice(0, MOST_SHOWN) }
}

const STORED: readonly Resource[] = [
  DATASETS,
  CACHE_RUNTIMES,
  ADVANCED_STATEFUL_SETS,
  DAEMON_SETS,
  PODS,
  SERVICES,
  CONFIG_MAPS,
  PERSISTENT_VOLUMES,
  PERSISTENT_VOLUME_CLAIMS,
]

async function restarted(member: Client, setup: EmbeddedFleet['setup'], pids: () => readonly number[]) {
  const before = await versions(member)
  const labels = await nodeLabels(member)
  const began = performance.now()
  await setup.restart()
  await settled(pids)
  const wallMs = performance.now() - began
  const cpu = cpuMs(pids())
  const now = await versions(member)
  const changed = [...now].filter((one) => !before.has(one)).length + ((await nodeLabels(member)) === labels ? 0 : 1)
  return { objects: now.size, cpuMs: cpu, wallMs, residentBytes: residentBytes(pids()), changed }
}

/** What is stored: an object that was written since is not among them. */
async function versions(member: Client): Promise<Set<string>> {
  const found = new Set<string>()
  for (const resource of STORED)
    for (const { metadata } of (await member.list(resource)).items) found.add(`${metadata.uid} ${metadata.resourceVersion}`)
  return found
}

/** Nodes report that they are alive; only their labels are ours. */
const nodeLabels = async (member: Client): Promise<string> =>
  JSON.stringify((await member.list(NODES)).items.map(({ metadata }) => [metadata.name, metadata.labels]))

interface Counts {
  /** By controller and resource. */
  writes: Map<string, number>
  /** By controller. */
  passes: Map<string, number>
}

/** What controllers of the member have done so far. */
async function countsOf(member: Client): Promise<Counts> {
  const { body } = await member.raw({ method: 'GET', path: '/metrics' })
  const text = (await readAll(body)).toString('utf8')
  const counts: Counts = { writes: new Map(), passes: new Map() }
  for (const [, metric, labels = '', count] of text.matchAll(/^sluice_controller_(writes|passes)_total\{(.*)\} (\d+)$/gm)) {
    const label = (name: string): string => new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? ''
    if (metric === 'writes' && label('result') !== 'done') continue
    const [found, name] =
      metric === 'writes' ? [counts.writes, `${label('controller')} ${label('resource')}`] : [counts.passes, label('controller')]
    found.set(name, (found.get(name) ?? 0) + Number(count))
  }
  return counts
}

/** What became more, the most first. */
function more(now: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): [string, number][] {
  return [...now]
    .map(([name, count]): [string, number] => [name, count - (before.get(name) ?? 0)])
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
}

const sumOf = (counts: readonly (readonly [string, number])[]): number => counts.reduce((sum, [, count]) => sum + count, 0)
