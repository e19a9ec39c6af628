/** The programs of the cache that run in pods of one data directory: found by their shims, which name the directory. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { signalIfThere } from '../signal-if-there.ts'

export type Role = 'master' | 'worker' | 'client'

export interface CacheProgram {
  pid: number
  role: Role
  podUid: string
  dataset: string
  node: string
}

interface Process {
  pid: number
  parent: number
  args: string[]
}

const GONE_MS = 10_000

/** Only of that data directory. */
export function cachePrograms(dataDir: string): CacheProgram[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => processAt(Number(pid)) ?? [])
  const podOf = new Map<number, string>()
  for (const { pid, args } of all) {
    if (!args.some((arg) => arg.endsWith('/shim.mjs'))) continue
    const uid = args.flatMap((arg) => (arg.startsWith(`${dataDir}/`) ? (/\/pods\/([0-9a-f-]{36})\/runs\//.exec(arg)?.[1] ?? []) : []))[0]
    if (uid !== undefined) podOf.set(pid, uid)
  }
  for (let before = -1; before !== podOf.size; ) {
    before = podOf.size
    for (const { pid, parent } of all) {
      const uid = podOf.get(parent)
      if (uid !== undefined) podOf.set(pid, uid)
    }
  }
  return all.flatMap(({ pid, args }) => {
    const podUid = podOf.get(pid)
    // What sets a container up has the same arguments, but later ones.
    const [, file, role] = args
    if (podUid === undefined || file?.endsWith('/cache.mjs') !== true || !isRole(role)) return []
    const env = environmentOf(pid)
    return env === undefined ? [] : [{ pid, role, podUid, dataset: env.get('FLUID_DATASET_NAME') ?? '', node: env.get('NODE_NAME') ?? '' }]
  })
}

const isRole = (text: string | undefined): text is Role => text === 'master' || text === 'worker' || text === 'client'

/** Resolves when it is gone. False: it had ended before. */
export async function killProgram({ pid }: CacheProgram): Promise<boolean> {
  if (!signalIfThere(pid, 'SIGKILL')) return false
  for (const untilMs = performance.now() + GONE_MS; processAt(pid) !== undefined; await sleep(1))
    if (performance.now() > untilMs) throw new Error(`process ${pid} is still there ${GONE_MS / 1000} s after kill -9`)
  return true
}

/** Undefined: there is none, or it has ended and nobody has asked how. */
function processAt(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name may contain blanks and parentheses: the rest begins after the last one.
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return undefined
    return { pid, parent: Number(parent), args: readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0') }
  } catch {
    // It has ended in the meantime.
    return undefined
  }
}

function environmentOf(pid: number): Map<string, string> | undefined {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    return new Map(entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]))
  } catch {
    // It has ended in the meantime.
    return undefined
  }
}
