/**
 * Processes of this machine, distinguished from later ones with the same pid by their start time. All of it is read
 * from /proc; what cannot be read counts as absent.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** Identifies a process permanently: the pid alone may have been reused. */
export interface ProcessMark {
  pid: number
  /** Field 22 of /proc/<pid>/stat: clock ticks since boot. */
  startTime: string
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return undefined
  }
}

/** Identifies the current boot: marks from an earlier one mean nothing. */
export const bootId = (): string => read('/proc/sys/kernel/random/boot_id')?.trim() ?? ''

interface Stat {
  state: string
  session: number
  startTime: string
}

/** The name in the second field may hold anything, so fields are counted from its closing bracket. */
function statOf(pid: number): Stat | undefined {
  const text = read(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, session, startTime] = [fields[0], fields[3], fields[19]]
  return state === undefined || session === undefined || startTime === undefined
    ? undefined
    : { state, session: Number(session), startTime }
}

export function markOf(pid: number): ProcessMark | undefined {
  const stat = statOf(pid)
  return stat === undefined ? undefined : { pid, startTime: stat.startTime }
}

/** Whether this very process still runs: a zombie does not. */
export function isAlive(mark: ProcessMark): boolean {
  const stat = statOf(mark.pid)
  return stat !== undefined && stat.startTime === mark.startTime && stat.state !== 'Z' && stat.state !== 'X'
}

export function childrenOf(pid: number): number[] {
  const text = read(`/proc/${pid}/task/${pid}/children`) ?? ''
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map(Number)
}

/** Bounded, because processes come and go meanwhile. */
export function descendantsOf(pid: number, limit = 10_000): number[] {
  const found: number[] = []
  for (const next = childrenOf(pid); next.length > 0 && found.length < limit; ) {
    const child = next.pop() ?? 0
    found.push(child)
    next.push(...childrenOf(child))
  }
  return found
}

/** Processes of a session, and those that carry a mark in their environment: a program may leave its session, but rarely both. */
export function processesOf(session: number, environmentMark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const stat = statOf(pid)
      if (stat === undefined || stat.state === 'Z') return false
      return stat.session === session || (read(`/proc/${pid}/environ`) ?? '').split('\0').includes(environmentMark)
    })
}

/** Returns whether there was a process to receive it. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}
