/**
 * Claims on sources, bound and settled, in one process: what each costs, how that grows with their number, and the same with
 * the algorithm of volcano-global. The load alone (creating the objects, and whatever else runs on the hub) is measured as well
 * and taken off, so that what is left is what binding costs, the server's part included.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { DataSource, DataSourceClaim } from '../src/kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../src/kinds/volcano/resources.ts'
import { type RunningBaseline, runVolcanoGlobalAlgorithm } from './baseline-volcano-global.ts'
import { type Counts, type GateHub, MEMBER, since, startGateHub } from './gate-hub.ts'
import { claimOn, createMany, makeNamespace, sourceOf } from './gate-objects.ts'

/** Who binds: nobody (the load alone), the gate, or the algorithm of volcano-global. */
export type Binder = 'nobody' | 'gate' | 'baseline'

export interface BindingShape {
  claims: number
  /** As many as claims, or one that all of them want. */
  sources: 'each its own' | 'one'
}

export interface BindingFigures {
  /** CPU of the whole process, and the time until the last claim was settled. */
  cpuMs: number
  wallMs: number
  counts: Counts
  /** After a restart of the controllers with all of it; only for the gate. */
  restart?: { writes: number; cpuMs: number }
}

const NAMESPACE = 'data'
const LOOK_EVERY_MS = 20
const WITHIN_MS = 40 * 60_000

export async function measureBinding(binder: Binder, { claims, sources }: BindingShape): Promise<BindingFigures> {
  const hub = await startGateHub({ hasGate: binder === 'gate' })
  const baseline = binder === 'baseline' ? await runVolcanoGlobalAlgorithm(hub.countedClient('baseline')) : undefined
  try {
    await makeNamespace(hub.client, NAMESPACE, MEMBER)
    await settled(hub, baseline)
    collect()
    const before = { counts: hub.counts(), cpu: process.cpuUsage(), wall: performance.now() }
    const data = (i: number): string => (sources === 'one' ? 'table' : `table-${i}`)
    await createMany(hub.client, DATA_SOURCES, sources === 'one' ? 1 : claims, (i) => sourceOf(data(i), MEMBER))
    await settled(hub, baseline)
    await createMany(hub.client, DATA_SOURCE_CLAIMS, claims, (i) => claimOn(data(i), `web-${i}`, NAMESPACE))
    await settled(hub, baseline)
    if (binder === 'gate' && sources === 'one') await referencesComplete(hub, claims)
    const wallMs = performance.now() - before.wall
    const cpuMs = cpuSince(before.cpu)
    const counts = since(before.counts, hub.counts())
    if (binder !== 'nobody') await assertBound(hub, claims)
    const restart = binder === 'gate' ? await restarted(hub) : undefined
    return { cpuMs, wallMs, counts, restart }
  } finally {
    await baseline?.stop()
    await hub.stop()
    collect()
  }
}

export interface TriggerFigures {
  pending: number
  /** By one more source that no claim asks for, and by one that exactly one claim asks for. */
  unwanted: Trigger
  wanted: Trigger
}

export interface Trigger {
  passes: number
  cpuMs: number
}

/** One more source among claims that wait for others. */
export async function measureTrigger(binder: 'gate' | 'baseline', pending: number): Promise<TriggerFigures> {
  const hub = await startGateHub({ hasGate: binder === 'gate' })
  const baseline = binder === 'baseline' ? await runVolcanoGlobalAlgorithm(hub.countedClient('baseline')) : undefined
  const passes = (): number => baseline?.passes() ?? gatePasses(hub.counts())
  const addSource = async (data: string): Promise<Trigger> => {
    collect()
    const before = { passes: passes(), cpu: process.cpuUsage() }
    await hub.client.create(DATA_SOURCES, sourceOf(data, MEMBER))
    await settled(hub, baseline)
    return { passes: passes() - before.passes, cpuMs: cpuSince(before.cpu) }
  }
  try {
    await makeNamespace(hub.client, NAMESPACE, MEMBER)
    await createMany(hub.client, DATA_SOURCE_CLAIMS, pending, (i) => claimOn(`table-${i}`, `web-${i}`, NAMESPACE))
    await settled(hub, baseline)
    return { pending, unwanted: await addSource('another'), wanted: await addSource(`table-${Math.floor(pending / 2)}`) }
  } finally {
    await baseline?.stop()
    await hub.stop()
    collect()
  }
}

/** Passes that sources and claims cause: those of the gate, and of the detector, which asks the gate. */
const gatePasses = ({ passes }: Counts): number =>
  Object.entries(passes).reduce((sum, [name, count]) => sum + (/^gate\.|^fleet\.detector/.test(name) ? count : 0), 0)

async function settled(hub: GateHub, baseline: RunningBaseline | undefined): Promise<void> {
  const deadline = performance.now() + WITHIN_MS
  do {
    await hub.settled()
    while (baseline?.isIdle() === false) await sleep(LOOK_EVERY_MS)
    if (performance.now() > deadline) throw new Error('not settled')
  } while (baseline?.isIdle() === false)
}

/** The gate looks at a source with many claims once in a while: its last look may be still to come when nobody is busy. */
async function referencesComplete(hub: GateHub, claims: number): Promise<void> {
  const bound = async (): Promise<number> => (await hub.client.list<DataSource>(DATA_SOURCES)).items[0]?.status?.boundClaims ?? 0
  while ((await bound()) < claims) await sleep(LOOK_EVERY_MS)
  await hub.settled()
}

async function assertBound(hub: GateHub, claims: number): Promise<void> {
  const { items } = await hub.client.list<DataSourceClaim>(DATA_SOURCE_CLAIMS)
  const bound = items.filter(({ status }) => status?.phase === 'Bound').length
  if (bound !== claims) throw new Error(`only ${bound} of ${claims} claims are bound`)
}

async function restarted(hub: GateHub): Promise<BindingFigures['restart']> {
  const before = { counts: hub.counts(), cpu: process.cpuUsage() }
  await hub.restart()
  const { claims, sources, others } = since(before.counts, hub.counts()).writes
  return { writes: claims + sources + others, cpuMs: cpuSince(before.cpu) }
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** So that nobody pays for the garbage of what was measured before. */
function collect(): void {
  const { gc } = globalThis as { gc?: () => void }
  if (gc === undefined) throw new Error('run with --expose-gc')
  gc()
  gc()
}
