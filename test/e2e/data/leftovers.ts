/** What a data directory leaves behind on the machine: processes and mounts that know its path. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const pids = (): string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    // Gone meanwhile, or somebody else's.
    return ''
  }
}

function workingDirectory(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}

/** `<pid> <command>` of those that have the path in their arguments, environment, working directory or mounts. */
export const processesOf = (directory: string): string[] =>
  pids().flatMap((pid) => {
    const command = read(`/proc/${pid}/cmdline`)
    const knows = [command, read(`/proc/${pid}/environ`), `${workingDirectory(pid)}/`, read(`/proc/${pid}/mountinfo`)]
    return knows.some((text) => text.includes(`${directory}/`)) ? [`${pid} ${command.replaceAll('\0', ' ')}`] : []
  })

/** Lines of this machine's mounts, a tmpfs among them, that have the path. */
export const mountsOf = (directory: string): string[] =>
  read('/proc/self/mountinfo')
    .split('\n')
    .filter((line) => line.includes(`${directory}/`))
