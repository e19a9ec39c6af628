/**
 * The data directory of `sluice up`: which files are where, and the settings that a second start must find again.
 *
 *   store/       the journal store (hub and members, one journal)
 *   pki/<cluster>/  keys and certificates of each cluster
 *   sluice.json  number of members, their ports and nodes
 *   members/<cluster>/  volumes, and the pods of its process nodes
 *   kubeconfig   contexts hub, member1 … memberN
 *   run.json     the running process: pid and addresses; gone when it is not running
 *   log          output of a detached start
 */
import { messageOf } from '../base/error-text.ts'
import { CommandError, type Machine } from './machine.ts'

export interface DataDir {
  path: string
  store: string
  pki(cluster: string): string
  member(cluster: string): string
  settings: string
  kubeconfig: string
  run: string
  log: string
}

const DEFAULT_DATA_DIR = '.sluice'

export function dataDir(machine: Machine, given: string | undefined): DataDir {
  const { resolve } = machine.files
  const path = resolve(machine.cwd, given ?? DEFAULT_DATA_DIR)
  return {
    path,
    store: resolve(path, 'store'),
    pki: (cluster) => resolve(path, 'pki', cluster),
    member: (cluster) => resolve(path, 'members', cluster),
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
  /** What modules keep of their options, by the key they chose. */
  kept: Record<string, unknown>
}

export const FORMAT = 1

export async function readSettings(machine: Machine, dir: DataDir): Promise<Settings | undefined> {
  const text = await machine.files.read(dir.settings)
  if (text === undefined) return undefined
  const settings = parseJson<Partial<Omit<Settings, 'kept'>> | null>(text, dir.settings)
  const { format, members, ports, ...kept } = settings ?? {}
  if (typeof format === 'number' && format > FORMAT)
    throw new CommandError(
      `${dir.path} was written by a newer version of Sluice (format ${format}, this one knows ${FORMAT}).\nRun that version, or start fresh elsewhere with: sluice up --data-dir OTHER`,
    )
  if (typeof format !== 'number' || !isCount(members))
    throw new CommandError(damaged(dir.settings, 'it does not say how many members there are'))
  const usable = Object.entries(ports ?? {}).filter(([, port]) => isCount(port) && port > 0 && port < 65_536)
  return { format, members, ports: Object.fromEntries(usable), kept }
}

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0

export function writeSettings(machine: Machine, dir: DataDir, { kept, ...settings }: Settings): Promise<void> {
  return machine.files.write(dir.settings, `${JSON.stringify({ ...settings, ...kept }, null, 2)}\n`, 0o600)
}

/** The record of a running process. */
export interface Run {
  pid: number
  hub: string
  bare: boolean
  /** Identifies the process, so that a later one with the same pid is not taken for it. */
  mark?: string
}

/** The process that serves this directory, if it is alive. */
export async function readRun(machine: Machine, dir: DataDir): Promise<Run | undefined> {
  const run = await readLastRun(machine, dir)
  if (run === undefined) return undefined
  const now = machine.processes.mark(run.pid)
  const isOther = now === undefined || (now !== '' && (run.mark ?? '') !== '' && run.mark !== now)
  return isOther ? undefined : run
}

/** The process that serves this directory, or that did until it was killed; undefined when the last one was stopped in order. */
export async function readLastRun(machine: Machine, dir: DataDir): Promise<Run | undefined> {
  const text = await machine.files.read(dir.run)
  if (text === undefined) return undefined
  const run = parseJson<Run | null>(text, dir.run)
  if (run === null || !Number.isInteger(run.pid)) throw new CommandError(damaged(dir.run, 'it does not name a process'))
  return run
}

function parseJson<T>(text: string, file: string): T {
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw new CommandError(damaged(file, messageOf(cause)), cause)
  }
}

/** Both files are rewritten by every start, and contain nothing that is not stored elsewhere except the number of members. */
function damaged(file: string, why: string): string {
  return `${file} is damaged: ${why}.\nIf nothing runs there, move it away and start again with the number of members it had: sluice up --members N`
}
