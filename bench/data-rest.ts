/** What controllers of a member do when nothing happens: their writes and passes as counted, at rest and after a restart. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../src/client/client.ts'
import { readAll } from '../src/client/transport.ts'
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIMES, DATASETS, THIN_RUNTIMES } from '../src/kinds/fluid/resources.ts'
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
import type { EmbeddedFleet } from './embedded-fleet.ts'
import { cpuMs, residentBytes } from './processes.ts'
import { settled } from './settled.ts'

export interface RestFigures {
  seconds: number
  cpuMs: number
  writes: number
  passes: number
  writesOf: readonly [string, number][]
}

export interface RestartFigures {
  objects: number
  /** Until it is idle again. */
  cpuMs: number
  wallMs: number
  residentBytes: number
  changed: number
}

export const MOST_SHOWN = 25

export async function atRest(
  member: Client,
  pids: readonly number[],
  seconds: number,
): Promise<RestFigures & { passesOf: readonly [string, number][] }> {
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
  THIN_RUNTIMES,
  ADVANCED_STATEFUL_SETS,
  DAEMON_SETS,
  PODS,
  SERVICES,
  CONFIG_MAPS,
  PERSISTENT_VOLUMES,
  PERSISTENT_VOLUME_CLAIMS,
]

export async function restarted(member: Client, setup: EmbeddedFleet['setup'], pids: () => readonly number[]): Promise<RestartFigures> {
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

export interface Counts {
  /** By controller and resource. */
  writes: Map<string, number>
  /** By controller. */
  passes: Map<string, number>
}

/** What controllers of the member have done so far. */
export async function countsOf(member: Client): Promise<Counts> {
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
export function more(now: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): [string, number][] {
  return [...now]
    .map(([name, count]): [string, number] => [name, count - (before.get(name) ?? 0)])
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
}

export const sumOf = (counts: readonly (readonly [string, number])[]): number => counts.reduce((sum, [, count]) => sum + count, 0)
