/** What a Sluice that was stopped must not leave: processes, mounts (of any namespace), files outside its data directory. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { namesOutside } from '../../e2e/pods/processes.ts'

/** Processes that have to do with the directory, as `pid: why`. */
export const processesAt = (directory: string): string[] =>
  pids().flatMap((pid) => {
    const command = textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')
    const why = [
      command.includes(directory) ? 'its arguments' : '',
      textOf(`/proc/${pid}/environ`).includes(directory) ? 'its environment' : '',
      ...['cwd', 'root', 'exe'].map((link) => (linkOf(`/proc/${pid}/${link}`).startsWith(directory) ? `its ${link}` : '')),
    ].filter((text) => text !== '')
    return why.length === 0 ? [] : [`${pid} (${command.slice(0, 120)}): ${why.join(', ')}`]
  })

/** Mounts in or of the directory, tmpfs among them, in the mount namespaces of all processes. */
export function mountsAt(directory: string): string[] {
  const lines = pids().flatMap((pid) =>
    textOf(`/proc/${pid}/mountinfo`)
      .split('\n')
      .filter((line) => line.includes(directory))
      .map((line) => line.split(' ').slice(3).join(' ')),
  )
  return [...new Set(lines)]
}

/** To be compared before and after. `home` is where Sluice would write what belongs to its user. */
export const filesOutside = (home: string): string[] => [...namesOutside(home), ...below(home)].sort()

const below = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true, recursive: true }).map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`)

const pids = (): string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)

/** Empty when it is gone, or not ours to read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // It has ended in the meantime, or belongs to somebody else.
    return ''
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file)
  } catch {
    // It has ended in the meantime, or belongs to somebody else.
    return ''
  }
}
