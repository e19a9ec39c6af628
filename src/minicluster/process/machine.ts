/**
 * This machine as a place for containers: see kubelet/container-machine.ts. All its state is in its directory, so that after
 * Sluice was killed it finds its containers again, each exactly once, with how it ended if it did.
 */
import { spawn } from 'node:child_process'
import { type FSWatcher, mkdirSync, readdirSync, realpathSync, rmSync, watch } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import { nameSuffix, type Random } from '../../base/random.ts'
import type { ContainerMachine, RunId, RunSpec, RunState } from '../kubelet/container-machine.ts'
import { dial, httpGet } from './dialing.ts'
import { joinRun } from './join.ts'
import { readLog } from './log-reader.ts'
import { machineFiles } from './machine-files.ts'
import { createMemoryVolumes, type MemoryVolumes, podsWithMemory } from './memory-volumes.ts'
import { type Namespaces, type Probed, probeNamespaces } from './namespaces.ts'
import { bootId } from './process-table.ts'
import { findProgram, SYSTEM_PATH } from './programs.ts'
import { removeTree, removeTreeSync } from './remove-tree.ts'
import { ENDED_FILE, type Ended, type Place, type RunRecord, recordRun, writeRecord } from './run-files.ts'
import { type KnownRun, keyOf, podDirectory, podsOnDisk, runDirectory, runsOnDisk, stateOf } from './run-store.ts'
import { attachSession } from './sessions.ts'
import { signalRun } from './signals.ts'

export interface ProcessMachineOptions {
  /** Created if absent; nothing is created outside of it. */
  directory: string
  /** All that Sluice owns, including volumes (default: `directory`): mount points are made there, and links do not lead out. */
  dataDirectory?: string
  clock: Clock
  random: Random
  /** The built shim (dist/shim.mjs). */
  shim: string
  /** Where programs are found (default: PATH of this process). */
  searchPath?: string
  /** false: behave as if the system refused namespaces (default true). */
  useNamespaces?: boolean
  /** Errors outside of any call. */
  onError?(error: unknown): void
}

export interface ProcessMachine extends ContainerMachine {
  /** Takes back the memory of volumes whose pods run nothing: to be called after a shutdown. */
  releaseIdle(): void
  /** Stops watching; what runs keeps running. */
  close(): void
}

/** In case the system misses a file change, and for shims that died without writing anything. */
const RESYNC_MS = 5000

/** Opens the directory: earlier runs are found again, and those that were recorded but not started are started. */
export function createProcessMachine(options: ProcessMachineOptions): ProcessMachine {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 })
  const directory = realpathSync(options.directory)
  const searchPath = options.searchPath ?? process.env.PATH ?? SYSTEM_PATH
  const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, path: searchPath }
  const probed: Probed =
    options.useNamespaces === false ? { refusal: 'namespaces were not wanted' } : probeNamespaces(path.join(directory, 'scratch'), user)
  const dataDirectory = realpathSync(options.dataDirectory ?? directory)
  const namespaces = probed.namespaces ?? probed.refusal
  const memory = createMemoryVolumes(directory, namespaces)
  const runs = new Runs({ ...options, directory, dataDirectory, searchPath, namespaces, memory })
  runs.open()
  const nameOfMoment = (): string => `${new Date(options.clock.now()).toISOString().replace(/[:.]/g, '_')}.${nameSuffix(options.random)}`
  const files = machineFiles({ directory, dataDirectory, nameOfMoment })
  return {
    namespacesRefusal: probed.refusal,
    ...files,
    async memory(podUid, name, sizeBytes) {
      return { path: await memory.make(podUid, name, sizeBytes), refusal: memory.refusal }
    },
    async releaseMemory(podUid) {
      if (!runs.hasInProgress(podUid)) memory.release(podUid)
    },
    releaseIdle() {
      for (const podUid of podsWithMemory(directory)) if (!runs.hasInProgress(podUid)) memory.release(podUid)
    },
    inside: (volume, file) => memory.inside(volume, file) ?? files.inside(volume, file),
    runsOf: (podUid) => runs.of(podUid).map(({ container, attempt, state }) => ({ podUid, container, attempt, state })),
    pods: () => [...new Set([...runs.pods(), ...podsOnDisk(directory)])],
    start: (spec) => runs.start(spec),
    signal: (run, signal) => signalRun(runs.find(run), signal),
    onChange: (listener) => runs.onChange(listener),
    resolves: (command) => findProgram(command, searchPath) !== undefined,
    exec: (run, start) => joinRun(runs.mustFind(run), { start, namespaces: probed.namespaces, searchPath }),
    attach: (run, start) => attachSession(runs.mustFind(run).directory, start, runs.exitOf(run)),
    readLog: (run, reading, sink) =>
      readLog(
        {
          directory: runDirectory(directory, run),
          clock: options.clock,
          isRunning: () => runs.isInProgress(run),
          onChange: (listener) => runs.onChange((podUid) => podUid === run.podUid && listener()),
        },
        reading,
        sink,
      ),
    dial,
    httpGet,
    prune: (podUid, keep) => runs.prune(podUid, keep),
    async remove(podUid) {
      runs.forget(podUid)
      memory.release(podUid)
      await removeTree(podDirectory(directory, podUid))
    },
    close: () => runs.close(),
  }
}

interface RunsOptions extends ProcessMachineOptions {
  dataDirectory: string
  searchPath: string
  namespaces: Namespaces | string
  memory: MemoryVolumes
}

/** The runs and their shims. */
class Runs {
  readonly #options: RunsOptions
  readonly #notices: string
  readonly #known = new Map<string, Map<string, KnownRun>>()
  readonly #starting = new Map<string, Promise<void>>()
  readonly #listeners = new Set<(podUid: string) => void>()
  #watcher: FSWatcher | undefined
  #cancelLook: (() => void) | undefined
  #isClosed = false

  constructor(options: RunsOptions) {
    this.#options = options
    this.#notices = path.join(options.directory, 'notices')
  }

  open(): void {
    mkdirSync(this.#notices, { recursive: true })
    removeTreeSync(path.join(this.#options.directory, 'scratch'))
    // Before the directory is read, so that no change in between is missed.
    this.#watch()
    for (const name of readdirSync(this.#notices)) rmSync(path.join(this.#notices, name), { force: true, recursive: true })
    for (const run of runsOnDisk(this.#options.directory, this.#options.clock.now())) {
      this.#remember(run)
      if (run.isUnclaimed) void this.#startShim(run)
    }
    this.#lookLater()
  }

  close(): void {
    this.#isClosed = true
    this.#watcher?.close()
    this.#cancelLook?.()
    this.#listeners.clear()
  }

  pods = (): string[] => [...this.#known.keys()]

  of = (podUid: string): KnownRun[] =>
    [...(this.#known.get(podUid)?.values() ?? [])].sort((a, b) =>
      a.container === b.container ? a.attempt - b.attempt : a.container < b.container ? -1 : 1,
    )

  find = (run: RunId): KnownRun | undefined => this.#known.get(run.podUid)?.get(keyOf(run))

  mustFind(run: RunId): KnownRun {
    const known = this.find(run)
    if (known === undefined) throw new Error(`there is no run ${keyOf(run)} here`)
    return known
  }

  isInProgress(run: RunId): boolean {
    const phase = this.find(run)?.state.phase
    return phase === 'starting' || phase === 'running'
  }

  hasInProgress = (podUid: string): boolean => this.of(podUid).some((run) => this.isInProgress(run))

  onChange(listener: (podUid: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A repeated start of a run that is being started returns the first call's promise. */
  start(spec: RunSpec): Promise<void> {
    const key = keyOf(spec)
    const started = this.#starting.get(key) ?? this.#begin(spec).finally(() => this.#starting.delete(key))
    this.#starting.set(key, started)
    return started
  }

  /** Recorded before it is started, so that a crash at any point leaves something that can be started, once. */
  async #begin(spec: RunSpec): Promise<void> {
    if (this.find(spec) !== undefined) return
    const directory = runDirectory(this.#options.directory, spec)
    // Left by a crash before the record was written: nothing was started from it.
    await removeTree(directory)
    await mkdir(directory, { recursive: true, mode: 0o755 })
    const { namespaces, searchPath } = this.#options
    const place: Place = {
      namespaces,
      dataDirectory: this.#options.dataDirectory,
      podDirectory: path.join(podDirectory(this.#options.directory, spec.podUid), 'work'),
      searchPath,
      script: findProgram('script', `${searchPath}:${SYSTEM_PATH}`),
    }
    await mkdir(place.podDirectory, { recursive: true })
    const record: RunRecord = { spec, bootId: bootId(), place }
    await recordRun(directory, record)
    const { podUid, container, attempt } = spec
    const run: KnownRun = { podUid, container, attempt, directory, record, state: { phase: 'starting' }, isUnclaimed: true }
    this.#remember(run)
    await this.#startShim(run)
  }

  /** Two shims of one run do no harm: the second finds it claimed and exits. */
  async #startShim(run: KnownRun): Promise<void> {
    run.isUnclaimed = false
    let entering: string[]
    try {
      entering = await this.#options.memory.entering(run.podUid)
    } catch (error) {
      this.#lost(run, messageOf(error))
      return
    }
    const notice = `${run.podUid}_${run.container}_${run.attempt}`
    const command = [process.execPath, ...SHIM_FLAGS, this.#options.shim, run.directory, this.#notices, notice]
    const [program = '', ...args] = [...entering, ...command]
    const child = spawn(program, args, {
      cwd: run.directory,
      detached: true,
      stdio: 'ignore',
      env: { PATH: `${this.#options.searchPath}:${SYSTEM_PATH}`, NODE_OPTIONS: '' },
    })
    child.on('error', (error) => this.#lost(run, `the shim could not be started: ${error.message}`))
    // A shim that exited without a claim has done nothing, and never will.
    child.on('exit', () => this.#look(run, true))
    child.unref()
  }

  #lost(run: KnownRun, message: string): void {
    const ended: Ended = { phase: 'failed', reason: 'RunContainerError', message, atMs: this.#options.clock.now() }
    writeRecord(run.directory, ENDED_FILE, ended)
    this.#set(run, ended)
  }

  #watch(): void {
    try {
      this.#watcher = watch(this.#notices, (_event, name) => {
        if (name !== null) this.#noticed(name)
      })
      this.#watcher.on('error', (error) => this.#options.onError?.(error))
    } catch (error) {
      // Then the periodic resync has to do.
      this.#options.onError?.(error)
    }
  }

  #noticed(name: string): void {
    const [podUid = '', container = '', attempt = ''] = name.split('_')
    const run = this.find({ podUid, container, attempt: Number(attempt) })
    if (run !== undefined) this.#look(run)
    rmSync(path.join(this.#notices, name), { force: true, recursive: true })
  }

  #look(run: KnownRun, isShimGone = false): void {
    if (this.#isClosed || this.find(run) !== run || run.state.phase === 'exited' || run.state.phase === 'failed') return
    try {
      const { state, running, isUnclaimed } = stateOf(run.directory, run.record, this.#options.clock.now())
      run.running = running ?? run.running
      if (isUnclaimed && isShimGone) this.#lost(run, 'the shim ended before it began')
      else this.#set(run, state)
    } catch (error) {
      this.#options.onError?.(error)
    }
  }

  #set(run: KnownRun, state: RunState): void {
    if (state.phase === run.state.phase) return
    run.state = state
    const { pendingSignal } = run
    run.pendingSignal = undefined
    if (pendingSignal !== undefined) void signalRun(run, pendingSignal)
    this.#write(run.podUid)
  }

  #write(podUid: string): void {
    for (const listener of this.#listeners) listener(podUid)
  }

  #remember(run: KnownRun): void {
    const runs = this.#known.get(run.podUid) ?? new Map<string, KnownRun>()
    runs.set(keyOf(run), run)
    this.#known.set(run.podUid, runs)
  }

  #lookLater(): void {
    this.#cancelLook = this.#options.clock.after(RESYNC_MS, () => {
      for (const runs of this.#known.values()) for (const run of runs.values()) this.#look(run)
      if (!this.#isClosed) this.#lookLater()
    })
  }

  exitOf(run: RunId): Promise<number> {
    return new Promise((resolve) => {
      const check = (): void => {
        const state = this.find(run)?.state
        if (state?.phase === 'running' || state?.phase === 'starting') return
        stop()
        resolve(state?.phase === 'exited' ? state.exitCode : 255)
      }
      const stop = this.onChange(check)
      check()
    })
  }

  async prune(podUid: string, keep: number): Promise<void> {
    const byContainer = new Map<string, KnownRun[]>()
    for (const run of this.of(podUid)) byContainer.set(run.container, [...(byContainer.get(run.container) ?? []), run])
    for (const runs of byContainer.values()) {
      for (const run of runs.slice(0, Math.max(0, runs.length - keep))) {
        if (this.isInProgress(run)) continue
        this.#known.get(podUid)?.delete(keyOf(run))
        await removeTree(run.directory)
      }
    }
  }

  forget(podUid: string): void {
    for (const run of this.of(podUid)) if (this.isInProgress(run)) throw new Error(`${keyOf(run)} still runs`)
    this.#known.delete(podUid)
  }
}

/** A shim does little and runs for long. */
const SHIM_FLAGS = ['--max-semi-space-size=1', '--v8-pool-size=0', '--no-warnings']
