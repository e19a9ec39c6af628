/**
 * Many references to one dataset, over several namespaces of one member of `sluice up`, on a simulated node: time, CPU, memory and
 * writes as they become more, beside volumes and claims made by hand; what a change of the original costs then; and what happens at
 * rest and after a restart. Writes are counted by watches: each event is a version that was stored.
 */
import type { Client } from '../src/client/client.ts'
import { CACHE_RUNTIMES, DATASETS } from '../src/kinds/fluid/resources.ts'
import { PERSISTENT_VOLUMES } from '../src/kinds/kubernetes/resources.ts'
import { datasetOf, makeClass, makeNamespace, makeVolumes, referenceTo, runtimeOf } from './data-objects.ts'
import { type FollowedReferences, followReferences, type Written } from './data-reference-follow.ts'
import { atRest, countsOf, MOST_SHOWN, more, type RestartFigures, type RestFigures, restarted, sumOf } from './data-rest.ts'
import type { EmbeddedFleet } from './embedded-fleet.ts'
import { createMany, inLanes } from './gate-objects.ts'
import { cpuMs, residentBytes } from './processes.ts'
import { settled } from './settled.ts'

export interface ReferenceShape {
  /** Ascending. */
  steps: readonly number[]
  namespaces: number
  /** Volumes and claims by hand. */
  plain: number
  restSeconds: number
  changes: number
}

export interface ReferenceGrowth {
  from: number
  to: number
  wallMs: number
  cpuMs: number
  residentBytes: number
  passes: number
  /** Of everything that belongs to references, in the step. */
  written: number
  /** Of the original's list of references, in the step. */
  listWritten: number
}

export interface ChangeFigures {
  references: number
  changes: number
  cpuMs: number
  /** Writes of references, each by each change. */
  writesEach: number
  /** Of the original, and of copies and everything else. */
  originalWrites: number
  otherWrites: number
  /** From the original's new status to the first, the middle and the last reference that shows it: the middle of all changes. */
  firstMs: number
  middleMs: number
  lastMs: number
}

export interface ReferenceResult {
  namespaces: number
  plain: { count: number; wallMs: number; cpuMs: number; cpuMsPerWrite: number }
  growth: readonly ReferenceGrowth[]
  change?: ChangeFigures
  rest?: RestFigures
  restart?: RestartFigures
}

const HOME = 'owner'
const NAME = 'shared'
export const ORIGINAL = `${HOME}/${NAME}`
const WITHIN_MS = 30 * 60_000
const FIRST_ADDRESS = `https://example.com/${NAME}/`

const keyOf = (i: number, namespaces: number) => ({ namespace: `tenant-${i % namespaces}`, name: `reads-${i}` })

/** `known` is told after each part. */
export async function measureReferences(
  { setup }: EmbeddedFleet,
  shape: ReferenceShape,
  known: (result: ReferenceResult) => void,
): Promise<ReferenceResult> {
  const [member] = setup.members
  if (member === undefined) throw new Error('there is no member')
  const pids = (): readonly number[] => Object.values(setup.pids).flat()
  const followed = followReferences(member, ORIGINAL)
  const plain = await plainVolumes(member, { pids, followed, count: shape.plain })
  await makeOriginal(member, followed)
  for (let i = 0; i < shape.namespaces; i++) await makeNamespace(member, `tenant-${i}`)
  const growth: ReferenceGrowth[] = []
  for (const [i, to] of shape.steps.entries()) {
    growth.push(await grown(member, { pids, followed, from: shape.steps[i - 1] ?? 0, to, shape }))
    known({ namespaces: shape.namespaces, plain, growth })
  }
  const result: ReferenceResult = { namespaces: shape.namespaces, plain, growth }
  result.change = await changed(member, { pids, followed, references: shape.steps.at(-1) ?? 0, changes: shape.changes })
  known(result)
  result.rest = await atRest(member, pids(), shape.restSeconds)
  console.log(JSON.stringify({ rest: result.rest }))
  followed.stop()
  result.restart = await restarted(member, setup, pids)
  known(result)
  return result
}

interface Ground {
  pids: () => readonly number[]
  followed: FollowedReferences
}

/** Bound, and seen so. */
export async function makeOriginal(member: Client, followed: FollowedReferences): Promise<void> {
  await makeClass(member)
  await makeNamespace(member, HOME)
  await member.create(DATASETS, datasetOf(NAME, HOME))
  await member.create(CACHE_RUNTIMES, runtimeOf(NAME, HOME))
  await followed.until('the original is bound', () => followed.bound() === 1, WITHIN_MS)
}

export async function makeReferences(
  member: Client,
  { from, to, namespaces }: { from: number; to: number; namespaces: number },
): Promise<void> {
  await createMany(member, DATASETS, to - from, (i) => referenceTo(ORIGINAL, keyOf(from + i, namespaces)))
}

async function plainVolumes(member: Client, { pids, followed, count }: Ground & { count: number }): Promise<ReferenceResult['plain']> {
  const namespace = 'by-hand'
  await makeNamespace(member, namespace)
  await settled(pids)
  const before = cpuMs(pids())
  const began = performance.now()
  await makeVolumes(member, namespace, count)
  await followed.until(`${count} claims by hand`, () => followed.boundClaims() >= count, WITHIN_MS)
  const wallMs = performance.now() - began
  await settled(pids)
  const cpu = cpuMs(pids()) - before
  await inLanes(count, (i) =>
    member.patch(PERSISTENT_VOLUMES, { name: `by-hand-${i}` }, { type: 'merge', body: { metadata: { annotations: { changed: 'yes' } } } }),
  )
  await settled(pids)
  const plain = { count, wallMs, cpuMs: cpu, cpuMsPerWrite: (cpuMs(pids()) - before - cpu) / count }
  console.log(JSON.stringify({ plain }))
  return plain
}

async function grown(
  member: Client,
  { pids, followed, from, to, shape }: Ground & { from: number; to: number; shape: ReferenceShape },
): Promise<ReferenceGrowth> {
  await settled(pids)
  const before = { cpu: cpuMs(pids()), counts: await countsOf(member), written: followed.written() }
  const began = performance.now()
  await makeReferences(member, { from, to, namespaces: shape.namespaces })
  // The original is bound as well, and claims by hand are.
  const isThere = (): boolean => followed.bound() > to && followed.boundClaims() > to + shape.plain
  await followed.until(`${to} references`, isThere, WITHIN_MS)
  const wallMs = performance.now() - began
  await settled(pids)
  const [now, written] = [await countsOf(member), followed.written()]
  const passes = more(now.passes, before.counts.passes)
  const growth = {
    ...{ from, to, wallMs, cpuMs: cpuMs(pids()) - before.cpu, residentBytes: residentBytes(pids()) },
    ...{ passes: sumOf(passes), written: othersIn(written, before.written), listWritten: written.list - before.written.list },
  }
  const writesOf = more(now.writes, before.counts.writes).slice(0, MOST_SHOWN)
  console.log(JSON.stringify({ ...growth, writesOf, passesOf: passes.slice(0, MOST_SHOWN) }))
  return growth
}

/** All but those of the original, which are counted by themselves. */
const othersIn = (now: Written, before: Written): number => sumOf(more(now.byResource, before.byResource))

async function changed(
  member: Client,
  { pids, followed, references, changes }: Ground & { references: number; changes: number },
): Promise<ChangeFigures> {
  await settled(pids)
  const before = { cpu: cpuMs(pids()), written: followed.written() }
  const waits: { firstMs: number; middleMs: number; lastMs: number }[] = []
  for (let i = 0; i < changes; i++) {
    const address = `${FIRST_ADDRESS}${i}/`
    await changeTo(member, address)
    await followed.until(`change ${i + 1}`, () => followed.showing(address) >= references, WITHIN_MS)
    const times = followed.timesOf(address)
    const sinceMs = followed.shownAtMs(ORIGINAL, address) ?? Number.NaN
    const at = (share: number): number => (times[Math.floor((times.length - 1) * share)] ?? Number.NaN) - sinceMs
    waits.push({ firstMs: at(0), middleMs: at(0.5), lastMs: at(1) })
  }
  await settled(pids)
  const written = followed.written()
  const ofReferences = (written.byResource.get(DATASETS.plural) ?? 0) - (before.written.byResource.get(DATASETS.plural) ?? 0)
  const middleOf = (of: (wait: (typeof waits)[number]) => number): number =>
    waits.map(of).sort((a, b) => a - b)[Math.floor(waits.length / 2)] ?? Number.NaN
  const figures = {
    ...{ references, changes, cpuMs: cpuMs(pids()) - before.cpu, writesEach: ofReferences / references / changes },
    originalWrites: written.original - before.written.original,
    otherWrites: othersIn(written, before.written) - ofReferences,
    ...{ firstMs: middleOf(({ firstMs }) => firstMs), middleMs: middleOf(({ middleMs }) => middleMs) },
    lastMs: middleOf(({ lastMs }) => lastMs),
  }
  console.log(JSON.stringify({ ...figures, of: more(written.byResource, before.written.byResource) }))
  return figures
}

/** Another source of the original, which its status shows when it is mounted. */
export const changeTo = (member: Client, mountPoint: string): Promise<unknown> =>
  member.patch(
    DATASETS,
    { namespace: HOME, name: NAME },
    {
      type: 'merge',
      body: { spec: { mounts: [{ mountPoint, name: NAME, path: '/' }] } },
    },
  )
