/**
 * Keeps a second process out of a data directory. LOCK names the process that uses it, with the boot and the moment it
 * started, so that the lock of a process that died, or whose pid has been reused, is taken over without
 * asking. It guards against mistakes on one machine, not against another machine on a shared file system.
 */
import { readFileSync } from 'node:fs'
import { at, type Location, readText, removeIfThere } from './directory.ts'
import { errorCode } from './disk.ts'
import { StoreRefusedError } from './store-error.ts'

const LOCK = 'LOCK'

/** A process, distinguishable from a later one with the same pid. Empty where the system does not provide this. */
export interface ProcessMark {
  pid: number
  startedAt: string
  bootId: string
}

export interface ProcessTable {
  self: ProcessMark
  /** What runs under this pid now. */
  find(pid: number): ProcessMark | undefined
}

/** Takes the lock, or throws an error that names its holder. Returns a function that releases it. */
export async function acquireLock(location: Location, processes: ProcessTable): Promise<() => Promise<void>> {
  const mine = `${JSON.stringify(processes.self)}\n`
  for (let attempt = 0; attempt < 5; attempt++) {
    // Read back, because another process may have taken the empty file for a stale lock while it was being written.
    if ((await tryCreate(location, mine)) && (await readIfThere(location)) === mine) {
      return async () => {
        if ((await readIfThere(location)) === mine) await removeIfThere(location, LOCK)
      }
    }
    const held = await readIfThere(location)
    if (held === undefined) continue
    const holder = parseMark(held)
    if (holder !== undefined && isSame(holder, processes.find(holder.pid))) throw lockedBy(location, holder, processes.self)
    await setAside(location, held, processes.self.pid)
  }
  throw new StoreRefusedError(
    'E_STORE_LOCKED',
    `${at(location, LOCK)} keeps changing hands: another process is starting on ${location.dir}. Try again.`,
  )
}

async function tryCreate(location: Location, content: string): Promise<boolean> {
  try {
    const file = await location.disk.create(at(location, LOCK))
    try {
      await file.write(Buffer.from(content), 0)
      await file.sync()
    } finally {
      await file.close()
    }
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

/** Moves a stale lock away; if another process did so first and what was moved is its new lock, it is put back. */
async function setAside(location: Location, stale: string, pid: number): Promise<void> {
  const aside = `${LOCK}.stale-${pid}`
  try {
    await location.disk.rename(at(location, LOCK), at(location, aside))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return
    throw error
  }
  if ((await readText(location, aside)) === stale) await removeIfThere(location, aside)
  else await location.disk.rename(at(location, aside), at(location, LOCK))
}

async function readIfThere(location: Location): Promise<string | undefined> {
  try {
    return await readText(location, LOCK)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** An unreadable lock was being written when the machine stopped: nobody holds it. */
function parseMark(text: string): ProcessMark | undefined {
  try {
    const value = JSON.parse(text) as Partial<ProcessMark> | null
    if (typeof value?.pid !== 'number' || !Number.isInteger(value.pid) || value.pid <= 0) return undefined
    return { pid: value.pid, startedAt: String(value.startedAt ?? ''), bootId: String(value.bootId ?? '') }
  } catch {
    return undefined
  }
}

function isSame(holder: ProcessMark, running: ProcessMark | undefined): boolean {
  if (running === undefined) return false
  return agrees(holder.bootId, running.bootId) && agrees(holder.startedAt, running.startedAt)
}

const agrees = (a: string, b: string): boolean => a === '' || b === '' || a === b

function lockedBy(location: Location, holder: ProcessMark, self: ProcessMark): StoreRefusedError {
  const advice =
    holder.pid === self.pid
      ? 'This very process has it open already.'
      : `Stop that process (\`sluice down --data-dir D\`, or \`kill ${holder.pid}\`), or start this one on another --data-dir.`
  return new StoreRefusedError('E_STORE_LOCKED', `${location.dir} is in use by process ${holder.pid}. ${advice}`)
}

/** The processes of this machine. On systems other than Linux only the pids are known. */
export function machineProcesses(): ProcessTable {
  const find = (pid: number): ProcessMark | undefined => {
    try {
      process.kill(pid, 0)
    } catch (error) {
      // EPERM: it runs, as another user.
      if (errorCode(error) !== 'EPERM') return undefined
    }
    const [state = '', ...fields] = statOf(pid)
    // A zombie: dead, but not yet reaped by its parent. It holds nothing any more.
    if (state === 'Z' || state === 'X') return undefined
    return { pid, startedAt: fields[18] ?? '', bootId: readFact('/proc/sys/kernel/random/boot_id') }
  }
  return { self: find(process.pid) ?? { pid: process.pid, startedAt: '', bootId: '' }, find }
}

/** Fields of /proc/PID/stat from the third on (state; the start time is the 22nd): the name in the second may hold spaces and brackets. */
function statOf(pid: number): string[] {
  const stat = readFact(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function readFact(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}
