/**
 * The files of a run's directory, and how they are written durably: files appear whole (written aside, synced, renamed) or
 * not at all. Anything else in there is ignored.
 *
 *   run.json      what was asked for, written before anything is started
 *   claim.json    the shim that has the run: linked into place, so there is never a second one
 *   running.json  the program runs
 *   ended.json    how it ended, or why it never began
 */

import { closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import path from 'node:path'
import { isJsonObject } from '../../base/json.ts'
import type { RunSpec, RunState } from '../kubelet/container-machine.ts'
import type { EntryPoint } from '../kubelet/entry-point.ts'
import type { Namespaces } from './namespaces.ts'
import type { ProcessMark } from './process-table.ts'

export interface RunRecord {
  spec: RunSpec
  bootId: string
  place: Place
}

/** What the shim has to know about the machine to set up the container. */
export interface Place {
  /** Or why there are none. */
  namespaces: Namespaces | string
  /** What Sluice owns. */
  dataDirectory: string
  /** The working directory of a container that names none. */
  podDirectory: string
  searchPath: string
  /** The program that makes terminals. */
  script?: string
}

/** How the shim starts the program: the whole command that sets up its namespaces, and its surroundings. */
export interface Launch {
  command: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
  /** The command first reports on descriptor 3 that the setup is done, or what is wrong with it. */
  reportsReady: boolean
  /** How many processes are between the shim and the program: each is the only child of the previous one. */
  depth: number
  /** It has its own process namespace: when its first process ends, all others end. */
  ownsProcesses: boolean
  /** In the environment of every process of the run. */
  mark: string
  /** The composed root, for commands that join; undefined when the program sees this machine's root. */
  root?: string
  workingDir: string
  /** Of the container's image: known to commands that are run in it later. */
  entryPoint?: EntryPoint
  /** A user namespace was needed. */
  isUnprivileged: boolean
}

export interface Claim extends ProcessMark {
  bootId: string
}

export interface Running {
  startedAtMs: number
  program: ProcessMark
  /** Its parent, if that lives in the surrounding namespaces; otherwise the program itself. */
  outer: ProcessMark
  launch: Launch
}

export type Ended = Extract<RunState, { phase: 'exited' | 'failed' }>

export const RUN_FILE = 'run.json'
export const CLAIM_FILE = 'claim.json'
export const RUNNING_FILE = 'running.json'
export const ENDED_FILE = 'ended.json'
export const INPUT_SOCKET = 'io.sock'

/** Durable before it returns. */
export function writeRecord(directory: string, file: string, value: unknown): void {
  const aside = writeAside(directory, file, value)
  renameSync(aside, path.join(directory, file))
  syncDirectory(directory)
}

/** The same for the record of a run, without blocking everything else while the disk syncs. */
export async function recordRun(directory: string, record: RunRecord): Promise<void> {
  const aside = path.join(directory, `${RUN_FILE}.new`)
  const file = await open(aside, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(record)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(aside, path.join(directory, RUN_FILE))
  const opened = await open(directory, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}

/** Writes only if the file does not exist yet; returns whether it did. */
export function claimRecord(directory: string, file: string, value: unknown): boolean {
  const aside = writeAside(directory, file, value)
  try {
    linkSync(aside, path.join(directory, file))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(aside, { force: true })
    syncDirectory(directory)
  }
}

function writeAside(directory: string, file: string, value: unknown): string {
  const aside = path.join(directory, `${file}.${process.pid}.new`)
  const fd = openSync(aside, 'w', 0o600)
  try {
    writeSync(fd, `${JSON.stringify(value)}\n`)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  return aside
}

function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** undefined when it is missing or malformed. */
function readRecord<T>(directory: string, file: string, isRecord: (value: unknown) => value is T): T | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path.join(directory, file), 'utf8'))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((item) => typeof item === 'string')
const isTextMap = (value: unknown): boolean => isJsonObject(value) && Object.values(value).every((item) => typeof item === 'string')
const isMark = (value: unknown): value is ProcessMark =>
  isJsonObject(value) && Number.isSafeInteger(value.pid) && Number(value.pid) > 0 && typeof value.startTime === 'string'
const isMount = (value: unknown): boolean =>
  isJsonObject(value) && typeof value.source === 'string' && typeof value.path === 'string' && typeof value.readOnly === 'boolean'
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

const isSpec = (value: unknown): value is RunSpec =>
  isJsonObject(value) &&
  [value.podUid, value.container, value.namespace, value.pod, value.hostname].every((item) => typeof item === 'string') &&
  isCount(value.attempt) &&
  isTexts(value.command) &&
  isTextMap(value.env) &&
  Array.isArray(value.mounts) &&
  value.mounts.every(isMount) &&
  typeof value.tty === 'boolean' &&
  typeof value.stdin === 'boolean'

const isLaunch = (value: unknown): value is Launch =>
  isJsonObject(value) &&
  isTexts(value.command) &&
  value.command.length > 0 &&
  isTextMap(value.env) &&
  [value.cwd, value.mark, value.workingDir].every((item) => typeof item === 'string') &&
  [value.reportsReady, value.ownsProcesses, value.isUnprivileged].every((item) => typeof item === 'boolean') &&
  isCount(value.depth) &&
  (value.root === undefined || typeof value.root === 'string')

const isPlace = (value: unknown): value is Place =>
  isJsonObject(value) &&
  [value.dataDirectory, value.podDirectory, value.searchPath].every((item) => typeof item === 'string') &&
  (value.script === undefined || typeof value.script === 'string') &&
  (typeof value.namespaces === 'string' || (isJsonObject(value.namespaces) && isTextMap(value.namespaces.tools)))

const isRun = (value: unknown): value is RunRecord =>
  isJsonObject(value) && typeof value.bootId === 'string' && isSpec(value.spec) && isPlace(value.place)
const isClaim = (value: unknown): value is Claim => isMark(value) && typeof (value as Partial<Claim>).bootId === 'string'
const isRunning = (value: unknown): value is Running =>
  isJsonObject(value) && isCount(value.startedAtMs) && isMark(value.program) && isMark(value.outer) && isLaunch(value.launch)
const isEnded = (value: unknown): value is Ended =>
  isJsonObject(value) &&
  ((value.phase === 'exited' && isCount(value.startedAtMs) && isCount(value.finishedAtMs) && isCount(value.exitCode)) ||
    (value.phase === 'failed' && typeof value.reason === 'string' && typeof value.message === 'string'))

export const readRun = (directory: string): RunRecord | undefined => readRecord(directory, RUN_FILE, isRun)
export const readClaim = (directory: string): Claim | undefined => readRecord(directory, CLAIM_FILE, isClaim)
export const readRunning = (directory: string): Running | undefined => readRecord(directory, RUNNING_FILE, isRunning)
export const readEnded = (directory: string): Ended | undefined => readRecord(directory, ENDED_FILE, isEnded)
