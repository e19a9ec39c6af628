/**
 * What this machine lets us isolate, tried once with the very programs that will be used, and the command line that starts a
 * program in isolation. As root a mount namespace is enough; any other user needs a user namespace around it, in which it
 * is root while the mounts are made, and a second one inside in which it has its own uid again.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import path from 'node:path'
import { findTools, type Tools } from './programs.ts'
import { removeTreeSync } from './remove-tree.ts'

export interface Namespaces {
  tools: Tools
  /** A user namespace is needed. */
  isUnprivileged: boolean
  /** A process namespace and a /proc of its own. */
  processes: boolean
  hostname: boolean
  /** Writes to an image can be kept out of its directory. */
  overlay: boolean
  /** Why a tmpfs cannot be mounted; undefined when it can. */
  memoryRefusal?: string
  /** The program's uid and gid inside: undefined when the namespaces need no mapping, or the tools do not support it. */
  identity?: { uid: number; gid: number }
}

export type Probed = { namespaces: Namespaces; refusal?: undefined } | { namespaces?: undefined; refusal: string }

const PROBE_TIMEOUT_MS = 20_000

/** `scratch` is a directory of ours; what is created there is removed. */
export function probeNamespaces(scratch: string, user: { uid: number; gid: number; path: string }): Probed {
  const tools = findTools(user.path)
  if (Array.isArray(tools)) return { refusal: `programs that volumes need are missing here: ${tools.join(', ')}. Install util-linux.` }
  mkdirSync(scratch, { recursive: true })
  const directory = mkdtempSync(path.join(scratch, 'probe-'))
  for (const name of ['root', 'lower', 'upper', 'work']) mkdirSync(path.join(directory, name))
  const isUnprivileged = user.uid !== 0
  const bare: Namespaces = { tools, isUnprivileged, processes: false, hostname: false, overlay: false }
  const attempt = (namespaces: Namespaces, script: string): string | undefined => {
    const [program = '', ...args] = [...enteringCommand(namespaces), tools.sh, '-c', script, 'probe', directory]
    const env = { PATH: tools.path, LC_ALL: 'C' }
    const result = spawnSync(program, args, { encoding: 'utf8', timeout: PROBE_TIMEOUT_MS, env })
    if (result.error !== undefined) return result.error.message
    return result.status === 0 ? undefined : result.stderr.trim() || `${program} ended with ${result.status ?? result.signal}`
  }
  try {
    const wrong = attempt(bare, 'mount --rbind "$1/lower" "$1/root"')
    if (wrong !== undefined) return { refusal: refusalOf(wrong, isUnprivileged) }
    const works = (namespaces: Namespaces, script: string): boolean => attempt(namespaces, script) === undefined
    const keepsIdentity = isUnprivileged && works(bare, `exec ${innerUser(tools, user).join(' ')} true`)
    const overlay = 'mount -t overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" overlay "$1/root" && : >"$1/root/file"'
    return {
      namespaces: {
        tools,
        isUnprivileged,
        processes: works({ ...bare, processes: true }, 'mount -t proc proc "$1/root"'),
        hostname: works({ ...bare, hostname: true }, 'hostname probe'),
        overlay: works(bare, overlay),
        memoryRefusal: attempt(bare, 'mount -t tmpfs -o size=65536 tmpfs "$1/root"'),
        identity: keepsIdentity ? { uid: user.uid, gid: user.gid } : undefined,
      },
    }
  } finally {
    removeTreeSync(directory)
  }
}

function refusalOf(wrong: string, isUnprivileged: boolean): string {
  const allow = isUnprivileged
    ? 'Allow user namespaces to plain users (sysctl kernel.unprivileged_userns_clone=1 on Debian, ' +
      'kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu, user.max_user_namespaces above 0; in a container, ' +
      'security options that permit unshare and mount), or run Sluice as root'
    : 'Allow unshare and mount to root here (in a container: the capability SYS_ADMIN and a seccomp profile that permits them)'
  return `this system refuses the namespaces that volumes need (${wrong.replace(/\s+/g, ' ').slice(0, 300)}). ${allow}.`
}

/** The command prefix that creates the namespaces: what follows runs in them. The first process stays outside. */
function enteringCommand(namespaces: Namespaces): string[] {
  return [
    namespaces.tools.unshare,
    '--mount',
    ...(namespaces.isUnprivileged ? ['--user', '--map-root-user'] : []),
    ...(namespaces.hostname ? ['--uts'] : []),
    ...(namespaces.processes ? ['--pid'] : []),
    '--fork',
    '--kill-child',
    '--',
  ]
}

const innerUser = (tools: Tools, user: { uid: number; gid: number }): string[] => [
  tools.unshare,
  '--user',
  `--map-user=${user.uid}`,
  `--map-group=${user.gid}`,
]

/**
 * What runs inside before the program: mounts from the table and the host name; then nothing of ours is left. All errors
 * are written to descriptor 3, and the last line there is `ready`. PATH is ours until then. Messages of `unshare` itself
 * go there, too, and are never mistaken for the program's.
 */
const PRELUDE = 'exec 4>&2 2>&3; exec "$@"'
const SETUP = `
table=$1 host=$2 theirs=$PATH
PATH=$3; shift 3
mount -a -T "$table" >&2 || { echo "the volumes could not be mounted" >&2; exit 125; }
if [ -n "$host" ]; then hostname "$host" 2>/dev/null || echo "$host" 2>/dev/null >/proc/sys/kernel/hostname; fi
echo ready >&2
exec 2>&4 3>&- 4>&-
PATH=$theirs
exec "$@"
`

export interface Placement {
  table: string
  root: string
  workingDir: string
  hostname: string
  command: readonly string[]
}

/** The whole command line of a program in a composed root. It leads its own session. */
export function placedCommand(namespaces: Namespaces, placement: Placement): string[] {
  const { tools } = namespaces
  const settle = namespaces.identity === undefined ? [tools.unshare] : innerUser(tools, namespaces.identity)
  return [
    ...[tools.sh, '-c', PRELUDE, 'sluice-prelude', ...enteringCommand(namespaces)],
    ...[tools.sh, '-c', SETUP, 'sluice-setup', placement.table, namespaces.hostname ? placement.hostname : '', tools.path],
    ...[tools.setsid, ...settle, `--root=${placement.root}`, `--wd=${placement.workingDir}`, '--', ...placement.command],
  ]
}

/**
 * The command line of a program that joins another in its namespaces. `outer` and `program` are pids of this machine. A
 * terminal is made by `inTerminal` between the two steps: among the container's processes, or its shell could not find its
 * own process group, but with this machine's files, because the container may lack the program that makes one.
 */
export function joiningCommand(
  namespaces: Pick<Namespaces, 'tools' | 'isUnprivileged' | 'processes' | 'hostname'>,
  place: { outer: number; program: number; root: string; workingDir: string },
  { command, inTerminal = (line) => [...line] }: { command: readonly string[]; inTerminal?: (line: readonly string[]) => string[] },
): string[] {
  const settle = `${place.root}${place.workingDir}`
  return [
    ...[namespaces.tools.nsenter, `--mount=/proc/${place.outer}/ns/mnt`],
    ...(namespaces.isUnprivileged ? [`--user=/proc/${place.outer}/ns/user`, '--preserve-credentials'] : []),
    ...(namespaces.hostname ? [`--uts=/proc/${place.outer}/ns/uts`] : []),
    ...(namespaces.processes ? [`--pid=/proc/${place.program}/ns/pid`] : []),
    '--',
    ...inTerminal([
      namespaces.tools.nsenter,
      ...(namespaces.isUnprivileged ? [`--user=/proc/${place.program}/ns/user`, '--preserve-credentials'] : []),
      ...[`--root=${place.root}`, `--wd=${settle}`, '--', ...command],
    ]),
  ]
}
