/** Finds programs of this machine, by the rules of a search path. */
import { accessSync, constants, statSync } from 'node:fs'
import path from 'node:path'

export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The file that a command names, or undefined. */
export function findProgram(command: string, searchPath: string): string | undefined {
  if (command === '' || command.includes('\0')) return undefined
  if (command.includes('/')) return isExecutable(command) ? command : undefined
  return searchPath
    .split(':')
    .map((directory) => path.join(directory === '' ? '.' : directory, command))
    .find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** The programs that isolate containers; absolute, because they run with a container's environment. */
export interface Tools {
  unshare: string
  nsenter: string
  sh: string
  setsid: string
  /** Where the setup finds mount and hostname. */
  path: string
  /** Makes terminals; undefined where it is not installed. */
  script?: string
  stty?: string
}

/** Or the names of those that are missing. */
export function findTools(searchPath: string): Tools | string[] {
  const all = `${searchPath}:${SYSTEM_PATH}`
  const [unshare, nsenter, sh, setsid, mount] = ['unshare', 'nsenter', 'sh', 'setsid', 'mount'].map((name) => findProgram(name, all))
  if (unshare === undefined || nsenter === undefined || sh === undefined || setsid === undefined || mount === undefined)
    return Object.entries({ unshare, nsenter, sh, setsid, mount }).flatMap(([name, file]) => (file === undefined ? [name] : []))
  return { unshare, nsenter, sh, setsid, path: all, script: findProgram('script', all), stty: findProgram('stty', all) }
}
