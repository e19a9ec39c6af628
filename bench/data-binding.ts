/**
 * How soon a dataset is bound when the last of its pods is ready: on simulated nodes, a few at a time and all at once, and with
 * the programs of the builtin cache as processes, where a command in the master mounts the source first.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Client } from '../src/client/client.ts'
import { CACHE_RUNTIMES, DATASETS } from '../src/kinds/fluid/resources.ts'
import { PODS } from '../src/kinds/kubernetes/resources.ts'
import { type FollowedDatasets, followDatasets } from './data-follow.ts'
import { builtinDatasetOf, builtinRuntimeOf, makeClass, makeDatasets, makeNamespace, nameOf } from './data-objects.ts'
import type { EmbeddedFleet } from './embedded-fleet.ts'
import { cpuMs } from './processes.ts'
import { settled } from './settled.ts'

export interface BindingFigures {
  how: string
  datasets: number
  p50Ms: number
  p99Ms: number
  mostMs: number
  /** Of Sluice, from the creation to the end, per dataset. */
  cpuMsEach: number
}

export interface BindingShape {
  /** Of each way. */
  datasets: number
  processes: number
}

const WITHIN_MS = 30 * 60_000
const PODS_EACH = 2
const LANES = 4

export async function measureBinding({ setup, dataDir }: EmbeddedFleet, shape: BindingShape): Promise<BindingFigures[]> {
  const [member] = setup.members
  if (member === undefined) throw new Error('there is no member')
  const pids = (): readonly number[] => Object.values(setup.pids).flat()
  await makeClass(member)
  const ways: [string, (followed: FollowedDatasets, namespace: string) => Promise<void>, number][] = [
    [
      'simulated, four at a time',
      (followed, namespace) => fewAtATime(member, namespace, { followed, count: shape.datasets }),
      shape.datasets,
    ],
    ['simulated, all at once', (followed, namespace) => allAtOnce(member, namespace, { followed, count: shape.datasets }), shape.datasets],
    [
      'builtin cache as processes, one after the other',
      (followed, namespace) =>
        asProcesses(member, namespace, { followed, count: shape.processes, folder: path.join(dataDir, '..', 'source') }),
      shape.processes,
    ],
  ]
  const figures: BindingFigures[] = []
  for (const [i, [how, play, datasets]] of ways.entries()) {
    const namespace = `binding-${i}`
    await makeNamespace(member, namespace)
    const followed = followDatasets(member, namespace)
    await settled(pids)
    const cpuBefore = cpuMs(pids())
    await play(followed, namespace)
    const cpu = cpuMs(pids()) - cpuBefore
    followed.stop()
    const waits = followed
      .times()
      .map(({ readyMs, boundMs }) => boundMs - readyMs)
      .sort((a, b) => a - b)
    const at = (share: number): number => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? Number.NaN
    figures.push({ how, datasets, p50Ms: at(0.5), p99Ms: at(0.99), mostMs: waits.at(-1) ?? Number.NaN, cpuMsEach: cpu / datasets })
    console.log(JSON.stringify(figures.at(-1)))
  }
  return figures
}

interface Played {
  followed: FollowedDatasets
  count: number
}

const isComplete = (followed: FollowedDatasets, count: number) => () =>
  followed.bound() >= count && followed.readyPods() >= count * PODS_EACH

/** A few at a time: what one waits is not what others queue. */
async function fewAtATime(member: Client, namespace: string, { followed, count }: Played): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) {
      await makeDatasets(member, namespace, { first: i, count: 1 })
      await followed.until(`dataset ${i + 1} of ${count}`, () => followed.isBound(nameOf(i)), WITHIN_MS)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  await followed.until(`${count} datasets`, isComplete(followed, count), WITHIN_MS)
}

async function allAtOnce(member: Client, namespace: string, { followed, count }: Played): Promise<void> {
  await makeDatasets(member, namespace, { first: 0, count })
  await followed.until(`${count} datasets`, isComplete(followed, count), WITHIN_MS)
}

/** Each is deleted before the next, so that no more than a few processes run at a time. */
async function asProcesses(member: Client, namespace: string, { followed, count, folder }: Played & { folder: string }): Promise<void> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'file'), 'bytes')
  for (let i = 0; i < count; i++) {
    const name = `set-${i}`
    await member.create(DATASETS, builtinDatasetOf(name, namespace, folder))
    await member.create(CACHE_RUNTIMES, builtinRuntimeOf(name, namespace, '64Mi'))
    await followed.until(`dataset ${i + 1} of ${count}`, isComplete(followed, i + 1), WITHIN_MS)
    await member.delete(DATASETS, { namespace, name })
    await member.delete(CACHE_RUNTIMES, { namespace, name })
    await gone(member, namespace)
  }
}

async function gone(member: Client, namespace: string): Promise<void> {
  for (let left = 1; left > 0; ) {
    left = (await member.list(PODS, { namespace })).items.length
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
