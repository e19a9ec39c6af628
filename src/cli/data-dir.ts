/**
 * The data directory of `sluice up`: which files are where, and the settings that a second start must find again.
 *
 *   store/       the journal store (hub and members, one journal)
 *   pki/<cluster>/  keys and certificates of each cluster
 *   sluice.json  number of members and their ports
 *   kubeconfig   contexts hub, member1 … memberN
 *   run.json     the running process: pid and addresses; gone when it is not running
 *   log          output of a detached start
 */
import { CommandError, type Machine } from './machine.ts'

export interface DataDir {
  path: string
  store: string
  pki(cluster: string): string
  settings: string
  kubeconfig: string
  run: string
  log: string
}

export const DEFAULT_DATA_DIR = '.sluice'

export function dataDir(machine: Machine, given: string | undefined): DataDir {
  const { resolve } = machine.files
  const path = resolve(machine.cwd, given ?? DEFAULT_DATA_DIR)
  return {
    path,
    store: resolve(path, 'store'),
    pki: (cluster) => resolve(path, 'pki', cluster),
    settings: resolve(path, 'sluice.json'),
    kubeconfig: resolve(path, 'kubeconfig'),
    run: resolve(path, 'run.json'),
    log: resolve(path, 'log'),
  }
}

export interface Settings {
  /** Layout of this directory; a newer one is refused. */
  format: number
  members: number
  /** Ports by cluster, kept across restarts while they are free. */
  ports: Record<string, number>
}

export const FORMAT = 1

export async function readSettings(machine: Machine, dir: DataDir): Promise<Settings | undefined> {
  const text = await machine.files.read(dir.settings)
  if (text === undefined) return undefined
  const settings = parseJson<Settings>(text, dir.settings)
  if (typeof settings.format !== 'number' || !Number.isInteger(settings.members))
    throw new CommandError(`${dir.settings} is damaged; restore the directory from a backup with: sluice restore FILE --data-dir NEW`)
  if (settings.format > FORMAT)
    throw new CommandError(
      `${dir.path} was written by a newer version of Sluice (format ${settings.format}, this one knows ${FORMAT}).\nRun that version, or start fresh elsewhere with: sluice up --data-dir OTHER`,
    )
  return settings
}

export function writeSettings(machine: Machine, dir: DataDir, settings: Settings): Promise<void> {
  return machine.files.write(dir.settings, `${JSON.stringify(settings, null, 2)}\n`, 0o600)
}

/** What a running process says about itself. */
export interface Run {
  pid: number
  hub: string
  bare: boolean
}

/** The process that serves this directory, if it is alive. */
export async function readRun(machine: Machine, dir: DataDir): Promise<Run | undefined> {
  const text = await machine.files.read(dir.run)
  if (text === undefined) return undefined
  const run = parseJson<Run>(text, dir.run)
  return machine.processes.isAlive(run.pid) ? run : undefined
}

function parseJson<T>(text: string, file: string): T {
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw new CommandError(`${file} is not JSON; it may have been edited by hand: ${cause instanceof Error ? cause.message : cause}`, cause)
  }
}
