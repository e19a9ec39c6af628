/**
 * Volumes in memory: a tmpfs with a limit per volume, the same one for all containers of a pod, as long as the pod is there.
 * It is mounted in a mount namespace that belongs to the pod and is held by a process of its own, so this machine's mounts
 * never change, a plain user can do it, and it survives a restart of Sluice. Shims of the pod start inside that namespace.
 *
 *   memory/<volume>   its size in bytes; written first
 *   memory.claim      the process that holds the namespace: linked into place, so there is never a second one
 */
import { execFile, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { lstat, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseMountInfo } from './mount-table.ts'
import type { Namespaces } from './namespaces.ts'
import { bootId, isAlive, type ProcessMark, sendSignal } from './process-table.ts'
import { checkedName, podDirectory, podsOnDisk } from './run-store.ts'

export interface MemoryVolumes {
  /** Why there are none here; undefined when they work. */
  readonly refusal: string | undefined
  /** Mounts it unless it is there. Without a size it may take half of the machine's memory. */
  make(podUid: string, name: string, sizeBytes: number | undefined): Promise<string>
  /** The beginning of a command line that sees the volumes of a pod; empty when it has none. */
  entering(podUid: string): Promise<string[]>
  /** As `ContainerMachine.inside`, for a directory that is such a volume; undefined when it is none. */
  inside(directory: string, file: string): Promise<string> | undefined
  /** Takes the memory of a pod back, with what is in it. */
  release(podUid: string): void
}

/**
 * Says who it is, then waits until it is killed, or until its data directory is removed. The directory is looked at as rarely
 * as shims do.
 */
const HOLD = `
{ cat /proc/sys/kernel/random/boot_id; cat /proc/$$/stat; } >"$1.$$" && ln "$1.$$" "$1"
claimed=$?
rm -f "$1.$$"
[ "$claimed" = 0 ] || exit 1
echo ready
exec >/dev/null 2>&1
while [ -e "$1" ]; do sleep 30; done
`
const HOLD_MS = 20_000

export function createMemoryVolumes(directory: string, namespaces: Namespaces | string): MemoryVolumes {
  const refusal = typeof namespaces === 'string' ? namespaces : namespaces.memoryRefusal
  const underway = new Map<string, Promise<ProcessMark | undefined>>()
  const claimOf = (podUid: string): string => path.join(podDirectory(directory, podUid), 'memory.claim')
  const sizesOf = (podUid: string): string => path.join(podDirectory(directory, podUid), 'memory')
  const placeOf = (podUid: string, name: string): string => path.join(podDirectory(directory, podUid), 'volumes', checkedName(name))

  /** One after another for each pod; what is there already is left alone. */
  function hold(podUid: string): Promise<ProcessMark | undefined> {
    const before = underway.get(podUid) ?? Promise.resolve(undefined)
    const next = before.catch(() => undefined).then(() => held(podUid))
    underway.set(podUid, next)
    const done = (): void => {
      if (underway.get(podUid) === next) underway.delete(podUid)
    }
    next.then(done, done)
    return next
  }

  async function held(podUid: string): Promise<ProcessMark | undefined> {
    const names = namesIn(sizesOf(podUid))
    if (names.length === 0 || typeof namespaces === 'string' || refusal !== undefined) return undefined
    const holder = readHolder(claimOf(podUid)) ?? (await startHolder(claimOf(podUid), namespaces))
    const mounted = parseMountInfo(readFileSync(`/proc/${holder.pid}/mountinfo`, 'utf8'))
    for (const name of names) {
      const at = placeOf(podUid, name)
      if (mounted.has(at)) continue
      const size = readFileSync(path.join(sizesOf(podUid), name), 'utf8').trim()
      const options = ['mode=0777', 'nosuid', 'nodev', ...(/^\d+$/.test(size) ? [`size=${size}`] : [])].join(',')
      await mkdir(at, { recursive: true, mode: 0o755 })
      await run([...joining(namespaces, holder), 'mount', '-t', 'tmpfs', '-o', options, 'tmpfs', at], namespaces.tools.path)
    }
    return holder
  }

  return {
    refusal,
    async make(podUid, name, sizeBytes) {
      const at = placeOf(podUid, name)
      await mkdir(at, { recursive: true, mode: 0o755 })
      if (refusal !== undefined) return at
      await mkdir(sizesOf(podUid), { recursive: true })
      await writeFile(path.join(sizesOf(podUid), checkedName(name)), `${sizeBytes ?? ''}\n`)
      await hold(podUid)
      return at
    },
    async entering(podUid) {
      const holder = await hold(podUid)
      return holder === undefined || typeof namespaces === 'string' ? [] : joining(namespaces, holder)
    },
    inside(volume, file) {
      const [podUid = '', kind, name = '', ...rest] = path.relative(path.join(directory, 'pods'), volume).split(path.sep)
      const isOne = kind === 'volumes' && rest.length === 0 && podUid !== '..' && existsSync(path.join(sizesOf(podUid), checkedName(name)))
      if (!isOne) return undefined
      return hold(podUid).then((holder) => (holder === undefined ? volume : makeInside(holder, volume, file)))
    },
    release(podUid) {
      const holder = readHolder(claimOf(podUid))
      // Its whole group: it may be waiting for a `sleep` of its own.
      if (holder !== undefined) sendSignal(-holder.pid, 'SIGKILL')
      rmSync(claimOf(podUid), { force: true })
    },
  }
}

/** Pods that somebody holds memory for. */
export const podsWithMemory = (directory: string): string[] =>
  podsOnDisk(directory).filter((podUid) => existsSync(path.join(podDirectory(directory, podUid), 'memory.claim')))

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort()
  } catch {
    return []
  }
}

/** Undefined when it is gone, or was of an earlier boot. */
function readHolder(claim: string): ProcessMark | undefined {
  let text: string
  try {
    text = readFileSync(claim, 'utf8')
  } catch {
    return undefined
  }
  const [boot = '', stat = ''] = text.split('\n')
  const mark = { pid: Number.parseInt(stat, 10), startTime: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '' }
  return boot === bootId() && Number.isSafeInteger(mark.pid) && mark.pid > 1 && isAlive(mark) ? mark : undefined
}

const joining = ({ tools, isUnprivileged }: Namespaces, { pid }: ProcessMark): string[] => [
  ...[tools.nsenter, `--mount=/proc/${pid}/ns/mnt`],
  ...(isUnprivileged ? [`--user=/proc/${pid}/ns/user`, '--preserve-credentials'] : []),
  '--',
]

async function startHolder(claim: string, { tools, isUnprivileged }: Namespaces): Promise<ProcessMark> {
  rmSync(claim, { force: true })
  const user = isUnprivileged ? ['--user', '--map-root-user'] : []
  const child = spawn(tools.unshare, ['--mount', ...user, '--', tools.sh, '-c', HOLD, 'sluice-memory', claim], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: tools.path, LC_ALL: 'C' },
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(0, 500)
  })
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, HOLD_MS)
    const done = (): void => {
      clearTimeout(timer)
      resolve()
    }
    child.stdout.once('data', done)
    child.once('error', (error) => {
      said = error.message
      done()
    })
    child.once('exit', done)
  })
  child.stdout.destroy()
  child.stderr.destroy()
  child.unref()
  const holder = readHolder(claim)
  if (holder === undefined) throw new Error(`the memory of the pod's volumes cannot be held: ${said.trim() || 'nothing was said'}`)
  return holder
}

function run([program = '', ...args]: readonly string[], searchPath: string): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { env: { PATH: searchPath, LC_ALL: 'C' }, timeout: HOLD_MS }, (error, _stdout, stderr) => {
      if (error === null) resolve()
      else reject(new Error(`a volume in memory cannot be mounted: ${stderr.trim() || error.message}`))
    })
  })
}

/** What a program wrote into the volume is seen through the process that holds it. Links are not followed at all. */
async function makeInside({ pid }: ProcessMark, volume: string, file: string): Promise<string> {
  let at = volume
  for (const part of file.split('/').filter((name) => name !== '' && name !== '.')) {
    if (part === '..') throw new Error(`${JSON.stringify(file)} is no path inside a volume`)
    at = path.join(at, part)
    const seen = `/proc/${pid}/root${at}`
    const found = await lstat(seen).catch(() => undefined)
    if (found === undefined) await mkdir(seen, { mode: 0o755 })
    if (found?.isSymbolicLink()) throw new Error(`${JSON.stringify(file)} leads through a link, which volumes in memory do not follow`)
  }
  return at
}
