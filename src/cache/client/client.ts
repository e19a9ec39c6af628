/**
 * The client of a node: completes a volume for each file in requests/, ends it when the file is gone, and removes what nobody uses.
 * Requests are watched, and looked at every few seconds where watching fails.
 */
import { type FSWatcher, mkdirSync, readdirSync, readFileSync, statfsSync, statSync, watch } from 'node:fs'
import path from 'node:path'
import { type Clock, sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/random.ts'
import { LARGEST_CONTRACT_FILE, parseRequest, REQUEST_ID, requestIdOf } from '../../kube/materialised-volume.ts'
import { datasetPath } from '../config/paths.ts'
import type { BlockClient } from '../http/block-client.ts'
import type { Requester } from '../http/request.ts'
import { createBlockFetcher } from './block-fetcher.ts'
import type { Figures } from './figures.ts'
import { clearPartial } from './generation.ts'
import { layoutOf } from './layout.ts'
import type { LocalBlocks } from './local-blocks.ts'
import { linkVolume } from './master-link.ts'
import { createSpace } from './space.ts'
import { removeVolume, runVolume } from './volume.ts'

export interface ClientOptions {
  /** The runtime's directory of this node, which the CSI driver uses too. */
  directory: string
  /** `http://host:port` of the master. */
  master: string
  node: string
  blockBytes: number
  /** Most bytes of materialised files. */
  quotaBytes?: number
  local: LocalBlocks
  blocks: BlockClient
  requester: Requester
  token(): Promise<string>
  clock: Clock
  random: Random
  log: Log
  figures?: Figures
  /** For tests. */
  freeBytes?(): number
}

const LOOK_MS = 2000
const MOST_REQUESTS = 1000

interface Running {
  stop: AbortController
  ended: Promise<void>
}

/** Resolves when the signal aborts and everything has ended. */
export async function runClient(options: ClientOptions, signal: AbortSignal): Promise<void> {
  const { clock, log } = options
  const layout = layoutOf(options.directory)
  mkdirSync(layout.requests, { recursive: true })
  clearPartial(layout)
  const space = createSpace({
    freeBytes: options.freeBytes ?? (() => freeBytesOf(options.directory)),
    quota:
      options.quotaBytes === undefined
        ? undefined
        : { bytes: options.quotaBytes, used: () => usedBytes(path.join(layout.root, 'generations')) },
  })
  const running = new Map<string, Running>()
  const leaving = new Set<string>()
  const wake = wakeOnChange(layout.requests)

  function start(id: string, subPath: string): void {
    const stop = new AbortController()
    const link = linkVolume({ ...options, origin: options.master }, subPath)
    const fetcher = createBlockFetcher({ ...options, link })
    const ended = runVolume({ ...options, id, subPath, layout, link, fetcher, space }, stop.signal).catch((error: unknown) => {
      log.write('error', 'a volume ended', { subPath, error: messageOf(error) })
      // Tried again with the next look.
      running.delete(id)
    })
    running.set(id, { stop, ended })
  }

  async function look(): Promise<void> {
    const requests = requestsIn(layout.requests, log)
    for (const [id, { stop, ended }] of running) {
      if (requests.has(id)) continue
      stop.abort()
      await ended
      running.delete(id)
    }
    for (const id of idsIn(path.join(layout.root, 'generations'))) if (!requests.has(id)) leaving.add(id)
    for (const id of leaving) if (requests.has(id) || removeVolume(layout, id)) leaving.delete(id)
    for (const [id, subPath] of requests) if (!running.has(id)) start(id, subPath)
  }

  while (!signal.aborted) {
    try {
      await look()
    } catch (error) {
      log.write('error', 'requests cannot be read', { error: messageOf(error) })
    }
    await wake.next(sleep(clock, LOOK_MS, signal))
  }
  wake.close()
  for (const { stop } of running.values()) stop.abort()
  await Promise.all([...running.values()].map(({ ended }) => ended))
  // Nobody may come after this one.
  clearPartial(layout)
}

/** By id; a file that is no request is left alone. */
function requestsIn(directory: string, log: Log): Map<string, string> {
  const requests = new Map<string, string>()
  for (const name of readdirSync(directory).slice(0, MOST_REQUESTS)) {
    const id = name.endsWith('.json') ? name.slice(0, -5) : ''
    if (!REQUEST_ID.test(id)) continue
    const subPath = subPathIn(path.join(directory, name))
    if (subPath !== undefined && requestIdOf(subPath) === id) requests.set(id, subPath)
    else log.write('warn', 'a request cannot be read', { id })
  }
  return requests
}

function subPathIn(file: string): string | undefined {
  try {
    if (statSync(file).size > LARGEST_CONTRACT_FILE) return undefined
    const subPath = parseRequest(readFileSync(file, 'utf8'))
    return subPath === undefined ? undefined : datasetPath(subPath)
  } catch {
    // Being written, or removed just now: looked at again soon.
    return undefined
  }
}

function idsIn(directory: string): string[] {
  mkdirSync(directory, { recursive: true })
  return readdirSync(directory).filter((name) => REQUEST_ID.test(name))
}

function wakeOnChange(directory: string) {
  let isChanged = false
  let wake: (() => void) | undefined
  let watcher: FSWatcher | undefined
  try {
    watcher = watch(directory, () => {
      isChanged = true
      wake?.()
    })
    watcher.on('error', () => undefined)
  } catch {
    // No watches left on this machine: the timer does it.
  }
  return {
    async next(timeout: Promise<void>): Promise<void> {
      const changed = new Promise<void>((resolve) => {
        wake = resolve
        if (isChanged) resolve()
      })
      await Promise.race([timeout, changed])
      isChanged = false
      wake = undefined
    },
    close: () => watcher?.close(),
  }
}

export function freeBytesOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

/** A file with several links counts once. */
function usedBytes(directory: string): number {
  const seen = new Set<number>()
  let sum = 0
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    const stat = statSync(path.join(entry.parentPath ?? entry.path, entry.name), { throwIfNoEntry: false })
    if (stat === undefined || seen.has(stat.ino)) continue
    seen.add(stat.ino)
    sum += stat.blocks * 512
  }
  return sum
}
