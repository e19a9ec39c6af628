/**
 * Workloads that wait for one source, on `sluice up`, compared with the same workloads without claims: time, CPU and writes on
 * the hub; how soon they are released when the source comes; and what a restart with all of it writes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../src/client/client.ts'
import { ifFound } from '../src/client/errors.ts'
import { readAll } from '../src/client/transport.ts'
import { RESOURCE_BINDINGS, WORKS } from '../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS, NAMESPACES } from '../src/kinds/kubernetes/resources.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../src/kinds/volcano/resources.ts'
import { type Followed, followNamespace } from './gate-follow.ts'
import { claimOn, createMany, deploymentOf, makeNamespace, sourceOf } from './gate-objects.ts'
import { cpuMs } from './processes.ts'
import type { FleetSetup } from './propagation.ts'

export interface LoadFigures {
  wallMs: number
  cpuMs: number
  /** By controllers on the hub. */
  writes: Omit<Written, 'events'>
  events: number
}

export interface Written {
  claims: number
  sources: number
  bindings: number
  others: number
  events: number
}

export interface ReleaseFigures {
  workloads: number
  without: LoadFigures
  /** With claims: until they are known to wait, and the workloads are held. */
  held: LoadFigures
  /** From the source until everything is applied. */
  released: LoadFigures
  firstReleaseMs: number
  lastReleaseMs: number
}

export interface RestartFigures {
  claims: number
  sources: number
  bindings: number
  stillHeld: number
  writes: number
}

const MEMBER = 'member1'
const SAMPLES = 5

/** One round. Namespaces are new each time. */
export async function measureRelease(setup: FleetSetup, workloads: number, round: string): Promise<ReleaseFigures> {
  const without = await plain(setup, workloads, `plain-${round}`)
  const gated = await heldWorkloads(setup, workloads, `gated-${round}`)
  const { hub } = setup
  let createdMs = 0
  const released = await measured(setup, async () => {
    createdMs = performance.now()
    await hub.create(DATA_SOURCES, sourceOf(gated.data, MEMBER))
    const last = await gated.followed.reached('applied', workloads)
    await gated.followed.rest()
    return last - createdMs
  })
  const releases = gated.followed.timesOf('released')
  gated.followed.stop()
  return {
    workloads,
    without,
    held: gated.figures,
    released,
    firstReleaseMs: (releases[0] ?? Number.NaN) - createdMs,
    lastReleaseMs: (releases.at(-1) ?? Number.NaN) - createdMs,
  }
}

async function plain(setup: FleetSetup, workloads: number, namespace: string): Promise<LoadFigures> {
  const { hub } = setup
  const followed = await openNamespace(setup, namespace)
  try {
    return await measured(setup, async () => {
      const began = performance.now()
      await createMany(hub, DEPLOYMENTS, workloads, (i) => deploymentOf(`web-${i}`, namespace))
      const last = await followed.reached('applied', workloads)
      await followed.rest()
      return last - began
    })
  } finally {
    followed.stop()
  }
}

export interface Held {
  data: string
  figures: LoadFigures
  followed: Followed
}

/** Each with a claim of its own on the same data, which is not there yet. */
export async function heldWorkloads(setup: FleetSetup, workloads: number, namespace: string): Promise<Held> {
  const { hub } = setup
  const data = `of-${namespace}`
  const followed = await openNamespace(setup, namespace)
  const figures = await measured(setup, async () => {
    const claimsBegan = performance.now()
    await createMany(hub, DATA_SOURCE_CLAIMS, workloads, (i) => claimOn(data, `web-${i}`, namespace))
    const claimsMs = (await followed.reached('looked-at', workloads)) - claimsBegan
    const began = performance.now()
    await createMany(hub, DEPLOYMENTS, workloads, (i) => deploymentOf(`web-${i}`, namespace))
    const heldMs = (await followed.reached('held', workloads)) - began
    await followed.rest()
    return claimsMs + heldMs
  })
  return { data, figures, followed }
}

/** One workload that waits, when nothing else happens: from its source until it is released, and until it is applied. */
export async function measureAlone(setup: FleetSetup, round: string): Promise<{ releaseMs: number; appliedMs: number }> {
  const samples: { releaseMs: number; appliedMs: number }[] = []
  for (let i = 0; i < SAMPLES; i++) {
    const { data, followed } = await heldWorkloads(setup, 1, `alone-${round}-${i}`)
    const began = performance.now()
    await setup.hub.create(DATA_SOURCES, sourceOf(data, MEMBER))
    const appliedMs = (await followed.reached('applied', 1)) - began
    samples.push({ releaseMs: (followed.timesOf('released')[0] ?? Number.NaN) - began, appliedMs })
    followed.stop()
  }
  const median = (of: (sample: (typeof samples)[number]) => number): number =>
    samples.map(of).sort((a, b) => a - b)[Math.floor(SAMPLES / 2)] ?? Number.NaN
  return { releaseMs: median((one) => one.releaseMs), appliedMs: median((one) => one.appliedMs) }
}

/** Claims without workloads, each on a source of its own. */
export async function loadPairs(setup: FleetSetup, pairs: number): Promise<LoadFigures> {
  const { hub } = setup
  const followed = await openNamespace(setup, 'pairs')
  const figures = await measured(setup, async () => {
    const began = performance.now()
    await createMany(hub, DATA_SOURCES, pairs, (i) => sourceOf(`pair-${i}`, MEMBER))
    await createMany(hub, DATA_SOURCE_CLAIMS, pairs, (i) => claimOn(`pair-${i}`, `absent-${i}`, 'pairs'))
    const last = await followed.reached('bound', pairs)
    await followed.rest()
    return last - began
  })
  followed.stop()
  return figures
}

export async function measureRestart(setup: FleetSetup, stillHeld: number): Promise<RestartFigures> {
  const { hub } = setup
  const before = await versions(hub)
  await setup.restart()
  await untilIdle(setup)
  const after = await versions(hub)
  const counts = Object.fromEntries([...after].map(([kind, known]) => [kind, known.size]))
  let writes = 0
  for (const [kind, known] of after) for (const one of known) if (!before.get(kind)?.has(one)) writes++
  return {
    claims: counts[DATA_SOURCE_CLAIMS.kind] ?? 0,
    sources: counts[DATA_SOURCES.kind] ?? 0,
    bindings: counts[RESOURCE_BINDINGS.kind] ?? 0,
    stillHeld,
    writes,
  }
}

async function openNamespace({ hub, members }: FleetSetup, namespace: string): Promise<Followed> {
  await makeNamespace(hub, namespace, MEMBER)
  const [member] = members
  while (member !== undefined && (await ifFound(member.get(NAMESPACES, { name: namespace }))) === undefined) await sleep(50)
  return followNamespace(hub, namespace)
}

/** `load` returns how long it took until the last change that counts. */
async function measured({ hub, pids }: FleetSetup, load: () => Promise<number>): Promise<LoadFigures> {
  const ids = Object.values(pids).flat()
  const before = { cpu: cpuMs(ids), written: await writtenOn(hub) }
  const wallMs = await load()
  const written = await writtenAtRest(hub)
  const cpu = cpuMs(ids) - before.cpu
  const since = (name: keyof Written): number => written[name] - before.written[name]
  return {
    wallMs,
    cpuMs: cpu,
    writes: { claims: since('claims'), sources: since('sources'), bindings: since('bindings'), others: since('others') },
    events: since('events'),
  }
}

const LOOK_FOR_WRITES_MS = 1000

/** Sources are written after everything that waits for them. */
async function writtenAtRest(hub: Client): Promise<Written> {
  const about = ({ claims, sources, bindings }: Written): string => `${claims} ${sources} ${bindings}`
  for (let before = await writtenOn(hub); ; ) {
    await sleep(LOOK_FOR_WRITES_MS)
    const now = await writtenOn(hub)
    if (about(now) === about(before)) return now
    before = now
  }
}

/** What controllers have written on the hub so far, as its metrics say. */
async function writtenOn(hub: Client): Promise<Written> {
  const { body } = await hub.raw({ method: 'GET', path: '/metrics' })
  const text = (await readAll(body)).toString('utf8')
  const written: Written = { claims: 0, sources: 0, bindings: 0, others: 0, events: 0 }
  for (const [, metric, labels = '', count] of text.matchAll(/^sluice_controller_(writes|events)_total\{(.*)\} (\d+)$/gm)) {
    const label = (name: string): string => new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? ''
    if (metric === 'events' && label('result') === 'written') written.events += Number(count)
    if (metric === 'writes' && label('result') === 'done' && !isInMember(label)) written[aboutOf(label('resource'))] += Number(count)
  }
  return written
}

const ABOUT: Readonly<Record<string, keyof Written>> = {
  [DATA_SOURCE_CLAIMS.plural]: 'claims',
  [DATA_SOURCES.plural]: 'sources',
  [RESOURCE_BINDINGS.plural]: 'bindings',
}

const aboutOf = (resource: string): keyof Written => ABOUT[resource.split(/[./]/)[0] ?? ''] ?? 'others'

/** What brings Works into members writes anything there, and only Works on the hub. */
const isInMember = (label: (name: string) => string): boolean => label('controller') === 'fleet.execution' && label('resource') === '*'

/** By kind, what is stored: an object that was written since is not among them. */
async function versions(hub: Client): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>()
  for (const resource of [DATA_SOURCE_CLAIMS, DATA_SOURCES, DEPLOYMENTS, RESOURCE_BINDINGS, WORKS]) {
    const { items } = await hub.list(resource)
    found.set(resource.kind, new Set(items.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`)))
  }
  return found
}

const IDLE_LOOK_MS = 10_000
/** A process that takes less than this part of a core is idle. */
const IDLE_SHARE = 10

async function untilIdle({ pids }: FleetSetup): Promise<void> {
  for (;;) {
    const ids = Object.values(pids).flat()
    const before = cpuMs(ids)
    await sleep(IDLE_LOOK_MS)
    if (cpuMs(ids) - before < IDLE_LOOK_MS / IDLE_SHARE) return
  }
}
