/**
 * Saves what is intact of a damaged data directory. If a newer snapshot makes the damaged file unnecessary, only history
 * is lost. Otherwise the state up to the fault is written out as a new generation, with revisions that jump ahead of
 * those that were handed out and lost. The damaged files stay in the directory under other names.
 */
import type { Clock } from '../../base/clock.ts'
import { StoreCore } from '../mvcc/store-core.ts'
import { DEFAULT_JUMP, jumpAhead } from './backup.ts'
import { at, checkFormat, type Generations, journalName, type Location, listGenerations, snapshotName } from './directory.ts'
import type { Disk } from './disk.ts'
import { writeGeneration } from './generation.ts'
import { chooseBase, loadJournals, loadSnapshot } from './load.ts'
import { acquireLock, machineProcesses, type ProcessTable } from './lock.ts'
import { nodeDisk } from './node-disk.ts'
import { captureStore } from './snapshot.ts'
import { DamagedFileError, StoreRefusedError } from './store-error.ts'

export interface RepairOptions {
  clock: Clock
  /** Revisions move ahead at least by this where writes were lost. Default 1,000,000. */
  revisionJump?: number
  disk?: Disk
  processes?: ProcessTable
}

export interface RepairReport {
  /** Nothing needed was damaged; only history was lost; or acknowledged writes were lost from the fault on. */
  outcome: 'intact' | 'history lost' | 'writes lost'
  /** What was found: file and offset. */
  damage: string[]
  /** The files as they were, under their new names. */
  setAside: string[]
}

export async function repairJournal(dir: string, options: RepairOptions): Promise<RepairReport> {
  const location: Location = { disk: options.disk ?? nodeDisk, dir }
  const unlock = await acquireLock(location, options.processes ?? machineProcesses())
  try {
    await checkFormat(location)
    return await repair(location, options)
  } finally {
    await unlock()
  }
}

async function repair(location: Location, options: RepairOptions): Promise<RepairReport> {
  const { clock } = options
  const found = await listGenerations(location)
  const damage: string[] = []
  const badSnapshots: number[] = []
  const load = async (generation: number): Promise<Loaded> => {
    const loaded = await tryLoad(location, generation, { found, clock })
    if (loaded.fault !== undefined && !damage.includes(loaded.fault)) damage.push(loaded.fault)
    if (loaded.core === undefined && !badSnapshots.includes(generation)) badSnapshots.push(generation)
    return loaded
  }
  const base = chooseBase(found)
  const isWhole = base !== undefined && (await load(base)).fault === undefined
  // Newest first: a snapshot contains everything in the files before it.
  for (const generation of [...found.snapshots].reverse()) {
    const { core, fault } = await load(generation)
    if (core === undefined) continue
    if (isWhole) return { outcome: 'intact', damage, setAside: await moveAside(location, badSnapshots.map(snapshotName)) }
    if (fault !== undefined) return keepPart(location, { ...options, core, found, damage })
    const useless = (n: number) => n < generation || badSnapshots.includes(n)
    return { outcome: 'history lost', damage, setAside: await moveAside(location, namesWhere(found, useless)) }
  }
  throw new StoreRefusedError(
    'E_STORE_DAMAGED',
    `${location.dir} holds no intact snapshot. Restore a backup into a new directory with \`sluice restore FILE --data-dir NEW\`.`,
  )
}

interface Loaded {
  /** What is intact from this snapshot on; undefined when the snapshot itself is not. */
  core?: StoreCore
  fault?: string
}

async function tryLoad(location: Location, generation: number, context: { found: Generations; clock: Clock }): Promise<Loaded> {
  const core = new StoreCore({ clock: context.clock, history: { minEvents: 0, minAgeMs: 0 } }, { append: () => {} })
  try {
    await loadSnapshot(location, generation, core)
  } catch (error) {
    return { fault: faultOf(error) }
  }
  try {
    await loadJournals(location, { from: generation, to: Math.max(generation, ...context.found.journals) }, core)
    return { core }
  } catch (error) {
    return { core, fault: faultOf(error) }
  }
}

async function keepPart(
  location: Location,
  what: RepairOptions & { core: StoreCore; found: Generations; damage: string[] },
): Promise<RepairReport> {
  const { core, found, clock, damage, revisionJump: step = DEFAULT_JUMP } = what
  const generation = Math.max(...found.snapshots, ...found.journals) + 1
  const clusters = captureStore(core).map((c) => ({ ...c, revision: jumpAhead(c.revision, { step, least: step }) }))
  await writeGeneration(location, { generation, clusters, now: clock.now() })
  const setAside = await moveAside(
    location,
    namesWhere(found, () => true),
  )
  return { outcome: 'writes lost', damage, setAside }
}

function namesWhere({ snapshots, journals }: Generations, isMeant: (generation: number) => boolean): string[] {
  return [...snapshots.filter(isMeant).map(snapshotName), ...journals.filter(isMeant).map(journalName)]
}

async function moveAside(location: Location, names: readonly string[]): Promise<string[]> {
  const taken = new Set(await location.disk.list(location.dir))
  const moved: string[] = []
  for (const name of names) {
    let target = `damaged-${name}`
    for (let n = 2; taken.has(target); n++) target = `damaged-${name}-${n}`
    await location.disk.rename(at(location, name), at(location, target))
    moved.push(target)
  }
  await location.disk.syncDirectory(location.dir)
  return moved
}

function faultOf(error: unknown): string {
  if (error instanceof DamagedFileError) return error.message
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return error.message
  throw error
}
