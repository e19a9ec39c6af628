/**
 * The runs in a data directory, in memory as on disk: read again whenever a shim sends a notice. If a shim died without
 * recording the end, its processes are killed and the end is recorded in its place.
 */
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import type { RunId, RunState } from '../kubelet/container-machine.ts'
import { bootId, isAlive, processesOf, sendSignal } from './process-table.ts'
import {
  CLAIM_FILE,
  ENDED_FILE,
  type Ended,
  type Running,
  type RunRecord,
  readClaim,
  readEnded,
  readRun,
  readRunning,
  writeRecord,
} from './run-files.ts'

export interface KnownRun extends RunId {
  directory: string
  record: RunRecord
  state: RunState
  running?: Running
  /** Sent before there was a process to receive it. */
  pendingSignal?: string
  /** No shim has claimed it: one must be started, or started again. */
  isUnclaimed: boolean
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/

/** Names come from the API and become parts of paths. */
export function checkedName(name: string): string {
  if (!NAME.test(name)) throw new Error(`${JSON.stringify(name)} cannot be the name of a directory`)
  return name
}

export const keyOf = (run: RunId): string => `${run.podUid}/${run.container}/${run.attempt}`

export const podDirectory = (directory: string, podUid: string): string => path.join(directory, 'pods', checkedName(podUid))
export const runDirectory = (directory: string, run: RunId): string =>
  path.join(podDirectory(directory, run.podUid), 'runs', checkedName(run.container), String(run.attempt))

function names(directory: string): string[] {
  try {
    return readdirSync(directory).sort()
  } catch {
    return []
  }
}

export const podsOnDisk = (directory: string): string[] => names(path.join(directory, 'pods')).filter((name) => NAME.test(name))

/** Anything that is not the directory of a run is left alone. */
export function runsOnDisk(directory: string, nowMs: number): KnownRun[] {
  return podsOnDisk(directory).flatMap((podUid) =>
    names(path.join(directory, 'pods', podUid, 'runs'))
      .filter((name) => NAME.test(name))
      .flatMap((container) =>
        names(path.join(directory, 'pods', podUid, 'runs', container))
          .filter((name) => /^(0|[1-9]\d{0,8})$/.test(name))
          .flatMap((attempt) => {
            const known = readKnown(directory, { podUid, container, attempt: Number(attempt) }, nowMs)
            return known === undefined ? [] : [known]
          }),
      ),
  )
}

/** undefined where there is no record: such a directory was left by a crash before the record was written. */
function readKnown(directory: string, id: RunId, nowMs: number): KnownRun | undefined {
  const at = runDirectory(directory, id)
  const record = readRun(at)
  if (record === undefined) return undefined
  return { ...id, directory: at, record, ...stateOf(at, record, nowMs) }
}

/** What the files say now; a run whose shim is gone is ended. */
export function stateOf(directory: string, record: RunRecord, nowMs: number): Pick<KnownRun, 'state' | 'running' | 'isUnclaimed'> {
  const settled = (state: RunState, running?: Running) => ({ state, running, isUnclaimed: false })
  const ended = readEnded(directory)
  if (ended !== undefined) return settled(ended)
  const claim = readClaim(directory)
  const isSameBoot = record.bootId === bootId()
  if (claim === undefined && !existsSync(path.join(directory, CLAIM_FILE)) && isSameBoot)
    return { state: { phase: 'starting' }, isUnclaimed: true }
  const running = readRunning(directory)
  if (claim !== undefined && claim.bootId === bootId() && isAlive(claim))
    return settled(
      running === undefined ? { phase: 'starting' } : { phase: 'running', startedAtMs: running.startedAtMs, pid: running.program.pid },
      running,
    )
  // It may have written its end between the two reads.
  const meanwhile = readEnded(directory)
  if (meanwhile !== undefined) return settled(meanwhile)
  return settled(endOfLost(directory, { running, isSameBoot, nowMs }))
}

const KILLED = 137

interface Lost {
  running: Running | undefined
  isSameBoot: boolean
  nowMs: number
}

function endOfLost(directory: string, { running, isSameBoot, nowMs }: Lost): Ended {
  if (isSameBoot && running !== undefined) endProcesses(running)
  const ended: Ended =
    running === undefined
      ? { phase: 'failed', reason: 'RunContainerError', message: 'what looks after the container ended before the container began' }
      : { phase: 'exited', startedAtMs: running.startedAtMs, finishedAtMs: nowMs, exitCode: KILLED }
  try {
    writeRecord(directory, ENDED_FILE, ended)
  } catch {
    // A full disk: the next read comes to the same result.
  }
  return ended
}

/** Kills all processes of a run at once, whatever they have become. */
export function endProcesses(running: Running): void {
  const { launch } = running
  if (isAlive(running.program)) sendSignal(running.program.pid, 'SIGKILL')
  if (!launch.ownsProcesses)
    for (const pid of processesOf(running.program.pid, launch.mark)) if (pid !== process.pid) sendSignal(pid, 'SIGKILL')
}
