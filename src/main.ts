#!/usr/bin/env node
/**
 * The composition root: the only file that reads arguments and environment and wires the real clock, randomness, disk and
 * processes. Commands get all of it as one value.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'
import type { Clock } from './base/clock.ts'
import type { Random } from './base/random.ts'
import { createYieldIfDue } from './base/yield-if-due.ts'
import { CommandError, type FileSink, type Files, type Machine, type Processes } from './cli/machine.ts'
import { runCommand } from './cli/program.ts'
import { isErrorTerminal, memoryBytes, memoryUse, nextSignal, runInOwnHeap, say } from './own-heap.ts'
import { machineProcesses } from './store/journal/lock.ts'

declare const SLUICE_VERSION: string

/** How long one chain of promises may hold up everything else: requests from outside, timers, the disk. */
const HELD_AT_MOST_MS = 15

const clock: Clock = {
  yieldIfDue: createYieldIfDue({
    nowMs: () => performance.now(),
    turn: (callback) => void setImmediate(callback),
    maxHoldMs: HELD_AT_MOST_MS,
  }),
  preciseMs: () => performance.now(),
  now: () => Date.now(),
  after(delayMs, callback) {
    // Longer delays would overflow the timer and fire immediately.
    const timer = setTimeout(callback, Math.min(delayMs, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  },
}

/** Small amounts of randomness are cut from a larger block: asking the system for each uid costs more than all the rest of it. */
function pooledRandom(poolBytes: number): Random {
  let pool = randomBytes(poolBytes)
  let used = 0
  const take = (length: number): Buffer => {
    if (length > poolBytes / 8) return randomBytes(length)
    if (used + length > poolBytes) {
      pool = randomBytes(poolBytes)
      used = 0
    }
    used += length
    return pool.subarray(used - length, used)
  }
  return {
    next: () => take(6).readUIntBE(0, 6) / 2 ** 48,
    // A copy: the bytes may be a key, and belong to the caller alone.
    bytes: (length) => new Uint8Array(take(length)),
  }
}

const random = pooledRandom(4096)

/**
 * When idle after a load, returns unused memory: otherwise V8 keeps what a load made it allocate until the next load. A
 * large heap is left to V8: collecting it takes seconds, during which no request is answered.
 */
function collectWhenIdle(everyMs: number, { collections, upToBytes }: { collections: number; upToBytes: number }): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let before = process.cpuUsage()
  // Several: the first finds the garbage, the next ones empty pages that are nearly free.
  let due = 0
  let isSweeping = false
  setInterval(() => {
    const { user, system } = process.cpuUsage(before)
    const isBusy = (user + system) / 1000 > everyMs / 10
    // The background threads' CPU time after a collection does not count as load.
    if (isSweeping) isSweeping = false
    else if (isBusy) due = collections
    else if (due > 0 && getHeapStatistics().used_heap_size < upToBytes) {
      due--
      collect()
      isSweeping = true
    }
    before = process.cpuUsage()
  }, everyMs).unref()
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

const files: Files = {
  resolve: (...parts) => path.resolve(...parts),
  async read(file) {
    try {
      return await readFile(file, 'utf8')
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  },
  async write(file, text, mode) {
    const aside = `${file}.new`
    const handle = await open(aside, 'w', mode)
    try {
      await handle.chmod(mode)
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(aside, file)
  },
  async exists(file) {
    try {
      await access(file, constants.F_OK)
      return true
    } catch (error) {
      if (isMissing(error)) return false
      throw error
    }
  },
  async makeDirectory(directory) {
    await mkdir(directory, { recursive: true, mode: 0o700 })
  },
  remove: (file) => rm(file, { force: true }),
  createStream,
}

async function createStream(file: string): Promise<FileSink> {
  const aside = `${file}.partial`
  const handle = await open(aside, 'w', 0o600)
  return {
    async write(chunk) {
      await handle.writeFile(chunk)
    },
    async close() {
      await handle.sync()
      await handle.close()
      await rename(aside, file)
    },
    async discard() {
      await handle.close()
      await rm(aside, { force: true })
    },
  }
}

const programFile = fileURLToPath(import.meta.url)

/** Architecture names as used by Kubernetes. */
const GO_ARCHITECTURES = new Map([
  ['x64', 'amd64'],
  ['ia32', '386'],
])

const processTable = machineProcesses()

const processes: Processes = {
  pid: process.pid,
  isAlive(pid) {
    try {
      process.kill(pid, 0)
      return true
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'EPERM'
    }
  },
  mark: (pid) => {
    const found = processTable.find(pid)
    return found === undefined ? undefined : [found.bootId, found.startedAt].filter((fact) => fact !== '').join(' ')
  },
  signal: (pid, name) => void process.kill(pid, name),
  async startDetached(args, logFile) {
    const log = await open(logFile, 'w', 0o600)
    try {
      const child = spawn(process.execPath, ['--enable-source-maps', programFile, ...args], {
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
      })
      child.unref()
      if (child.pid === undefined) throw new CommandError('the background process could not be started')
      return child.pid
    } finally {
      await log.close()
    }
  },
  async load(file, args) {
    process.argv.splice(1, process.argv.length, file, ...args)
    await import(pathToFileURL(file).href)
    return Number(process.exitCode ?? 0)
  },
}

const machine: Machine = {
  clock,
  random,
  env: (name) => process.env[name],
  cwd: process.cwd(),
  systemInfo: {
    architecture: GO_ARCHITECTURES.get(os.arch()) ?? os.arch(),
    operatingSystem: os.platform(),
    kernelVersion: os.release(),
    osImage: os.version(),
  },
  hardware: { cpus: os.availableParallelism(), memoryBytes: memoryBytes() },
  memory: memoryUse,
  isTerminal: isErrorTerminal() && process.env.NO_COLOR === undefined,
  out: (text) => say('out', text),
  err: (text) => say('err', text),
  log: { write: () => undefined },
  files,
  processes,
  untilStopped: nextSignal,
  program: { file: programFile, node: process.version, version: SLUICE_VERSION },
}

/** Commands that run until they are stopped, and hold a cluster or its caches in memory. */
const LONG_RUNNING = ['up', 'controllers']

const [command = ''] = process.argv.slice(2)
if (isMainThread && LONG_RUNNING.includes(command)) process.exitCode = await runInOwnHeap(programFile, process.argv.slice(2))
else {
  if (!isMainThread) collectWhenIdle(1500, { collections: 3, upToBytes: 512 * 2 ** 20 })
  process.exitCode = await runCommand(machine, process.argv.slice(2))
}
// Whatever still holds the event loop (an idle connection, say) must not keep a finished command alive.
process.exit()
