/** A composition as a table for `mount -a -T`, so that one process makes all mounts of a container. */
import path from 'node:path'
import type { Bind } from './composition.ts'

/** The flags of this machine's mounts, by mount point. */
export type MountFlags = ReadonlyMap<string, readonly string[]>

/** Flags that a user namespace may not drop when it makes a mount read-only. */
const LOCKED = ['nosuid', 'nodev', 'noexec', 'noatime', 'nodiratime', 'relatime']

/** From /proc/self/mountinfo; malformed lines are skipped. */
export function parseMountInfo(text: string): MountFlags {
  const flags = new Map<string, readonly string[]>()
  for (const line of text.split('\n')) {
    const [, , , , point, options] = line.split(' ')
    if (point === undefined || options === undefined) continue
    flags.set(
      point.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))),
      options.split(',').filter((option) => LOCKED.includes(option)),
    )
  }
  return flags
}

function flagsAt(file: string, flags: MountFlags): readonly string[] {
  for (let at = file; ; at = path.dirname(at)) {
    const known = flags.get(at)
    if (known !== undefined) return known
    if (at === '/') return []
  }
}

const escaped = (file: string): string => file.replace(/[ \t\n\r\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`)

/** `root` is the skeleton; the container's paths are relative to it. */
export function mountTable(root: string, binds: readonly Bind[], options: { ownProc: boolean; flags: MountFlags }): string {
  const lines = options.ownProc ? [`proc ${escaped(path.join(root, 'proc'))} proc nosuid,nodev,noexec 0 0`] : []
  for (const bind of binds) {
    const how = ['rbind', ...(bind.readOnly ? ['ro', ...flagsAt(bind.source, options.flags)] : []), ...(bind.isOptional ? ['nofail'] : [])]
    lines.push(`${escaped(bind.source)} ${escaped(path.join(root, bind.at))} none ${how.join(',')} 0 0`)
  }
  return `${lines.join('\n')}\n`
}
