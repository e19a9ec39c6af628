/** The programs of a data directory's pods on this machine, and their traces outside of it. */
import { readdirSync, readFileSync } from 'node:fs'

/** Every process of every container, or of one pod's: the shim and all its descendants, as `pid (name) start time`. */
export function processesOf(dataDir: string, podUid = ''): string[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => processAt(pid) ?? [])
  const found = new Map(
    all
      .filter(
        ({ args }) => args.some((arg) => arg.endsWith('/shim.mjs')) && args.some((arg) => arg.startsWith(dataDir) && arg.includes(podUid)),
      )
      .map((one) => [one.pid, one]),
  )
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const one of all) if (found.has(one.parent)) found.set(one.pid, one)
  }
  return [...found.values()].map(({ pid, name, start }) => `${pid} (${name}) ${start}`).sort()
}

function processAt(pid: string): { pid: string; parent: string; name: string; start: string; args: string[] } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name may contain blanks and parentheses: the rest begins after the last one.
    const [state = '', parent = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z') return undefined
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return { pid, parent, name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')), start: rest[17] ?? '', args }
  } catch {
    // It has ended in the meantime.
    return undefined
  }
}

const PLACES = ['/', '/etc', '/var', '/var/lib', '/var/run/secrets', '/srv', '/opt', '/mnt', '/media', '/dev/termination-log']

/** Names in places where a pod's mounts would leave traces if they were made there. */
export function namesOutside(home: string): string[] {
  return [...PLACES, home, `${home}/tmp`].flatMap((place) => namesIn(place).map((name) => `${place}: ${name}`))
}

function namesIn(place: string): string[] {
  try {
    return readdirSync(place)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? ['is there'] : []
  }
}

/** Mounts of this machine that lead into a data directory. */
export const mountsInto = (dataDir: string): string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(dataDir))
